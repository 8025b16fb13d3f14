"""Population genetics: allele frequency spectrum by a Wright-Fisher matrix."""

import math

import numpy as np


def log_binomial(n, k):
    s = 0.0
    for i in range(k):
        s += math.log(n - i) - math.log(i + 1)
    return s


def selected_frequency(p, s, h, mu):
    q = 1.0 - p
    w_bar = p * p * (1.0 + s) + 2.0 * p * q * (1.0 + h * s) + q * q
    p1 = (p * p * (1.0 + s) + p * q * (1.0 + h * s)) / w_bar
    return p1 * (1.0 - mu) + (1.0 - p1) * mu


def transition(n, s, h, mu):
    T = np.zeros((n + 1, n + 1))
    for i in range(n + 1):
        p = selected_frequency(i / n, s, h, mu)
        for j in range(n + 1):
            T[i, j] = math.exp(
                log_binomial(n, j) + j * math.log(p) + (n - j) * math.log(1.0 - p)
            )
    return T


def evolve(x, T, generations):
    for _ in range(generations):
        y = np.zeros_like(x)
        for i in range(len(x)):
            for j in range(len(x)):
                y[j] += x[i] * T[i, j]
        x = y
    return x


def program(counts, start, s, h, mu, generations):
    n = len(start) - 1
    x = evolve(start, transition(n, s, h, mu), generations)
    loglik = 0.0
    for k in range(n + 1):
        if counts[k] > 0:
            loglik += counts[k] * math.log(x[k])
    return -loglik


def inputs(rng):
    start = rng.uniform(0.5, 1.5, 6)
    return {
        "counts": np.array([4, 2, 0, 1, 3, 0]),
        "start": start / start.sum(),
        "s": 0.08,
        "h": 0.4,
        "mu": 0.02,
        "generations": 3,
    }
