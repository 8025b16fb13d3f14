"""Weather: a float32 advection kernel with a float64 accumulator."""

import numpy as np


def face_value(a, b, c, wind):
    """A limited upwind value at the face between b and c."""
    d1 = b - a
    d2 = c - b
    if d1 * d2 <= 0:
        return b
    return b + wind * d1 * d2 / (d1 + d2)


def tendency(q, wind, nu, dx):
    n = q.shape[0]
    out = np.zeros(n, dtype=np.float32)
    for i in range(n):
        right = face_value(q[i - 1], q[i], q[(i + 1) % n], wind)
        left = face_value(q[i - 2], q[i - 1], q[i], wind)
        lap = q[i - 1] - 2 * q[i] + q[(i + 1) % n]
        out[i] = -wind * (right - left) / dx + nu * lap / (dx * dx)
    return out


def integrate(q0, wind, nu, dx, dt, steps, budget):
    q = q0.copy()
    for t in range(steps):
        k = tendency(q, wind, nu, dx)
        q += np.float32(dt) * k
        for i in range(q.shape[0]):
            budget[t] += float(q[i]) * dx
    return q


def program(q0, obs, wind, nu, dx=1.0, dt=0.2, steps=4):
    budget = np.zeros(steps)
    q = integrate(q0, wind, nu, dx, dt, steps, budget)
    misfit = 0.0
    for i in range(len(obs)):
        misfit += 0.5 * (float(q[i]) - obs[i]) ** 2
    return misfit + 1e-3 * np.sum(budget**2)


def inputs(rng):
    return {
        "q0": np.array([0.2, 0.7, 1.3, 1.6, 1.1, 0.6, 0.25], dtype=np.float32),
        "obs": rng.uniform(0.2, 1.5, 7),
        "wind": 0.6,
        "nu": 0.1,
    }
