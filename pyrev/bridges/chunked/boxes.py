"""Boxes of elements or of iterations, one for each block, and integers of the IR for
all blocks at once.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pyrev.ir.nodes import Call, Const, Expr, Extent, For, Var

Ints = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Box:
    """For each block from `low` to below `high` along some axes: (axes, blocks)."""

    low: Ints
    high: Ints

    @property
    def empty(self) -> NDArray[np.bool_]:
        """Per block, is there nothing in it?"""
        found: NDArray[np.bool_] = np.any(self.low >= self.high, axis=0)
        return found

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Box):
            return NotImplemented
        none = self.empty
        same = (self.low == other.low) & (self.high == other.high)
        return bool(np.array_equal(none, other.empty) and np.all(same | none))

    def sizes(self) -> Ints:
        """How many elements in all, per block."""
        found: Ints = np.prod(np.maximum(self.high - self.low, 0), axis=0)
        return found


def nothing(axes: int, blocks: int) -> Box:
    """An empty box for each block."""
    zeros = np.zeros((axes, blocks), np.int64)
    return Box(zeros, zeros)


def whole(sizes: Sequence[int], blocks: int) -> Box:
    """All elements of an array, for each block."""
    high = np.repeat(np.array(sizes, np.int64).reshape(-1, 1), blocks, axis=1)
    return Box(np.zeros_like(high), high)


def hull(a: Box | None, b: Box) -> Box:
    """The smallest boxes around two of each block."""
    if a is None:
        return b
    first, second = a.empty, b.empty
    low = np.where(first, b.low, np.where(second, a.low, np.minimum(a.low, b.low)))
    high = np.where(first, b.high, np.where(second, a.high, np.maximum(a.high, b.high)))
    return Box(low, high)


def masked(box: Box, there: Any) -> Box:
    """The box where it is there, nothing elsewhere."""
    none = ~np.broadcast_to(np.asarray(there, bool), box.low.shape[1:])
    return Box(np.where(none, 0, box.low), np.where(none, 0, box.high))


class NotKnown(Exception):
    """An integer depends on what is not known before anything runs."""


def evaluated(
    e: Expr, values: Mapping[str, Any], shapes: Mapping[str, Sequence[int]]
) -> Any:
    """An integer expression, or a test of such, for the values of all blocks.

    Raises `NotKnown` where it reads something else.
    """

    def of(e: Expr) -> Any:
        match e:
            case Const(value):
                return value
            case Var(name) if name in values:
                return values[name]
            case Extent(array, axis) if array in shapes:
                return shapes[array][axis]
            case Call("int" | "int64", (a,)):  # of a narrower integer
                return of(a)
            case Call("where", (test, a, b)):
                return np.where(of(test), of(a), of(b))
            case Call(op, args) if op in _OPERATIONS:
                first, *rest = map(of, args)
                if op in ("neg", "not", "abs"):
                    return _OPERATIONS[op](first)
                for other in rest:
                    first = _OPERATIONS[op](first, other)
                return first
        raise NotKnown

    return of(e)


_OPERATIONS: dict[str, Any] = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "//": lambda a, b: a // b,
    "%": lambda a, b: a % b,
    "min": np.minimum,
    "max": np.maximum,
    "neg": lambda a: -a,
    "abs": abs,
    "not": np.logical_not,
    "and": np.logical_and,
    "or": np.logical_or,
    "<": lambda a, b: a < b,
    "<=": lambda a, b: a <= b,
    ">": lambda a, b: a > b,
    ">=": lambda a, b: a >= b,
    "==": lambda a, b: a == b,
    "!=": lambda a, b: a != b,
}


def _known(
    e: Expr, values: Mapping[str, Any], shapes: Mapping[str, Sequence[int]]
) -> Any:
    try:
        return np.asarray(evaluated(e, values, shapes))
    except (NotKnown, ZeroDivisionError, TypeError):
        return None


def known_integer(
    e: Expr, values: Mapping[str, Any], shapes: Mapping[str, Sequence[int]]
) -> int | None:
    """The integer that `e` is; None where it is none, or not known."""
    found = _known(e, values, shapes)
    if found is None or not np.issubdtype(found.dtype, np.integer):
        return None
    return int(found)


def known_range(
    loop: For, values: Mapping[str, Any], shapes: Mapping[str, Sequence[int]]
) -> range | None:
    """The range of a loop, whichever way it is run; None where it is not known."""
    lo, hi, step = (
        known_integer(e, values, shapes) for e in (loop.lo, loop.hi, loop.step)
    )
    if lo is None or hi is None or not step:
        return None
    return range(lo, hi, step)


def known_test(
    e: Expr, values: Mapping[str, Any], shapes: Mapping[str, Sequence[int]]
) -> bool | None:
    """Does a test of integers hold? None where it is none, or not known."""
    found = _known(e, values, shapes)
    return bool(found) if found is not None and found.dtype == bool else None
