"""Buildings: an RC network with a proportional thermostat and tariffs."""

import numpy as np


def thermostat(t, setpoint, band, pmax):
    p = pmax * (setpoint - t) / band
    if p < 0.0:
        return 0.0
    elif p > pmax:
        return pmax
    else:
        return p


def conductances(r):
    g = np.zeros((3, 3))
    g[0, 1] = g[1, 0] = 1.0 / r[0]
    g[1, 2] = g[2, 1] = 1.0 / r[1]
    return g


def implicit_step(T, c, g, g_out, outside, heat, dt):
    """Backward Euler for three nodes by Cramer's rule."""
    A = np.zeros((3, 3))
    b = np.zeros(3)
    for i in range(3):
        A[i, i] = c[i] / dt + g_out[i]
        b[i] = c[i] / dt * T[i] + g_out[i] * outside
        for j in range(3):
            if j != i:
                A[i, i] += g[i, j]
                A[i, j] -= g[i, j]
    b[0] += heat
    d = det3(A)
    out = np.zeros(3)
    for k in range(3):
        B = A.copy()
        B[:, k] = b
        out[k] = det3(B) / d
    return out


def det3(m):
    return (
        m[0, 0] * (m[1, 1] * m[2, 2] - m[1, 2] * m[2, 1])
        - m[0, 1] * (m[1, 0] * m[2, 2] - m[1, 2] * m[2, 0])
        + m[0, 2] * (m[1, 0] * m[2, 1] - m[1, 1] * m[2, 0])
    )


def program(T0, c, r, g_out, outside, setpoints, tariff, band, pmax, dt):
    T = T0.copy()
    g = conductances(r)
    cost = 0.0
    for t in range(len(outside)):
        heat = thermostat(T[0], setpoints[t], band, pmax)
        T = implicit_step(T, c, g, g_out, outside[t], heat, dt)
        cost += tariff[t] * heat * dt
        cold = setpoints[t] - T[0]
        if cold > 0:
            cost += 0.5 * cold * cold
    return cost


def inputs(rng):
    return {
        "T0": np.array([19.3, 18.1, 15.7]),
        "c": np.array([2.0, 8.0, 20.0]),
        "r": np.array([0.5, 1.2]),
        "g_out": np.array([0.2, 0.05, 0.4]),
        "outside": rng.uniform(-3.0, 5.0, 6),
        "setpoints": np.array([20.1, 20.4, 18.2, 18.3, 21.1, 20.7]),
        "tariff": rng.uniform(0.1, 0.4, 6),
        "band": 1.7,
        "pmax": 9.0,
        "dt": 0.5,
    }
