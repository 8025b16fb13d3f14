"""Strings of temperature loggers in a borehole: windows that begin before a record
does, ends that change places, gaps, delays of eight bits, means kept in single
precision beside the corrected record, and a table that is smoothed in place of itself.
"""

from __future__ import annotations

import numpy as np


def window(record, first, count):
    """The readings from `first` on, from the end where that is negative."""
    part = record[first:]
    return part[:count] if count < len(part) else part


def settled(record, first):
    """Mean, spread and last reading of what follows `first`, gaps left out."""
    part = record[first:]
    good = part[~np.isnan(part)]
    if len(good) == 0:
        return 0.0, 0.0, 0.0
    return np.mean(good), np.var(good[: first + 2]) if first >= 0 else 0.1, good[-1]


def corrected(record, drift, kept, gains):
    """Writes the record without its drift; sums go to single precision beside it."""
    out = np.zeros(len(record))
    lost = 0.0
    for i in range(len(record)):
        out[i] = record[i] - drift[0] * i if not np.isnan(record[i]) else 0.3
        kept[0] += out[i] * gains[1]
        lost += gains[0] * out[i] * drift[1]
    return out, lost


def coupled(table, turns):
    """Each pass makes a new table of the old one and its mirror image."""
    for turn in range(turns):
        table = 0.5 * (table + table.T) * (1.0 - 0.05 * turn)
        for i in range(1, table.shape[0], 2):
            for j in range(table.shape[1] - 1):
                table[i, j] += 0.1 * table[i - 1, j + 1] ** 2
    return table


def program(strings, delays, drift, gains, kept, bar):
    early, late = -3, int(delays[0]) - 252
    one, other = strings[0], strings[1]
    total = 0.0
    for turn in range(4):
        mean, spread, last = settled(one, early)
        total += mean * (turn + 1) + spread * last
        if mean > bar:
            early, late = late, early
            one, other = other, one
        else:
            early += 1
        total += np.nansum(one[early:]) * 0.1 + np.nansum(other[:late] * gains[0])
        for late in range(early, early + 2):
            for value in window(other, late, 3):
                if not np.isnan(value):
                    total += value**2 * (late + 4)
        record, lost = corrected(other, drift, kept, gains)
        total += lost + record[early] * record[late - 1]
    pairs = np.zeros((len(one), len(one)))
    for i in range(len(one)):
        for j in range(len(other)):
            if not np.isnan(one[i]) and not np.isnan(other[j]):
                pairs[i, j] = one[i] * other[j]
    pairs = coupled(pairs, 3)
    return total + np.sum(pairs[late:] * pairs[late:]), pairs[early]


def inputs(rng):
    strings = 0.2 + 0.7 * rng.permutation(np.linspace(0.0, 1.0, 16)).reshape(2, 8)
    strings[0, 4] = np.nan
    return {
        "strings": strings,
        "delays": np.array([254, 3], np.uint8),
        "drift": np.array([0.013, 0.4]),
        "gains": np.array([0.8, 1.3], np.float32),
        "kept": np.array([0.5], np.float32),
        "bar": 0.52,
    }
