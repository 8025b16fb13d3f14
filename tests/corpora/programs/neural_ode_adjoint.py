"""Machine learning: a neural ODE by RK4, its loss and a kinetic regulariser."""

import numpy as np


def field(z, t, W1, b1, W2):
    hidden = np.tanh(W1 @ z + b1 * (1.0 + 0.1 * t))
    return W2 @ hidden


def rk4(z, t, dt, W1, b1, W2):
    k1 = field(z, t, W1, b1, W2)
    k2 = field(z + 0.5 * dt * k1, t + 0.5 * dt, W1, b1, W2)
    k3 = field(z + 0.5 * dt * k2, t + 0.5 * dt, W1, b1, W2)
    k4 = field(z + dt * k3, t + dt, W1, b1, W2)
    dz = (k1 + 2 * k2 + 2 * k3 + k4) / 6
    return z + dt * dz, np.sum(dz * dz)


def flow(z, T, steps, W1, b1, W2):
    energy = 0.0
    dt = T / steps
    t = 0.0
    for _ in range(steps):
        z, e = rk4(z, t, dt, W1, b1, W2)
        energy += dt * e
        t += dt
    return z, energy


def program(points, targets, T, W1, b1, W2, weight=0.01, steps=3):
    loss = 0.0
    n = points.shape[0]
    for i in range(n):
        z, energy = flow(points[i], T, steps, W1, b1, W2)
        r = z - targets[i]
        loss += (r @ r + weight * energy) / n
    return loss


def inputs(rng):
    return {
        "points": rng.normal(size=(3, 2)),
        "targets": rng.normal(size=(3, 2)),
        "T": 1.2,
        "W1": rng.normal(size=(4, 2)),
        "b1": rng.normal(size=4),
        "W2": 0.5 * rng.normal(size=(2, 4)),
    }
