"""A second look at the texts of blocks: do their subscripts stay inside of windows?

Windows come from what ISL says of the statements of a stage. Compiled code would read
whatever lies beside a window that is too small, so what a text does is bounded again,
from its own loops, by intervals: R. E. Moore, "Interval Analysis" (1966). What tests of
data or remainders decide is left to the first look.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from pyrev.ir.affine import linear
from pyrev.ir.nodes import (
    Alloc,
    Block,
    Call,
    Expr,
    Extent,
    For,
    If,
    Load,
    Loc,
    Stmt,
    Var,
    While,
    exprs,
    walk_expr,
    written,
)

#: So many steps are looked at one by one.
MOST_STEPS = 1000


class Interval(NamedTuple):
    """The least and the greatest value, for each block."""

    low: Any
    high: Any


class Outside(NamedTuple):
    """A subscript that leaves its window: where, and of which array and axis."""

    loc: Loc
    array: str
    axis: int


def outside(
    body: Block, integers: Mapping[str, Any], shapes: Mapping[str, tuple[Any, ...]]
) -> Outside | None:
    """A subscript in the text of some blocks that may lie outside of its array.

    The `integers` and the `shapes` of windows are numbers, or have one for each block.
    """
    names = {n: Interval(v, v) for n, v in integers.items()}
    look = _Look(dict(shapes))
    look.block(body, names, np.asarray(True))
    return look.found


class _Look:
    def __init__(self, shapes: dict[str, tuple[Any, ...]]) -> None:
        self.shapes = shapes
        self.found: Outside | None = None

    def block(self, body: Block, known: dict[str, Interval], runs: Any) -> None:
        """Look at a block that runs where `runs` says, with `known` names."""
        for s in body:
            if self.found is not None:
                return
            self._statement(s, known, runs)

    def _statement(self, s: Stmt, known: dict[str, Interval], runs: Any) -> None:
        if not isinstance(s, (If, While)):
            self._expressions(s, known, runs)
        ends: tuple[Expr, ...] = (s.lo, s.hi) if isinstance(s, For) else ()
        bounds = [self.bound(e, known) for e in ends]
        # What a test keeps inside is left alone; behind it all that it writes may be
        # anything, as in and behind a loop.
        for name in written((s,)):
            known.pop(name, None)
        match s:
            case For():
                lo, hi = bounds
                inside = dict(known)
                step = linear(s.step)
                if lo is None or hi is None or step.terms:
                    self.block(s.body, inside, runs)
                    return
                first, last = (lo.low, hi.high - 1)
                if step.constant < 0:
                    first, last = hi.low + 1, lo.high
                same = np.ndim(first) == np.ndim(last) == 0
                if s.reverse and same and last - first < MOST_STEPS:
                    # Steps over time one by one: what blocks run differs from step
                    # to step, and so does what they read.
                    for value in range(int(first), int(last) + 1):
                        now = {**inside, s.index: Interval(value, value)}
                        self.block(s.body, now, runs)
                    return
                inside[s.index] = Interval(first, last)
                self.block(s.body, inside, runs & (first <= last))
            case Alloc(array) if s.copied in self.shapes:
                self.shapes[array] = self.shapes[str(s.copied)]
            case Alloc(array):
                sizes = [self.bound(e, known) for e in s.shape]
                self.shapes.pop(array, None)
                if all(n is not None for n in sizes):
                    self.shapes[array] = tuple(n.low for n in sizes if n is not None)

    def _expressions(self, s: Stmt, known: Mapping[str, Interval], runs: Any) -> None:
        for top in exprs(s):
            if any(_decides(e) for e in walk_expr(top)):
                continue
            for e in walk_expr(top):
                if isinstance(e, Load) and e.array in self.shapes:
                    for k, index in enumerate(e.index):
                        at, size = self.bound(index, known), self.shapes[e.array][k]
                        if at is None:
                            continue
                        if np.any(runs & ((at.low < 0) | (at.high >= size))):
                            self.found = Outside(s.loc, e.array, k)

    def bound(self, e: Expr, known: Mapping[str, Interval]) -> Interval | None:
        """The interval of an integer expression; None if it is not seen."""
        match e:
            case Var(name):
                return known.get(name)
            case Extent(array, axis):
                sizes = self.shapes.get(array)
                return None if sizes is None else Interval(sizes[axis], sizes[axis])
            case Call("min" | "max" as op, args):
                rows = [self.bound(a, known) for a in args]
                of = np.minimum if op == "min" else np.maximum
                found: Interval | None = None
                for row in rows:
                    if row is None:
                        return None
                    found = row if found is None else Interval(*map(of, found, row))
                return found
        form = linear(e)
        if any(atom == e for atom, _ in form.terms):
            return None
        low = high = form.constant
        for atom, factor in form.terms:
            row = self.bound(atom, known)
            if row is None:
                return None
            ends = row if factor > 0 else (row.high, row.low)
            low, high = low + factor * ends[0], high + factor * ends[1]
        return Interval(low, high)


def _decides(e: Expr) -> bool:
    """Is a part of an expression evaluated only where a test says so?"""
    return isinstance(e, Call) and e.op in ("where", "and", "or")
