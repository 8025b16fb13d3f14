"""Metrology: Levenberg-Marquardt with accepted and rejected steps, fitted peak area."""

import numpy as np


def model(t, p):
    return p[0] * np.exp(-(((t - p[1]) / p[2]) ** 2)) + p[3]


def jacobian_row(t, p, row):
    z = (t - p[1]) / p[2]
    e = np.exp(-z * z)
    row[0] = e
    row[1] = p[0] * e * 2.0 * z / p[2]
    row[2] = p[0] * e * 2.0 * z * z / p[2]
    row[3] = 1.0


def sum_squares(t, y, p):
    s = 0.0
    for i in range(len(t)):
        s += (y[i] - model(t[i], p)) ** 2
    return s


def normal_step(t, y, p, damping):
    m = len(p)
    A = np.zeros((m, m))
    b = np.zeros(m)
    row = np.zeros(m)
    for i in range(len(t)):
        jacobian_row(t[i], p, row)
        r = y[i] - model(t[i], p)
        for a in range(m):
            b[a] += row[a] * r
            for c in range(m):
                A[a, c] += row[a] * row[c]
    for a in range(m):
        A[a, a] *= 1.0 + damping
    for k in range(m):
        for i in range(k + 1, m):
            f = A[i, k] / A[k, k]
            for j in range(k, m):
                A[i, j] -= f * A[k, j]
            b[i] -= f * b[k]
    for i in range(m - 1, -1, -1):
        for j in range(i + 1, m):
            b[i] -= A[i, j] * b[j]
        b[i] /= A[i, i]
    return b


def program(t, y, start, damping=0.1, rounds=4):
    p = start.copy()
    best = sum_squares(t, y, p)
    for _ in range(rounds):
        trial = p + normal_step(t, y, p, damping)
        value = sum_squares(t, y, trial)
        if value < best:
            p[:] = trial
            best = value
            damping *= 0.3
        else:
            damping *= 5.0
    return p[0] * p[2] * np.sqrt(np.pi) + best


def inputs(rng):
    t = np.linspace(-2, 2, 9)
    return {
        "t": t,
        "y": 1.3 * np.exp(-(((t - 0.2) / 0.7) ** 2)) + 0.1 + 0.05 * rng.normal(size=9),
        "start": np.array([1.0, 0.0, 1.0, 0.0]),
    }
