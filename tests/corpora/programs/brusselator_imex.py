"""Chemistry: the Brusselator with implicit diffusion and explicit kinetics, period."""

import numpy as np


def solve_tridiagonal(r, rhs):
    """(1 + 2 r) on the diagonal, -r beside it, Neumann ends."""
    n = rhs.shape[0]
    c = np.zeros(n)
    x = np.array(rhs)
    for i in range(n):
        ends = (1 if i > 0 else 0) + (1 if i < n - 1 else 0)
        diag = 1.0 + ends * r
        if i > 0:
            diag += r * c[i - 1]
            x[i] = (rhs[i] + r * x[i - 1]) / diag
        else:
            x[i] = rhs[i] / diag
        c[i] = -r / diag
    for i in range(n - 2, -1, -1):
        x[i] -= c[i] * x[i + 1]
    return x


def kinetics(u, v, a, b):
    uuv = u * u * v
    return a - (b + 1.0) * u + uuv, b * u - uuv


def imex_step(u, v, a, b, du, dv, dx, dt):
    fu, fv = kinetics(u, v, a, b)
    new_u = solve_tridiagonal(du * dt / dx**2, u + dt * fu)
    new_v = solve_tridiagonal(dv * dt / dx**2, v + dt * fv)
    return new_u, new_v


def program(u0, v0, a, b, du, dv, dx, dt, data):
    u = u0.copy()
    v = v0.copy()
    hist = np.zeros((data.shape[0], u.shape[0]))
    for t in range(data.shape[0]):
        u, v = imex_step(u, v, a, b, du, dv, dx, dt)
        hist[t, :] = u
    return np.sqrt(np.mean((hist - data) ** 2))


def inputs(rng):
    n = 6
    return {
        "u0": rng.uniform(0.5, 1.5, n),
        "v0": rng.uniform(1.5, 2.5, n),
        "a": 1.0,
        "b": 2.2,
        "du": 0.1,
        "dv": 0.5,
        "dx": 0.5,
        "dt": 0.1,
        "data": rng.uniform(0.5, 1.5, (4, n)),
    }
