"""Geostatistics: a Gaussian process marginal likelihood through Cholesky as loops."""

import math

import numpy as np


def rbf(x1, x2, length, amp):
    d = (x1 - x2) / length
    return amp * amp * math.exp(-0.5 * d * d)


def covariance(x, length, amp, noise):
    n = len(x)
    K = np.zeros((n, n))
    for i in range(n):
        for j in range(i + 1):
            K[i, j] = rbf(x[i], x[j], length, amp)
            K[j, i] = K[i, j]
        K[i, i] += noise * noise
    return K


def cholesky(A):
    n = A.shape[0]
    L = np.zeros((n, n))
    for i in range(n):
        for j in range(i + 1):
            s = A[i, j]
            for k in range(j):
                s -= L[i, k] * L[j, k]
            if i == j:
                L[i, j] = math.sqrt(s)
            else:
                L[i, j] = s / L[j, j]
    return L


def forward_substitution(L, b):
    z = np.zeros(len(b))
    for i in range(len(b)):
        s = b[i]
        for j in range(i):
            s -= L[i, j] * z[j]
        z[i] = s / L[i, i]
    return z


def program(x, y, log_length, log_amp, log_noise):
    """Negative log marginal likelihood."""
    K = covariance(x, math.exp(log_length), math.exp(log_amp), math.exp(log_noise))
    L = cholesky(K)
    z = forward_substitution(L, y)
    nll = 0.5 * len(y) * math.log(2 * math.pi)
    for i in range(len(y)):
        nll += 0.5 * z[i] * z[i] + math.log(L[i, i])
    return nll


def inputs(rng):
    return {
        "x": np.sort(rng.uniform(0, 4, 6)),
        "y": rng.normal(size=6),
        "log_length": -0.1,
        "log_amp": 0.2,
        "log_noise": -1.0,
    }
