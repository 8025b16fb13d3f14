"""Optimisation: L-BFGS with its two-loop recursion and a ring of pairs, final value."""

import numpy as np


def objective(x, c):
    f = 0.0
    for i in range(len(x) - 1):
        f += c * (x[i + 1] - x[i] ** 2) ** 2 + (1.0 - x[i]) ** 2
    return f


def gradient(x, c):
    g = np.zeros_like(x)
    for i in range(len(x) - 1):
        r = x[i + 1] - x[i] ** 2
        g[i] += -4.0 * c * r * x[i] - 2.0 * (1.0 - x[i])
        g[i + 1] += 2.0 * c * r
    return g


def direction(g, S, Y, count):
    """-H g from the last pairs in rings S and Y."""
    m = S.shape[0]
    q = g.copy()
    alpha = np.zeros(m)
    used = min(count, m)
    for k in range(used):
        j = (count - 1 - k) % m
        alpha[j] = (S[j] @ q) / (Y[j] @ S[j])
        q -= alpha[j] * Y[j]
    if used > 0:
        j = (count - 1) % m
        q *= (S[j] @ Y[j]) / (Y[j] @ Y[j])
    for k in range(used - 1, -1, -1):
        j = (count - 1 - k) % m
        beta = (Y[j] @ q) / (Y[j] @ S[j])
        q += (alpha[j] - beta) * S[j]
    return -q


def program(x0, c, step, iterations=4, memory=2):
    n = len(x0)
    S = np.zeros((memory, n))
    Y = np.zeros((memory, n))
    x = x0.copy()
    g = gradient(x, c)
    for it in range(iterations):
        d = direction(g, S, Y, it)
        rate = step if it > 0 else step * 0.01
        x_new = x + rate * d
        g_new = gradient(x_new, c)
        S[it % memory] = x_new - x
        Y[it % memory] = g_new - g
        x = x_new
        g = g_new
    return objective(x, c)


def inputs(rng):
    return {"x0": rng.normal(0.3, 0.2, 4), "c": 2.0, "step": 0.7}
