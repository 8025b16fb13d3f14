"""The versions of a name: what one name of Python's stands for, one after the other.

A name may hold a float, later an integer, later an array; a variable of the program
holds one of them. Bindings that may reach one use must share a variable: they are a
web (Muchnick, *Advanced Compiler Design and Implementation*, section 16.3.3), and a
web is a version. Versions of one name have nothing to do with each other.
"""

from __future__ import annotations

import copy
from collections.abc import Iterable, Mapping, Set

import gast

from pyrev.ir.nodes import fresh
from pyrev.parse.bindings import children, identifiers, nodes_of, parameters
from pyrev.parse.rewriting.control import LEAVE

#: The bindings of each name that may have given it its value.
Reaching = Mapping[str, frozenset[int]]


def versioned(node: gast.AST, names: Set[str] | None) -> gast.AST:
    """The definition `node`, without jumps, with a name for each version of `names`.

    None stands for all. The first version in the text, or a parameter's, keeps the
    name. What a function inside reads keeps it too, since that may be called at any
    time. Names depend on the definition alone. Itself if there is nothing to split.
    """
    if not isinstance(getattr(node, "body", None), list):
        return node
    if names is not None and names.isdisjoint(identifiers(node)):
        return node
    node, taken = copy.deepcopy(node), {*identifiers(node)}
    for name, versions in _Webs(node).found().items():
        for version in versions[1:] if names is None or name in names else ():
            other = fresh(name, taken)
            for place in version:
                place.id = other
    return node


class _Webs:
    """The bindings of a definition, united where they reach one use."""

    def __init__(self, node: gast.AST) -> None:
        self.definition = node
        #: The places of each binding and of what reads it; for each its web.
        self.places: list[list[gast.Name]] = []
        self.web: list[int] = []
        self.bound: dict[int, int] = {}
        self.fixed = _fixed(node)
        now: Reaching = {}
        for parameter in parameters(node):
            now = {**now, parameter.id: frozenset({self.binding(parameter)})}
        self.block(node.body, now)

    def found(self) -> dict[str, list[list[gast.Name]]]:
        """The places of each version of a name, for names of several."""
        webs: dict[str, dict[int, list[gast.Name]]] = {}
        for k, places in enumerate(self.places):
            name = places[0].id
            if name not in self.fixed:
                webs.setdefault(name, {}).setdefault(self.root(k), []).extend(places)
        return {n: [*w.values()] for n, w in webs.items() if len(w) > 1}

    def root(self, k: int) -> int:
        """The web that binding `k` belongs to."""
        while self.web[k] != k:
            k = self.web[k]
        return k

    def binding(self, place: gast.Name) -> int:
        """The number of the binding at `place`, however often it is come to."""
        if id(place) not in self.bound:
            self.bound[id(place)] = len(self.places)
            self.web.append(len(self.places))
            self.places.append([place])
        return self.bound[id(place)]

    def use(self, place: gast.Name, now: Reaching) -> None:
        """A read: what may have given the value is one web."""
        reaching = sorted(map(self.root, now.get(place.id, ())))
        if not reaching:
            # Of no binding before it: Python raises, or it is a name from around.
            self.fixed.add(place.id)
            return
        for k in reaching[1:]:
            self.web[self.root(k)] = self.root(reaching[0])
        places = self.places[reaching[0]]
        if not any(p is place for p in places):
            places.append(place)

    def reads(self, node: gast.AST | None, now: Reaching) -> None:
        """All names in an expression."""
        if isinstance(node, gast.Name):
            if isinstance(node.ctx, gast.Load):
                self.use(node, now)
            return
        if node is not None:
            for child in children(node):
                self.reads(child, now)

    def store(self, target: gast.AST, now: Reaching) -> Reaching:
        """What reaches behind an assignment to `target`."""
        match target:
            case gast.Name(id=name):
                return {**now, name: frozenset({self.binding(target)})}
            case gast.Tuple(elts=elements) | gast.List(elts=elements):
                for element in elements:
                    now = self.store(element, now)
                return now
        self.reads(target, now)
        return now

    def block(self, body: Iterable[gast.AST], now: Reaching) -> Reaching:
        """What reaches behind statements."""
        for s in body:
            now = self.statement(s, now)
        return now

    def statement(self, s: gast.AST, now: Reaching) -> Reaching:
        """What reaches behind a statement."""
        match s:
            case gast.Assign(targets=targets, value=value):
                self.reads(value, now)
                for target in targets:
                    now = self.store(target, now)
            case gast.AnnAssign():  # which binds nothing
                pass
            case gast.AugAssign(target=gast.Name() as target, value=value):
                # It may change an array in place: the name goes on standing for it.
                self.use(target, now)
                self.reads(value, now)
                united = {self.binding(target), *now.get(target.id, ())}
                first = min(map(self.root, united))
                for k in united:
                    self.web[self.root(k)] = first
                now = {**now, target.id: frozenset({self.binding(target)})}
            case gast.If(test=test, body=then, orelse=other):
                self.reads(test, now)
                now = _join(self.block(then, now), self.block(other, now))
            case gast.For(target=target, iter=head, body=body):
                self.reads(head, now)
                while (
                    after := _join(now, self.block(body, self.store(target, now)))
                ) != now:
                    now = after
            case gast.While(test=test, body=body):
                self.reads(test, now)
                while (after := _join(now, self.block(body, now))) != now:
                    now = after
                    self.reads(test, now)
            case _:
                for child in children(s):
                    self.reads(child, now)
        return now


def _join(one: Reaching, other: Reaching) -> Reaching:
    none: frozenset[int] = frozenset()
    return {n: one.get(n, none) | other.get(n, none) for n in {**one, **other}}


def _fixed(definition: gast.AST) -> set[str]:
    """The names of flags, of functions, and of what functions inside read."""
    found: set[str] = set()
    for node in nodes_of(definition):
        found |= set(getattr(node, LEAVE, ()))
        if node is definition:
            continue
        if isinstance(node, (gast.FunctionDef, gast.Lambda)):
            found |= {n.id for n in nodes_of(node) if isinstance(n, gast.Name)}
        if isinstance(node, gast.FunctionDef):
            found.add(node.name)
    return found
