"""Statistical physics: mean field of an Ising lattice with fields, free energy."""

import numpy as np


def local_field(m, J, h, i, j):
    H, W = m.shape
    total = h[i, j]
    if i > 0:
        total += J * m[i - 1, j]
    if i < H - 1:
        total += J * m[i + 1, j]
    if j > 0:
        total += J * m[i, j - 1]
    if j < W - 1:
        total += J * m[i, j + 1]
    return total


def update_colour(m, J, h, beta, colour):
    """Checkerboard: sites of one colour do not see each other."""
    H, W = m.shape
    for i in range(H):
        for j in range((i + colour) % 2, W, 2):
            m[i, j] = np.tanh(beta * local_field(m, J, h, i, j))


def entropy(m):
    p = 0.5 * (1.0 + m)
    q = 1.0 - p
    return -(p * np.log(p) + q * np.log(q))


def free_energy(m, J, h, beta):
    H, W = m.shape
    f = 0.0
    for i in range(H):
        for j in range(W):
            f -= h[i, j] * m[i, j]
            if i + 1 < H:
                f -= J * m[i, j] * m[i + 1, j]
            if j + 1 < W:
                f -= J * m[i, j] * m[i, j + 1]
            f -= entropy(m[i, j]) / beta
    return f


def program(h, J, beta, sweeps=3):
    m = np.full(h.shape, 0.1)
    for _ in range(sweeps):
        update_colour(m, J, h, beta, 0)
        update_colour(m, J, h, beta, 1)
    return free_energy(m, J, h, beta)


def inputs(rng):
    return {"h": 0.5 * rng.normal(size=(4, 3)), "J": 0.6, "beta": 0.7}
