"""Data assimilation: Lorenz-96 with an ensemble square root update."""

import numpy as np


def lorenz96(x, forcing):
    n = len(x)
    d = np.zeros(n)
    for i in range(n):
        d[i] = (x[(i + 1) % n] - x[i - 2]) * x[i - 1] - x[i] + forcing
    return d


def rk2(x, forcing, dt):
    half = x + 0.5 * dt * lorenz96(x, forcing)
    return x + dt * lorenz96(half, forcing)


def assimilate(E, index, obs, r, inflation):
    m, n = E.shape
    mean = E.mean(axis=0)
    A = (E - mean) * inflation
    h = A[:, index]
    var = np.sum(h * h) / (m - 1)
    alpha = 1.0 / (1.0 + np.sqrt(r / (var + r)))
    gain = np.zeros(n)
    for i in range(n):
        gain[i] = np.sum(A[:, i] * h) / (m - 1) / (var + r)
    mean = mean + gain * (obs - mean[index])
    for k in range(m):
        E[k] = mean + A[k] - alpha * gain * h[k]


def program(E0, obs, where, forcing, r, inflation, truth, dt):
    E = E0.copy()
    for t in range(obs.shape[0]):
        for k in range(E.shape[0]):
            E[k] = rk2(E[k], forcing, dt)
        for o in range(len(where)):
            if np.isnan(obs[t, o]):
                continue
            assimilate(E, where[o], obs[t, o], r, inflation)
    mean = np.mean(E, axis=0)
    return np.sqrt(np.mean((mean - truth) ** 2))


def inputs(rng):
    n = 5
    obs = rng.normal(2.0, 1.0, (3, 2))
    obs[1, 0] = np.nan
    return {
        "E0": rng.normal(2.0, 1.0, (4, n)),
        "obs": obs,
        "where": np.array([0, 3]),
        "forcing": 8.0,
        "r": 0.5,
        "inflation": 1.05,
        "truth": rng.normal(2.0, 1.0, n),
        "dt": 0.05,
    }
