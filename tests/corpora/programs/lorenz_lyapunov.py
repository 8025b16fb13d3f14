"""Chaos: the largest Lyapunov exponent of Lorenz by a renormalised tangent vector."""

import numpy as np


def lorenz(s, p):
    return np.array(
        [p[0] * (s[1] - s[0]), s[0] * (p[1] - s[2]) - s[1], s[0] * s[1] - p[2] * s[2]]
    )


def tangent(s, w, p):
    J = np.array(
        [
            [-p[0], p[0], 0.0],
            [p[1] - s[2], -1.0, -s[0]],
            [s[1], s[0], -p[2]],
        ]
    )
    return J @ w


def coupled_step(s, w, p, dt):
    k1 = lorenz(s, p)
    l1 = tangent(s, w, p)
    k2 = lorenz(s + 0.5 * dt * k1, p)
    l2 = tangent(s + 0.5 * dt * k1, w + 0.5 * dt * l1, p)
    return s + dt * k2, w + dt * l2


def program(s0, w0, p, dt, steps, every=2):
    s = s0.copy()
    w = w0 / np.linalg.norm(w0)
    total = 0.0
    for k in range(steps):
        s, w = coupled_step(s, w, p, dt)
        if (k + 1) % every == 0:
            size = np.linalg.norm(w)
            total += np.log(size)
            w = w / size
    return total / (steps * dt)


def inputs(rng):
    return {
        "s0": np.array([1.0, 2.0, 20.0]) + rng.normal(size=3),
        "w0": rng.normal(size=3),
        "p": np.array([10.0, 28.0, 8.0 / 3.0]),
        "dt": 0.01,
        "steps": 6,
    }
