"""Hydrology: Muskingum routing of a flood through reaches, in place per reach."""

import numpy as np


def coefficients(k, x, dt):
    d = k * (1.0 - x) + 0.5 * dt
    c0 = (0.5 * dt - k * x) / d
    c1 = (0.5 * dt + k * x) / d
    c2 = (k * (1.0 - x) - 0.5 * dt) / d
    return c0, c1, c2


def route_reach(flow, k, x, dt):
    """Replaces the inflow of a reach by its outflow."""
    c0, c1, c2 = coefficients(k, x, dt)
    inflow_before = flow[0]
    out_before = flow[0]
    for t in range(1, len(flow)):
        inflow = flow[t]
        out = c0 * inflow + c1 * inflow_before + c2 * out_before
        flow[t] = out
        inflow_before = inflow
        out_before = out


def peak(flow, sharpness):
    # a smooth maximum, for gradients
    top = flow[0]
    for q in flow:
        top = max(top, q)
    s = 0.0
    for q in flow:
        s += np.exp(sharpness * (q - top))
    return top + np.log(s) / sharpness


def program(inflow, lateral, ks, xs, dt, sharpness=0.5):
    flow = inflow.copy()
    for r in range(len(ks)):
        route_reach(flow, ks[r], xs[r], dt)
        flow += lateral[r]
    return peak(flow, sharpness)


def inputs(rng):
    return {
        "inflow": np.array([10.0, 12.1, 30.2, 55.4, 43.0, 28.1, 17.5, 12.2]),
        "lateral": rng.uniform(0.5, 3.0, (3, 8)),
        "ks": np.array([1.2, 0.8, 1.5]),
        "xs": np.array([0.2, 0.25, 0.15]),
        "dt": 1.0,
    }
