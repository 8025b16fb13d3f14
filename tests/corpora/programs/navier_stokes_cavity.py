"""Fluid dynamics: a lid-driven cavity, projection with Jacobi pressure sweeps."""

import numpy as np


def divergence(u, v, dx):
    ny, nx = u.shape
    b = np.zeros((ny, nx))
    for j in range(1, ny - 1):
        for i in range(1, nx - 1):
            b[j, i] = (u[j, i + 1] - u[j, i - 1] + v[j + 1, i] - v[j - 1, i]) / (2 * dx)
    return b


def pressure_poisson(p, b, dx, sweeps):
    for _ in range(sweeps):
        pn = p.copy()
        p[1:-1, 1:-1] = (
            0.25 * (pn[1:-1, 2:] + pn[1:-1, :-2] + pn[2:, 1:-1] + pn[:-2, 1:-1])
            - 0.25 * dx * dx * b[1:-1, 1:-1]
        )
        p[:, -1] = p[:, -2]
        p[:, 0] = p[:, 1]
        p[0, :] = p[1, :]
        p[-1, :] = 0.0
    return p


def momentum(u, v, dx, dt, nu):
    un = u.copy()
    vn = v.copy()
    ny, nx = u.shape
    for j in range(1, ny - 1):
        for i in range(1, nx - 1):
            for_u = un[j, i + 1] + un[j, i - 1] + un[j + 1, i] + un[j - 1, i]
            for_v = vn[j, i + 1] + vn[j, i - 1] + vn[j + 1, i] + vn[j - 1, i]
            conv_u = un[j, i] * (un[j, i + 1] - un[j, i - 1])
            conv_u += vn[j, i] * (un[j + 1, i] - un[j - 1, i])
            conv_v = un[j, i] * (vn[j, i + 1] - vn[j, i - 1])
            conv_v += vn[j, i] * (vn[j + 1, i] - vn[j - 1, i])
            u[j, i] += dt * (nu * (for_u - 4 * un[j, i]) / dx**2 - conv_u / (2 * dx))
            v[j, i] += dt * (nu * (for_v - 4 * vn[j, i]) / dx**2 - conv_v / (2 * dx))


def project(u, v, p, dx, dt):
    u[1:-1, 1:-1] -= dt / (2 * dx) * (p[1:-1, 2:] - p[1:-1, :-2])
    v[1:-1, 1:-1] -= dt / (2 * dx) * (p[2:, 1:-1] - p[:-2, 1:-1])


def program(lid, nu, u0, dx, dt, steps):
    u = u0.copy()
    v = np.zeros_like(u)
    p = np.zeros_like(u)
    for _ in range(steps):
        u[-1, :] = lid
        momentum(u, v, dx, dt, nu)
        b = divergence(u, v, dx) / dt
        p = pressure_poisson(p, b, dx, 3)
        project(u, v, p, dx, dt)
    return 0.5 * np.sum(u**2 + v**2) * dx * dx


def inputs(rng):
    return {
        "lid": np.array([0.0, 1.0, 1.1, 0.9, 0.0]),
        "nu": 0.1,
        "u0": 0.1 * rng.normal(size=(5, 5)),
        "dx": 0.25,
        "dt": 0.02,
        "steps": 3,
    }
