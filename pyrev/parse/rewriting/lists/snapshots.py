"""Names for lists that nobody changes any more.

``state = new`` gives a list another name. Where `state` is only read and nothing is
done to the list after, it is as good as a copy: ``state = new[:]``. Names of which each
value is such a list may be bound as often as one likes; a list that is made for one of
them gets a name of its own.
"""

from __future__ import annotations

import copy
from collections import Counter
from collections.abc import Sequence

import gast

from pyrev.ir.nodes import fresh
from pyrev.parse.bindings import (
    bindings,
    identifiers,
    local_names,
    nodes_of,
    parameters,
)
from pyrev.parse.rewriting.comprehensions import start_of
from pyrev.parse.rewriting.lists.uses import is_named, reads_elements
from pyrev.parse.rewriting.made_texts import Lookup, assign, name_of, placed


def with_snapshots(node: gast.AST, lookup: Lookup) -> gast.AST:
    """The definition with a copy for each list that gets such a name; itself if there
    is none.
    """
    names = _Snapshots(node, lookup).names()
    if not names:
        return node
    node = copy.deepcopy(node)
    taken = {*identifiers(node)}
    node.body = _copied(node.body, names, taken)
    return node


class _Snapshots:
    """Finds the names in a definition."""

    def __init__(self, node: gast.AST, lookup: Lookup) -> None:
        self.node, self.lookup = node, lookup
        self.local = local_names(node)
        self.times = Counter(bindings(node))
        self.values: dict[str, list[gast.AST]] = {}
        for n in nodes_of(node):
            match n:
                case gast.Assign(targets=[gast.Name(id=name)], value=value):
                    self.values.setdefault(name, []).append(value)

    def names(self) -> frozenset[str]:
        """The names of lists that are only read, one at least under two names."""
        own = {p.id for p in parameters(self.node)}
        return frozenset(
            name
            for name, values in self.values.items()
            if name not in own
            and self.times[name] == len(values)
            and any(isinstance(v, gast.Name) for v in values)
            and all(self._fits(name, v) for v in values)
            and not _changes(self.node, name)
            and reads_elements(self.node, name, self.lookup)
        )

    def _fits(self, name: str, value: gast.AST) -> bool:
        if not isinstance(value, gast.Name):
            return self._makes(value)
        other = value.id
        if other == name or self.times[other] != 1 or other not in self.values:
            return False
        return self._makes(self.values[other][0]) and self._settled(name, other)

    def _makes(self, value: gast.AST) -> bool:
        if isinstance(value, gast.ListComp):
            return True
        return start_of(value, self.local, self.lookup) is not None

    def _settled(self, name: str, other: str) -> bool:
        """Is a list changed only between where it is made and where it gets a name, in
        one block?
        """
        for n in nodes_of(self.node):
            for part in ("body", "orelse"):
                block = getattr(n, part, None)
                if not isinstance(block, list):
                    continue
                made = [k for k, s in enumerate(block) if _binds(s, other)]
                if not made:
                    continue
                given = [
                    k
                    for k, s in enumerate(block)
                    if _binds(s, name) and is_named(s.value, other)
                ]
                every = _changes(self.node, other)
                between = [
                    c
                    for s in block[made[0] : given[0] if given else 0]
                    for c in _changes(s, other)
                ]
                aliases = sum(
                    isinstance(v, gast.Name) and v.id == other
                    for values in self.values.values()
                    for v in values
                )
                return (
                    len(given) == 1
                    and made[0] < given[0]
                    and aliases == 1
                    and len(every) == len(between)
                )
        return False


def _binds(s: gast.AST, name: str) -> bool:
    return isinstance(s, gast.Assign) and is_named(s.targets[0], name)


def _changes(node: gast.AST, name: str) -> list[gast.AST]:
    """What is done to a list of this name."""
    found = []
    for n in nodes_of(node):
        match n:
            case gast.Call(func=gast.Attribute(value=base)) if is_named(base, name):
                found.append(n)
            case gast.Subscript(value=base, ctx=gast.Store()) if is_named(base, name):
                found.append(n)
            case gast.AugAssign(target=target) if is_named(target, name):
                found.append(n)
    return found


def _copied(
    stmts: Sequence[gast.AST], names: frozenset[str], taken: set[str]
) -> list[gast.AST]:
    out: list[gast.AST] = []
    for s in stmts:
        match s:
            case gast.Assign(targets=[gast.Name(id=name)], value=value) if (
                name in names
            ):
                if not isinstance(value, gast.Name):
                    own = fresh(f"{name}_list", taken)
                    made = assign([name_of(own, ctx=gast.Store())], value)
                    out.append(placed(gast.copy_location(made, s), s))
                    value = name_of(own, value)
                whole = gast.Slice(None, None, None)
                s.value = placed(gast.Subscript(value, whole, gast.Load()), value)
            case gast.FunctionDef() | gast.ClassDef():
                pass
            case _:
                for part in ("body", "orelse"):
                    inner = getattr(s, part, None)
                    if isinstance(inner, list):
                        setattr(s, part, _copied(inner, names, taken))
        out.append(s)
    return out
