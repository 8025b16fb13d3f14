"""Linear algebra: LU with partial pivoting, log determinant and one solve."""

import numpy as np


def lu_decompose(a):
    n = a.shape[0]
    lu = a.copy()
    perm = np.zeros(n, dtype=np.int64)
    for i in range(n):
        perm[i] = i
    for k in range(n):
        p = k
        for i in range(k + 1, n):
            if abs(lu[i, k]) > abs(lu[p, k]):
                p = i
        if p != k:
            for j in range(n):
                tmp = lu[k, j]
                lu[k, j] = lu[p, j]
                lu[p, j] = tmp
            perm[k], perm[p] = perm[p], perm[k]
        for i in range(k + 1, n):
            lu[i, k] /= lu[k, k]
            for j in range(k + 1, n):
                lu[i, j] -= lu[i, k] * lu[k, j]
    return lu, perm


def lu_solve(lu, perm, b):
    n = len(b)
    x = np.zeros(n)
    for i in range(n):
        x[i] = b[perm[i]]
        for j in range(i):
            x[i] -= lu[i, j] * x[j]
    for i in reversed(range(n)):
        for j in range(i + 1, n):
            x[i] -= lu[i, j] * x[j]
        x[i] /= lu[i, i]
    return x


def program(a, b):
    lu, perm = lu_decompose(a)
    logdet = 0.0
    for i in range(a.shape[0]):
        logdet += np.log(abs(lu[i, i]))
    x = lu_solve(lu, perm, b)
    return logdet + np.dot(x, b)


def inputs(rng):
    a = np.array([[0.2, 1.5, 0.3], [2.0, 0.4, -0.7], [-0.6, 0.9, 1.8]])
    return {"a": a + 0.05 * rng.normal(size=(3, 3)), "b": rng.normal(size=3)}
