"""Gains with gaps: a tuple that holds nan for missing ones, read by narrow integers;
buffers that change places, of which a name has one on some rounds and None on others;
places that stay those of a mask whose array changes; a slice whose end is bound again.
"""

from __future__ import annotations

import numpy as np


def gained(trace, gains, order):
    total = trace[0]
    for t in range(len(order)):
        g = gains[order[t]]
        if np.isnan(g):
            continue
        total += g * trace[t] ** 2
    return total


def damped(trace, rounds, first):
    old, new = trace * 1.0, trace * 2.0
    kept = None
    for r in range(rounds):
        if r % 2 == first:
            kept = old
        else:
            kept = None
        old, new = new, old * 0.5
        if kept is not None:
            old[0] = old[0] + kept[1]
    return old * new


def without_peaks(trace, level):
    calm = trace.copy()
    found = np.where(calm > level)
    calm[found] = 0.1
    calm[found[0]] += 0.5 * trace[found]
    return calm, len(found[0])


def program(traces, gains, order, n, rounds):
    rows = slice(1, n)
    part = traces[0][rows]
    n = 2
    traces[0][rows] *= 1.5
    part[0] = part[1] * 0.7
    largest = np.argmax(traces)
    traces[largest // traces.shape[1], largest % traces.shape[1]] *= 0.5
    total = 0.0
    for t in range(len(traces)):
        calm, peaks = without_peaks(traces[t], 0.6)
        total += gained(damped(calm, rounds, t % 2), gains, order) * (1 + peaks)
    return total + np.sum(traces[0][rows]) * n


def inputs(rng):
    return {
        "traces": rng.uniform(0.2, 0.8, (3, 6)),
        "gains": (1.5, float("nan"), 0.5),
        "order": np.array([0, 1, 2, -1, 0], np.int8),
        "n": 4,
        "rounds": 3,
    }
