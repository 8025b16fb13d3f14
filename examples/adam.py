"""Adam, for the examples that learn: the steps of Kingma and Ba, "Adam: a method for
stochastic optimization", ICLR 2015, algorithm 1.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]


class Adam:
    """Steps on one array of floats, in place, of the elements where `free` is 1.

    `decays` are those of the mean of the slopes and of the mean of their squares;
    `least` is added to the root of the latter.
    """

    def __init__(
        self,
        start: Array,
        rate: float,
        *,
        decays: tuple[float, float] = (0.9, 0.999),
        least: float = 1e-8,
        free: Array | float = 1.0,
    ) -> None:
        self.x, self.rate, self.free = start, rate, free
        self.decays, self.least = decays, least
        self.mean, self.square = np.zeros_like(start), np.zeros_like(start)
        self.steps = 0

    def step(self, slope: Array, factor: float = 1.0) -> None:
        """One step against the slope, its rate times a factor."""
        self.steps += 1
        slope = slope * self.free
        first, second = self.decays
        self.mean += (1 - first) * (slope - self.mean)
        self.square += (1 - second) * (slope * slope - self.square)
        mean = self.mean / (1 - first**self.steps)
        square = self.square / (1 - second**self.steps)
        self.x -= factor * self.rate * mean / (np.sqrt(square) + self.least)
