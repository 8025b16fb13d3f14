"""In which order iterations read and write the elements of an array."""

from __future__ import annotations

from collections.abc import Sequence

from pyrev.ir.affine import Linear, linear
from pyrev.ir.nodes import ONE, Add, Assign, Expr, For, Load, Loop, Var
from pyrev.ir.trip_counts import fixed_trip
from pyrev.schedule.storage.timeline import Timeline


def read_before_written(
    timeline: Timeline, at: int, leaf: Load, loops: Sequence[Loop]
) -> bool:
    """Does each iteration of `loops` read another element of an array at statement
    `at`, as it was before the outermost of them?

    Not told of loops that count in other steps than one, and of those with few
    iterations: both may read few elements.
    """
    changes = timeline.writes_in(loops[0].id, leaf.array)
    if len(loops) != len(leaf.index) or any(map(timeline.makes, changes)):
        return False
    if any(
        not f.index or f.step != ONE or (isinstance(f, For) and fixed_trip(f))
        for f in loops
    ):
        return False
    index = tuple(Var(f.index) for f in loops)
    found = element_axes(leaf, index, loops, 0)
    return found is not None and all(
        written_before(timeline, w, at, index, loops, 0, found) is False
        for w in changes
    )


def element_axes(
    leaf: Load, index: Sequence[Expr], loops: Sequence[Loop], outer: int
) -> tuple[tuple[int, Linear], ...] | None:
    """For each subscript of an element the loop, one of `loops` behind `outer` others,
    whose iteration it is the number of, and what is to be added to that; None unless
    each iteration has another element.

    `index` numbers the iterations; what is added, the loops around that one may tell.
    Loops inside may not: where two subscripts are compared from the outermost on, they
    are in two iterations still.
    """
    found: list[tuple[int, Linear]] = []
    for e in leaf.index:
        for p in range(outer, len(index)):
            rest = linear(e).plus(linear(index[p]), -1)
            around = {f.index for f in loops[:p]}
            if all(isinstance(t, Var) and t.name in around for t, _ in rest.terms):
                found.append((p, rest))
                break
    distinct = len({p for p, _ in found})
    return tuple(found) if distinct == len(leaf.index) == len(found) else None


def written_before(
    timeline: Timeline,
    write: int,
    read: int,
    index: Sequence[Expr],
    loops: Sequence[Loop],
    outer: int,
    found: tuple[tuple[int, Linear], ...] | None,
) -> bool | None:
    """In an iteration of `outer` of the `loops` around statement `read`: does statement
    `write` write what is read there, if ever, before it is? None where that is not
    always so.

    Of an element, `found` are the axes (`element_axes`).
    """
    at, place = timeline.places[read], timeline.places[write]
    if len(loops) > outer and timeline.inside(loops[outer].id, write):
        stmt = place.stmt
        own = [f.id for f in place.loops[-len(loops) :]]
        if own != [f.id for f in loops] or not isinstance(stmt, (Assign, Add)):
            return None
        assert isinstance(stmt.target, Load)
        other = element_axes(stmt.target, index, loops, outer)
        if other is None or found is None:
            return None
        if [p for p, _ in other] != [p for p, _ in found]:
            return None
        # How many iterations later it is written, loop by loop.
        apart = {
            p: mine.plus(its, -1)
            for (p, mine), (_, its) in zip(found, other, strict=True)
        }
        for p in sorted(apart):
            if apart[p].terms:
                return None
            if apart[p].constant:
                backwards = getattr(loops[p], "reverse", False)
                return (apart[p].constant < 0) is not backwards
        if timeline.exclusive(read, write):
            return False
    if place.last <= at.first:
        return True
    return False if at.first <= place.first else None
