"""Interfaces: a level set under normal speed with Godunov's upwind gradient."""

import numpy as np


def upwind_norm(phi, i, j, dx):
    a = (phi[i, j] - phi[i - 1, j]) / dx
    b = (phi[i + 1, j] - phi[i, j]) / dx
    c = (phi[i, j] - phi[i, j - 1]) / dx
    d = (phi[i, j + 1] - phi[i, j]) / dx
    gx = max(max(a, 0.0) ** 2, min(b, 0.0) ** 2)
    gy = max(max(c, 0.0) ** 2, min(d, 0.0) ** 2)
    return np.sqrt(gx + gy + 1e-8)


def extend_edges(phi):
    phi[0, :] = phi[1, :]
    phi[-1, :] = phi[-2, :]
    phi[:, 0] = phi[:, 1]
    phi[:, -1] = phi[:, -2]


def advance(phi, speed, dx, dt):
    new = phi.copy()
    for i in range(1, phi.shape[0] - 1):
        for j in range(1, phi.shape[1] - 1):
            new[i, j] = phi[i, j] - dt * speed[i, j] * upwind_norm(phi, i, j, dx)
    extend_edges(new)
    return new


def area(phi, eps):
    total = 0.0
    for i in range(phi.shape[0]):
        for j in range(phi.shape[1]):
            total += 1.0 / (1.0 + np.exp(phi[i, j] / eps))
    return total


def program(phi0, speed, dx, dt, steps):
    phi = phi0
    for _ in range(steps):
        phi = advance(phi, speed, dx, dt)
    return area(phi, 0.2) * dx * dx


def inputs(rng):
    n = 7
    yy, xx = np.mgrid[0:n, 0:n] - 3.13
    phi = np.sqrt(xx**2 + (yy + 0.21) ** 2) * 0.3 - 0.6
    return {
        "phi0": phi + 0.003 * rng.random((n, n)),
        "speed": rng.uniform(0.5, 1.0, (n, n)),
        "dx": 0.3,
        "dt": 0.05,
        "steps": 3,
    }
