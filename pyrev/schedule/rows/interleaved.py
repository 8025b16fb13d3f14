"""Sums of elements that lie some apart are made side by side, and put there at last.

The adjoint of a loop that reads each second element adds to each second one: no vector
is stored so. Where a row of them is added to many times, the sums are made in rows of
their own, one for each loop of a few iterations that shifts them, and are added to the
array once (privatisation; the array's elements are de-interleaved as LLVM does with
loads).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce

from pyrev.ir.affine import linear, slope
from pyrev.ir.dtypes import is_float
from pyrev.ir.liveness import occurs
from pyrev.ir.nodes import (
    ONE,
    Add,
    Alloc,
    Assign,
    Block,
    Call,
    Const,
    For,
    If,
    Load,
    Program,
    Stmt,
    Var,
    blocks,
    fresh,
    names,
    with_blocks,
    written,
)
from pyrev.ir.simplify import sub_int
from pyrev.ir.trip_counts import known_trips, runs, trip_count
from pyrev.schedule.costs import CpuCosts
from pyrev.schedule.work import Choose


def with_own_rows(
    program: Program,
    types: Mapping[str, str],
    taken: set[str],
    choose: Choose,
    cpu: CpuCosts,
) -> Program:
    """`program` with rows of their own for sums of elements that lie some apart.

    Law: the same values, up to the order of increments of one element. Names that it
    makes are added to `taken`; `choose` answers for sizes as in `schedule_cpu`.
    """

    def visit(block: Block) -> Block:
        out: list[Stmt] = []
        for s in block:
            if isinstance(s, For):
                nest = _nest(s, types)
                if nest is not None and _worth(nest, choose, cpu):
                    out += _own_rows(nest, types, taken)
                    continue
            out.append(with_blocks(s, tuple(visit(b) for b in blocks(s))))
        return tuple(out)

    return replace(program, body=visit(program.body))


@dataclass(frozen=True, slots=True)
class _Nest:
    """Loops around statements, of which one adds to an element."""

    loops: tuple[For, ...]
    add: Add
    target: Load
    #: The loops that shift the row, of which the last one runs along it.
    own: tuple[For, ...]

    @property
    def repeating(self) -> list[For]:
        """Those that add to the same elements again."""
        return [f for f in self.loops if f not in self.own]


def _nest(loop: For, types: Mapping[str, str]) -> _Nest | None:
    """`loop`, if one statement in it adds to elements that lie some apart."""
    loops = [loop]
    while len(loops[-1].body) == 1 and isinstance(loops[-1].body[0], For):
        loops.append(loops[-1].body[0])
    body = loops[-1].body
    stored = written((loop,))
    indices = {f.index for f in loops}
    if len(indices) < len(loops) or not all(isinstance(s, (Add, Assign)) for s in body):
        return None
    for f in loops:
        if f.step != ONE or f.reverse or f.parallel:
            return None
        if (names(f.lo) | names(f.hi)) & stored:
            return None
    for s in body:
        if isinstance(s, Add) and isinstance(s.target, Load):
            own = _own(loops, s, s.target, stored - indices)
            if own and is_float(types[s.target.array]):
                return _Nest(tuple(loops), s, s.target, own)
    return None


def _own(
    loops: Sequence[For], add: Add, target: Load, stored: frozenset[str]
) -> tuple[For, ...]:
    """The loops that tell the elements apart which `add` adds to; none where these do
    not lie some apart in a row, or are used otherwise.
    """
    *leading, last = target.index
    row = loops[-1]
    step = slope(last, row.index)
    if step is None or step < 2:
        return ()
    indices = {f.index for f in loops}
    if any(names(k) & indices for k in leading):
        return ()
    if any(names(k) & stored for k in target.index) or target.array in names(add.value):
        return ()
    others = tuple(s for s in row.body if s is not add)
    if occurs(others, target.array):
        return ()
    shifts = [f for f in loops[:-1] if f.index in names(last)]
    if any(linear(last).coefficient(Var(f.index)) == 0 for f in shifts):
        return ()
    return (*shifts, row)


def _worth(nest: _Nest, choose: Choose, cpu: CpuCosts) -> bool:
    """Are the rows few, long enough for vectors, and added to often?"""
    *shifts, row = nest.own
    count = 1
    for f in shifts:
        trips = known_trips(f)
        if trips is None or trips < 1:
            return False
        count *= trips
    again = any(
        choose(trip_count(f), cpu.tile_factors[0]) is True for f in nest.repeating
    )
    return (
        again
        and count <= cpu.unrolled_iterations
        and choose(trip_count(row), cpu.tiled_iterations) is True
        and choose(trip_count(row), cpu.window_elements // count) is False
    )


def _own_rows(nest: _Nest, types: Mapping[str, str], taken: set[str]) -> Sequence[Stmt]:
    target, add = nest.target, nest.add
    rows = fresh(f"{target.array}_rows", taken)
    taken.add(rows)
    shape = tuple(trip_count(f) for f in nest.own)
    at = tuple(sub_int(Var(f.index), f.lo) for f in nest.own)
    element = replace(target, array=rows, index=at)
    make = Alloc(rows, shape, Const(0.0), types[target.array], loc=add.loc)
    summed: Block = nest.loops[-1].body
    summed = tuple(replace(s, target=element) if s is add else s for s in summed)
    for f in reversed(nest.loops):
        summed = (replace(f, body=summed),)
    given: Block = (replace(add, target=target, value=element, note=""),)
    for f in reversed(nest.own):
        given = (replace(f, body=given, note=""),)
    (first,) = given
    assert isinstance(first, For)
    apart = slope(target.index[-1], nest.own[-1].index)
    note = f"{rows}: sums of elements that are {apart} apart"
    given = (replace(first, note=note),)
    # Where nothing is added the elements need not exist.
    tests = [runs(f) for f in nest.repeating if (known_trips(f) or 0) < 1]
    if tests:
        test = reduce(lambda a, b: Call("and", (a, b)), tests)
        given = (If(test, given, loc=add.loc),)
    return (make, *summed, *given)
