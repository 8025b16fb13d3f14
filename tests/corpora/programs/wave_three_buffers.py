"""Acoustics: a damped string with three rotating buffers, recorded at a pickup."""

import numpy as np


def stencil(u_prev, u, u_next, c2, loss):
    n = len(u)
    for i in range(1, n - 1):
        lap = u[i - 1] - 2.0 * u[i] + u[i + 1]
        u_next[i] = (2.0 - loss) * u[i] - (1.0 - loss) * u_prev[i] + c2 * lap
    u_next[0] = 0.0
    u_next[n - 1] = 0.0


def pluck(n, where, height):
    u = np.zeros(n)
    for i in range(n):
        x = i / (n - 1)
        if x < where:
            u[i] = height * x / where
        else:
            u[i] = height * (1.0 - x) / (1.0 - where)
    return u


def bridge_force(u, tension):
    return tension * (u[1] - u[0])


def program(where, height, c2, loss, tension, recording, out, n=8):
    """Fills `out` with the bridge force and returns the misfit to a recording."""
    a = pluck(n, where, height)
    b = a.copy()
    c = np.zeros(n)
    misfit = 0.0
    for t in range(len(out)):
        stencil(a, b, c, c2, loss)
        a, b, c = b, c, a
        out[t] = bridge_force(b, tension)
        misfit += (out[t] - recording[t]) ** 2
    return misfit


def inputs(rng):
    return {
        "where": 0.31,
        "height": 1.2,
        "c2": 0.6,
        "loss": 0.05,
        "tension": 2.0,
        "recording": rng.normal(size=7),
        "out": np.zeros(7),
    }
