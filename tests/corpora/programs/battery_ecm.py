"""Batteries: an equivalent circuit with hysteresis, voltage misfit of a drive cycle."""

import numpy as np

CAPACITY = 3600.0


def ocv(soc, table):
    """Piecewise linear open circuit voltage on a uniform grid."""
    n = len(table) - 1
    pos = soc * n
    k = int(pos)
    if k < 0:
        k = 0
    if k > n - 1:
        k = n - 1
    frac = pos - k
    return table[k] + frac * (table[k + 1] - table[k])


def rc_step(v, current, r, tau, dt):
    decay = np.exp(-dt / tau)
    return v * decay + r * (1.0 - decay) * current


def hysteresis_step(h, current, rate, dt):
    if current == 0:
        return h
    sign = 1.0 if current > 0 else -1.0
    a = np.exp(-abs(rate * current * dt))
    return a * h - (1.0 - a) * sign


def simulate(current, soc0, table, r0, r, tau, rate, m, dt):
    soc = soc0
    v = np.zeros(len(r))
    h = 0.0
    out = np.zeros(len(current))
    for t in range(len(current)):
        i = current[t]
        out[t] = ocv(soc, table) - r0 * i + m * h
        for k in range(len(r)):
            v[k] = rc_step(v[k], i, r[k], tau[k], dt)
            out[t] -= v[k]
        h = hysteresis_step(h, i, rate, dt)
        soc -= i * dt / CAPACITY
    return out


def program(current, voltage, soc0, table, r0, r, tau, rate, m, dt=10.0):
    sim = simulate(current, soc0, table, r0, r, tau, rate, m, dt)
    err = sim - voltage
    return np.sqrt(np.mean(err**2))


def inputs(rng):
    return {
        "current": np.array([1.0, 2.5, -0.7, 3.1, 0.4, -1.2]),
        "voltage": rng.uniform(3.5, 3.8, 6),
        "soc0": 0.83,
        "table": np.array([3.0, 3.4, 3.55, 3.65, 3.8, 4.15]),
        "r0": 0.02,
        "r": np.array([0.01, 0.015]),
        "tau": np.array([8.0, 60.0]),
        "rate": 0.05,
        "m": 0.03,
    }
