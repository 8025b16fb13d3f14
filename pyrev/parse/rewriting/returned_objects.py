"""Which object a definition returns, where that depends on the path: a parameter, or
an array that is new.

The program returns a copy in such a place, which carries the cotangent. Another text of
the definition, in which a number goes along with each name, returns the index of the
parameter that the name stands for, or -1: what it says before a call decides which
object the caller gets.
"""

from __future__ import annotations

import copy
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

import gast

from pyrev.ir.nodes import fresh
from pyrev.parse.bindings import (
    bindings,
    children,
    identifiers,
    local_names,
    nodes_of,
    parameters,
)
from pyrev.parse.rewriting.made_texts import (
    Lookup,
    assign,
    name_of,
    number_of,
    placed,
    stored_in,
)
from pyrev.parse.rewriting.returning_helpers import called_again, code_name, given

#: What gives its argument back if that is an array (of the dtype that is asked for).
_SAME = frozenset(["asarray", "asanyarray", "ascontiguousarray", "atleast_1d"])
#: What stands for any other array, and for one that may be any argument of a helper.
_OTHER, _UNTOLD = "", "?"
#: Helpers of helpers that are looked into.
_DEPTH = 4


def _nothing(_: str) -> object:
    return None


@dataclass(frozen=True, slots=True)
class Tracked:
    """The places among what a definition returns where the path decides whether it is a
    parameter, and the names that arrays take on the way there.
    """

    places: tuple[int, ...]
    names: frozenset[str]
    #: Those of which a helper decides, and does not tell.
    untold: tuple[int, ...] = ()


def tracked(
    node: gast.AST,
    arrays: Sequence[int] | None = None,
    lookup: Lookup = _nothing,
) -> Tracked:
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
    reading = _Reading(node, lookup)
    if not reading.rows or reading.into is None:
        return nothing
    given_ = {p.id for p in parameters(node)}
    places: list[int] = []
    untold: list[int] = []
    names: set[str] = set()
    for k in range(len(reading.rows[0])):
        if arrays is not None and k not in arrays:
            continue
        reached = reading.reached(k)
        if _UNTOLD in reached:
            untold.append(k)
        elif reached & given_ and len(reached) > 1:
            places.append(k)
            names |= reached - {_OTHER}
    return Tracked(tuple(places), frozenset(names), tuple(untold))


def with_objects(node: gast.AST, what: Tracked, lookup: Lookup = _nothing) -> gast.AST:
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
    return _Objects(_Reading(node, lookup), what.places, what.names).definition()


class _Reading:
    """Where the arrays come from that a definition returns, and that its names have."""

    def __init__(self, node: gast.AST, lookup: Lookup, depth: int = 0) -> None:
        self.node, self.lookup, self.depth = node, lookup, depth
        self.local = local_names(node)
        returns = [s for s in _own(node) if isinstance(s, gast.Return)]
        rows = [_elements(r.value) for r in returns]
        #: What is returned, on each path as many: none where that differs.
        self.rows = rows if len({len(row) for row in rows}) == 1 else []
        self.into = self._sources()

    def reached(self, place: int) -> set[str]:
        """The names of which a result may be the array."""
        found = {o for row in self.rows for o in self.origins(row[place])}
        assert self.into is not None
        while True:
            more = {o for n in found for o in self.into.get(n, ())} - found
            if not more:
                return found
            found |= more

    def origins(self, e: gast.AST, place: int | None = None) -> list[str]:
        """The names of which this is the array, or which has it at a `place`."""
        match e:
            case gast.Name(id=name) if place is None:
                return [name]
            case gast.IfExp(test=test, body=a, orelse=b) if _is_steady(test):
                return [*self.origins(a, place), *self.origins(b, place)]
            case gast.Call(func=gast.Attribute(value=gast.Name(), attr=attr), args=[a]):
                if attr in _SAME and place is None:
                    return self.origins(a)
            case gast.Call(func=gast.Name()):
                return [*self._given_back(e, place)]
        return [_OTHER]

    def _given_back(self, call: gast.Call, place: int | None) -> set[str]:
        """The names of which a helper may give the array back."""
        followed = self.followed(call, place)
        if followed is None:
            return {_OTHER}
        helper = given(call, self.local, self.lookup)
        assert helper is not None
        names, other = followed
        found = {_OTHER} if other or _UNTOLD in names else set()
        every = [a for n, a in helper.arguments.items() if {n, _UNTOLD} & names]
        back = {o for a in every for o in self.origins(a)} - {_OTHER}
        if back and (helper.unknown or _UNTOLD in names or self.depth > _DEPTH):
            return {_UNTOLD}
        return found | back

    def followed(
        self, call: gast.Call, place: int | None
    ) -> tuple[set[str], bool] | None:
        """The parameters that the helper which is called may give back, and whether
        that may be something else; None for no helper, and for one that gives none.
        """
        helper = given(call, self.local, self.lookup)
        if helper is None or self.depth > _DEPTH:
            return None
        inner = _Reading(helper.node, helper.lookup, self.depth + 1)
        if not inner.rows or inner.into is None:
            return None
        if (len(inner.rows[0]) == 1) is not (place is None):
            return None
        if place is not None and place >= len(inner.rows[0]):
            return None
        reached = inner.reached(place or 0)
        names = reached & ({p.id for p in parameters(helper.node)} | {_UNTOLD})
        return (names, reached > names) if names else None

    def pairs(self, s: gast.AST) -> list[tuple[str, gast.AST | None, int | None]]:
        """The names that an assignment binds, with their values, and the places in
        these; None for parts of one.
        """
        found: list[tuple[str, gast.AST | None, int | None]] = []
        for target in s.targets:
            match target:
                case gast.Name(id=name):
                    found.append((name, s.value, None))
                case gast.Tuple(elts=into) | gast.List(elts=into):
                    found += self._elementwise(into, s.value)
        return found

    def _elementwise(
        self, into: Sequence[gast.AST], value: gast.AST
    ) -> Iterator[tuple[str, gast.AST | None, int | None]]:
        values = _elements(value)
        alike = isinstance(value, gast.Tuple) and len(values) == len(into)
        called = isinstance(value, gast.Call)
        if any(isinstance(e, gast.Starred) for e in (*into, *values)):
            alike = called = False
        for k, e in enumerate(into):
            if not isinstance(e, gast.Name):
                yield from ((n, None, None) for n in stored_in(e))
            elif alike:
                yield e.id, values[k], None
            else:
                yield e.id, value if called else None, k

    def _sources(self) -> dict[str, set[str]] | None:
        """What each name may be bound to; None where some may be bound out of sight."""
        into: dict[str, set[str]] = {}
        for n in _own(self.node):
            match n:
                case gast.Global() | gast.Nonlocal() | gast.Delete() | gast.NamedExpr():
                    return None
                case gast.Assign():
                    for name, value, place in self.pairs(n):
                        origins = [_OTHER]
                        if value is not None:
                            origins = self.origins(value, place)
                        into.setdefault(name, set()).update(origins)
                case gast.For(target=target):
                    for name in stored_in(target):
                        into.setdefault(name, set()).add(_OTHER)
                case gast.FunctionDef() | gast.Lambda() | gast.ClassDef():
                    if any(isinstance(i, gast.Nonlocal) for i in nodes_of(n)):
                        return None
        return into


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


def _is_steady(test: gast.AST) -> bool:
    """Does it say the same a second time, with nothing done?"""
    return not any(isinstance(n, (gast.Call, gast.NamedExpr)) for n in nodes_of(test))


class _Objects:
    """Writes the definition that returns which objects its results are: `codes` are the
    names that have that of a parameter from outside.
    """

    def __init__(
        self,
        reading: _Reading,
        places: Sequence[int],
        names: Collection[str],
        codes: Mapping[str, str] | None = None,
    ) -> None:
        self.reading, self.node = reading, reading.node
        self.places, self.given = places, codes
        self.taken = {*identifiers(self.node), *bindings(self.node)}
        self.of: dict[str, str] = {}
        for name in sorted(names):
            own = None if codes is None else codes.get(name)
            self.of[name] = own or fresh(f"{name}_object", self.taken)
        #: The second definitions of helpers.
        self.twins: list[gast.AST] = []

    def definition(self) -> gast.AST:
        node = copy.copy(self.node)
        order = [p.id for p in parameters(node)]
        first = []
        for n in sorted(self.of):
            if self.given is None or n not in self.given:
                inside = n in order and self.given is None
                code = number_of(order.index(n) if inside else -1)
                first.append(_set([self.of[n]], [code], node))
        body = self.block(node.body)
        node.body = [*self.twins, *first, *body]
        return node

    def block(self, stmts: Sequence[gast.AST]) -> list[gast.AST]:
        return [made for s in stmts for made in self.statement(s)]

    def statement(self, s: gast.AST) -> list[gast.AST]:
        match s:
            case gast.FunctionDef() | gast.ClassDef():
                return [s]
            case gast.Return():
                row = _elements(s.value)
                values = [self.object(row[k]) for k in self.places]
                made = copy.copy(s)
                made.value = (
                    values[0] if len(values) == 1 else gast.Tuple(values, gast.Load())
                )
                return [placed(made, s)]
            case gast.Assign():
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
        pairs = [pair for pair in self.reading.pairs(s) if pair[0] in self.of]
        if not pairs:
            return []
        values = [
            number_of(-1) if v is None else self.object(v, place)
            for _, v, place in pairs
        ]
        return [_set([self.of[n] for n, *_ in pairs], values, s)]

    def object(self, e: gast.AST, place: int | None = None) -> gast.AST:
        match e:
            case gast.Name(id=name) if name in self.of and place is None:
                return name_of(self.of[name])
            case gast.IfExp(test=test) if _is_steady(test):
                a, b = self.object(e.body, place), self.object(e.orelse, place)
                return gast.IfExp(copy.deepcopy(test), a, b)
            case gast.Call(func=gast.Name()):
                return self.given_back(e, place)
            case gast.Call(args=[a]) if self.reading.origins(e) != [_OTHER]:
                return self.object(a)
        return number_of(-1)

    def given_back(self, call: gast.Call, place: int | None) -> gast.AST:
        """Which object a helper gives back: a call of its second definition."""
        helper = given(call, self.reading.local, self.reading.lookup)
        followed = self.reading.followed(call, place)
        if helper is None or helper.unknown or followed is None:
            return number_of(-1)
        inner = _Reading(helper.node, helper.lookup, self.reading.depth + 1)
        names = inner.reached(place or 0) - {_OTHER, _UNTOLD}
        order = [p.id for p in parameters(helper.node)]
        codes = {p: code_name(p) for p in order if p in names}

        made = _Objects(inner, (place or 0,), names, codes).definition()
        made.name = fresh(f"{helper.node.name}_object", self.taken)
        made.args = copy.deepcopy(helper.node.args)
        made.args.kwonlyargs += [name_of(c, made, gast.Param()) for c in codes.values()]
        made.args.kw_defaults += [number_of(-1) for _ in codes]
        self.twins.append(placed(made, helper.node))
        given_ = {p: self.object(a) for p, a in helper.arguments.items() if p in codes}
        return called_again(call, helper, made.name, given_)


def _in_a_row(values: list[gast.AST]) -> gast.AST:
    return values[0] if len(values) == 1 else gast.Tuple(values, gast.Load())


def _set(names: list[str], values: list[gast.AST], at: gast.AST) -> gast.AST:
    stored = [name_of(n, ctx=gast.Store()) for n in names]
    target = stored[0] if len(names) == 1 else gast.Tuple(stored, gast.Store())
    return placed(assign([target], _in_a_row(values)), at)
