"""Onsets in a borehole: traces with gaps, thinned by a step that the call decides; a
ufunc of Numba's with branches; masks that are multiplied and added; a helper that finds
an onset or None, one that gives back its argument on some traces; two buffers that
change places; channels of narrow integers; draws that nobody uses.
"""

from __future__ import annotations

import math

import numba
import numpy as np


@numba.vectorize(["float64(float64, float64)"])
def damped(a, q):
    if a < 0.0:
        return -a * math.exp(-q)
    return a / (1.0 + q)


def without_gaps(trace):
    gaps = np.isnan(trace)
    if np.count_nonzero(gaps) == 0:
        return trace
    level: float = float(np.nanmean(trace))
    out = np.empty_like(trace)
    for i in range(len(trace)):
        out[i] = level if gaps[i] else trace[i]
    return out


def onset(trace, threshold):
    run: int = 0
    for i in range(len(trace)):
        if (trace[i] > threshold) * (trace[i] < 10.0):
            run += 1
            if run == 2:
                return i, trace[i] - threshold
        else:
            run = 0


def smoothed(trace, rounds):
    old, new = trace.copy(), np.zeros(len(trace))
    for r in range(rounds):
        for i in range(1, len(old) - 1):
            new[i] = 0.5 * old[i] + 0.25 * (old[i - 1] + old[i + 1])
        new[0], new[-1] = old[0], old[-1]
        if r % 2 == 0 or old[1] > 0.4:
            old, new = new, old
    return old


def strength(trace, q, threshold, rng):
    kind = type(q)
    t = damped(trace, q)
    found = onset(t, threshold)
    if found is None:
        rng.normal()
        return 0.1 * t[0] ** 2
    place, above = found
    rng.random()
    weight = kind(1) / (kind(1) + place)
    q = q * above
    quiet = (t < 0.2) + (t > 0.6)
    both = (t > 0.05) * (trace < 0.9)
    print("onset", place, t.max(), np.mean(t))
    return above * weight + np.sum(t * quiet) * q + np.sum(t * t * both)


def program(traces, channels, gain, kept, q, k, rng):
    total: float = 0.0
    for c in range(len(channels)):
        trace = without_gaps(traces[channels[c]])
        start: int = int(channels[c])
        part = smoothed(trace, 3)[start::k] * gain[c]
        total += strength(part, q, 0.15 + 0.1 * c, rng) * (c + 1)
        kept[c, ::k] = trace[::k] * 0.5
        kept[c, 1::k] *= gain[c]
    return total


def inputs(rng):
    traces = rng.uniform(0.2, 0.8, (3, 12))
    traces[0, 3:5] *= -1.0
    traces[1, 4] = traces[1, 9] = np.nan
    traces[2] *= 0.2
    return {
        "traces": traces,
        "channels": np.array([1, 0, 2, 1], np.int8),
        "gain": rng.uniform(0.8, 1.2, 4),
        "kept": rng.uniform(0.2, 0.8, (4, 12)),
        "q": 0.3,
        "k": 2,
        "rng": np.random.default_rng(7),
    }
