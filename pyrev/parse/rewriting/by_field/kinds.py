"""Which names of a definition are tuples, and which are lists of tuples.

A kind is found from what is bound to a name: ``p = (x, y)``, ``pts.append(p)``,
``for q in pts``. A name has one if everything that is bound to it has the same.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from itertools import chain

import gast

from pyrev.parse.bindings import (
    default_nodes,
    functions_inside,
    literal_integer,
    local_names,
    nodes_of,
    parameters,
)
from pyrev.parse.custom import rule_of
from pyrev.parse.grounds import lookup as stands_for
from pyrev.parse.rewriting.helper_texts import definition_of
from pyrev.parse.rewriting.made_texts import Lookup, object_named
from pyrev.parse.rewriting.structures.nodes import own_returns
from pyrev.parse.source import plain


@dataclass(frozen=True, slots=True)
class Pair:
    """A tuple of so many fields."""

    fields: tuple[Pair | Rows | None, ...]


@dataclass(frozen=True, slots=True)
class Rows:
    """A list of tuples; how many fields these have may not be known yet."""

    of: Pair | None


#: A list in which nothing was put yet.
OPEN = Rows(None)


def has_rows(kind: Pair | Rows | None) -> bool:
    """Is it a list of tuples, or a tuple with one in it?"""
    return isinstance(kind, Rows) or (
        isinstance(kind, Pair) and any(map(has_rows, kind.fields))
    )


def is_flat(kind: Pair | Rows | None) -> bool:
    """Is it a tuple of what are no tuples?"""
    return isinstance(kind, Pair) and all(f is None for f in kind.fields)


@dataclass(frozen=True, slots=True)
class Callee:
    """A function whose text is known: how its free names are looked up, and whether it
    is defined inside of the one that calls it.
    """

    node: gast.AST
    lookup: Lookup
    #: What tells a function from another one.
    key: object


#: What is bound to a name: asked again while more becomes known.
_Asked = Callable[[], "Pair | Rows | None"]


class Kinds:
    """The kinds of the names of a definition, and of expressions in it."""

    def __init__(
        self,
        node: gast.AST,
        lookup: Lookup,
        given: Mapping[str, Pair | Rows],
        banned: Collection[str],
        result: Callable[[Callee, Mapping[str, Pair | Rows]], Pair | Rows | None],
    ) -> None:
        self.node, self.lookup, self.result = node, lookup, result
        self.local = local_names(node)
        self.inner = {getattr(f, "name", ""): f for f in functions_inside(node)}
        self.given = given
        self.names: dict[str, Pair | Rows] = {}
        self._bound: dict[str, list[_Asked]] = {}
        for p in parameters(node):
            self._bind(p.id, partial(given.get, p.id))
        for s in self._statements(node):
            self._statement(s)
        self._find({*banned})

    # ------------------------------------------------------------ names

    def _statements(self, node: gast.AST) -> Iterator[gast.AST]:
        """The statements of the definition, functions inside apart."""
        for part in ("body", "orelse"):
            block = getattr(node, part, None)
            for s in block if isinstance(block, list) else ():
                if isinstance(s, (gast.FunctionDef, gast.ClassDef)):
                    self._bind(s.name, lambda: None)
                    continue
                yield s
                yield from self._statements(s)

    def _find(self, banned: set[str]) -> None:
        while True:
            self.names = {}
            self._grow(banned)
            bad = {n for n, k in self.names.items() if not self._fits(n, k)}
            if not bad:
                return
            banned |= bad

    def _grow(self, banned: set[str]) -> None:
        while True:
            before = dict(self.names)
            for name, asked in self._bound.items():
                if name in banned:
                    continue
                found = {k for ask in asked if (k := ask()) is not None and k != OPEN}
                if len(found) == 1:
                    (self.names[name],) = found
            if self.names == before:
                return

    def _fits(self, name: str, kind: Pair | Rows) -> bool:
        every = [ask() for ask in self._bound[name]]
        return all(k == kind or (k == OPEN and isinstance(kind, Rows)) for k in every)

    def _bind(self, name: str, ask: _Asked) -> None:
        self._bound.setdefault(name, []).append(ask)

    def _statement(self, s: gast.AST) -> None:
        match s:
            case gast.Assign(targets=targets, value=value):
                for target in targets:
                    self._target(target, partial(self.of, value), value)
            case gast.AugAssign(target=gast.Name(id=name), value=value):
                self._bind(name, partial(self._more, value))
            case gast.For(target=target, iter=it):
                self._target(target, partial(self.item, it), None)
            case gast.Expr(value=gast.Call(func=func, args=[value])):
                match func:
                    case gast.Attribute(value=gast.Name(id=name), attr="append"):
                        self._bind(name, partial(self._appended, value))
            case gast.With() | gast.Try() | gast.Delete() | gast.Global():
                for n in nodes_of(s):
                    if isinstance(n, gast.Name):
                        self._bind(n.id, lambda: None)
        for n in nodes_of(s):
            if isinstance(n, gast.NamedExpr):
                self._target(n.target, lambda: None, None)

    def _target(self, target: gast.AST, ask: _Asked, value: gast.AST | None) -> None:
        match target:
            case gast.Name(id=name):
                self._bind(name, ask)
            case gast.Tuple(elts=elts) | gast.List(elts=elts):
                each: list[gast.AST | None] = [None] * len(elts)
                if isinstance(value, gast.Tuple) and len(value.elts) == len(elts):
                    each = list(value.elts)
                for k, (t, v) in enumerate(zip(elts, each, strict=True)):
                    part = partial(self._part, ask, k, len(elts))
                    self._target(t, part if v is None else partial(self.of, v), v)
            case gast.Starred(value=inner):
                self._target(inner, lambda: None, None)
            case gast.Subscript(value=gast.Name(id=name), slice=index):
                if not isinstance(index, (gast.Slice, gast.Tuple)):
                    self._bind(name, partial(self._stored, name, ask))

    def _part(self, ask: _Asked, k: int, count: int) -> Pair | Rows | None:
        found = ask()
        if isinstance(found, Pair) and len(found.fields) == count:
            return found.fields[k]
        return None

    def _appended(self, value: gast.AST) -> Pair | Rows | None:
        found = self.of(value)
        return Rows(found) if isinstance(found, Pair) else None

    def _stored(self, name: str, ask: _Asked) -> Pair | Rows | None:
        """What it says of a list that a tuple is stored in it: an array stays one."""
        found = ask()
        known = isinstance(self.names.get(name), Rows)
        return Rows(found) if known and isinstance(found, Pair) else None

    def _more(self, value: gast.AST) -> Pair | Rows | None:
        """``pts += [(a, b)]``"""
        found = self.of(value)
        return found if isinstance(found, Rows) else None

    # ------------------------------------------------------------ expressions

    def of(self, e: gast.AST | None) -> Pair | Rows | None:
        """The kind of an expression."""
        match e:
            case gast.Name(id=name):
                return self.names.get(name)
            case gast.Tuple(elts=elts):
                if not elts or any(isinstance(x, gast.Starred) for x in elts):
                    return None
                return Pair(tuple(map(self.of, elts)))
            case gast.List(elts=elts):
                kinds = {*map(self.of, elts)}
                if not kinds:
                    return OPEN
                one = kinds.pop()
                return Rows(one) if not kinds and isinstance(one, Pair) else None
            case gast.IfExp(body=body, orelse=orelse):
                one = self.of(body)
                return one if one == self.of(orelse) else None
            case gast.Subscript(value=value, slice=index):
                return self._subscript(self.of(value), index)
            case gast.Call():
                return self._call(e)
        return None

    def _subscript(
        self, whole: Pair | Rows | None, index: gast.AST
    ) -> Pair | Rows | None:
        if isinstance(whole, Rows):
            if isinstance(index, gast.Slice):
                return whole
            return None if isinstance(index, gast.Tuple) else whole.of
        k = literal_integer(index)
        if isinstance(whole, Pair) and k is not None:
            if -len(whole.fields) <= k < len(whole.fields):
                return whole.fields[k]
        return None

    def _call(self, e: gast.Call) -> Pair | Rows | None:
        match e:
            case gast.Call(
                func=gast.Attribute(value=base, attr="pop" | "copy" as attr),
                keywords=[],
            ):
                whole = self.of(base)
                if isinstance(whole, Rows):
                    return whole.of if attr == "pop" else whole
        found = object_named(e.func, self.local, self.lookup)
        if found in (min, max) and found is not None and not e.keywords:
            kinds = {*map(self.of, e.args)}
            one = kinds.pop() if len(kinds) == 1 else None
            if isinstance(one, Rows) and len(e.args) == 1:
                return one.of
            return one if isinstance(one, Pair) and len(e.args) > 1 else None
        if (found is list or found is sorted) and len(e.args) == 1 and not e.keywords:
            one = self.of(e.args[0])
            return one if isinstance(one, Rows) else None
        callee = self.callee(e)
        if callee is None:
            return None
        return self.result(callee, self.arguments(callee, e))

    def callee(self, e: gast.Call) -> Callee | None:
        """The function that a call is of, if its text can be read."""
        match e.func:
            case gast.Name(id=name) if name in self.local:
                node = self.inner.get(name)
                if node is None or isinstance(node, gast.Lambda):
                    return None
                return Callee(node, partial(_seen, self.local, self.lookup), node)
        function = object_named(e.func, self.local, self.lookup)
        own = plain(function) if callable(function) else None
        node = None if own is None else definition_of(own)
        if own is None or node is None or rule_of(function) is not None:
            return None
        return Callee(node, partial(stands_for, own), own)

    def arguments(self, callee: Callee, e: gast.Call) -> dict[str, Pair | Rows]:
        """The kinds of the parameters in a call."""
        spec = callee.node.args
        positional = [p.id for p in [*spec.posonlyargs, *spec.args]]
        if any(isinstance(a, gast.Starred) for a in e.args):
            return {}
        given = chain(
            zip(positional, e.args, strict=False),
            ((k.arg, k.value) for k in e.keywords if k.arg is not None),
        )
        plain_ = {p.id for p in parameters(callee.node)} - {*default_nodes(callee.node)}
        found = {n: self.of(a) for n, a in given if n in plain_}
        return {n: k for n, k in found.items() if k is not None and k != OPEN}

    def item(self, it: gast.AST) -> Pair | Rows | None:
        """The kind of what a loop over an expression gives."""
        match it:
            case gast.Call(func=func, args=args, keywords=[]) if args:
                found = object_named(func, self.local, self.lookup)
                if found is enumerate:
                    return Pair((None, self.item(args[0])))
                if found is zip:
                    return Pair(tuple(map(self.item, args)))
                if found is reversed:
                    return self.item(args[0])
        whole = self.of(it)
        if isinstance(whole, Rows):
            return whole.of
        if isinstance(whole, Pair):
            kinds = {*whole.fields}
            return kinds.pop() if len(kinds) == 1 else None
        return None


def _seen(local: Collection[str], lookup: Lookup, name: str) -> object:
    """What a function inside sees under a name: what is around it is not known."""
    return None if name in local else lookup(name)


def returned(kinds: Kinds) -> Pair | Rows | None:
    """The kind of what the definition returns, if it is the same on every path."""
    every = [kinds.of(r.value) for r in own_returns(kinds.node)]
    found = {k for k in every if k != OPEN}
    if len(found) != 1:
        return None
    (one,) = found
    known = isinstance(one, Rows) or OPEN not in every
    return one if known else None
