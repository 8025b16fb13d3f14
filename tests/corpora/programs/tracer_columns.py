"""Oceanography: tracers mixed down columns, three time levels, gaps, narrow flags."""

import numpy as np

FLOOR = 0.125


def eliminated(below, main, rhs):
    """The Thomas algorithm in place; the solution is the right-hand side's array."""
    upper = np.zeros_like(main)
    for k in range(main.shape[0]):
        pivot = main[k]
        if k > 0:
            pivot = main[k] - below * upper[k - 1]
        upper[k] = below / pivot
        if k > 0:
            rhs[k] = (rhs[k] - below * rhs[k - 1]) / pivot
        else:
            rhs[k] = rhs[k] / pivot
    for k in range(main.shape[0] - 2, -1, -1):
        rhs[k] -= upper[k] * rhs[k + 1]
    return rhs


def exchanged(now, weight):
    """Half of what leaves a cell, squared twice, as a new array."""
    moved = np.zeros_like(now)
    for k in range(now.shape[0]):
        moved[k] = 0.5 * now[k] * weight * now[k] * 2.0
        moved[k] = moved[k] / (1.0 + moved[k])
    return moved


def observed(series, flags, level):
    misfit = 0.0
    for k in range(series.shape[0]):
        if np.isnan(series[k]):
            continue
        share = series[k] / level if flags[k] > 100 else series[k] * level
        flags_here = flags[k] * 2
        ratio = np.exp(-share * share)
        misfit += ratio * ratio * flags_here
        level = np.sqrt(level * level + ratio)
    return misfit, level


def program(start, data, flags, mixing, floor, steps, out):
    old = start.copy()
    now = 0.5 * start
    new = np.zeros_like(start)
    if steps > 3:
        floor = FLOOR
    misfit = floor * 1.5
    for t in range(steps):
        main = 1.0 + 2.0 * mixing + 0.1 * now * now
        moved = exchanged(now, mixing)
        for k in range(start.shape[0]):
            new[k] = old[k] + moved[k] * floor
        new = eliminated(-mixing, main, new)
        if t % 2 == 0:
            old, now, new = now, new, old
        else:
            now, old, new = new, now, old
            more, floor = observed(data, flags, floor)
            misfit += more * now[0]
    for k in range(out.shape[0]):
        out[k] = now[k] / (floor + old[k] * old[k])
        out[k] *= out[k] * flags[k]
        out[k] = np.sqrt(1.0 + out[k] * 0.001)
    return misfit + np.sum(now)


def inputs(rng):
    data = rng.uniform(0.3, 0.9, 5)
    data[2] = np.nan
    return {
        "start": rng.uniform(0.4, 1.1, 5),
        "data": data,
        "flags": np.array([3, 120, 90, 110, 127], dtype=np.int8),
        "mixing": 0.2,
        "floor": 0.7,
        "steps": 3,
        "out": rng.uniform(0.0, 1.0, 5),
    }
