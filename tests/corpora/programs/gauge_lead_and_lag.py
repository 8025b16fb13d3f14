"""Hydrology: gauges with gaps, a lead and a lag series that change places."""

import math

import numpy as np


def filled(series, last):
    """The series without gaps: what is missing is the last known value."""
    series = series[:]
    series = series.copy()
    for t in range(series.shape[0]):
        if np.isnan(series[t]):
            series[t] = last
        else:
            last = series[t]
    return series


def wetter(a, b, season):
    if season > 1:
        a = b
    return a


def routed(stage, damping):
    flow = 0.5 * stage
    for t in range(1, stage.shape[0]):
        flow[t] = damping * flow[t - 1] + stage[t]
    return flow


def program(gauge, weight, kinds, season, report):
    raw = gauge * 1.0
    lead = raw[1:]
    lead = filled(lead, weight[0])
    lag = routed(lead, weight[1])
    chosen = wetter(lead, lag, season)
    chosen = chosen.copy()
    chosen[0] = chosen[0] * weight[1]
    raw[1] = 7.0 * weight[0]
    total = 0.1 * raw[1] * raw[2]
    for t in range(kinds.shape[0]):
        if kinds[t] < 0:
            lead, lag = lag, lead
        level = lead[0] * weight[2] + 0.1 * t
        if kinds[t] > 0:
            if kinds[t] > 1:
                total += level * level
                level = math.cos(level)
            else:
                lag[1] += level * level
            total += level * level * chosen[1]
        elif kinds[t] == 0:
            total += math.sin(level)
            continue
        lead[1] = level * level * lag[0]
        total += level**3
    for i in range(report.shape[0]):
        report[i] = total * chosen[i] + lead[i] * lag[i]
    return total + np.sum(chosen)


def inputs(rng):
    gauge = rng.uniform(0.4, 1.0, 6)
    gauge[3] = np.nan
    return {
        "gauge": gauge,
        "weight": rng.uniform(0.5, 1.2, 3),
        "kinds": np.array([2, -1, 1, 0, -3, 1], dtype=np.int8),
        "season": 2,
        "report": rng.uniform(0.0, 1.0, 4),
    }
