"""What the names of a program hold: shapes in symbols, dtypes as upper bounds.

A shape is a tuple of `Size`s: an extent of the function's own, plus a small number.
Arrays of equal `Size`s have equal shapes at every call, empty ones included; arrays of
different ones never meet in an expression. The dtype of an array is exact, that of a
number is a bound: what it meets decides. `ANY` is the dtype that a helper is called
with, float32 or float64.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

WEAK, SINGLE, ANY, DOUBLE = "weak", "float32", "any", "float64"
ORDER = {WEAK: 0, SINGLE: 1, ANY: 2, DOUBLE: 3}


def fits(kind: str, dtype: str) -> bool:
    """May a number or an array of this kind meet this dtype and leave it as it is?"""
    return ORDER[kind] <= ORDER[dtype]


@dataclass(frozen=True, slots=True)
class Size:
    """The extent `symbol`, plus `more`."""

    symbol: str
    more: int = 0

    def plus(self, k: int) -> Size:
        return Size(self.symbol, self.more + k)


Shape = tuple[Size, ...]


@dataclass(frozen=True, slots=True)
class Array:
    """A name for a float array. A `fixed` name is never bound again."""

    name: str
    shape: Shape
    dtype: str = DOUBLE
    fixed: bool = False


@dataclass(frozen=True, slots=True)
class Index:
    """A loop variable with `low <= name < size`."""

    name: str
    low: int
    size: Size

    def reaches(self, size: Size) -> list[int]:
        """The distances at which an axis of this size can be read."""
        if size.symbol != self.size.symbol:
            return []
        last = size.more - self.size.more
        return [d for d in (-1, 0, 1) if self.low + d >= 0 and d <= last]


@dataclass(frozen=True, slots=True)
class Parameter:
    """What a helper takes: an array, a number or an integer."""

    name: str
    what: str
    shape: Shape = ()
    dtype: str = DOUBLE
    default: str = ""
    written: bool = False


@dataclass(frozen=True, slots=True)
class Result:
    """What a helper gives: `what` as of a parameter; an array may be one of those,
    and which one may depend on the run.
    """

    what: str
    shape: Shape = ()
    dtype: str = DOUBLE
    same: frozenset[str] = frozenset()
    exchanged: bool = False


@dataclass(frozen=True, slots=True)
class Helper:
    """A function that may be called by its name."""

    name: str
    parameters: tuple[Parameter, ...]
    results: tuple[Result, ...]


@dataclass
class Scope:
    """What can be read at a place; an inner block sees it and keeps its own."""

    arrays: dict[str, Array] = field(default_factory=dict)
    numbers: dict[str, str] = field(default_factory=dict)
    integers: list[str] = field(default_factory=list)
    indices: list[Index] = field(default_factory=list)
    helpers: dict[str, Helper] = field(default_factory=dict)
    fixed: frozenset[str] = frozenset()
    loops: int = 0
    heavy: int = 0

    def inner(self) -> Scope:
        return replace(
            self,
            arrays=dict(self.arrays),
            numbers=dict(self.numbers),
            integers=list(self.integers),
            indices=list(self.indices),
            helpers=dict(self.helpers),
        )
