"""Decides what an entry of the corpus and of the conformance suite is.

An entry is a plain function with the means to make its arguments at any size and what
is known about it. `Cases` collects the entries of a module, one call under each
function.
"""

from __future__ import annotations

import math
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

Arguments = dict[str, Any]


class Maker:
    """Draws arguments of one dtype; every draw keeps clear of the usual kinks."""

    def __init__(self, dtype: Any, rng: np.random.Generator) -> None:
        self.dtype = np.dtype(dtype)
        self.rng = rng

    def __call__(self, *shape: int) -> Any:
        """Any sign, any size below one."""
        return self._cast(self.rng.uniform(-1.0, 1.0, [max(0, n) for n in shape]))

    def positive(self, *shape: int) -> Any:
        """Between 0.5 and 1.5: roots, logarithms and divisions are smooth there."""
        return self._cast(self.rng.uniform(0.5, 1.5, [max(0, n) for n in shape]))

    def away(self, *shape: int) -> Any:
        """Either sign, at least 0.2 from zero."""
        size = self.rng.uniform(0.2, 1.0, [max(0, n) for n in shape])
        return self._cast(size * self.rng.choice([-1.0, 1.0], size.shape))

    def distinct(self, *shape: int) -> Any:
        """Any two elements differ by at least 0.06, and none is near zero."""
        shape = tuple(max(0, n) for n in shape)
        order = self.rng.permutation(math.prod(shape)).reshape(shape)
        jitter = self.rng.uniform(0.0, 0.04, shape)
        return self._cast(0.1 * (order - math.prod(shape) // 2) + 0.03 + jitter)

    def indices(self, below: int, *shape: int, dtype: Any = np.int64) -> Any:
        """Integers in [0, below), with repeats; empty if nothing is below."""
        shape = tuple(max(0, n) if below > 0 else 0 for n in shape)
        return self.rng.integers(0, max(1, below), shape).astype(dtype)

    def dominant(self, n: int) -> Any:
        """A square matrix that eliminates without pivots."""
        return self._cast(0.3 * self.rng.uniform(-1, 1, (n, n)) + 2.0 * np.eye(n))

    def definite(self, n: int) -> Any:
        """A symmetric positive definite matrix."""
        b = 0.3 * self.rng.uniform(-1, 1, (n, n))
        return self._cast(b @ b.T + 2.0 * np.eye(n))

    def scalar(self, low: float = 0.5, high: float = 1.5) -> float:
        return float(self.rng.uniform(low, high))

    def _cast(self, values: Any) -> Any:
        return np.ascontiguousarray(values, dtype=self.dtype)


@dataclass(frozen=True)
class Entry:
    """One function, how to call it, and what is known about its adjoint.

    `kinds` maps the adjoint of an array to the schedule kinds of the readable adjoint
    that are right for it. `deferred` names what the language still lacks: such an entry
    may be refused, but if it is accepted its gradients must be right. `covers` are the
    features of the language that its source alone does not show. `seed` moves the
    arguments where those of seed zero come too near to a kink.
    """

    name: str
    function: Callable[..., Any]
    arguments: Callable[[int, Maker], Arguments]
    outputs: tuple[str, ...] = ()
    wide: tuple[int, ...] = ()
    least: int = 0
    real: int = 17
    catalogue: tuple[int, ...] = ()
    kinds: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    wrt: tuple[str, ...] | None = None
    only64: bool = False
    paper: bool = False
    heavy: bool = False
    deferred: str = ""
    covers: tuple[str, ...] = ()
    seed: int = 0

    @property
    def plain(self) -> Callable[..., Any]:
        """The function that CPython runs, of a compiled one too."""
        return getattr(self.function, "py_func", self.function)

    def make(self, size: int, dtype: Any, rng: np.random.Generator) -> Arguments:
        return self.arguments(size, Maker(dtype, rng))

    def generator(self, size: int) -> np.random.Generator:
        """The same numbers in every run."""
        name = zlib.crc32(self.name.encode())
        return np.random.default_rng(name + size + 1_000_003 * self.seed)

    @property
    def sizes(self) -> tuple[int, ...]:
        around = [n + d for n in self.wide for d in (-1, 0, 1)]
        return tuple(sorted({n for n in (0, 1, 2, 3, *around) if n >= self.least}))


class Cases:
    """The entries of one module, in the order of its text."""

    def __init__(self) -> None:
        self.entries: list[Entry] = []

    def __call__(
        self,
        function: Callable[..., Any],
        arguments: Callable[[int, Maker], Arguments],
        out: str = "",
        **facts: Any,
    ) -> None:
        name = function.__name__
        assert all(name != e.name for e in self.entries), name
        outputs = tuple(out.split())
        self.entries.append(Entry(name, function, arguments, outputs, **facts))
