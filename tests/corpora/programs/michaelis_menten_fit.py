"""Enzyme kinetics: progress curves with competitive inhibition, per-plate baselines."""

import numpy as np


def velocity(s, i, vmax, km, ki):
    return vmax * s / (km * (1.0 + i / ki) + s)


def progress(s0, inhibitor, vmax, km, ki, t_end, n):
    """Product at n equidistant times by RK2."""
    dt = t_end / n
    out = np.zeros(n)
    s = s0
    for k in range(n):
        v1 = velocity(s, inhibitor, vmax, km, ki)
        v2 = velocity(s - dt * v1, inhibitor, vmax, km, ki)
        s = s - 0.5 * dt * (v1 + v2)
        out[k] = s0 - s
    return out


def huber(r, delta):
    if abs(r) <= delta:
        return 0.5 * r * r
    return delta * (abs(r) - 0.5 * delta)


def program(traces, substrate, inhibitor, log_params, baseline, plate, delta=0.15):
    vmax, km, ki = np.exp(log_params[0]), np.exp(log_params[1]), np.exp(log_params[2])
    loss = 0.0
    n_wells, n_times = traces.shape
    for w in range(n_wells):
        p = progress(substrate[w], inhibitor[w], vmax, km, ki, 2.0, n_times)
        for k in range(n_times):
            loss += huber(traces[w, k] - p[k] - baseline[plate[w]], delta)
    return loss


def inputs(rng):
    return {
        "traces": rng.uniform(0.0, 1.0, (4, 5)),
        "substrate": np.array([0.5, 1.0, 2.0, 4.0]),
        "inhibitor": np.array([0.0, 0.3, 0.0, 0.6]),
        "log_params": np.array([0.1, -0.2, -0.8]),
        "baseline": np.array([0.02, -0.03]),
        "plate": np.array([0, 0, 1, 1]),
    }
