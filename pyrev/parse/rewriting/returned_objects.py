"""Which object a definition returns, where that depends on the path: a parameter, or
an array that is new.

The program returns a copy in such a place, which carries the cotangent. Another text of
the definition, in which a number goes along with each name, returns the index of the
parameter that the name stands for, or -1: what it says before a call decides which
object the caller gets.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import gast

from pyrev.ir.nodes import fresh
from pyrev.parse.bindings import (
    bindings,
    children,
    identifiers,
    nodes_of,
    parameters,
)
from pyrev.parse.rewriting.made_texts import (
    assign,
    name_of,
    number_of,
    placed,
    stored_in,
)

#: What gives its argument back if that is an array (of the dtype that is asked for).
_SAME = frozenset(["asarray", "asanyarray", "ascontiguousarray", "atleast_1d"])


@dataclass(frozen=True, slots=True)
class Tracked:
    """The places among what a definition returns where the path decides whether it is a
    parameter, and the names that arrays take on the way there.
    """

    places: tuple[int, ...]
    names: frozenset[str]


def tracked(node: gast.AST, arrays: Sequence[int] | None = None) -> Tracked:
    """The results that are parameters on some paths, and something else on others; only
    those in the places `arrays` if that is given.

    >>> text = '''
    ... def f(x, c):
    ...     if c > 0.0:
    ...         x = x * c
    ...     return c, x
    ... '''
    >>> found = tracked(gast.parse(text).body[0])
    >>> found.places, sorted(found.names)
    ((1,), ['x'])
    """
    nothing = Tracked((), frozenset())
    if not isinstance(node, gast.FunctionDef):
        return nothing
    returns = [s for s in _own(node) if isinstance(s, gast.Return)]
    rows = [_elements(r.value) for r in returns]
    if not rows or len({len(row) for row in rows}) != 1:
        return nothing
    into = _sources(node)
    if into is None:
        return nothing
    given = {p.id for p in parameters(node)}
    places: list[int] = []
    names: set[str] = set()
    for k, column in enumerate(zip(*rows, strict=True)):
        reached = _closed({o for e in column for o in _origins(e)}, into)
        wanted = arrays is None or k in arrays
        if wanted and reached & given and len(reached) > 1:
            places.append(k)
            names |= {n for n in reached if n}
    return Tracked(tuple(places), frozenset(names))


def with_objects(node: gast.AST, what: Tracked) -> gast.AST:
    """The definition that returns which parameter each result of `what` is.

    >>> text = '''
    ... def f(x, c):
    ...     if c > 0.0:
    ...         x = x * c
    ...     return c, x
    ... '''
    >>> node = gast.parse(text).body[0]
    >>> print(gast.unparse(with_objects(node, tracked(node))).strip())
    def f(x, c):
        x_object = 0
        if c > 0.0:
            x_object = -1
            x = x * c
        return x_object
    """
    return _Objects(node, what).definition()


def _own(node: gast.AST) -> list[gast.AST]:
    """The nodes of a definition but those of functions inside it."""
    return [n for s in node.body for n in _outside(s)]


def _outside(node: gast.AST) -> list[gast.AST]:
    found = [node]
    inner = (gast.FunctionDef, gast.Lambda, gast.ClassDef)
    for n in found:
        if not isinstance(n, inner):
            found += children(n)
    return found


def _elements(value: gast.AST | None) -> list[gast.AST]:
    if isinstance(value, gast.Tuple):
        return list(value.elts)
    return [] if value is None else [value]


def _origins(e: gast.AST) -> list[str]:
    """The names of which this is the array; "" stands for any other."""
    match e:
        case gast.Name(id=name):
            return [name]
        case gast.IfExp(test=test, body=a, orelse=b) if _is_steady(test):
            return [*_origins(a), *_origins(b)]
        case gast.Call(func=gast.Attribute(value=gast.Name(), attr=attr), args=[a]):
            if attr in _SAME:
                return _origins(a)
    return [""]


def _is_steady(test: gast.AST) -> bool:
    """Does it say the same a second time, with nothing done?"""
    return not any(isinstance(n, (gast.Call, gast.NamedExpr)) for n in nodes_of(test))


def _pairs(s: gast.AST) -> list[tuple[str, gast.AST | None]]:
    """The names that an assignment binds, and their values; None for parts of one."""
    found: list[tuple[str, gast.AST | None]] = []
    targets = s.targets if isinstance(s, gast.Assign) else [s.target]
    for target in targets:
        match target:
            case gast.Name(id=name):
                found.append((name, s.value))
            case gast.Tuple(elts=into) | gast.List(elts=into):
                values = _elements(s.value)
                alike = isinstance(s.value, gast.Tuple) and len(values) == len(into)
                if any(isinstance(e, gast.Starred) for e in (*into, *values)):
                    alike = False
                for k, e in enumerate(into):
                    if isinstance(e, gast.Name):
                        found.append((e.id, values[k] if alike else None))
                    else:
                        found += [(n, None) for n in stored_in(e)]
    return found


def _sources(node: gast.AST) -> dict[str, set[str]] | None:
    """What each name may be bound to; None where some may be bound out of sight."""
    into: dict[str, set[str]] = {}
    for n in _own(node):
        match n:
            case gast.Global() | gast.Nonlocal() | gast.Delete() | gast.NamedExpr():
                return None
            case gast.Assign() | gast.AnnAssign(value=gast.AST()):
                for name, value in _pairs(n):
                    origins = [""] if value is None else _origins(value)
                    into.setdefault(name, set()).update(origins)
            case gast.For(target=target):
                for name in stored_in(target):
                    into.setdefault(name, set()).add("")
            case gast.FunctionDef() | gast.Lambda() | gast.ClassDef():
                if any(isinstance(i, gast.Nonlocal) for i in nodes_of(n)):
                    return None
    return into


def _closed(names: set[str], into: Mapping[str, set[str]]) -> set[str]:
    found = set(names)
    while True:
        more = {o for n in found for o in into.get(n, ())} - found
        if not more:
            return found
        found |= more


class _Objects:
    def __init__(self, node: gast.AST, what: Tracked) -> None:
        self.node, self.what = node, what
        taken = {*identifiers(node), *bindings(node)}
        self.of: dict[str, str] = {}
        for name in sorted(what.names):
            self.of[name] = fresh(f"{name}_object", taken)

    def definition(self) -> gast.AST:
        node = copy.copy(self.node)
        order = [p.id for p in parameters(node)]
        first = [
            _set([self.of[n]], [number_of(order.index(n) if n in order else -1)], node)
            for n in sorted(self.what.names)
        ]
        node.body = [*first, *self.block(node.body)]
        return node

    def block(self, stmts: Sequence[gast.AST]) -> list[gast.AST]:
        return [made for s in stmts for made in self.statement(s)]

    def statement(self, s: gast.AST) -> list[gast.AST]:
        match s:
            case gast.FunctionDef() | gast.ClassDef():
                return [s]
            case gast.Return():
                row = _elements(s.value)
                values = [self.object(row[k]) for k in self.what.places]
                made = copy.copy(s)
                made.value = (
                    values[0] if len(values) == 1 else gast.Tuple(values, gast.Load())
                )
                return [placed(made, s)]
            case gast.Assign() | gast.AnnAssign(value=gast.AST()):
                return [*self.moved(s), s]
        s = copy.copy(s)
        for part in ("body", "orelse"):
            inner = getattr(s, part, None)
            if isinstance(inner, list):
                setattr(s, part, self.block(inner))
        if isinstance(s, gast.For):
            new = [self.of[n] for n in stored_in(s.target) if n in self.of]
            ends = [_set([n], [number_of(-1)], s) for n in new]
            s.body = [*ends, *s.body]
        return [s]

    def moved(self, s: gast.AST) -> list[gast.AST]:
        pairs = [(n, v) for n, v in _pairs(s) if n in self.of]
        if not pairs:
            return []
        values = [number_of(-1) if v is None else self.object(v) for _, v in pairs]
        return [_set([self.of[n] for n, _ in pairs], values, s)]

    def object(self, e: gast.AST) -> gast.AST:
        match e:
            case gast.Name(id=name) if name in self.of:
                return name_of(self.of[name])
            case gast.IfExp(test=test) if _is_steady(test):
                a, b = self.object(e.body), self.object(e.orelse)
                return gast.IfExp(copy.deepcopy(test), a, b)
            case gast.Call(args=[a]) if _origins(e) != [""]:
                return self.object(a)
        return number_of(-1)


def _in_a_row(values: list[gast.AST]) -> gast.AST:
    return values[0] if len(values) == 1 else gast.Tuple(values, gast.Load())


def _set(names: list[str], values: list[gast.AST], at: gast.AST) -> gast.AST:
    stored = [name_of(n, ctx=gast.Store()) for n in names]
    target = stored[0] if len(names) == 1 else gast.Tuple(stored, gast.Store())
    return placed(assign([target], _in_a_row(values)), at)
