"""River stages with gaps: helpers that find a crossing or give None, flags of eight
bits, padded and smoothed series that change places.
"""

from __future__ import annotations

import numpy as np


def smooth(stage, width):
    padded = np.pad(stage, width, mode="edge")
    out = np.zeros_like(stage)
    for k in range(2 * width + 1):
        out += padded[k : k + len(stage)]
    return out / (2 * width + 1)


def crossing(stage, level, start, flags):
    for i in range(start, len(stage) - 1):
        a, b = stage[i], stage[i + 1]
        if np.isnan(a) or np.isnan(b):
            flags[i] += 1
            continue
        if (a - level) * (b - level) < 0.0:
            return i, (level - a) / (b - a)
    return None


def filled(stage, flags):
    out = stage.copy()
    last = None
    for i in range(len(stage)):
        if np.isnan(stage[i]):
            if last is not None:
                out[i] = last
            flags[i] = flags[i] * 100
        else:
            last = stage[i]
    return out


def event_times(stage, level, flags):
    times = []
    start = 0
    while (found := crossing(stage, level, start, flags)) is not None:
        i, part = found
        times.append(i + part)
        start = i + 1
    return times


def program(stage, level, flags):
    raw, fine = stage, filled(stage, flags)
    if level > 0.1:
        raw, fine = fine, smooth(fine, 1)
    total = 0.0
    for t in event_times(fine, level, flags):
        total += t * t
    first = crossing(raw, level, 0, flags)
    if first is None:
        return total, fine
    return total + first[1] * first[0], fine


def inputs(rng):
    stage = np.sin(np.arange(14) * 0.9) + 0.1 * rng.normal(size=14)
    stage[[4, 9]] = np.nan
    return {"stage": stage, "level": 0.2, "flags": np.full(14, 2, np.int8)}
