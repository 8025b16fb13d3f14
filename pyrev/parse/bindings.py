"""What the text of a definition binds and names, whatever it means."""

from __future__ import annotations

import copy
import operator
from collections import Counter
from collections.abc import Callable
from functools import cached_property, lru_cache
from typing import Any

import gast

#: What comparisons of numbers mean.
COMPARED: dict[type, Callable[[Any, Any], bool]] = {
    gast.Eq: operator.eq,
    gast.NotEq: operator.ne,
    gast.Lt: operator.lt,
    gast.LtE: operator.le,
    gast.Gt: operator.gt,
    gast.GtE: operator.ge,
}


def children(node: gast.AST) -> list[gast.AST]:
    """The nodes directly inside `node`, operators and contexts apart."""
    found: list[gast.AST] = []
    _add_children(node, found)
    return found


def _add_children(node: gast.AST, found: list[gast.AST]) -> None:
    """Append the children of a node: asked more often than anything else of a text."""
    kind: Any = type(node)
    for name in _fields(kind):
        value = getattr(node, name, None)
        if value is None:
            continue
        if isinstance(value, gast.AST):
            found.append(value)
        elif isinstance(value, list):
            for v in value:
                if isinstance(v, gast.AST):
                    found.append(v)


#: Fields that hold no node, or none worth a look.
_NO_NODES = frozenset(["ctx", "op", "ops", "id", "attr", "arg", "kind", "type_comment"])


@lru_cache(None)
def _fields(kind: Any) -> tuple[str, ...]:
    """The fields of this kind of node that may hold a node worth a look."""
    if kind is gast.Constant:
        return ()
    return tuple(f for f in kind._fields if f not in _NO_NODES)


def nodes_of(root: gast.AST) -> list[gast.AST]:
    """`root` and all inside it, operators and contexts apart, outer ones first."""
    found = [root]
    for node in found:
        _add_children(node, found)
    return found


def mapped(node: gast.AST, f: Callable[[gast.AST], gast.AST]) -> gast.AST:
    """A node with `f` of each node right in it; itself where that changes nothing."""
    new: dict[str, object] = {}
    for name in node._fields:
        value = getattr(node, name, None)
        if isinstance(value, gast.AST):
            made: object = f(value)
            if made is not value:
                new[name] = made
        elif isinstance(value, list):
            each = [f(v) if isinstance(v, gast.AST) else v for v in value]
            if any(map(operator.is_not, each, value)):
                new[name] = each
    if not new:
        return node
    changed = copy.copy(node)
    for name, value in new.items():
        setattr(changed, name, value)
    return changed


def literal_integer(node: gast.AST | None) -> int | None:
    """The integer that a literal with its sign is; None if it is none."""
    match node:
        case gast.Constant(value=int() as k) if not isinstance(k, bool):
            return k
        case gast.UnaryOp(op=gast.USub(), operand=gast.Constant(value=int() as k)):
            return -k
    return None


def is_none(node: gast.AST | None) -> bool:
    """Is this the literal?"""
    return isinstance(node, gast.Constant) and node.value is None


def bound_alone(
    node: gast.AST, wanted: Callable[[gast.AST], bool]
) -> dict[str, list[gast.AST]]:
    """The names that a definition binds by assignments of `wanted` values alone, each
    to one name, and that no function inside mentions, with these values.
    """
    found: dict[str, list[gast.AST]] = {}
    hidden: set[str] = set()
    for n in nodes_of(node):
        match n:
            case gast.Assign(targets=[gast.Name(id=name)], value=value):
                if wanted(value):
                    found.setdefault(name, []).append(value)
            case gast.FunctionDef() | gast.Lambda() if n is not node:
                hidden |= {*identifiers(n)}
            case gast.Name(id=name, ctx=gast.Del()):
                hidden.add(name)
    every = Counter(bindings(node))
    return {
        name: values
        for name, values in found.items()
        if name not in hidden and len(values) == every[name]
    }


def literal_axes(node: gast.AST | None) -> tuple[int, ...] | None:
    """The axes that ``axis=`` names, () for all; None if the text does not say."""
    match node:
        case None | gast.Constant(value=None):
            return ()
        case gast.Constant(value=int() as k):
            return (k,)
        case gast.UnaryOp(op=gast.USub(), operand=gast.Constant(value=int() as k)):
            return (-k,)
        case gast.Tuple(elts=elements):
            found = [literal_axes(e) for e in elements]
            if all(f is not None and len(f) == 1 for f in found):
                return tuple(k for f in found if f is not None for k in f)
    return None


def statements(node: gast.AST) -> list[gast.AST]:
    """The statements directly inside a statement."""
    found: list[gast.AST] = []
    for name in ("body", "orelse", "handlers", "finalbody", "cases"):
        block = getattr(node, name, None)
        if isinstance(block, list):
            found += block
    return found


def bindings(node: gast.AST) -> list[str]:
    """The name of each binding in the text of a definition, parameters included."""
    found = [p.id for p in parameters(node)]
    for child in nodes_of(node):
        if isinstance(child, gast.Name) and isinstance(child.ctx, gast.Store):
            found.append(child.id)
        elif isinstance(child, (gast.FunctionDef, gast.ClassDef)) and child is not node:
            found.append(child.name)
    return found


def parameters(node: gast.AST) -> list[gast.Name]:
    """The named parameters of a definition, in order."""
    spec = node.args
    return [*spec.posonlyargs, *spec.args, *spec.kwonlyargs]


def default_nodes(node: gast.AST) -> dict[str, gast.AST]:
    """The defaults in the text of a definition, by parameter."""
    spec = node.args
    positional = [*spec.posonlyargs, *spec.args]
    pairs = [*zip(reversed(positional), reversed(spec.defaults), strict=False)]
    pairs += zip(spec.kwonlyargs, spec.kw_defaults, strict=True)
    return {p.id: default for p, default in pairs if default is not None}


def assigned_names(node: gast.AST) -> frozenset[str]:
    """What the statements of a definition bind, nested definitions apart."""
    found: set[str] = set()
    body = node.body if isinstance(node.body, list) else [node.body]
    stack: list[gast.AST] = list(body)
    while stack:
        child = stack.pop()
        if isinstance(child, gast.Name) and isinstance(child.ctx, gast.Store):
            found.add(child.id)
        if isinstance(child, (gast.FunctionDef, gast.AsyncFunctionDef, gast.ClassDef)):
            found.add(child.name)
        elif not isinstance(child, gast.Lambda):
            stack.extend(children(child))
    return frozenset(found)


def local_names(node: gast.AST) -> frozenset[str]:
    """Every name that is local to a definition."""
    spec = node.args
    stars = [a for a in (spec.vararg, spec.kwarg) if a is not None]
    return assigned_names(node) | {p.id for p in [*parameters(node), *stars]}


def functions_inside(node: gast.AST) -> list[gast.AST]:
    """The functions that are defined inside a definition, lambdas included."""
    kinds = (gast.FunctionDef, gast.Lambda)
    return [n for n in nodes_of(node) if isinstance(n, kinds) and n is not node]


def identifiers(node: gast.AST) -> frozenset[str]:
    """Every name in the text of a definition: none may be given to something new."""
    return frozenset(n.id for n in nodes_of(node) if isinstance(n, gast.Name))


def is_one_expression(node: gast.AST) -> bool:
    if isinstance(node, gast.Lambda):
        return True
    body = [
        s
        for s in node.body
        if not (isinstance(s, gast.Expr) and isinstance(s.value, gast.Constant))
    ]
    return len(body) == 1 and isinstance(body[0], gast.Return)


def what(node: gast.AST) -> str:
    match node:
        case gast.Constant(value=str()):
            return "a string"
        case gast.Constant(value=None):
            return "`None`"
        case gast.Constant(value=complex()):
            return "a complex number"
        case gast.Constant(value=bytes()):
            return "bytes"
        case gast.Tuple():
            return "a tuple where a number is needed"
        case gast.List():
            return "a list"
        case gast.Dict():
            return "a dict where a number is needed"
        case gast.Lambda():
            return "a function where a number is needed"
    return "not a number"


def tail_form(body: list[gast.AST]) -> list[gast.AST] | None:
    """The same statements with every `return` at the end of a path.

    What follows an `if` that returns moves into the branch that goes on. None where a
    `return` stands in a loop, where both branches go on, or where a path has none.
    """
    for k, node in enumerate(body):
        if isinstance(node, gast.Return):
            return body[: k + 1] if k == len(body) - 1 else None
        if not returns(node):
            continue
        if not isinstance(node, gast.If):
            return None
        rest = body[k + 1 :]
        then, other = tail_form(node.body), tail_form(node.orelse)
        if then is None and other is None:
            return None
        then = then if then is not None else tail_form([*node.body, *rest])
        other = other if other is not None else tail_form([*node.orelse, *rest])
        if then is None or other is None:
            return None
        branch = gast.If(test=node.test, body=then, orelse=other)
        return [*body[:k], gast.copy_location(branch, node)]
    return None


def returns(node: gast.AST) -> bool:
    """Whether a `return` of this very function is `node`, or stands inside it."""
    if isinstance(node, (gast.FunctionDef, gast.Lambda, gast.ClassDef)):
        return False
    return isinstance(node, gast.Return) or any(map(returns, statements(node)))


def loose_names(definition: gast.AST) -> frozenset[str]:
    """The names that are more than the index of loops that do not change them.

    That is: parameters, and what is set by anything else, or read where no loop over it
    stands around.
    """
    body = definition.body if isinstance(definition.body, list) else [definition.body]
    found = {p.id for p in parameters(definition)}
    for s in body:
        _add_loose(s, frozenset(), found)
    return frozenset(found)


def _add_loose(node: gast.AST, inside: frozenset[str], found: set[str]) -> None:
    """Add what is loose in a node; loops over the names `inside` stand around it."""
    if isinstance(node, gast.Name):
        if node.id not in inside or not isinstance(node.ctx, gast.Load):
            found.add(node.id)
        return
    if isinstance(node, gast.For) and (first := counter(node)) is not None:
        if first.id in inside or not _counts(node.iter):
            found.add(first.id)
        others = node.target.elts[1:] if node.target is not first else ()
        for child in (*others, node.iter, *node.orelse):
            _add_loose(child, inside, found)
        for child in node.body:
            _add_loose(child, inside | {first.id}, found)
        return
    for child in children(node):
        _add_loose(child, inside, found)


#: What gives numbers that count, by the names that these have.
_COUNTING = ("range", "prange", "reversed", "enumerate", "checkpointed")


def _counts(over: gast.AST) -> bool:
    """Is a loop one over numbers? Of another one a name gets the elements: if it is the
    index of a loop, too, it is a variable of its own.
    """
    match over:
        case gast.Call(func=gast.Name(id=name) | gast.Attribute(attr=name)):
            return name in _COUNTING
    return False


def counter(node: gast.For) -> gast.Name | None:
    """The target of a `for`, or the first of several: the index, where that counts."""
    match node.target:
        case gast.Name() as name:
            return name
        case gast.Tuple(elts=[gast.Name() as name, *_]):
            return name
    return None


class Reads:
    """Where a definition reads a name, or changes what the name stands for."""

    def __init__(self, name: str) -> None:
        self.name = name

    def later(self, definition: gast.AST, node: gast.AST) -> bool:
        """May the value at the end of the loop or branch `node` be read after it, by
        what is no function inside?

        The end of a loop's body is one: what the next iteration reads comes later.
        """
        around = _path_to(definition, node)
        if around is None:
            return True
        if self._again(node):
            return True
        child = node
        for parent in reversed(around):
            for block in ("body", "orelse"):
                stmts = getattr(parent, block, None)
                if isinstance(stmts, list) and any(s is child for s in stmts):
                    after = stmts[[s is child for s in stmts].index(True) + 1 :]
                    found = self.first(after)
                    if found:
                        return found == "read"
            if self._again(parent):
                return True
            child = parent
        return False

    def _again(self, node: gast.AST) -> bool:
        """May another iteration, if this is a loop, read what the last one leaves?"""
        match node:
            case gast.For(target=target, body=body):
                return not self.binds([target]) and self.first(body) == "read"
            case gast.While(test=test, body=body):
                return self.inside(test) or self.first(body) == "read"
        return False

    def inside(self, node: gast.AST) -> bool:
        """Is the name read anywhere in `node`?"""
        match node:
            case gast.Name(id=name, ctx=gast.Load()) if name == self.name:
                return True
            case gast.AugAssign(target=gast.Name(id=name)) if name == self.name:
                return True
        return any(map(self.inside, children(node)))

    def first(self, stmts: list[gast.AST]) -> str:
        """What happens to the name first: "read", "bound", or "" for neither."""
        for s in stmts:
            match s:
                case gast.If(test=test, body=then, orelse=other):
                    if self.inside(test):
                        return "read"
                    ways = {self.first(then), self.first(other)}
                    if "read" in ways:
                        return "read"
                    if ways == {"bound"}:
                        return "bound"
                case gast.For(target=target, iter=head, body=body):
                    if self.inside(head):
                        return "read"
                    if not self.binds([target]) and self.first(body) == "read":
                        return "read"
                case gast.While(test=head, body=body):
                    if self.inside(head) or self.first(body) == "read":
                        return "read"
                case _:
                    if self.inside(s):
                        return "read"
                    if isinstance(s, gast.Assign) and self.binds(s.targets):
                        return "bound"
        return ""

    def enclosed(self, definition: gast.AST) -> bool:
        """Does a function inside the definition read it, whenever that is called?"""
        return any(
            self.inside(child)
            for child in nodes_of(definition)
            if child is not definition
            and isinstance(child, (gast.FunctionDef, gast.Lambda))
        )

    def binds(self, targets: list[gast.AST]) -> bool:
        return any(
            self.binds(t.elts)
            if isinstance(t, (gast.Tuple, gast.List))
            else isinstance(t, gast.Name) and t.id == self.name
            for t in targets
        )


class Names:
    """What is known of the names in a definition, of a text that no longer changes."""

    def __init__(self, node: gast.AST) -> None:
        self.node = node
        self._later: dict[tuple[str, int], bool] = {}
        self._enclosed: dict[str, bool] = {}

    @cached_property
    def local(self) -> frozenset[str]:
        """See `local_names`."""
        return local_names(self.node)

    @cached_property
    def assigned(self) -> frozenset[str]:
        """See `assigned_names`."""
        return assigned_names(self.node)

    @cached_property
    def loose(self) -> frozenset[str]:
        """The names that are more than the index of loops: see `loose_names`."""
        return loose_names(self.node)

    @cached_property
    def bound(self) -> Counter[str]:
        """How often each is bound."""
        return Counter(bindings(self.node))

    @cached_property
    def met(self) -> Counter[str]:
        """How often each stands there, whatever is done with it."""
        return Counter(n.id for n in nodes_of(self.node) if isinstance(n, gast.Name))

    def enclosed(self, name: str) -> bool:
        """Does a function inside read `name`, whenever that is called?"""
        if name not in self._enclosed:
            self._enclosed[name] = Reads(name).enclosed(self.node)
        return self._enclosed[name]

    def later(self, name: str, node: gast.AST) -> bool:
        """May the value of `name` at the end of `node`, which is inside, be read?"""
        key = name, id(node)  # which is this node's as long as the definition is kept
        if key not in self._later:
            reads = Reads(name)
            self._later[key] = self.enclosed(name) or reads.later(self.node, node)
        return self._later[key]


def _path_to(root: gast.AST, node: gast.AST) -> list[gast.AST] | None:
    """The nodes around `node`, outermost first; None if it is not inside `root`."""
    for child in children(root):
        if child is node:
            return [root]
        found = _path_to(child, node)
        if found is not None:
            return [root, *found]
    return None
