"""Data assimilation: 4D-Var of a linear advection model with a diffusion prior."""

import numpy as np


def advect(c, wind, dt, dx):
    n = c.shape[0]
    new = np.zeros(n)
    for i in range(n):
        if wind[i] >= 0.0:
            grad = (c[i] - c[i - 1]) / dx
        else:
            grad = (c[(i + 1) % n] - c[i]) / dx
        new[i] = c[i] - dt * wind[i] * grad
    return new


def diffusion_prior(x, length, steps=2):
    """Smooths the control variable: a square root of the background covariance."""
    n = x.shape[0]
    y = x.copy()
    for _ in range(steps):
        z = y.copy()
        for i in range(n):
            z[i] = y[i] + 0.25 * length**2 * (y[i - 1] - 2.0 * y[i] + y[(i + 1) % n])
        y = z
    return y


def observe(c, pos):
    k = int(pos)
    f = pos - k
    return (1.0 - f) * c[k] + f * c[(k + 1) % len(c)]


def cost(v, background, wind, length, obs, places, err, dt, dx):
    c = background + diffusion_prior(v, length)
    J = 0.5 * np.dot(v, v)
    for t in range(obs.shape[0]):
        c = advect(c, wind, dt, dx)
        for p in range(obs.shape[1]):
            d = (observe(c, places[p]) - obs[t, p]) / err
            J += 0.5 * d * d
    return J


def program(v, background, wind, length, obs, places, err, dt, dx):
    return cost(v, background, wind, length, obs, places, err, dt, dx)


def inputs(rng):
    n = 7
    return {
        "v": 0.3 * rng.normal(size=n),
        "background": rng.uniform(0, 1, n),
        "wind": np.array([0.5, 0.8, 0.3, -0.4, -0.6, 0.2, 0.9]),
        "length": 0.8,
        "obs": rng.uniform(0, 1, (3, 2)),
        "places": np.array([1.3, 4.6]),
        "err": 0.2,
        "dt": 0.3,
        "dx": 1.0,
    }
