"""Hydrogeology: an unconfined aquifer with wells by line relaxation, drawdown cost."""

import numpy as np


def harmonic(a, b):
    return 2.0 * a * b / (a + b)


def line_solve(h, K, rech, well, i, dx):
    """Solves row i implicitly, with Dirichlet columns."""
    n = h.shape[1]
    c = np.zeros(n)
    d = np.zeros(n)
    d[0] = h[i, 0]
    for j in range(1, n - 1):
        west = harmonic(K[i, j], K[i, j - 1])
        east = harmonic(K[i, j], K[i, j + 1])
        north = harmonic(K[i, j], K[i - 1, j])
        south = harmonic(K[i, j], K[i + 1, j])
        thick = h[i, j]
        diag = west + east + north + south
        rhs = north * h[i - 1, j] + south * h[i + 1, j]
        rhs += (rech * dx * dx - well[i, j]) / thick
        m = diag - west * c[j - 1]
        c[j] = east / m
        d[j] = (rhs + west * d[j - 1]) / m
    h[i, n - 2] = d[n - 2] + c[n - 2] * h[i, n - 1]
    for j in range(n - 3, 0, -1):
        h[i, j] = d[j] + c[j] * h[i, j + 1]


def relax(h, K, rech, well, dx, rounds):
    for _ in range(rounds):
        for i in range(1, h.shape[0] - 1):
            line_solve(h, K, rech, well, i, dx)
        h[0, :] = h[1, :]
        h[-1, :] = h[-2, :]


def pumping(rates, rows, cols, shape):
    q = np.zeros(shape)
    for k in range(len(rates)):
        q[rows[k], cols[k]] += rates[k]
    return q


def program(logK, h0, rates, rows, cols, rech, heads, dx, rounds=2):
    K = np.exp(logK)
    h = h0.copy()
    relax(h, K, rech, pumping(rates, rows, cols, h0.shape), dx, rounds)
    cost = 0.0
    for k in range(len(rates)):
        cost += (h[rows[k], cols[k]] - heads[k]) ** 2
        cost += 0.01 * rates[k] * (12.0 - h[rows[k], cols[k]])
    return cost


def inputs(rng):
    return {
        "logK": rng.normal(0, 0.4, (4, 5)),
        "h0": rng.uniform(9.0, 11.0, (4, 5)),
        "rates": np.array([2.0, 1.2]),
        "rows": np.array([1, 2]),
        "cols": np.array([2, 3]),
        "rech": 0.05,
        "heads": np.array([8.5, 9.0]),
        "dx": 1.0,
    }
