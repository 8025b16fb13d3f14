"""Recommenders: factors of a ratings matrix with gaps by alternating least squares."""

import numpy as np


def solve_spd(A, b):
    """In place elimination of a small definite system."""
    n = len(b)
    for k in range(n):
        for i in range(k + 1, n):
            f = A[i, k] / A[k, k]
            for j in range(k, n):
                A[i, j] -= f * A[k, j]
            b[i] -= f * b[k]
    x = np.zeros(n)
    for i in reversed(range(n)):
        s = b[i]
        for j in range(i + 1, n):
            s -= A[i, j] * x[j]
        x[i] = s / A[i, i]
    return x


def update_rows(R, U, V, lam):
    k = V.shape[1]
    for u in range(R.shape[0]):
        A = lam * np.eye(k)
        b = np.zeros(k)
        for i in range(R.shape[1]):
            if np.isnan(R[u, i]):
                continue
            A += np.outer(V[i], V[i])
            b += R[u, i] * V[i]
        U[u] = solve_spd(A, b)


def rmse(R, U, V):
    se = 0.0
    n = 0
    for u in range(R.shape[0]):
        for i in range(R.shape[1]):
            r = R[u, i]
            if r != r:  # missing
                continue
            se += (r - np.dot(U[u], V[i])) ** 2
            n += 1
    return np.sqrt(se / n)


def program(R, V0, lam, rounds=2):
    V = V0.copy()
    U = np.zeros((R.shape[0], V0.shape[1]))
    for _ in range(rounds):
        update_rows(R, U, V, lam)
        update_rows(R.T, V, U, lam)
    return rmse(R, U, V) + 0.01 * np.sum(U**2)


def inputs(rng):
    R = rng.uniform(1, 5, (4, 3))
    R[0, 1] = np.nan
    R[2, 2] = np.nan
    R[3, 0] = np.nan
    return {"R": R, "V0": rng.normal(size=(3, 2)), "lam": 0.3}
