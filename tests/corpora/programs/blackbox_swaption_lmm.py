"""Finance: LIBOR market model paths with drift terms, given normals, swaption smile."""

import numpy as np


def volatility(t, expiry, a, b, c, d):
    tau = expiry - t
    return (a + b * tau) * np.exp(-c * tau) + d


def correlation(i, j, beta):
    return np.exp(-beta * abs(i - j))


def drift(F, vols, i, alive, tau, beta):
    mu = 0.0
    for j in range(alive, i + 1):
        mu += correlation(i, j, beta) * tau * vols[j] * F[j] / (1.0 + tau * F[j])
    return mu * vols[i]


def evolve(F, t, dt, z, par, tau, beta):
    """One log-Euler step of the forwards that are still alive, in place."""
    n = len(F)
    vols = np.zeros(n)
    alive = int(t / tau)
    for i in range(alive, n):
        vols[i] = volatility(t, (i + 1) * tau, par[0], par[1], par[2], par[3])
    before = F.copy()
    for i in range(alive, n):
        mu = drift(before, vols, i, alive, tau, beta)
        shock = vols[i] * np.sqrt(dt) * z[i]
        F[i] = before[i] * np.exp((mu - 0.5 * vols[i] ** 2) * dt + shock)


def swap_value(F, first, strike, tau):
    df = 1.0
    value = 0.0
    for i in range(first, len(F)):
        df /= 1.0 + tau * F[i]
        value += tau * (F[i] - strike) * df
    return value


def program(F0, par, beta, strikes, quotes, normals, tau=0.5):
    paths, steps, _ = normals.shape
    dt = tau / steps
    price = np.zeros(len(strikes))
    for p in range(paths):
        F = F0.copy()
        for s in range(steps):
            evolve(F, s * dt, dt, normals[p, s], par, tau, beta)
        for k in range(len(strikes)):
            v = swap_value(F, 1, strikes[k], tau)
            price[k] += 0.005 * np.log1p(np.exp(v / 0.005)) / paths
    return 1e4 * np.sum((price - quotes) ** 2)


def inputs(rng):
    return {
        "F0": rng.uniform(0.02, 0.04, 4),
        "par": np.array([0.1, 0.2, 0.8, 0.1]),
        "beta": 0.2,
        "strikes": np.array([0.02, 0.03, 0.04]),
        "quotes": np.array([0.015, 0.008, 0.003]),
        "normals": rng.normal(size=(4, 2, 4)),
    }
