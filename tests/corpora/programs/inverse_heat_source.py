"""Inverse problems: a heat source from boundary data."""

import numpy as np


def forward(source, kappa, dx, dt, steps):
    n = source.shape[0]
    u = np.zeros(n)
    data = np.zeros((steps, 2))
    for t in range(steps):
        v = u.copy()
        for i in range(n):
            l = u[i - 1] if i > 0 else u[1]
            r = u[i + 1] if i < n - 1 else u[n - 2]
            v[i] += dt * (kappa * (l - 2.0 * u[i] + r) / dx**2 + source[i])
        u = v
        data[t, 0] = u[0]
        data[t, 1] = u[-1]
    return data


def transpose(resid, kappa, n, dx, dt):
    """The adjoint of `forward` in its source, by hand."""
    lam = np.zeros(n)
    g = np.zeros(n)
    for t in range(resid.shape[0] - 1, -1, -1):
        lam[0] += resid[t, 0]
        lam[n - 1] += resid[t, 1]
        g += dt * lam
        new = lam.copy()
        a = dt * kappa / dx**2
        for i in range(n):
            new[i] -= 2.0 * a * lam[i]
            new[i - 1 if i > 0 else 1] += a * lam[i]
            new[i + 1 if i < n - 1 else n - 2] += a * lam[i]
        lam[:] = new
    return g


def landweber(data, kappa, n, dx, dt, rate, iterations):
    s = np.zeros(n)
    for _ in range(iterations):
        r = data - forward(s, kappa, dx, dt, data.shape[0])
        s += rate * transpose(r, kappa, n, dx, dt)
    return s


def program(data, truth, kappa, dx, dt, rate, iterations=2):
    s = landweber(data, kappa, len(truth), dx, dt, rate, iterations)
    return np.mean((s - truth) ** 2)


def inputs(rng):
    return {
        "data": rng.normal(size=(4, 2)),
        "truth": rng.normal(size=6),
        "kappa": 0.7,
        "dx": 0.5,
        "dt": 0.1,
        "rate": 2.0,
    }
