"""Oceanography: tide gauges, gaps as nan, a datum kept from the last calibration."""

import numpy as np


def readings(raw, gain, quality):
    if quality > 1:
        level = raw * gain
    elif quality > 0:
        level = np.zeros(raw.shape[0])
        for i in range(raw.shape[0]):
            level[i] = raw[i] * gain * gain
    else:
        level = raw
    return level


def smoothed(level, passes):
    for _ in range(passes):
        inner = np.zeros(level.shape[0])
        for i in range(1, level.shape[0] - 1):
            inner[i] = 0.25 * (level[i - 1] + 2.0 * level[i] + level[i + 1])
        inner[0] = level[0]
        inner[level.shape[0] - 1] = level[level.shape[0] - 1]
        level = inner
    return level


def program(series, gains, quality, datum, scale):
    total = 0.0
    highest = -1.0
    for day in range(series.shape[0]):
        level = readings(series[day], gains[day], quality[day])
        if quality[day] == 2:  # a calibration, which lasts until the next
            base = datum * gains[day]
        tide = smoothed(level, 1 + day % 2)
        top = 0.0
        for i in range(tide.shape[0]):
            if np.isnan(tide[i]):
                continue
            above = tide[i] - base[i]
            total += scale * above * above
            top = max(top, tide[i])
        if top > highest:
            best = tide
            highest = top
    scale = best * scale
    for i in range(scale.shape[0]):
        if not np.isnan(scale[i]):
            total += scale[i] * base[i]
    return total


def inputs(rng):
    series = rng.uniform(0.5, 2.5, (5, 7))
    series[1, 3] = np.nan
    series[4, 0] = np.nan
    return {
        "series": series,
        "gains": rng.uniform(0.8, 1.2, 5),
        "quality": np.array([2, 0, 1, 2, 1], dtype=np.int8),
        "datum": rng.uniform(0.1, 0.3, 7),
        "scale": 0.7,
    }
