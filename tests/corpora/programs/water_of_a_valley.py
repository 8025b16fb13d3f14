"""Water of a valley: slopes and lakes as objects with methods that keep their state,
one kind that does one thing in another way, constants in an object and a dictionary of
the module, gauges with gaps, a helper that gives back what it is given on some days.
"""

from __future__ import annotations

from dataclasses import dataclass
from types import SimpleNamespace
from typing import NamedTuple

import numpy as np

CLIMATE = SimpleNamespace(
    season="wet", snow=None, loss=0.15, months=np.array([0.8, 1.1, 0.6])
)
RULES = {"spill": 1.2, "of": {"share": 0.4}, "names": "valley"}


class Rating(NamedTuple):
    a: float
    b: float

    def flow(self, depth):
        if depth <= 0.0:
            return 0.0
        return self.a * depth**self.b

    @property
    def mild(self):
        return self.a / (1.0 + self.b)


@dataclass
class Slope:
    store: float
    rate: float
    wet: int

    def melted(self, rain):
        if CLIMATE.snow is None:
            return rain
        return rain + CLIMATE.snow

    def step(self, rain, month):
        gain = self.melted(rain) * (1.0 - CLIMATE.loss) * CLIMATE.months[month % 3]
        self.store += gain
        out = self.leaked()
        self.store -= out
        if out > 0.2:
            self.wet += 1
        return out

    def leaked(self):
        return self.rate * self.store


@dataclass
class Marsh(Slope):
    def leaked(self):
        return self.rate * self.store**2 / (1.0 + self.store)


@dataclass
class Lake:
    level: float
    rating: Rating
    shore: np.ndarray

    def take(self, flow):
        self.level += flow * self.area
        spilled = max(self.level - RULES["spill"], 0.0) * RULES["of"]["share"]
        self.level -= spilled + self.rating.flow(self.level - 0.3)
        return spilled + self.rating.mild

    @property
    def area(self):
        s = 0.0
        for k in range(self.shore.shape[0]):
            s += self.shore[k] ** 2
        return 1.0 / (0.5 + s)

    def drained(self, by):
        return Lake(self.level * by, self.rating, self.shore)


def filled(series, day):
    """The series without gaps; itself where it has none."""
    if not np.isnan(series).any():
        return series
    out = np.zeros(series.shape[0])
    for k in range(series.shape[0]):
        out[k] = 0.1 * day if np.isnan(series[k]) else series[k]
    return out


def routed(lake, flows):
    total = 0.0
    for k in range(flows.shape[0]):
        total += lake.take(flows[k])
    return total


def program(slopes, lake, rain, seen):
    misfit = 0.0
    for day in range(rain.shape[0]):
        today = filled(rain[day], day)
        flows = np.zeros(len(slopes))
        for k, slope in enumerate(slopes):
            flows[k] = slope.step(today[k], day)
        out = routed(lake, flows)
        if CLIMATE.season == "wet":
            out *= 1.1
        if not np.isnan(seen[day]):
            misfit += (out - seen[day]) ** 2
    late = lake.drained(0.5)
    return misfit + late.area * late.rating.flow(late.level)


def inputs(rng):
    rain = rng.uniform(0.2, 1.0, (4, 3))
    rain[2, 1] = np.nan
    return {
        "slopes": [
            Slope(rng.uniform(0.4, 0.8), 0.3, 0),
            Marsh(rng.uniform(0.4, 0.8), 0.5, 0),
            Slope(rng.uniform(0.4, 0.8), 0.2, 1),
        ],
        "lake": Lake(0.7, Rating(0.6, 1.5), rng.uniform(0.3, 0.9, 4)),
        "rain": rain,
        "seen": np.array([0.4, np.nan, 0.9, 0.6]),
    }
