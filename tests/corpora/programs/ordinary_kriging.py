"""Geostatistics: ordinary kriging by Gauss-Jordan, the leave-one-out error."""

import numpy as np


def variogram(h, nugget, sill, length):
    if h == 0.0:
        return 0.0
    return nugget + sill * (1.0 - np.exp(-h / length))


def kriging_matrix(xy, skip, nugget, sill, length):
    n = xy.shape[0]
    A = np.zeros((n, n))
    row = 0
    for i in range(n):
        if i == skip:
            continue
        col = 0
        for j in range(n):
            if j == skip:
                continue
            h = 0.0
            if i != j:
                h = np.hypot(xy[i, 0] - xy[j, 0], xy[i, 1] - xy[j, 1])
            A[row, col] = variogram(h, nugget, sill, length)
            col += 1
        A[row, n - 1] = 1.0
        A[n - 1, row] = 1.0
        row += 1
    return A


def gauss_jordan(A, b):
    n = A.shape[0]
    for k in range(n):
        p = k
        for i in range(k + 1, n):
            if np.abs(A[i, k]) > np.abs(A[p, k]):
                p = i
        if p != k:
            for j in range(n):
                A[k, j], A[p, j] = A[p, j], A[k, j]
            b[k], b[p] = b[p], b[k]
        pivot = A[k, k]
        for j in range(n):
            A[k, j] /= pivot
        b[k] /= pivot
        for i in range(n):
            if i != k:
                factor = A[i, k]
                for j in range(n):
                    A[i, j] -= factor * A[k, j]
                b[i] -= factor * b[k]


def predict(xy, z, at, nugget, sill, length):
    n = len(z)
    A = kriging_matrix(xy, at, nugget, sill, length)
    w = np.ones(n)
    k = 0
    for i in range(n):
        if i != at:
            h = np.hypot(xy[i, 0] - xy[at, 0], xy[i, 1] - xy[at, 1])
            w[k] = variogram(h, nugget, sill, length)
            k += 1
    gauss_jordan(A, w)
    estimate = 0.0
    k = 0
    for i in range(n):
        if i != at:
            estimate += w[k] * z[i]
            k += 1
    return estimate


def program(xy, z, log_par):
    par = np.exp(log_par)
    error = 0.0
    for at in range(len(z)):
        error += (predict(xy, z, at, par[0], par[1], par[2]) - z[at]) ** 2
    return error / len(z)


def inputs(rng):
    return {
        "xy": rng.uniform(0, 5, (5, 2)),
        "z": rng.normal(size=5),
        "log_par": np.array([-1.5, 0.2, 0.6]),
    }
