"""Buoys on a ring: offsets of eight bits that count from the end, readings without
numbers, a helper of helpers that gives arrays and a number by paths, series that change
places, rows that are scaled by their largest and their sum, and a short circle.
"""

from __future__ import annotations

import numpy as np


def scaled(rows, out):
    """Each row by what is largest in it, gaps passed over, and by its sum."""
    for i in range(rows.shape[0]):
        top = 0.5
        for j in range(rows.shape[1]):
            top = max(top, rows[i, j])
        total = 0.0
        for j in range(rows.shape[1]):
            if not np.isnan(rows[i, j]):
                out[i, j] = np.exp(rows[i, j] - top)
                total += out[i, j]
        for j in range(rows.shape[1]):
            out[i, j] /= total + 1.0
    return out


def shifted(series, offsets, swell):
    """What stands so many places before the end, and around a ring."""
    n = series.shape[0]
    found = np.zeros(n)
    for i in range(n):
        k = offsets[i] - n if offsets[i] > 0 else offsets[i]
        found[i] = series[k] * swell[i % 3] + 0.5 * series[(i + 1) % n]
    return found, found[offsets[0] - 1]


def calmed(series, offsets, swell):
    found, last = shifted(series, offsets, swell)
    if last > 0.2:
        found, last = shifted(found, offsets, swell)
    return found, last


def watched(series, offsets, swell):
    found, last = calmed(series, offsets, swell)
    if found[0] < 1.0:
        found, last = calmed(0.5 * found, offsets, swell)
    return found, last


def program(rows, offsets, swell, steps):
    a, b = rows[0].copy(), rows[-1].copy()
    out = np.zeros(rows.shape)
    energy = 0.0
    for t in range(steps):
        found, last = watched(a, offsets, swell)
        if t % 2 == 0:
            a, b = b, found
        else:
            b = found + a
        energy += last * np.sum(found * found)
        swell[t % 3] *= 1.0 + 0.1 * found[offsets[-1]]
    out = scaled(rows * swell[0], out)
    for i in range(rows.shape[0]):
        for j in range(rows.shape[1]):
            if not np.isnan(rows[i, j]) and not np.isnan(rows[i, j - 1]):
                energy += out[i, j] * a[j] + b[offsets[j]] * rows[i, j - 1] ** 2
    return energy


def inputs(rng):
    rows = 0.2 + 0.6 * rng.permutation(np.linspace(0.0, 1.0, 21)).reshape(3, 7)
    rows[1, 4] = np.nan
    return {
        "rows": rows,
        "offsets": np.array([3, -2, 0, 6, -7, 1, -1], np.int8),
        "swell": np.array([0.4, 0.7, 0.9]),
        "steps": 3,
    }
