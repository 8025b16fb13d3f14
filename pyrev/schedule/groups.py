"""Which statements of a nest may be loops of their own, and in which order.

Statements that must stay interleaved form one group; all increments of one array that
order nothing among themselves form another, a *scatter*, which may be turned round.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from heapq import heappop, heappush

from pyrev.analysis.dependence import Leaf, Region
from pyrev.ir.nodes import (
    Add,
    Alloc,
    Block,
    Check,
    Extent,
    For,
    Grow,
    Load,
    Var,
    exprs,
    walk_expr,
)
from pyrev.schedule.restrict import restrict


@dataclass(frozen=True)
class Group:
    """Some leaves of a nest; `target` is the array they all increment, or None.

    `shared` are names of the other groups, which are not private to an iteration.
    """

    nest: Block
    leaves: tuple[Leaf, ...]
    target: str | None
    shared: frozenset[str]


def distribute(
    nest: For,
    outer: tuple[For, ...] = (),
    live_out: frozenset[str] = frozenset(),
    integers: frozenset[str] = frozenset(),
) -> tuple[Group, ...]:
    """The groups of `nest`, in an order that keeps every dependence.

    Law: running the groups one after the other computes what the nest computes; the
    order of increments of one element may differ. It does not expand scalars: what
    shares a private scalar or a local array stays together.

    >>> from pyrev.parse import parse_block
    >>> from pyrev.ir.text import block_text
    >>> (nest,) = parse_block('''
    ... for i in range(1, n):
    ...     d_a[i - 1] += d_b[i]
    ...     d_b[i] = 0.0
    ... ''')
    >>> for group in distribute(nest, live_out=frozenset({"d_a", "d_b"})):
    ...     print(group.target, block_text(group.nest))
    d_a for i in range(1, n):
        d_a[i - 1] += d_b[i]
    None for i in range(1, n):
        d_b[i] = 0.0
    """
    region = Region((nest,), live_out, outer, integers)
    leaves = region.leaves
    edges = _edges(region)
    joined: set[str] = set()
    incremented: dict[str, list[int]] = {}
    for k, leaf in enumerate(leaves):
        if array := _added(leaf):
            incremented.setdefault(array, []).append(k)
    after = _after(leaves, edges)
    parts = _components(leaves, after, joined)
    for array, own in incremented.items():
        if any((i, j) in edges for i in own for j in own):
            continue
        trial = parts
        if len(own) > 1:  # one alone is held together as it is
            trial = _components(leaves, after, joined | {array})
        if tuple(own) in trial:
            joined.add(array)
            parts = trial
    names = {leaf.number: _shared(region, leaf) for leaf in leaves}
    users = Counter(name for found in names.values() for name in found)
    groups = []
    for part in _ordered(parts, edges):
        members = {leaves[k].number for k in part}
        targets = {_added(leaves[k]) for k in part}
        (target,) = targets if len(targets) == 1 else (None,)
        if target is not None and any((i, j) in edges for i in part for j in part):
            target = None
        groups.append(
            Group(
                restrict((nest,), members),
                tuple(leaves[k] for k in part),
                target,
                _others(users, [names[leaves[k].number] for k in part]),
            )
        )
    return tuple(groups)


def merge(nest: For, groups: Sequence[Group]) -> Group:
    """Neighbouring groups as one, its statements in their original order."""
    leaves = tuple(
        sorted((leaf for g in groups for leaf in g.leaves), key=lambda s: s.number)
    )
    shared = frozenset(name for g in groups for name in g.shared)
    return Group(restrict((nest,), {s.number for s in leaves}), leaves, None, shared)


def _shared(region: Region, leaf: Leaf) -> frozenset[str]:
    return frozenset(
        a.name for a in leaf.accesses if not region.private_depth(leaf, a.name)
    )


def _others(users: Counter[str], own: Sequence[frozenset[str]]) -> frozenset[str]:
    """The names that other leaves than these use, by how many leaves use each."""
    here = Counter(name for found in own for name in found)
    return frozenset(name for name, count in users.items() if count > here[name])


def _added(leaf: Leaf) -> str | None:
    match leaf.stmt:
        case Add(Load(array, _), _):
            return array
        case Add(Var(name), _):
            return name
        case _:
            return None


def _edges(region: Region) -> frozenset[tuple[int, int]]:
    """Pairs (i, j): leaf i must stay before leaf j, in some of their instances.

    Of leaves that share what is private to an iteration there are rings.
    """
    found = set()
    place = {leaf.number: k for k, leaf in enumerate(region.leaves)}
    together = _Together(region)
    for i, s in enumerate(region.leaves):
        beside = together.of(s)
        for t in region.partners(s):
            if t.number in beside and t is not s:
                continue
            j = place[t.number]
            if region.depends(s, t) or (i < j and _sets(region, s, t)):
                found.add((i, j))
    for tied in (*together.groups(), *_tied(region), *_of_made(region)):
        members = [place[leaf.number] for leaf in tied]
        found |= set(zip(members, [*members[1:], members[0]], strict=True))
    return frozenset(found)


class _Together:
    """The leaves that use a name which is private to an iteration of a common loop."""

    def __init__(self, region: Region) -> None:
        self._region = region
        self._groups: dict[tuple[str, int], dict[int, Leaf]] = {}

    def of(self, leaf: Leaf) -> frozenset[int]:
        """The numbers of those that share such a name with a leaf."""
        found: set[int] = set()
        for name in self._region.changed(leaf):
            if depth := self._region.private_depth(leaf, name):
                found.update(self._group(name, depth, leaf.loops[depth - 1].number))
        return frozenset(found)

    def _group(self, name: str, depth: int, loop: int) -> dict[int, Leaf]:
        if (name, loop) not in self._groups:
            self._groups[name, loop] = {
                t.number: t
                for t in self._region.touching()[name]
                if t.depth >= depth and t.loops[depth - 1].number == loop
            }
        return self._groups[name, loop]

    def groups(self) -> list[list[Leaf]]:
        """The groups of more than one that were met."""
        every = [[*group.values()] for group in self._groups.values()]
        return [group for group in every if len(group) > 1]


def _sets(region: Region, s: Leaf, t: Leaf) -> bool:
    """Does `s` assign a scalar that `t` names?

    Where neither ever runs there is no dependence, and yet a reader, or a compiler,
    wants to see a value before its use.
    """
    there = region.changed(t)
    return any(
        a.kind != "read" and a.index == () and a.name in there for a in s.accesses
    )


def _tied(region: Region) -> list[list[Leaf]]:
    """Leaves that stay in one loop: what may end it, and what a `Check` guards."""
    if any(isinstance(leaf.stmt, Check) for leaf in region.leaves):
        return [list(region.leaves)] if len(region.leaves) > 1 else []
    by_loop: dict[int, list[Leaf]] = {}
    for leaf in region.leaves:
        first = next((at.number for at in leaf.loops if at.early), None)
        if first is not None:
            by_loop.setdefault(first, []).append(leaf)
    return [leaves for leaves in by_loop.values() if len(leaves) > 1]


def _of_made(region: Region) -> list[list[Leaf]]:
    """What makes an array in a loop, and what uses it there, if only to measure it."""
    found: list[list[Leaf]] = []
    makers: dict[str, list[Leaf]] = {}
    for leaf in region.leaves:
        if isinstance(leaf.stmt, (Alloc, Grow)) and leaf.loops:
            makers.setdefault(leaf.stmt.array, []).append(leaf)
    for leaf in region.leaves if makers else ():
        own = [*exprs(leaf.stmt), *(guard.test for guard in leaf.tests)]
        own += [e for at in leaf.loops for e in (at.loop.lo, at.loop.hi, at.loop.step)]
        used = {e.array for o in own for e in walk_expr(o) if isinstance(e, Extent)}
        used |= {a.name for a in leaf.accesses}
        for array in sorted(used & makers.keys()):
            tied = {t.number: t for t in (*makers[array], leaf)}
            if len(tied) > 1:
                found.append([tied[n] for n in sorted(tied)])
    return found


def _after(
    leaves: tuple[Leaf, ...], edges: frozenset[tuple[int, int]]
) -> list[list[int]]:
    """What each leaf must stay before."""
    after: list[list[int]] = [[] for _ in leaves]
    for i, j in sorted(edges):
        after[i].append(j)
    return after


def _components(
    leaves: tuple[Leaf, ...], edges: Sequence[Sequence[int]], joined: set[str]
) -> list[tuple[int, ...]]:
    """The strongly connected components of what must stay before what, each array in
    `joined` held together.
    """
    after = [[*later] for later in edges]
    last: dict[str, int] = {}
    first: dict[str, int] = {}
    for k, leaf in enumerate(leaves):
        if (a := _added(leaf)) in joined and a is not None:
            # A ring through its increments holds an array together.
            if a in last:
                after[last[a]].append(k)
            first.setdefault(a, k)
            last[a] = k
    for a, k in first.items():
        after[last[a]].append(k)
    return _strong(after)


def _strong(after: list[list[int]]) -> list[tuple[int, ...]]:
    """The strongly connected components of a graph, by their first members (Tarjan)."""
    order: dict[int, int] = {}
    low: dict[int, int] = {}
    stack: list[int] = []
    open_: set[int] = set()
    parts: list[tuple[int, ...]] = []
    for root in range(len(after)):
        if root in order:
            continue
        todo = [(root, iter(after[root]))]
        while todo:
            at, rest = todo[-1]
            if at not in order:
                order[at] = low[at] = len(order)
                stack.append(at)
                open_.add(at)
            for to in rest:
                if to not in order:
                    todo.append((to, iter(after[to])))
                    break
                if to in open_:
                    low[at] = min(low[at], order[to])
            else:
                todo.pop()
                if todo:
                    low[todo[-1][0]] = min(low[todo[-1][0]], low[at])
                if low[at] == order[at]:
                    part = [stack.pop()]
                    while part[-1] != at:
                        part.append(stack.pop())
                    open_ -= set(part)
                    parts.append(tuple(sorted(part)))
    return sorted(parts)


def _ordered(
    parts: list[tuple[int, ...]], edges: frozenset[tuple[int, int]]
) -> list[tuple[int, ...]]:
    """Topological order, the textual one where that is free."""
    of = {leaf: k for k, part in enumerate(parts) for leaf in part}
    arrows = sorted({(of[i], of[j]) for i, j in edges if of[i] != of[j]})
    after: dict[int, list[int]] = {}
    waits = dict.fromkeys(range(len(parts)), 0)
    for i, j in arrows:
        after.setdefault(i, []).append(j)
        waits[j] += 1
    ready = [k for k, count in waits.items() if count == 0]
    result = []
    while ready:
        k = heappop(ready)
        result.append(parts[k])
        for j in after.get(k, ()):
            waits[j] -= 1
            if waits[j] == 0:
                heappush(ready, j)
    return result
