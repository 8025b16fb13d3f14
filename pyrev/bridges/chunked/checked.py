"""Checks of a call on chunks: slopes against differences, blocks against CPython."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pyrev.bridges.chunked.tasks import Layer, run

#: A central difference with a step of this loses as much to curvature as to rounding.
STEP = float(np.cbrt(np.finfo(np.float64).eps))


@dataclass(frozen=True)
class Slope:
    """The slope along a random direction in one chunk, twice.

    By the gradient, and as a central difference of the call on chunks; `noise` is what
    rounding may do to the difference.
    """

    name: str
    chunk: tuple[int, ...]
    slope: float
    difference: float
    noise: float

    def holds(self, tolerance: float) -> bool:
        """Do both agree?"""
        apart = abs(self.slope - self.difference)
        most = max(abs(self.slope), abs(self.difference))
        return apart <= tolerance * most + self.noise

    def __str__(self) -> str:
        return (
            f"{self.name}, chunk {self.chunk}: slope {self.slope:.9g}, difference"
            f" {self.difference:.9g}"
        )


@dataclass(frozen=True)
class Against:
    """A block that ran in CPython too: how far its results are apart, relatively."""

    name: str
    block: tuple[int, ...]
    apart: float

    def __str__(self) -> str:
        return f"{self.name}, block {self.block}: {self.apart:.2g} from CPython"


@dataclass(frozen=True)
class ChunkReport:
    """What `check_grad` found on chunks; true when everything agrees."""

    slopes: tuple[Slope, ...]
    blocks: tuple[Against, ...]
    tolerance: float

    @property
    def wrong(self) -> tuple[Slope | Against, ...]:
        """What does not agree."""
        return (
            *(s for s in self.slopes if not s.holds(self.tolerance)),
            *(b for b in self.blocks if not b.apart <= ROUNDING),
        )

    def __bool__(self) -> bool:
        return not self.wrong

    def __str__(self) -> str:
        lines = [
            f"{len(self.slopes)} slopes along random directions, {len(self.blocks)}"
            f" blocks in CPython: {'all agree' if self else 'NOT all agree'}"
        ]
        wrong = self.wrong
        for row in (*self.slopes, *self.blocks):
            lines.append(f"{'wrong' if row in wrong else 'ok':>6}  {row}")
        return "\n".join(lines)


#: Compiled code may contract products and sums: so far a block may be from CPython.
ROUNDING = 1e-9


def against_cpython(
    layer: Layer, plain: Layer, block: Any, pieces: Any, others: Any
) -> float:
    """How far the results of a block are from those of its text in CPython."""
    found, wanted = (run(one, block, pieces, others) for one in (layer, plain))
    return max((_apart(a, b) for a, b in zip(found, wanted, strict=True)), default=0.0)


def _apart(a: Any, b: Any) -> float:
    one, two = np.asarray(a, np.float64), np.asarray(b, np.float64)
    if one.shape != two.shape:
        return math.inf
    same = (one == two) | (np.isnan(one) & np.isnan(two))
    if same.all():
        return 0.0
    scale = float(np.max(np.abs(two[np.isfinite(two)]), initial=0.0))
    apart = float(np.max(np.abs(one - two)[~same]))
    if math.isnan(apart) or not scale:
        return math.inf
    return apart / scale


def direction(
    block: Any, block_info: Any = None, chunk: tuple[int, ...] = (), seed: int = 0
) -> Any:
    """A chunk of a direction that is random in one chunk and zero in the others."""
    if tuple(block_info[0]["chunk-location"]) != chunk:
        return np.zeros(block.shape, block.dtype)
    draw = np.random.default_rng([seed, *chunk])
    return draw.standard_normal(block.shape).astype(block.dtype)


def sampled(counts: Sequence[int], most: int, seed: int) -> list[tuple[int, ...]]:
    """Some places in a grid: its first and last, and others at random."""
    total = math.prod(counts)
    draw = np.random.default_rng(seed)
    some = {0, total - 1} if most > 1 else {int(draw.integers(total))}
    while len(some) < min(most, total):
        some.add(int(draw.integers(total)))
    return [
        tuple(int(i) for i in np.unravel_index(k, tuple(counts))) for k in sorted(some)
    ][: max(most, 0)]
