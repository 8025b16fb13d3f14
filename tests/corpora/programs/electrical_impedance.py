"""Inverse problems: impedance of a resistor grid for several current patterns."""

import numpy as np


def conductance(log_sigma, a, b):
    return 0.5 * (np.exp(log_sigma[a]) + np.exp(log_sigma[b]))


def node(y, x, w):
    return y * w + x


def laplacian(log_sigma, h, w, ground):
    n = h * w
    L = np.zeros((n, n))
    for y in range(h):
        for x in range(w):
            k = node(y, x, w)
            if x + 1 < w:
                j = node(y, x + 1, w)
                g = conductance(log_sigma, k, j)
                L[k, k] += g
                L[j, j] += g
                L[k, j] -= g
                L[j, k] -= g
            if y + 1 < h:
                j = node(y + 1, x, w)
                g = conductance(log_sigma, k, j)
                L[k, k] += g
                L[j, j] += g
                L[k, j] -= g
                L[j, k] -= g
    L[ground, ground] += 1.0
    return L


def factor(L):
    n = L.shape[0]
    for k in range(n):
        for i in range(k + 1, n):
            L[i, k] /= L[k, k]
            for j in range(k + 1, n):
                L[i, j] -= L[i, k] * L[k, j]


def back(LU, b):
    x = b.copy()
    n = len(b)
    for i in range(n):
        for j in range(i):
            x[i] -= LU[i, j] * x[j]
    for i in range(n - 1, -1, -1):
        for j in range(i + 1, n):
            x[i] -= LU[i, j] * x[j]
        x[i] /= LU[i, i]
    return x


def program(log_sigma, inject, drain, electrodes, measured, h=2, w=3):
    L = laplacian(log_sigma, h, w, 0)
    factor(L)
    misfit = 0.0
    for p in range(len(inject)):
        b = np.zeros(h * w)
        b[inject[p]] = 1.0
        b[drain[p]] = -1.0
        v = back(L, b)
        for e in range(len(electrodes)):
            misfit += (v[electrodes[e]] - measured[p, e]) ** 2
    return misfit


def inputs(rng):
    return {
        "log_sigma": rng.normal(0, 0.3, 6),
        "inject": np.array([0, 2]),
        "drain": np.array([5, 3]),
        "electrodes": np.array([1, 4, 5]),
        "measured": rng.normal(0, 0.3, (2, 3)),
    }
