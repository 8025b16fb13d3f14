"""Numerical analysis: two-grid V-cycles for Poisson in one dimension."""

import numpy as np


def smooth(u, f, h, sweeps):
    n = len(u)
    for _ in range(sweeps):
        for i in range(1, n - 1):
            u[i] = 0.5 * (u[i - 1] + u[i + 1] + h * h * f[i])


def residual(u, f, h):
    n = len(u)
    r = np.zeros(n)
    for i in range(1, n - 1):
        r[i] = f[i] - (2 * u[i] - u[i - 1] - u[i + 1]) / (h * h)
    return r


def restrict(r):
    nc = (len(r) + 1) // 2
    rc = np.zeros(nc)
    for i in range(1, nc - 1):
        rc[i] = 0.25 * r[2 * i - 1] + 0.5 * r[2 * i] + 0.25 * r[2 * i + 1]
    return rc


def prolong(ec, n):
    e = np.zeros(n)
    for i in range(n):
        if i % 2 == 0:
            e[i] = ec[i // 2]
        else:
            e[i] = 0.5 * (ec[i // 2] + ec[i // 2 + 1])
    return e


def vcycle(u, f, h):
    smooth(u, f, h, 2)
    r = residual(u, f, h)
    rc = restrict(r)
    ec = np.zeros_like(rc)
    smooth(ec, rc, 2 * h, 6)
    u += prolong(ec, len(u))
    smooth(u, f, h, 1)


def program(f, target, cycles):
    n = len(f)
    h = 1.0 / (n - 1)
    u = np.zeros(n)
    for _ in range(cycles):
        vcycle(u, f, h)
    return np.sum((u - target) ** 2)


def inputs(rng):
    return {"f": rng.normal(size=9), "target": rng.normal(size=9), "cycles": 2}
