"""Well logs: gaps that are nan, picks packed by counters, windows bound again in a
loop, and logs that are given back as they came where nothing was to be done.
"""

from __future__ import annotations

import numpy as np


def despiked(log, limit):
    """The log itself if nothing in it is too high, else a new one."""
    worst = 0.0
    for v in log:
        if not np.isnan(v):
            worst = max(worst, abs(v))
    if worst <= limit:
        return log
    log = log * (limit / worst)
    return log


def packed(log, flags, room):
    """Value and depth of what is there, side by side; how many there are."""
    pairs = np.zeros(2 * len(log) + room)
    kept = 0
    at = 0
    for i in range(len(log)):
        if np.isnan(log[i]) or flags[i] == 0:
            continue
        pairs[2 * kept] = log[i]
        kept += 1
    for i in range(len(log) - 1, -1, -1):
        pairs[at + 1] += 0.1 * i
        at += 2
    return pairs, kept


def smoothed(values, rounds):
    """Running means of a list that is bound again in each round."""
    window = [0.5 * v for v in values]
    total = 0.0
    for r in range(rounds):
        wider = [0.0] * len(values)
        k = len(values)
        for i in range(len(values)):
            k -= 1
            wider[k] += window[i] * window[k] + 0.25 * r
        window = wider
        total += sum(window) / len(window)
    return np.array(window), total


def program(gamma, density, flags, limit, rounds):
    a, b = gamma, density
    step = 0
    for _ in range(rounds):
        a, b = b, a
        step += 1
    a = despiked(a, limit)
    pairs, kept = packed(a, flags, step)
    if kept < 2:
        return gamma, 0.0
    out, total = smoothed(pairs[: 2 * kept], rounds)
    misfit = 0.0
    n = 0
    for i in range(len(b)):
        if not np.isnan(b[i]):
            misfit += b[i] * b[i] * (n + 1)
        n += 1
    shown = np.zeros(len(gamma))
    for i in range(min(len(out), len(shown))):
        shown[i] = out[i] * misfit
    return shown, total + misfit / n


def inputs(rng):
    gamma = 0.4 + 0.2 * rng.random(7)
    density = 0.5 + 0.3 * rng.random(7)
    gamma[2] = density[5] = np.nan
    flags = np.array([1, 1, 1, 0, 1, 100, 1], np.int8)
    return {
        "gamma": gamma,
        "density": density,
        "flags": flags,
        "limit": 0.6,
        "rounds": 3,
    }
