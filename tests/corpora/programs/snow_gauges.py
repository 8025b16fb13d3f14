"""Hydrology: gauges with gaps, three rotated rows, a solver that may give up."""

import numpy as np

LIMIT = "no depth was found"


def settled(load, rate, guess=None):
    """Depth under a load, by Newton; begins at the load where there is no guess."""
    if rate <= 0.0:
        raise ValueError("rate")
    d = load if guess is None else guess
    for _ in range(40):
        step = (d + rate * d * d - load) / (1.0 + 2.0 * rate * d)
        d -= step
        if abs(step) < 1e-13:
            return d
    raise RuntimeError(LIMIT)


def advanced(u, flow, codes):
    """One step on rows that change places; codes go around in eight bits."""
    for i in range(1, u.shape[1] - 1):
        twice = codes[i] + codes[i]
        gain = 0.1 + 0.0005 * twice
        u[2, i] = u[1, i] * u[1, i - 1] * gain + 0.4 * u[0, i] + flow * u[1, i + 1]
    for i in range(u.shape[1]):
        u[0, i] = u[1, i]
        u[1, i] = u[2, i]
    return u


def weighted(depths, seen, weights=None, floor=None):
    w = np.ones(len(seen)) if weights is None else weights
    misfit = 0.0
    for k, value in enumerate(seen):
        if np.isnan(value):
            continue
        gap = depths[k] - value
        if floor is not None and abs(gap) < floor:
            gap = 0.5 * gap
        misfit += w[k] * gap * gap
    return misfit


def program(start, flow, rate, codes, seen, weights=None):
    u = np.zeros((3, start.shape[0]))
    for i in range(start.shape[0]):
        u[0, i] = start[i]
        u[1, i] = 0.9 * start[i]
    total = 0.0
    last = start[0]
    for step in range(3):
        u = advanced(u, flow, codes)
        depths = np.zeros(start.shape[0])
        for i in range(1, start.shape[0] - 1):
            if u[1, i] < -5.0:
                raise ArithmeticError("a load is negative")
            if step % 2:
                depths[i] = settled(1.0 + u[1, i], rate, last)
            else:
                depths[i] = settled(1.0 + u[1, i], rate)
        last = depths[1]
        total += weighted(depths, seen, weights) + weighted(depths, seen, floor=1e-3)
    z = 1.0 / (1.0 + np.exp(-(u[1] * rate)))
    return total + np.sum(z * u[0]) / np.size(z)


def inputs(rng):
    seen = rng.uniform(0.3, 0.9, 6)
    seen[2] = np.nan
    return {
        "start": rng.uniform(0.3, 0.9, 6),
        "flow": 0.2,
        "rate": 0.3,
        "codes": np.array([100, -100, 27, 64, 5, 90], dtype=np.int8),
        "seen": seen,
    }
