"""Optimal transport: Sinkhorn in the log domain between two histograms."""

import numpy as np


def cost_matrix(x, y, power):
    n, m = len(x), len(y)
    C = np.zeros((n, m))
    for i in range(n):
        for j in range(m):
            C[i, j] = abs(x[i] - y[j]) ** power
    return C


def lse_rows(M):
    top = M.max(axis=1)
    return top + np.log(np.sum(np.exp(M - top[:, None]), axis=1))


def sinkhorn(C, a, b, eps, iters):
    f = np.zeros(len(a))
    g = np.zeros(len(b))
    for _ in range(iters):
        f = eps * (np.log(a) - lse_rows((g[None, :] - C) / eps))
        g = eps * (np.log(b) - lse_rows((f[None, :] - C.T) / eps))
    return f, g


def plan(C, f, g, eps):
    return np.exp((f[:, None] + g[None, :] - C) / eps)


def program(x, y, a, b, eps, power=2.0):
    a = a / np.sum(a)
    b = b / np.sum(b)
    C = cost_matrix(x, y, power)
    f, g = sinkhorn(C, a, b, eps, 4)
    P = plan(C, f, g, eps)
    moved = P @ y / np.sum(P, axis=1)
    return np.sum(P * C) + 0.1 * np.sum((moved - x) ** 2)


def inputs(rng):
    return {
        "x": np.sort(rng.normal(size=4)),
        "y": np.sort(rng.normal(size=5)),
        "a": rng.uniform(0.5, 1.5, 4),
        "b": rng.uniform(0.5, 1.5, 5),
        "eps": 0.5,
    }
