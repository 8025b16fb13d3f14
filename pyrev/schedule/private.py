"""Local arrays that every iteration of a loop fills before use get one per iteration.

``terms = np.zeros(k)`` before a loop over points that sets all of `terms` at each point
ties the points together by nothing but the memory that they share. Made in the loop,
the array is no reason for an order (array privatisation: Tu and Padua, "Automatic Array
Privatization", LCPC 1993; the test is value-based, by ISL).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from pyrev.analysis.dependence import Access, Leaf, Region
from pyrev.analysis.poly import conj, disj, is_empty, known_numbers, negated, some
from pyrev.ir.liveness import live_before, live_out, occurs, with_live
from pyrev.ir.nodes import (
    Alloc,
    Block,
    Call,
    Const,
    Expr,
    Extent,
    For,
    Program,
    Return,
    Stmt,
    While,
    all_names,
    blocks,
    exprs,
    names,
    walk,
    walk_expr,
    with_blocks,
    written,
)
from pyrev.schedule.common_tails import with_stores_behind_tests
from pyrev.schedule.legality import free_order


def with_private_arrays(
    program: Program, whole: frozenset[str] = frozenset()
) -> Program:
    """`program` with the arrays moved into loops that may then run in any order.

    Law: it computes what `program` computes, where no subscript is outside its array.
    The arrays in `whole` stay where they are.

    >>> from pyrev.parse import parse_text
    >>> from pyrev.ir.text import program_text
    >>> f = parse_text('''
    ... def f(x, w, out):
    ...     t = np.zeros(len(w))
    ...     for i in range(len(x)):
    ...         for k in range(len(w)):
    ...             t[k] = x[i] * w[k]
    ...         for k in range(1, len(w)):
    ...             out[i, k] = t[k] - t[k - 1]
    ... ''')
    >>> print(program_text(with_private_arrays(f)))
    def f(x, w, out):
        for i in range(x.shape[0]):
            t = np.zeros(w.shape)
            for k in range(w.shape[0]):
                t[k] = x[i] * w[k]
            for k in range(1, w.shape[0]):
                out[i, k] = t[k] - t[k - 1]
    """
    returned = {
        n for s in walk(program.body) if isinstance(s, Return) for n in all_names((s,))
    }
    params = frozenset(p.name for p in program.params if p.rank)
    makers = [s for s in walk(program.body) if isinstance(s, Alloc)]
    once = {
        s.array
        for s in makers
        if sum(m.array == s.array for m in makers) == 1 and s.source is None
    }
    sources = {n for m in makers for n in m.sources}
    mover = _Mover(
        frozenset(once) - returned - params - sources - whole,
        known_numbers(program.body),
    )
    return replace(program, body=mover.block(program.body, (), live_out(program)))


class _Mover:
    def __init__(self, arrays: frozenset[str], integers: frozenset[str]) -> None:
        self.arrays, self.integers = arrays, integers

    def block(
        self, block: Block, outer: tuple[For, ...], live: frozenset[str]
    ) -> Block:
        result: list[Stmt] = []
        for s, after in with_live(self.moved(block, outer, live), live):
            around = (*outer, s) if isinstance(s, For) else outer
            again = after
            if isinstance(s, (For, While)):
                again = after | live_before((s,), after)
            inner = tuple(self.block(b, around, again) for b in blocks(s))
            result.append(with_blocks(s, inner))
        return tuple(result)

    def moved(
        self, block: Block, outer: tuple[For, ...], live: frozenset[str]
    ) -> Block:
        """`block` with every array that only one of its loops uses tried in there."""
        waiting: dict[int, list[Alloc]] = {}
        for at, s in enumerate(block):
            if not isinstance(s, Alloc) or s.array not in self.arrays:
                continue
            if not all(map(_sure, s.shape)):
                continue  # a negative size is an error even if the loop never runs
            users = [
                k for k in range(at + 1, len(block)) if occurs((block[k],), s.array)
            ]
            if len(users) != 1 or not isinstance(block[users[0]], For):
                continue
            sizes = frozenset().union(*map(names, exprs(s)))
            measured = {
                e.array
                for top in exprs(s)
                for e in walk_expr(top)
                if isinstance(e, Extent)
            }
            changed = written(block[at + 1 : users[0] + 1])
            if not (sizes | measured) & changed:
                waiting.setdefault(users[0], []).append(s)
        gone: set[int] = set()
        result = list(block)
        for at, arrays in waiting.items():
            loop = block[at]
            assert isinstance(loop, For)
            found = self.into(loop, arrays, outer, live_before(block[at + 1 :], live))
            if found is not None:
                result[at] = found[0]
                gone |= {s.id for s in found[1]}
        return tuple(s for s in result if s.id not in gone)

    def into(
        self,
        loop: For,
        arrays: Sequence[Alloc],
        outer: tuple[For, ...],
        live: frozenset[str],
    ) -> tuple[For, Sequence[Alloc]] | None:
        """`loop` with those of `arrays` in it that it may have, if that frees it."""
        if free_order(loop, outer, live, self.integers):
            return None
        # What is stored in every branch is stored: of a test nothing else is known.
        plain = with_stores_behind_tests((loop,))
        region = Region(plain, live, outer, self.integers)
        own = [s for s in arrays if filled_first(region, s.array, s.shape)]
        changed = replace(loop, body=(*own, *loop.body))
        if not own or not free_order(changed, outer, live, self.integers):
            return None
        return changed, own


def _sure(extent: Expr) -> bool:
    """Is this size never negative?"""
    match extent:
        case Extent():
            return True
        case Const(int(n)):
            return n >= 0
        case Call("max", args):
            return any(map(_sure, args))
        case _:
            return False


def filled_first(region: Region, array: str, shape: tuple[Expr, ...]) -> bool:
    """Does each iteration of the region's loop write what it reads of `array` before?

    False when unsure. Subscripts are taken to be inside `shape`.
    """
    leaves = region.touching().get(array, ())
    for t in leaves:
        for b in t.accesses:
            if b.name != array or b.kind == "write":
                continue
            # What a test reads it reads where the statement under it does not run, too.
            inside = _inside(region, t, b, shape) if b.number == t.number else None
            if inside is None:
                return False
            parts = [region.domain(t, "b"), inside]
            for s in leaves:
                parts += [
                    negated(some(region.variables(s, "a"), made))
                    for a in s.accesses
                    if a.name == array and a.kind == "write"
                    for made in _made_before(region, s, a, t, b)
                ]
            if not is_empty(region.space, region.variables(t, "b"), conj(parts)):
                return False
    return True


def _inside(region: Region, t: Leaf, b: Access, shape: tuple[Expr, ...]) -> str | None:
    """The formula for a subscript to be inside `shape`; None where it is opaque."""
    found = region.subscripts(t, b, "b")
    if found is None or len(found) != len(shape):
        return None
    within = region.domain(t, "b")
    parts: list[str] = []
    for cases, extent in zip(found, shape, strict=True):
        if cases is None:
            return None
        either: list[str] = []
        for c in cases:
            below = region.space.compare(c.term, "<", extent, {}, within)
            either.append(
                conj((c.when, f"{c.term} >= 0", *([] if below is None else [below])))
            )
        parts.append(disj(either))
    return conj(parts)


def _made_before(
    region: Region, s: Leaf, a: Access, t: Leaf, b: Access
) -> tuple[str, ...]:
    """The formula for `s` to have written, in the iteration, the element of `b`."""
    if not region.exact(s) or region.opaque_tests(s):
        return ()
    elements = (*(region.subscripts(s, a, "a") or (None,)),)
    elements += (*(region.subscripts(t, b, "b") or (None,)),)
    if any(cases is None for cases in elements):
        return ()
    ways = region.before(s, a, t, b)
    same = region.same_element(s, a, t, b)
    if same is None or not ways:
        return ()
    return (conj((region.domain(s, "a"), same, "a0 = b0", disj(ways))),)
