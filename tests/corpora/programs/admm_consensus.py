"""Distributed optimisation: consensus ADMM of ridge regressions, primal residual."""

import numpy as np


def local_update(X, y, z, u, rho):
    """(X'X + rho I) w = X'y + rho (z - u) in two unknowns, by hand."""
    a = rho
    b = 0.0
    d = rho
    r0 = rho * (z[0] - u[0])
    r1 = rho * (z[1] - u[1])
    for i in range(X.shape[0]):
        a += X[i, 0] ** 2
        b += X[i, 0] * X[i, 1]
        d += X[i, 1] ** 2
        r0 += X[i, 0] * y[i]
        r1 += X[i, 1] * y[i]
    det = a * d - b * b
    return np.array([(d * r0 - b * r1) / det, (a * r1 - b * r0) / det])


def average(W, U):
    return (W + U).mean(axis=0)


def shrink(v, k):
    for i in range(len(v)):
        if v[i] > k:
            v[i] -= k
        elif v[i] < -k:
            v[i] += k
        else:
            v[i] = 0.0
    return v


def program(X, y, rho, lam, rounds=3):
    agents = X.shape[0]
    W = np.zeros((agents, 2))
    U = np.zeros((agents, 2))
    z = np.zeros(2)
    primal = 0.0
    for _ in range(rounds):
        for a in range(agents):
            W[a] = local_update(X[a], y[a], z, U[a], rho)
        z = shrink(average(W, U), lam / (rho * agents))
        primal = 0.0
        for a in range(agents):
            gap = W[a] - z
            U[a] += gap
            primal += gap @ gap
    fit = 0.0
    for a in range(agents):
        fit += np.sum((X[a] @ z - y[a]) ** 2)
    return fit + primal


def inputs(rng):
    return {
        "X": rng.normal(size=(3, 4, 2)),
        "y": rng.normal(size=(3, 4)),
        "rho": 1.2,
        "lam": 0.1,
    }
