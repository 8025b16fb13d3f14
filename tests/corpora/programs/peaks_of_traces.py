"""Peaks of seismic traces: a kernel that may be None; buffers that change places;
slices with names; places that `np.where` finds in a helper; the best of them or None;
gains in a tuple that is read by the number of the trace; the largest of a matrix.
"""

from __future__ import annotations

import numpy as np


def picks(trace, level):
    found = np.where(trace > level)
    if len(found[0]) == 0:
        return np.zeros(0, dtype=np.int64)
    return found[0]


def smoothed(trace, kernel):
    inner = slice(1, -1)
    old, new = trace.copy(), trace.copy()
    for _ in range(2):
        new[inner] = kernel[0] * old[:-2] + kernel[1] * old[inner] + kernel[2] * old[2:]
        old, new = new, old
    return old


def program(traces, levels, gains, smooth):
    kernel = np.ones(3) / 3 if smooth else None
    middle = (slice(None), slice(2, 5))
    total = 0.0
    for t in range(len(traces)):
        u = traces[t].copy()
        if kernel is not None:
            u = smoothed(u, kernel)
        best = None
        for p in picks(u, levels[t % 2]):
            if best is None or u[p] > best:
                best = u[p]
        if best is not None:
            total += best * gains[t]
        else:
            total += 0.1 * np.sum(u**2)
    scaled = traces * gains[0]
    p = np.argmax(scaled)
    most = scaled[p // scaled.shape[1], p % scaled.shape[1]]
    return total + most**2 + np.sum(traces[middle] ** 3)


def inputs(rng):
    traces = rng.uniform(0.2, 0.8, (4, 9))
    traces[2] *= 0.2
    return {
        "traces": traces,
        "levels": np.array([0.35, 0.5]),
        "gains": (1.1, 2.0, 0.5, 1.7),
        "smooth": True,
    }
