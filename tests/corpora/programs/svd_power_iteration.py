"""Linear algebra: leading singular values by power iteration with deflation."""

import numpy as np


def normalize(v):
    norm = 0.0
    for i in range(v.shape[0]):
        norm += v[i] ** 2
    norm = norm**0.5
    for i in range(v.shape[0]):
        v[i] = v[i] / norm
    return norm


def leading(A, v, iters):
    m, n = A.shape
    u = np.zeros(m)
    s = 0.0
    for _ in range(iters):
        for i in range(m):
            u[i] = 0.0
            for j in range(n):
                u[i] += A[i, j] * v[j]
        normalize(u)
        for j in range(n):
            v[j] = 0.0
            for i in range(m):
                v[j] += A[i, j] * u[i]
        s = normalize(v)
    return u, s


def deflate(A, u, s, v):
    for i in range(A.shape[0]):
        for j in range(A.shape[1]):
            A[i, j] -= s * u[i] * v[j]


def program(M, start, rank, iters):
    """Nuclear-like penalty: the sum of the square roots of the leading values."""
    A = M.copy()
    penalty = 0.0
    for r in range(rank):
        v = start[r].copy()
        normalize(v)
        u, s = leading(A, v, iters)
        deflate(A, u, s, v)
        penalty += np.sqrt(s)
    return penalty


def inputs(rng):
    M = rng.normal(size=(4, 3)) + np.array(
        [[3, 0, 0], [0, 1.5, 0], [0, 0, 0.2]] + [[0] * 3]
    )
    return {"M": M, "start": rng.normal(size=(2, 3)), "rank": 2, "iters": 5}
