"""Which statements of a nest may be loops of their own, and in which order.

Statements that must stay interleaved form one group; all increments of one array that
order nothing among themselves form another, a *scatter*, which may be turned round.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from pyrev.dependence import Leaf, Region
from pyrev.ir import Add, Block, Call, For, If, Load, Restart, Stmt, Var


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
    >>> from pyrev.show import block_text
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
    arrays = tuple(dict.fromkeys(a for leaf in leaves if (a := _added(leaf))))
    for array in arrays:
        trial = _components(leaves, edges, joined | {array})
        members = {k for k, leaf in enumerate(leaves) if _added(leaf) == array}
        if any(set(c) == members for c in trial) and not any(
            (i, j) in edges for i in members for j in members
        ):
            joined.add(array)
    parts = _components(leaves, edges, joined)
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
                _shared(region, (s for s in leaves if s.number not in members)),
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


def _shared(region: Region, leaves: Iterable[Leaf]) -> frozenset[str]:
    return frozenset(
        a.name
        for leaf in leaves
        for a in leaf.accesses
        if not region.private_depth(leaf, a.name)
    )


def _added(leaf: Leaf) -> str | None:
    match leaf.stmt:
        case Add(Load(array, _), _):
            return array
        case Add(Var(name), _):
            return name
        case _:
            return None


def _edges(region: Region) -> frozenset[tuple[int, int]]:
    """Pairs (i, j): leaf i must stay before leaf j, in some of their instances."""
    found = set()
    leaves = region.leaves
    for i, s in enumerate(leaves):
        for j, t in enumerate(leaves):
            if i != j and _share_private(region, s, t):
                found |= {(i, j), (j, i)}
            elif region.depends(s, t):
                found.add((i, j))
    return frozenset(found)


def _share_private(region: Region, s: Leaf, t: Leaf) -> bool:
    """Do two leaves use one name that is private to an iteration of a common loop?"""
    shared = {a.name for a in s.accesses} & {b.name for b in t.accesses}
    common = region.common(s, t)
    return any(0 < region.private_depth(s, name) <= common for name in shared)


def _components(
    leaves: tuple[Leaf, ...], edges: frozenset[tuple[int, int]], joined: set[str]
) -> list[tuple[int, ...]]:
    """The strongly connected components, each array in `joined` held together."""
    n = len(leaves)
    reach = [[i == j or (i, j) in edges for j in range(n)] for i in range(n)]
    for i in range(n):
        for j in range(n):
            if (a := _added(leaves[i])) in joined and a == _added(leaves[j]):
                reach[i][j] = True
    for k in range(n):
        for i in range(n):
            if reach[i][k]:
                row = reach[k]
                reach[i] = [x or y for x, y in zip(reach[i], row, strict=True)]
    seen: set[int] = set()
    parts = []
    for i in range(n):
        if i not in seen:
            part = tuple(j for j in range(n) if reach[i][j] and reach[j][i])
            seen |= set(part)
            parts.append(part)
    return parts


def _ordered(
    parts: list[tuple[int, ...]], edges: frozenset[tuple[int, int]]
) -> list[tuple[int, ...]]:
    """Topological order, the textual one where that is free."""
    waiting = list(parts)
    result = []
    while waiting:
        for part in waiting:
            others = (p for p in waiting if p is not part)
            if not any((i, j) in edges for o in others for i in o for j in part):
                break
        waiting.remove(part)
        result.append(part)
    return result


def restrict(block: Block, numbers: set[int]) -> Block:
    """`block` with only the leaves in `numbers`; loops and tests left empty go too."""
    return _Filter(numbers).run(block)


class _Filter:
    def __init__(self, numbers: set[int]) -> None:
        self.numbers, self.count = numbers, 0

    def run(self, block: Block) -> Block:
        kept: list[Stmt] = []
        for stmt in block:
            if isinstance(stmt, Restart):
                continue
            self.count += 1
            match stmt:
                case For():
                    if body := self.run(stmt.body):
                        kept.append(replace(stmt, body=body))
                case If():
                    then, orelse = self.run(stmt.then), self.run(stmt.orelse)
                    if then:
                        kept.append(replace(stmt, then=then, orelse=orelse))
                    elif orelse:
                        kept.append(
                            replace(
                                stmt,
                                test=Call("not", (stmt.test,)),
                                then=orelse,
                                orelse=(),
                            )
                        )
                case _:
                    if self.count in self.numbers:
                        kept.append(stmt)
        return tuple(kept)
