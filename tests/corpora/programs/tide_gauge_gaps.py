"""Tide gauges with gaps: readings are missing as nan, quality flags are bytes, a gauge
and its backup change places where one has more gaps, places of good readings are found
in helpers, kept over turns and written to, and windows shrink on some paths.
"""

from __future__ import annotations

import numpy as np


def good_places(level, flags):
    """Where there is a reading that is not flagged; nowhere if there are too few."""
    good = ~np.isnan(level) & (flags < 3)
    if good.sum() < 2:
        return np.zeros(0, dtype=np.int64)
    return np.flatnonzero(good)


def readings(level, flags):
    """The good readings themselves, or none."""
    good = ~np.isnan(level) & (flags < 3)
    if not np.any(good):
        return np.zeros(0)
    return level[good]


def outliers_pulled_in(level, flags, width):
    """Pulls what is far from the mean back, in place; the places that are left."""
    at = good_places(level, flags)
    again = good_places(level, flags)
    centre = np.mean(level[at])
    for k in range(len(at)):
        if abs(level[at[k]] - centre) > width:
            level[at[k]] = centre + 0.5 * (level[at[k]] - centre)
            again[k] = at[0]
    return at, again


def in_order(level, flags):
    """Ranks of bytes for the good readings, which the order of the readings gives."""
    found = readings(level, flags)
    order = np.argsort(found)
    rank = np.zeros(len(found), dtype=np.int8)
    for k in range(len(order)):
        rank[order[k]] = 3 * k
    return found[order], rank


def residuals(one, other, flags, turns):
    """What is left of one gauge behind the other, where both are good; they change
    places after each turn that leaves more than before.
    """
    total = 0.0
    last = good_places(one, flags)
    before = 10.0
    for turn in range(turns):
        both = ~np.isnan(one) & ~np.isnan(other)
        a, b = one[both], other[both]
        if len(a) == 0:
            continue
        fit = np.sum(a * b) / np.sum(b * b)
        left = np.sum((a - fit * b) ** 2) * (turn + 1)
        total += left + np.sum(one[last] ** 2) * 0.1
        last = np.flatnonzero(both)
        if left < before:
            one, other = other, one
        before = left
        other *= 1.03
    return total, one[last]


def program(gauge, backup, flags, width, turns):
    total, tail = residuals(gauge.copy(), backup.copy(), flags, turns)
    at, again = outliers_pulled_in(gauge, flags, width)
    ordered, rank = in_order(gauge, flags)
    swing = ordered[-1] - ordered[0]
    weights = np.arange(1.0, len(at) + 1.0)
    total += np.sum(gauge[at] * weights) + np.sum(gauge[again] ** 2 * weights)
    total += np.sum(readings(backup, flags) ** 2) * swing
    levels = readings(gauge, flags)
    return total, np.sum(levels * rank), tail, np.sum(levels[levels > 0.3] ** 3)


def inputs(rng):
    gauge = 0.2 + rng.permutation(np.linspace(0.0, 1.1, 9))
    backup = 0.25 + rng.permutation(np.linspace(0.0, 0.9, 9))
    backup[[2, 5]] = np.nan
    return {
        "gauge": gauge,
        "backup": backup,
        "flags": np.array([0, 1, 2, 0, 255, 0, 1, 0, 2], np.uint8),
        "width": 0.43,
        "turns": 3,
    }
