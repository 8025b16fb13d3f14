"""Ecology: transect counts, missed visits as nan, two observers changing places."""

import numpy as np


def corrected(counts, effort, method):
    if method > 1:
        found = counts * effort
    elif method > 0:
        found = np.zeros(counts.shape[0])
        for i in range(counts.shape[0]):
            found[i] = counts[i] * effort * effort
    else:
        found = counts + 0.0
    return found


def tallied(found, weight, repeats):
    sums = np.zeros(2)
    for i in range(found.shape[0]):
        if np.isnan(found[i]):
            continue
        sums[0] += weight[i] * found[i]
        for _ in range(repeats):  # seen again on the way back, counted as before
            sums[0] += weight[i] * found[i]
        sums[1] += weight[i]
        if found[i] > 1.5:
            sums[1] += weight[i]
    return sums


def program(counts, efforts, methods, weight, spare, rate):
    density = np.zeros(efforts.shape[0])
    first, second = weight, spare
    total = 0.0
    for v in range(efforts.shape[0]):
        found = corrected(counts[v], efforts[v], methods[v])
        if methods[v] == 2:
            first, second = second, first
        sums = tallied(found, first, v % 3)
        density[v] = sums[0] / sums[1]
        for i in range(found.shape[0]):
            if not np.isnan(found[i]):
                total += second[i] * found[i] * rate
                for _ in range(v % 2):
                    total += second[i] * found[i] * rate
    for v in range(density.shape[0]):
        total += density[v] * density[v]
        for u in range(v):
            total += density[v] * density[v]
    return total


def inputs(rng):
    counts = rng.uniform(0.2, 2.6, (5, 6))
    counts[0, 2] = np.nan
    counts[3, 5] = np.nan
    return {
        "counts": counts,
        "efforts": rng.uniform(0.8, 1.2, 5),
        "methods": np.array([0, 2, 1, 2, 0], dtype=np.int8),
        "weight": rng.uniform(0.4, 1.0, 6),
        "spare": rng.uniform(0.4, 1.0, 6),
        "rate": 0.3,
    }
