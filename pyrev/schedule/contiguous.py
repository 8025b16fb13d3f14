"""Which loop walks memory, and how it gets to the innermost place.

A loop walks memory if accesses in it go from each element to the next as its index
goes up. Two ways in: a perfect nest of increments is permuted (`sink`), since
increments commute; and a parallel loop is distributed over the statements of its body
and each copy interchanged with the loops there (`pushed`), with scalars expanded to
rows (Kennedy and Allen, Optimizing Compilers for Modern Architectures, 5.2 to 5.4).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from pyrev.ir.affine import slope
from pyrev.ir.nodes import (
    ONE,
    ZERO,
    Add,
    Alloc,
    Block,
    Check,
    For,
    Grow,
    Load,
    Stmt,
    Var,
    assigned_scalars,
    exprs,
    fresh,
    names,
    walk,
    walk_expr,
)
from pyrev.ir.reductions import reductions
from pyrev.ir.simplify import sub_int
from pyrev.ir.trip_counts import known_trips, trip_count
from pyrev.schedule.distribute import DtypeOf
from pyrev.schedule.expand import Own, around_runs, crossing, in_rows

#: How far apart the elements are that a vector is still shuffled from (LLVM's
#: interleaved accesses).
SHUFFLED = 4


def contiguity(index: str, block: Sequence[Stmt]) -> int:
    """How many accesses in `block` walk memory with `index`, minus those that jump.

    One whose last subscript goes up by one counts as one; one that goes up by a few,
    which vectors are shuffled from, not at all; one that moves otherwise there, minus
    one; one that moves by whole rows, minus two.
    """
    total = 0
    for s in walk(tuple(block)):
        for top in exprs(s):
            for e in walk_expr(top):
                if isinstance(e, Load):
                    total += _walk(index, e)
    return total


def _walk(index: str, load: Load) -> int:
    *leading, last = load.index
    if any(index in names(e) for e in leading):
        return -2
    step = slope(last, index)
    if step is None or not 0 <= step <= SHUFFLED:
        return -1
    return 1 if step == 1 else 0


def walkers(loops: Sequence[For], block: Sequence[Stmt], least: int) -> list[int]:
    """Which of these loops, by their places, have the most contiguous accesses in
    `block`; none if none has more of them than of others.

    Loops that are known to run fewer than `least` times, which fill no vector, are
    taken where there are no others.
    """
    scores = [contiguity(f.index, block) for f in loops]
    able = [k for k, score in enumerate(scores) if score > 0]
    trips = {k: known_trips(loops[k]) for k in able}
    able = [k for k in able if (n := trips[k]) is None or n >= least] or able
    return [k for k in able if scores[k] == max(scores[n] for n in able)]


def walks_memory(loop: For, least: int) -> bool:
    """Is `loop`, of all loops in it and itself, the one with the most contiguous
    accesses?
    """
    loops = [s for s in walk((loop,)) if isinstance(s, For)]
    best = {loops[k].index for k in walkers(loops, (loop,), least)}
    return loop.index in best


def sink(nest: For, least: int = 1) -> Block | None:
    """A perfect nest of increments with the loop that walks memory moved innermost.

    Legal because increments commute and read nothing that they write; None where the
    nest is not of that form or nothing is to be moved.

    >>> from pyrev.parse import parse_block
    >>> from pyrev.ir.text import block_text
    >>> (nest,) = parse_block('''
    ... for x in range(n):
    ...     for r in range(m):
    ...         own[r] += d_out[x] * a[x + r]
    ... ''')
    >>> print(block_text(sink(nest)))
    for r in range(m):
        for x in range(n):
            own[r] += d_out[x] * a[x + r]
    """
    loops = [nest]
    while len(loops[-1].body) == 1 and isinstance(loops[-1].body[0], For):
        loops.append(loops[-1].body[0])
    body = loops[-1].body
    added = {s.target_name for s in body if isinstance(s, Add)}
    if len(loops) < 2 or not all(isinstance(s, Add) for s in body):
        return None
    if added != reductions((nest,)).keys():
        return None
    best = next(iter(walkers(loops, body, least)), len(loops) - 1)
    if best == len(loops) - 1:
        return None
    moved = loops[best]
    if any(moved.index in names(e) for f in loops[best + 1 :] for e in (f.lo, f.hi)):
        return None
    inner: Block = (replace(moved, body=body),)
    for k in reversed(range(len(loops))):
        if k != best:
            inner = (replace(loops[k], body=inner),)
    return inner


def pushed(loop: For, used: set[str], dtype_of: DtypeOf, own: Own) -> Block | None:
    """What `loop`, which has to be parallel, does, with it innermost everywhere.

    None where that is not possible or moves nothing. The names of the rows are added to
    `used`; `own` is as in `pyrev.schedule.expand`.
    """
    return _Push(loop, used, dtype_of, own).run()


class _Push:
    """Runs a parallel loop inside each statement of its body: `for x` goes innermost.

    The loop carries no dependence, so its body may be run statement by statement; the
    scalars that one iteration hands on become rows, one element per iteration.
    """

    def __init__(self, loop: For, used: set[str], dtype_of: DtypeOf, own: Own) -> None:
        self.loop, self.used, self.dtype_of, self.own = loop, used, dtype_of, own
        self.rows: dict[str, str] = {}

    def run(self) -> Block | None:
        """Rows for the scalars handed on, and the body with the loop innermost."""
        loop = self.loop
        if loop.step != ONE or any(
            isinstance(s, (Alloc, Check, Grow)) for s in walk(loop.body)
        ):
            return None
        trial = set(self.used)
        handed = crossing(loop.body, self.alone)
        self.rows = {n: fresh(f"{n}_row", trial) for n in handed}
        pushed = around_runs(loop.body, self.alone, self.over)
        if not any(isinstance(s, For) and s.index != loop.index for s in pushed):
            return None
        self.used |= trial
        length = trip_count(loop)
        room = [
            Alloc(row, (length,), None, self.dtype_of(n), loc=loop.loc)
            for n, row in self.rows.items()
        ]
        return (*room, *pushed)

    def alone(self, s: Stmt) -> bool:
        """Is `s` a loop that may stand around: do its bounds not depend on this one?"""
        own = {self.loop.index, *assigned_scalars(self.loop.body)}
        return isinstance(s, For) and not any(
            names(e) & own for e in (s.lo, s.hi, s.step)
        )

    def over(self, run: Block) -> Block:
        """The loop over some of its statements."""
        return (replace(self.loop, body=self.with_rows(run), parallel=None, note=""),)

    def with_rows(self, block: Block) -> Block:
        """The block with the row's element for each scalar that is handed on."""
        at = sub_int(Var(self.loop.index), self.loop.lo)
        if self.loop.lo == ZERO:
            at = Var(self.loop.index)
        elements = {n: Load(row, (at,)) for n, row in self.rows.items()}
        return in_rows(block, elements, self.own)


def gathers(loop: For) -> bool:
    """Do the loops in `loop` read where a scalar of its iteration says?"""
    own = set(assigned_scalars(loop.body))
    return any(
        names(k) & own
        for f in walk(loop.body)
        if isinstance(f, For)
        for s in walk(f.body)
        for top in exprs(s)
        for e in walk_expr(top)
        if isinstance(e, Load)
        for k in e.index
    )
