"""Ranges of integers: intervals, arithmetic on them, and where a loop's index lies.

Intervals with the numbers that an operation makes of them are the usual abstract domain
(Cousot and Cousot 1977). Where the ends are expressions, `index_range` says which.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from pyrev.ir.affine import integer
from pyrev.ir.nodes import Expr, Loop
from pyrev.ir.simplify import add_int

#: More places than a word has are as bad as that.
_BITS = 64


class Interval(NamedTuple):
    """The integers from `low` to `high`, both included."""

    low: int
    high: int

    @property
    def largest(self) -> int:
        return max(-self.low, self.high)


class Range(NamedTuple):
    """The integers from `low` to `high`, both included, where those are expressions."""

    low: Expr
    high: Expr


def index_range(loop: Loop) -> Range | None:
    """Between what the index of a loop lies, in each of its iterations.

    None for a step of either sign.
    """
    step = integer(loop.step)
    if step is None:
        return None
    if step < 0:
        return Range(add_int(loop.hi, 1), loop.lo)
    return Range(loop.lo, add_int(loop.hi, -1))


def index_interval(lo: Interval, hi: Interval, step: int) -> Interval | None:
    """The same in numbers, for a loop between `lo` and `hi`; None if it never runs."""
    low, high = (lo.low, hi.high - 1) if step > 0 else (hi.low + 1, lo.high)
    return Interval(low, high) if low <= high else None


def interval_of(op: str, args: Sequence[Interval]) -> Interval | None:
    """Between what ``op(args)`` lies; None if that is not known."""
    match op, args:
        case "+", (a, b):
            return Interval(a.low + b.low, a.high + b.high)
        case "-", (a, b):
            return Interval(a.low - b.high, a.high - b.low)
        case "*", (a, b):
            return _hull(x * y for x in a for y in b)
        case "neg", (a,):
            return Interval(-a.high, -a.low)
        case "abs", (a,):
            return Interval(max(0, a.low, -a.high), a.largest)
        case "//", (a, b) if b.low > 0 or b.high < 0:
            return _hull(x // y for x in a for y in b)
        case "%", (_, b):
            return Interval(min(0, b.low + 1), max(0, b.high - 1))
        case "min", _:
            return Interval(min(a.low for a in args), min(a.high for a in args))
        case "max", _:
            return Interval(max(a.low for a in args), max(a.high for a in args))
        case "where", _:
            return _hull(x for a in args for x in a)
        case "int" | "int64", (a,):
            return a
        case "**", (a, b):
            most: int = a.largest ** max(0, min(b.high, _BITS))
            return Interval(-most if a.low < 0 else 0, max(1, most))
        case "<<", (a, b):
            return _hull(x << max(0, min(y, _BITS)) for x in a for y in b)
        case _:
            return None


def _hull(values: Iterable[int]) -> Interval:
    found = tuple(values)
    return Interval(min(found), max(found))
