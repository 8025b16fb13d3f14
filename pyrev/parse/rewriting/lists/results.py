"""Lists that functions return: what a `return` writes out, and what a call gives.

A list that a helper returns is an array in the place of the call. Whoever calls has to
know that: to add two lists or to return one means another thing than for arrays.
"""

from __future__ import annotations

import copy
from functools import partial

import gast

from pyrev.ir.nodes import fresh
from pyrev.parse.bindings import (
    functions_inside,
    identifiers,
    local_names,
    nodes_of,
)
from pyrev.parse.grounds import lookup as stands_for
from pyrev.parse.rewriting.comprehensions import is_list_class
from pyrev.parse.rewriting.helper_texts import definition_of, looked
from pyrev.parse.rewriting.lists.candidates import stored
from pyrev.parse.rewriting.lists.uses import (
    DEFINITION,
    LIST,
    is_named,
    reads_elements,
    takes_elements,
)
from pyrev.parse.rewriting.made_texts import (
    Lookup,
    assign,
    name_of,
    object_named,
    placed,
)
from pyrev.parse.rewriting.structures.nodes import own_returns
from pyrev.parse.rewriting.structures.shapes import SHAPE, Shape
from pyrev.parse.source import plain

#: The attribute of a call whose lists are known to be lists to its caller.
KNOWN = "pyrev_lists"
#: The place of a list that is returned alone.
ALONE = -1


def without_literal_results(node: gast.AST, helper: bool) -> gast.AST:
    """The definition with what reads the lists that are written out where it returns.

    Where each `return` has such lists in the same places, they are structures, whose
    elements may be numbers of several kinds and arrays. Elsewhere, and in helpers,
    whose lists are arrays to their callers, each is a list with a name.
    """
    found = own_returns(node)
    if not any(_lists(r.value) for r in found):
        return node
    node = copy.deepcopy(node)
    found = own_returns(node)
    shapes = {_shape(r.value) for r in found}
    if not helper and len(shapes) == 1 and None not in shapes:
        for r in found:
            _tag(r.value)
    else:
        taken = {*identifiers(node)}
        node.body = _named(node.body, taken)
    return node


def _lists(e: gast.AST | None) -> bool:
    match e:
        case gast.List():
            return True
        case gast.Tuple(elts=elts):
            return any(map(_lists, elts))
    return False


def _shape(e: gast.AST | None) -> Shape | None:
    """The lists and tuples that an expression writes out; None if it does not."""
    match e:
        case gast.List(elts=elts) | gast.Tuple(elts=elts):
            if not elts or any(isinstance(x, gast.Starred) for x in elts):
                return None
            kind = "list of values" if isinstance(e, gast.List) else "tuple"
            return Shape(kind, tuple((k, _shape(x)) for k, x in enumerate(elts)))
    return None


def _tag(e: gast.AST) -> None:
    """Tell what a list is that is returned."""
    if isinstance(e, (gast.List, gast.Tuple)):
        for x in e.elts:
            _tag(x)
        if isinstance(e, gast.List):
            setattr(e, SHAPE, _shape(e))


def _named(stmts: list[gast.AST], taken: set[str]) -> list[gast.AST]:
    """The statements with a name for each list of numbers that is returned alone."""
    out: list[gast.AST] = []
    for s in stmts:
        match s:
            case gast.Return(value=gast.List(elts=elts) as value) if elts:
                name = fresh("values", taken)
                made = assign([name_of(name, s, gast.Store())], value)
                out.append(gast.copy_location(made, s))
                s.value = name_of(name, value)
            case gast.FunctionDef() | gast.ClassDef():
                pass
            case _:
                for part in ("body", "orelse"):
                    inner = getattr(s, part, None)
                    if isinstance(inner, list):
                        setattr(s, part, _named(inner, taken))
        out.append(s)
    return out


# ------------------------------------------------------------------ which calls


def list_places(function: object) -> frozenset[int]:
    """Where in the tuple that a plain function returns there are lists that it makes;
    `ALONE` for one that is the whole result.
    """
    own, node = plain(function), definition_of(function)
    if own is None or node is None:
        return frozenset()
    look = partial(places_in, node, partial(stands_for, own))
    return looked(own, "list", look, frozenset())


def places_in(node: gast.AST, lookup: Lookup) -> frozenset[int]:
    """Where there are lists in what a definition returns: see `list_places`."""
    if not isinstance(node.body, list):
        found = _Made(node, lookup)
        return found.places(node.body)
    made = _Made(node, lookup)
    every = [made.places(r.value) for r in own_returns(node)]
    return frozenset().union(*every)


class _Made:
    """The names of lists in a definition."""

    def __init__(self, node: gast.AST, lookup: Lookup) -> None:
        self.node, self.lookup = node, lookup
        self.local = local_names(node)
        self.names: set[str] = set()
        self.found: dict[int, frozenset[int]] = {}
        while True:
            before = len(self.names)
            for n in nodes_of(node):
                if isinstance(n, gast.Assign):
                    for target in n.targets:
                        self._bound(target, n.value)
            if len(self.names) == before:
                break

    def _bound(self, target: gast.AST, value: gast.AST) -> None:
        match target:
            case gast.Name(id=name) if ALONE in self.places(value):
                self.names.add(name)
            case gast.Tuple(elts=elts):
                found = self.places(value)
                names = [e.id if isinstance(e, gast.Name) else "" for e in elts]
                self.names |= {n for k, n in enumerate(names) if k in found} - {""}

    def places(self, e: gast.AST | None) -> frozenset[int]:
        """Where there are lists in what an expression gives."""
        match e:
            case gast.List() | gast.ListComp():
                return frozenset([ALONE])
            case gast.Name(id=name) if name in self.names:
                return frozenset([ALONE])
            case gast.BinOp(left=left, right=right):
                return (self.places(left) | self.places(right)) & {ALONE}
            case gast.Subscript(value=value, slice=gast.Slice()):
                return self.places(value)
            case gast.IfExp(body=body, orelse=orelse):
                return self.places(body) | self.places(orelse)
            case gast.Tuple(elts=elts):
                found = [k for k, x in enumerate(elts) if ALONE in self.places(x)]
                return frozenset(found)
            case gast.Call():
                return self.called(e)
        return frozenset()

    def called(self, e: gast.Call) -> frozenset[int]:
        """Where there are lists in what a call gives."""
        made = getattr(e, DEFINITION, None)
        match e.func:
            case gast.Name(id=name) if name in self.local:
                inner = [f for f in functions_inside(self.node) if _name(f) == name]
                inner = inner if made is None else [made.node]
                if len(inner) != 1:
                    return frozenset()
                look = partial(_looked_up, self.local, self.lookup)
                return places_in(inner[0], look)
        found = object_named(e.func, self.local, self.lookup)
        if is_list_class(found):
            return frozenset([ALONE])
        own = plain(found)
        if own is None:
            return frozenset()
        if made is not None:
            return places_in(made.node, partial(stands_for, own))
        if id(found) not in self.found:
            self.found[id(found)] = list_places(found)
        return self.found[id(found)]


def _name(inner: gast.AST) -> str:
    return str(getattr(inner, "name", ""))


def _looked_up(local: frozenset[str], lookup: Lookup, name: str) -> object:
    return None if name in local else lookup(name)


# ------------------------------------------------------------------ their callers


def without_list_results(node: gast.AST, lookup: Lookup, helper: bool) -> gast.AST:
    """The definition, in which lists that helpers return are read element by element;
    where one is used in another way it stands in a list, which is refused.
    """
    found = _Results(node, lookup, helper)
    if not any(map(found.gives, nodes_of(node))):
        return node
    own = _Results(copy.deepcopy(node), lookup, helper)
    return own.visit(own.node)


class _Results(gast.NodeTransformer):  # type: ignore[misc]
    def __init__(self, node: gast.AST, lookup: Lookup, helper: bool) -> None:
        self.node, self.lookup, self.helper = node, lookup, helper
        self.local = local_names(node)
        self.made = _Made(node, lookup)
        self.taken = {*identifiers(node)}
        #: Names of lists that are returned.
        self.names: set[str] = set()

    def gives(self, e: gast.AST) -> bool:
        """Is it a call that gives lists of a function that makes them?"""
        if not isinstance(e, gast.Call):
            return False
        found = object_named(e.func, self.local, self.lookup)
        return not is_list_class(found) and bool(self.made.called(e))

    def alone(self, e: gast.AST) -> bool:
        """Is it a call that gives one list?"""
        return self.gives(e) and self.made.called(e) == {ALONE}

    def _refused(self, e: gast.AST) -> gast.AST:
        if hasattr(e, KNOWN):
            delattr(e, KNOWN)
        inner = gast.copy_location(gast.List([e], gast.Load()), e)
        return gast.copy_location(gast.List([inner], gast.Load()), e)

    def _only_read(self, name: str) -> bool:
        """Is a list only read? What is stored in one may change its dtype."""
        written = name in stored(self.node)
        return not written and reads_elements(self.node, name, self.lookup)

    def _returned_only(self, name: str) -> bool:
        """Is a name of a list returned, besides reads of elements?"""
        bare, found = copy.deepcopy(self.node), False
        for n in nodes_of(bare):
            if isinstance(n, gast.Return) and is_named(n.value, name):
                n.value, found = None, True
        written = name in stored(bare)
        return found and not written and reads_elements(bare, name, self.lookup)

    def visit_FunctionDef(self, node: gast.FunctionDef) -> gast.AST:
        """A function inside is read where it is called."""
        return self.generic_visit(node) if node is self.node else node

    def visit_Assign(self, node: gast.Assign) -> gast.AST | list[gast.AST]:
        """Names for lists."""
        if not self.gives(node.value):
            return self.generic_visit(node)
        node.targets = [self.visit(t) for t in node.targets]
        self._arguments(node.value)
        match node.targets:
            case [gast.Name(id=name)] if self.alone(node.value):
                if self._returned_only(name):
                    self.names.add(name)
                elif not self._only_read(name):
                    node.value = self._refused(node.value)
            case [gast.Tuple(elts=elts)] if self.alone(node.value):
                if any(isinstance(e, gast.Starred) for e in elts):
                    node.value = self._refused(node.value)
                else:
                    return self._unpacked(elts, node)
            case [gast.Tuple(elts=elts)]:
                names = [e.id if isinstance(e, gast.Name) else "" for e in elts]
                places = self.made.called(node.value)
                read = [
                    0 <= k < len(names) and names[k] and self._only_read(names[k])
                    for k in places
                ]
                if not all(read):
                    node.value = self._refused(node.value)
            case _:
                node.value = self._refused(node.value)
        return node

    def _unpacked(self, targets: list[gast.AST], at: gast.Assign) -> list[gast.AST]:
        """``a, b = f(x)``: a list of another length raises."""
        name = fresh("values", self.taken)
        whole = assign([name_of(name, ctx=gast.Store())], at.value)
        length = gast.Call(name_of("len"), [name_of(name)], [])
        count, out = gast.Constant(len(targets), None), [placed(whole, at)]
        many = f"too many values to unpack (expected {len(targets)})"
        for op, message in (
            (gast.Lt(), "not enough values to unpack"),
            (gast.Gt(), many),
        ):
            error = gast.Call(name_of("ValueError"), [gast.Constant(message, None)], [])
            test = gast.Compare(copy.deepcopy(length), [op], [copy.deepcopy(count)])
            made = gast.If(test, [gast.Raise(error, None)], [])
            out.append(placed(made, at))
        for k, target in enumerate(targets):
            value = gast.Subscript(name_of(name), gast.Constant(k, None), gast.Load())
            out.append(placed(assign([target], value), at))
        return out

    def visit_Return(self, node: gast.Return) -> gast.AST:
        """A list that is handed on."""
        e = node.value
        if e is None:
            return node
        if self.alone(e):
            self._arguments(e)
        elif self.helper and self.gives(e):
            self._arguments(e)
            return node
        elif getattr(e, "id", "") not in self.names:
            return self.generic_visit(node)
        if not self.helper:
            setattr(e, SHAPE, LIST)
        return node

    def visit_For(self, node: gast.For) -> gast.AST:
        """A loop over a list."""
        if not self.alone(node.iter):
            return self.generic_visit(node)
        self._arguments(node.iter)
        for part in ("body", "orelse"):
            new: list[gast.AST] = []
            for s in getattr(node, part):
                made = self.visit(s)
                new += made if isinstance(made, list) else [made]
            setattr(node, part, new)
        return node

    def visit_Subscript(self, node: gast.Subscript) -> gast.AST:
        """An element of a list."""
        whole = isinstance(node.slice, (gast.Slice, gast.Tuple))
        if self.alone(node.value) and not whole:
            self._arguments(node.value)
            node.slice = self.visit(node.slice)
            return node
        return self.generic_visit(node)

    def visit_Call(self, node: gast.Call) -> gast.AST:
        """A list that is an argument."""
        self._arguments(node)
        return self._refused(node) if self.gives(node) else node

    def _arguments(self, call: gast.Call) -> None:
        """What is given to a call, which is known to give lists if it does."""
        function = object_named(call.func, self.local, self.lookup)
        call.func = self.visit(call.func)
        new = []
        for k, a in enumerate(call.args):
            if self.alone(a) and takes_elements(function, k, call):
                self._arguments(a)
                new.append(a)
            else:
                new.append(self.visit(a))
        call.args = new
        call.keywords = [self.visit(k) for k in call.keywords]
        if self.gives(call):
            setattr(call, KNOWN, True)
