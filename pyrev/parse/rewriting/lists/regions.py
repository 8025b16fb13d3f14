"""Names that are given to several lists, one after the other, or to a list and then to
what is made of it.

``w = [...]`` in a block says what `w` is until the block ends or binds it again, as
``w = np.array(w)`` does. Where every mention of a name is in one such region, and no
region in another, each value gets a name of its own.
"""

from __future__ import annotations

import copy
from collections import Counter
from collections.abc import Iterator, Sequence

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
from pyrev.parse.rewriting.made_texts import Lookup, Renamed


def with_regions(node: gast.AST, lookup: Lookup) -> gast.AST:
    """The definition with a name for each value of a name that is given to a list and
    to others; itself if there is none.
    """
    times = Counter(bindings(node))
    local = local_names(node)
    own = {p.id for p in parameters(node)}
    given: Counter[str] = Counter()
    lists: Counter[str] = Counter()
    for s in nodes_of(node):
        name = _given(s)
        if name is not None and name not in own:
            given[name] += 1
            lists[name] += _is_list(s.value, local, lookup)
    names = [n for n, k in given.items() if lists[n] and 1 < k == times[n]]
    if not names:
        return node
    taken = {*identifiers(node)}
    for name in names:
        made = copy.deepcopy(node)
        blocks = [*_regions(made.body, name)]
        inside = [n for block in blocks for r in block for s in r for n in nodes_of(s)]
        every = [n for n in nodes_of(made) if _named(n, name)]
        # A statement in two regions is in them twice.
        if sum(_named(n, name) for n in inside) != len(every):
            continue
        if _renamed(blocks, name, lists[name] == given[name], taken):
            node = made
    return node


def _given(s: gast.AST) -> str | None:
    """The name that a statement gives to a value."""
    match s:
        case gast.Assign(targets=[gast.Name(id=name)]):
            return str(name)
    return None


def _is_list(value: gast.AST, local: frozenset[str], lookup: Lookup) -> bool:
    made = isinstance(value, gast.ListComp)
    return made or start_of(value, local, lookup) is not None


def _named(n: gast.AST, name: str) -> bool:
    return isinstance(n, gast.Name) and bool(n.id == name)


def _regions(stmts: Sequence[gast.AST], name: str) -> Iterator[list[list[gast.AST]]]:
    """The statements of the regions of each block."""
    regions: list[list[gast.AST]] = []
    for s in stmts:
        if _given(s) == name:
            regions.append([])
        if regions:
            regions[-1].append(s)
        for part in ("body", "orelse"):
            inner = getattr(s, part, None)
            if isinstance(inner, list):
                yield from _regions(inner, name)
    if regions:
        yield regions


def _renamed(
    blocks: Sequence[list[list[gast.AST]]], name: str, alike: bool, taken: set[str]
) -> bool:
    """Give each region a name of its own; the first keeps it where all values are
    `alike`, else the last. False if a value is made of what no region says.
    """
    kept = blocks[0][0] if alike else blocks[-1][-1]
    for regions in blocks:
        before = None
        for region in regions:
            new = name if region is kept else fresh(name, taken)
            first = region[0]
            if any(_named(n, name) for n in nodes_of(first.value)):
                if before is None:
                    return False
                first.value = Renamed({name: before}).visit(first.value)
            renamed = Renamed({name: new})
            first.targets = [renamed.visit(first.targets[0])]
            for s in region[1:]:
                renamed.generic_visit(s)
            before = new
    return True
