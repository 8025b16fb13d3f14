"""Numerical analysis: Gauss-Seidel until the update is small, then a functional."""

import numpy as np


def sweep(A, b, x):
    """One pass in place; the largest change of a component."""
    n = A.shape[0]
    biggest = 0.0
    for i in range(n):
        s = b[i]
        for j in range(n):
            if j != i:
                s -= A[i, j] * x[j]
        new = s / A[i, i]
        change = abs(new - x[i])
        if change > biggest:
            biggest = change
        x[i] = new
    return biggest


def solve(A, b, tol=1e-13, max_iter=200):
    x = np.zeros(b.shape[0])
    it = 0
    while it < max_iter:
        change = sweep(A, b, x)
        it += 1
        if change < tol:
            break
    return x


def program(A, b, c):
    x = solve(A, b)
    total = 0.0
    for i in range(len(x)):
        total += c[i] * x[i] * x[i]
    return total


def inputs(rng):
    n = 4
    return {
        "A": 0.4 * rng.uniform(-1, 1, (n, n)) + 3.0 * np.eye(n),
        "b": rng.normal(size=n),
        "c": rng.uniform(0.5, 1.5, n),
    }
