"""Materials science: spinodal decomposition by Cahn-Hilliard, structure at the end."""

import numpy as np


def lap(c, h):
    n = c.shape[0]
    out = np.empty_like(c)
    for i in range(n):
        ip = i + 1 if i < n - 1 else 0
        im = i - 1 if i > 0 else n - 1
        for j in range(n):
            jp = j + 1 if j < n - 1 else 0
            jm = j - 1 if j > 0 else n - 1
            out[i, j] = c[ip, j] + c[im, j] + c[i, jp] + c[i, jm] - 4 * c[i, j]
    return out / (h * h)


def chemical_potential(c, kappa, h):
    return c**3 - c - kappa * lap(c, h)


def free_energy(c, kappa, h):
    e = 0.0
    n = c.shape[0]
    for i in range(n):
        for j in range(n):
            gx = (c[(i + 1) % n, j] - c[i, j]) / h
            gy = (c[i, (j + 1) % n] - c[i, j]) / h
            e += 0.25 * (c[i, j] ** 2 - 1) ** 2 + 0.5 * kappa * (gx**2 + gy**2)
    return e * h * h


def evolve(c, mobility, kappa, h, dt, steps):
    for _ in range(steps):
        mu = chemical_potential(c, kappa, h)
        c = c + dt * mobility * lap(mu, h)
    return c


def program(c0, mobility, kappa, h, dt, steps):
    c = evolve(c0, mobility, kappa, h, dt, steps)
    drop = free_energy(c0, kappa, h) - free_energy(c, kappa, h)
    return drop + np.var(c)


def inputs(rng):
    return {
        "c0": 0.3 * rng.normal(size=(5, 5)),
        "mobility": 1.0,
        "kappa": 0.5,
        "h": 1.0,
        "dt": 0.02,
        "steps": 3,
    }
