"""Neural networks: continuous Hopfield dynamics with Hebbian weights, recall error."""

import numpy as np


def hebbian(patterns):
    m, n = patterns.shape
    W = np.zeros((n, n))
    for p in range(m):
        W += np.outer(patterns[p], patterns[p])
    for i in range(n):
        W[i, i] = 0.0
    return W / n


def relax(W, state, bias, tau, dt, steps):
    u = state.copy()
    for _ in range(steps):
        v = np.tanh(u)
        du = -u / tau + W @ v + bias
        u = u + dt * du
    return np.tanh(u)


def energy(W, v, bias):
    e = 0.0
    n = v.shape[0]
    for i in range(n):
        for j in range(n):
            e -= 0.5 * W[i, j] * v[i] * v[j]
        e -= bias[i] * v[i]
    return e


def program(patterns, probe, bias, tau, dt=0.2, steps=5):
    W = hebbian(patterns)
    v = relax(W, probe, bias, tau, dt, steps)
    recall = np.sum((v - patterns[0]) ** 2)
    return recall + 0.1 * energy(W, v, bias)


def inputs(rng):
    return {
        "patterns": rng.uniform(-1, 1, (2, 6)),
        "probe": rng.normal(size=6),
        "bias": 0.1 * rng.normal(size=6),
        "tau": 0.9,
    }
