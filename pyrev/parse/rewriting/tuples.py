"""Names of tuples: each element gets a name of its own before anything is read.

``size = h, w`` is ``size_0, size_1 = h, w`` and ``(size_0, size_1)`` wherever `size` is
read; ``shape = a.shape`` is `a.shape` wherever `shape` is. A helper that is given a
tuple has a parameter for each element.
"""

from __future__ import annotations

import copy
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import gast

from pyrev.ir.nodes import fresh
from pyrev.parse.bindings import (
    bindings,
    children,
    identifiers,
    literal_integer,
    nodes_of,
    parameters,
)
from pyrev.parse.rewriting.made_texts import name_of, read_in


def with_elements(node: gast.AST) -> gast.AST:
    """The definition `node` without names of tuples; itself if it has none.

    A name of a tuple is bound once, to a tuple (or a list that nobody writes to) that
    is written out or to the shape of an array whose name is bound once, and is read as
    a whole by calls, by `return` and where it is unpacked, or element by element.
    Others are left as they are. Names depend on the definition alone.
    """
    if not isinstance(getattr(node, "body", None), list):
        return node
    found = {a.targets[0].id: _as_tuple(a.value) for a in _named(node)}
    if not found:
        return node
    node, taken = copy.deepcopy(node), {*identifiers(node)}
    names = {
        name: [fresh(f"{name}_{k}", taken) for k in range(len(value.elts))]
        for name, value in found.items()
        if isinstance(value, gast.Tuple)
    }
    return _Elements(names, found).visit(node)


def spread(
    node: gast.AST, call: gast.Call, lengths: Mapping[int | str, int]
) -> tuple[gast.AST, gast.Call]:
    """A helper's definition and a call of it, with a parameter for each element of the
    arguments (by position or by name) that are tuples of these `lengths`.
    """
    node, call = copy.deepcopy(node), copy.copy(call)
    taken = {*identifiers(node)}
    positional = [*node.args.posonlyargs, *node.args.args]
    head: list[gast.AST] = []
    args: list[gast.AST] = []
    for k, argument in enumerate(call.args):
        if k in lengths:
            new = _parameters(node, positional[k], lengths[k], taken, head)
            args += elements(argument, len(new))
        else:
            args.append(argument)
    keywords: list[gast.AST] = []
    for keyword in call.keywords:
        if keyword.arg in lengths:
            (own,) = [p for p in parameters(node) if p.id == keyword.arg]
            new = _parameters(node, own, lengths[keyword.arg], taken, head)
            for name, value in zip(new, elements(keyword.value, len(new)), strict=True):
                one = copy.copy(keyword)
                one.arg, one.value = name, value
                keywords.append(one)
        else:
            keywords.append(keyword)
    call.args, call.keywords = args, keywords
    node.body[:0] = head
    return node, call


def elements(node: gast.AST, count: int) -> list[gast.AST]:
    """The elements of what is a tuple, written out or a shape."""
    if isinstance(node, gast.Tuple):
        return list(node.elts)
    return [_element(node, k) for k in range(count)]


def _parameters(
    node: gast.AST, own: gast.Name, count: int, taken: set[str], head: list[gast.AST]
) -> list[str]:
    """Put parameters in the place of `own`; `head` makes the tuple of them."""
    names = [fresh(f"{own.id}_{k}", taken) for k in range(count)]
    for group in (node.args.posonlyargs, node.args.args, node.args.kwonlyargs):
        at = next((k for k, p in enumerate(group) if p is own), None)
        if at is not None:
            group[at : at + 1] = [name_of(n, own, gast.Param()) for n in names]
    value = gast.Tuple([name_of(n, own, gast.Load()) for n in names], gast.Load())
    target = name_of(own.id, own, gast.Store())
    made = gast.Assign([target], gast.copy_location(value, own))
    head.append(gast.copy_location(made, own))
    return names


# ------------------------------------------------------------------ which


def _named(node: gast.AST) -> Iterator[gast.Assign]:
    """The assignments of a definition that give tuples their names."""
    given = [
        (child, child.targets[0].id, array)
        for child in nodes_of(node)
        if isinstance(child, gast.Assign)
        and isinstance(child.targets[0], gast.Name)
        and len(child.targets) == 1
        and (
            (array := _measured(child.value)) is not None
            or tuple_length(_as_tuple(child.value))
        )
    ]
    if not given:
        return
    times, uses = Counter(bindings(node)), _uses(node)
    for child, name, array in given:
        steady = times[name] == 1 and all(times[n] <= 1 for n in array or ())
        own = uses.get(name, ())
        if isinstance(child.value, gast.List) and any(map(_shows_a_list, own)):
            continue
        if isinstance(child.value, (gast.Tuple, gast.List)) and any(
            isinstance(u.around, gast.For) for u in own
        ):
            steady = steady and not all(map(_is_number, child.value.elts))
        if steady and all(map(_is_whole_or_element, own)):
            yield child


def _is_number(node: gast.AST) -> bool:
    """Is it a number that is written out? Loops read those from an array."""
    inner = node.operand if isinstance(node, gast.UnaryOp) else node
    return isinstance(inner, gast.Constant)


def _as_tuple(value: gast.AST) -> gast.AST:
    """A list as a tuple: where nothing is written to it there is no difference."""
    if isinstance(value, gast.List):
        return gast.copy_location(gast.Tuple(value.elts, value.ctx), value)
    return value


def _shows_a_list(use: _Use) -> bool:
    """Would it show here that a list is none?"""
    match use.around:
        case gast.Return():
            return True
        case gast.Subscript(ctx=ctx):
            return not isinstance(ctx, gast.Load)
    return False


def tuple_length(value: gast.AST) -> int:
    """Of how many elements it is a tuple that is written out, none of which is one; 0
    if it is none.
    """
    match value:
        case gast.Tuple(elts=elts):
            apart = any(isinstance(e, (gast.Tuple, gast.Starred)) for e in elts)
            return 0 if apart else len(elts)
    return 0


def _measured(value: gast.AST) -> set[str] | None:
    """What a shape, a part of one, or one behind the other rests on, by the names; None
    for others.
    """
    match value:
        case gast.Attribute(value=gast.Name(id=array), attr="shape"):
            return {str(array)}
        case gast.Subscript(value=inner, slice=gast.Slice(step=None)):
            return _measured(inner)
        case gast.BinOp(left=left, op=gast.Add(), right=right):
            if isinstance(left, gast.Tuple) and isinstance(right, gast.Tuple):
                return None
            first, second = (
                read_in(e) if _is_of_sizes(e) else _measured(e) for e in (left, right)
            )
            return None if first is None or second is None else first | second
    return None


def _is_of_sizes(value: gast.AST) -> bool:
    """Is it a tuple of numbers that are the same wherever it is read, if names are?"""
    if not tuple_length(value):
        return False
    for n in nodes_of(value):
        match n:
            case gast.Call() | gast.Slice():
                return False
            case gast.Subscript(value=whole):
                if not isinstance(whole, gast.Attribute) or whole.attr != "shape":
                    return False
    return True


@dataclass(frozen=True, slots=True)
class _Use:
    """A read of a name, in a node around it, maybe inside of a function inside."""

    name: gast.Name
    around: gast.AST
    inner: bool


def _uses(node: gast.AST) -> dict[str, list[_Use]]:
    found: dict[str, list[_Use]] = {}

    def visit(around: gast.AST, inner: bool) -> None:
        for child in children(around):
            if isinstance(child, gast.Name) and isinstance(child.ctx, gast.Load):
                found.setdefault(child.id, []).append(_Use(child, around, inner))
            else:
                own = isinstance(child, (gast.FunctionDef, gast.Lambda))
                visit(child, inner or own)

    visit(node, False)
    return found


def _is_whole_or_element(use: _Use) -> bool:
    if use.inner:
        return False
    match use.around:
        case gast.Subscript(value=value, slice=index):
            return value is use.name and literal_integer(index) is not None
        case gast.Assign(targets=[gast.Tuple() | gast.List()], value=value):
            return value is use.name
        case gast.Call(args=args):
            return any(a is use.name for a in args)
        case gast.For(iter=over):
            return over is use.name
        case gast.keyword() | gast.Return():
            return True
    return False


# ------------------------------------------------------------------ in their place


class _Elements(gast.NodeTransformer):  # type: ignore[misc]
    """Puts the elements of tuples in the place of their names."""

    def __init__(
        self, names: Mapping[str, Sequence[str]], found: Mapping[str, gast.AST]
    ) -> None:
        self.names, self.found = names, found

    def visit_Assign(self, node: gast.Assign) -> gast.AST | None:
        match node.targets:
            case [gast.Name(id=name) as target] if name in self.found:
                if name not in self.names:
                    return None  # the shape of an array, which is read there
                targets = [name_of(n, target, gast.Store()) for n in self.names[name]]
                whole = gast.copy_location(gast.Tuple(targets, gast.Store()), target)
                value = self.visit(node.value)
                return gast.copy_location(gast.Assign([whole], value), node)
        return self.generic_visit(node)

    def visit_Subscript(self, node: gast.Subscript) -> gast.AST:
        match node.value:
            case gast.Name(id=name) if name in self.names:
                names, k = self.names[name], literal_integer(node.slice)
                assert k is not None
                if -len(names) <= k < len(names):
                    return name_of(names[k], node, gast.Load())
        return self.generic_visit(node)

    def visit_Call(self, node: gast.Call) -> gast.AST:
        match node:
            case gast.Call(
                func=gast.Name(id="len"), args=[gast.Name(id=name)], keywords=[]
            ) if name in self.names:
                count = gast.Constant(len(self.names[name]), None)
                return gast.copy_location(count, node)
        return self.generic_visit(node)

    def visit_Name(self, node: gast.Name) -> gast.AST:
        if not isinstance(node.ctx, gast.Load) or node.id not in self.found:
            return node
        if node.id not in self.names:
            return _located(copy.deepcopy(self.found[node.id]), node)
        names = [name_of(n, node, gast.Load()) for n in self.names[node.id]]
        return gast.copy_location(gast.Tuple(names, gast.Load()), node)


def _element(node: gast.AST, k: int) -> gast.AST:
    index = gast.copy_location(gast.Constant(k, None), node)
    made = gast.Subscript(copy.deepcopy(node), index, gast.Load())
    return gast.copy_location(made, node)


def _located(node: gast.AST, place: gast.AST) -> gast.AST:
    for child in nodes_of(node):
        gast.copy_location(child, place)
    return node
