"""Linear algebra: minimal residual iterations with a restart."""

import numpy as np


def matvec(A, x):
    y = np.zeros(A.shape[0])
    for i in range(A.shape[0]):
        for j in range(A.shape[1]):
            y[i] += A[i, j] * x[j]
    return y


def minimal_residual(A, b, x, steps, tol):
    r = b - matvec(A, x)
    for _ in range(steps):
        Ar = matvec(A, r)
        d = Ar @ Ar
        if d < tol:
            return x, r
        alpha = (r @ Ar) / d
        x = x + alpha * r
        r = r - alpha * Ar
    return x, r


def solve(A, b, steps, restarts, tol=1e-16):
    x = np.zeros_like(b)
    r = b
    for k in range(restarts):
        x, r = minimal_residual(A, b, x, steps, tol)
        if r @ r < tol:
            break
    return x, r


def program(A, b, c, steps=2, restarts=2):
    x, r = solve(A, b, steps, restarts)
    return c @ x + r @ r


def inputs(rng):
    return {
        "A": 0.3 * rng.normal(size=(4, 4)) + 2 * np.eye(4),
        "b": rng.normal(size=4),
        "c": rng.normal(size=4),
    }
