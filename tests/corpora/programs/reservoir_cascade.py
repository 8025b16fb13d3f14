"""Hydrology: two reservoirs in a cascade, calibrated on a gauge with gaps.

Parameters are in a dictionary, the state is a named tuple that is made anew each day,
two buffers change places, spills are kept in a list, and a helper has defaults in front
of an option.
"""

from collections import namedtuple

import numpy as np

State = namedtuple("State", "storage soil outflow")


def release(storage, rate=0.3, shape=1.0, law="power"):
    """Outflow of a reservoir; the second option is linear."""
    if law == "power":
        return rate * storage**shape
    return rate * storage


def runoff(rain, soil, p, how=None):
    """Effective rain, and the moisture that is left."""
    wet = soil / p["capacity"]
    if how is None:
        effective = rain * wet
    else:
        effective = rain * wet**how
    return {"flow": effective, "soil": soil + rain - effective - p["loss"] * soil}


def advance(state, rain, p):
    """The state a day later."""
    made = runoff(rain, state.soil, p)
    upper = release(state.storage[0], shape=p["shape"])
    lower = release(state.storage[1], p["rate"], law="linear")
    storage = np.empty(2)
    storage[0] = state.storage[0] + made["flow"] - upper
    storage[1] = state.storage[1] + upper - lower
    return State(storage, made["soil"], lower)


def smoothed(flow, passes):
    """Neighbours averaged, in two buffers that change places."""
    old, new = flow.copy(), np.zeros(len(flow))
    for _ in range(passes):
        new[0], new[-1] = old[0], old[-1]
        for i in range(1, len(old) - 1):
            new[i] = 0.25 * old[i - 1] + 0.5 * old[i] + 0.25 * old[i + 1]
        if old[0] < 5.0:
            old, new = new, old
    return old


def misfit(flow, gauge, weight):
    """Squares where the gauge was read; days of high flow count by their number."""
    total, read = 0.0, 0
    high = []
    for t in range(len(flow)):
        if np.isnan(gauge[t]):
            continue
        total += weight[t] * (flow[t] - gauge[t]) ** 2
        read += 1
        if flow[t] > 0.9:
            high.append((flow[t] - 0.9, t))
    for excess, t in high:
        total += 0.1 * excess * (t + 1)
    return total / read, len(high)


def program(rain, gauge, weight, start, capacity, rate):
    loss = 0.02 * (1.0 + rate)
    p = {"capacity": capacity, "loss": loss, "rate": rate, "shape": 1.2}
    state = State(start.copy(), 0.6 * capacity, 0.0)
    flow = np.zeros(len(rain))
    for t in range(len(rain)):
        state = advance(state, rain[t], p)
        flow[t] = state.outflow
    error, days = misfit(smoothed(flow, 3), gauge, weight)
    return error + 0.01 * days + 0.001 * np.sum(state.storage * state.storage)


def inputs(rng):
    gauge = rng.uniform(0.4, 0.8, 12)
    gauge[4] = gauge[5] = np.nan
    return {
        "rain": rng.uniform(0.2, 1.4, 12),
        "gauge": gauge,
        "weight": rng.integers(1, 4, 12).astype(np.int16),
        "start": np.array([1.7, 2.3]),
        "capacity": 3.1,
        "rate": 0.42,
    }
