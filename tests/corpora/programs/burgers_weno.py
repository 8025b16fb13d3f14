"""Fluid dynamics: inviscid Burgers by WENO3 and SSP-RK3 with a periodic wrap."""

import numpy as np

EPS = 1e-3


def flux(u):
    return 0.5 * u * u


def weno_left(a, b, c):
    """Value at the right face of the cell of b from the left."""
    p0 = -0.5 * a + 1.5 * b
    p1 = 0.5 * b + 0.5 * c
    beta0 = (b - a) ** 2
    beta1 = (c - b) ** 2
    w0 = (1.0 / 3.0) / (EPS + beta0) ** 2
    w1 = (2.0 / 3.0) / (EPS + beta1) ** 2
    return (w0 * p0 + w1 * p1) / (w0 + w1)


def rusanov(ul, ur):
    speed = np.sqrt(0.5 * (ul * ul + ur * ur) + 1e-6)
    return 0.5 * (flux(ul) + flux(ur)) - 0.5 * speed * (ur - ul)


def rhs(u, dx):
    n = u.shape[0]
    f = np.zeros(n)
    for i in range(n):
        im, ip, ipp = (i - 1) % n, (i + 1) % n, (i + 2) % n
        left = weno_left(u[im], u[i], u[ip])
        right = weno_left(u[ipp], u[ip], u[i])
        f[i] = rusanov(left, right)
    out = np.zeros(n)
    for i in range(n):
        out[i] = -(f[i] - f[i - 1]) / dx
    return out


def step(u, dx, dt):
    u1 = u + dt * rhs(u, dx)
    u2 = 0.75 * u + 0.25 * (u1 + dt * rhs(u1, dx))
    return u / 3.0 + 2.0 / 3.0 * (u2 + dt * rhs(u2, dx))


def program(u0, observed, dx, dt, steps):
    u = u0
    cost = 0.0
    for k in range(steps):
        u = step(u, dx, dt)
        if k % 2 == 1:
            cost += np.sum((u - observed[k // 2]) ** 2)
    return cost


def inputs(rng):
    n = 8
    return {
        "u0": 1.0 + 0.5 * rng.uniform(-1, 1, n),
        "observed": rng.normal(1.0, 0.2, (2, n)),
        "dx": 0.5,
        "dt": 0.1,
        "steps": 4,
    }
