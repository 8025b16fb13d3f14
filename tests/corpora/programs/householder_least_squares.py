"""Linear algebra: least squares through a Householder QR in place."""

import numpy as np


def reflect(A, b, k):
    m, n = A.shape
    norm = 0.0
    for i in range(k, m):
        norm += A[i, k] ** 2
    norm = np.sqrt(norm)
    alpha = -norm if A[k, k] > 0 else norm
    v = np.zeros(m)
    for i in range(k, m):
        v[i] = A[i, k]
    v[k] -= alpha
    vv = 0.0
    for i in range(k, m):
        vv += v[i] * v[i]
    for j in range(k, n):
        s = 0.0
        for i in range(k, m):
            s += v[i] * A[i, j]
        s *= 2.0 / vv
        for i in range(k, m):
            A[i, j] -= s * v[i]
    s = 0.0
    for i in range(k, m):
        s += v[i] * b[i]
    s *= 2.0 / vv
    for i in range(k, m):
        b[i] -= s * v[i]


def back_substitute(R, b, n):
    x = np.zeros(n)
    for i in range(n - 1, -1, -1):
        s = b[i]
        for j in range(i + 1, n):
            s -= R[i, j] * x[j]
        x[i] = s / R[i, i]
    return x


def lstsq(A, b):
    R = A.copy()
    q = b.copy()
    n = A.shape[1]
    for k in range(n):
        reflect(R, q, k)
    return back_substitute(R, q, n)


def program(t, y, degree, x_new):
    A = np.zeros((len(t), degree + 1))
    for i in range(len(t)):
        p = 1.0
        for j in range(degree + 1):
            A[i, j] = p
            p *= t[i]
    coef = lstsq(A, y)
    value = 0.0
    for j in range(degree, -1, -1):
        value = value * x_new + coef[j]
    return value


def inputs(rng):
    return {
        "t": np.linspace(-1, 1, 7) + 0.05 * rng.normal(size=7),
        "y": rng.normal(size=7),
        "degree": 2,
        "x_new": 0.4,
    }
