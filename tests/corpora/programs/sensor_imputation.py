"""Environmental data: gaps (nan) filled by inverse distance, and a score of it."""

import numpy as np


def distance(xy, i, j):
    dx = xy[i, 0] - xy[j, 0]
    dy = xy[i, 1] - xy[j, 1]
    return np.sqrt(dx * dx + dy * dy)


def fill_station(values, xy, t, s, power):
    num = 0.0
    den = 0.0
    for other in range(values.shape[1]):
        if other == s or np.isnan(values[t, other]):
            continue
        w = 1.0 / distance(xy, s, other) ** power
        num += w * values[t, other]
        den += w
    return num / den


def impute(values, xy, power):
    filled = values.copy()
    for t in range(values.shape[0]):
        for s in range(values.shape[1]):
            if np.isnan(values[t, s]):
                filled[t, s] = fill_station(values, xy, t, s, power)
    return filled


def program(values, xy, power, reference):
    filled = impute(values, xy, power)
    mean = filled.mean(axis=0)
    return np.sum((mean - reference) ** 2)


def inputs(rng):
    values = rng.uniform(5, 15, (4, 5))
    values[0, 1] = np.nan
    values[2, 4] = np.nan
    values[2, 0] = np.nan
    return {
        "values": values,
        "xy": rng.uniform(0, 10, (5, 2)),
        "power": 1.7,
        "reference": rng.uniform(5, 15, 5),
    }
