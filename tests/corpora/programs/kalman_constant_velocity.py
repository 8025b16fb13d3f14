"""Tracking: a Kalman filter of a constant velocity model, negative log likelihood."""

import numpy as np


def eye(n):
    out = np.zeros((n, n))
    for i in range(n):
        out[i, i] = 1.0
    return out


def matmul(A, B):
    n, k = A.shape
    m = B.shape[1]
    C = np.zeros((n, m))
    for i in range(n):
        for j in range(m):
            for p in range(k):
                C[i, j] += A[i, p] * B[p, j]
    return C


def matvec(A, x):
    y = np.zeros(A.shape[0])
    for i in range(A.shape[0]):
        for j in range(A.shape[1]):
            y[i] += A[i, j] * x[j]
    return y


def transpose(A):
    B = np.zeros((A.shape[1], A.shape[0]))
    for i in range(A.shape[0]):
        for j in range(A.shape[1]):
            B[j, i] = A[i, j]
    return B


def predict(x, P, F, Q):
    x = matvec(F, x)
    P = matmul(matmul(F, P), transpose(F)) + Q
    return x, P


def update(x, P, z, H, r):
    # one scalar measurement: H is a row
    y = z
    for j in range(len(x)):
        y -= H[j] * x[j]
    PH = matvec(P, H)
    S = r
    for j in range(len(x)):
        S += H[j] * PH[j]
    K = PH / S
    x = x + K * y
    I_KH = eye(len(x))
    for i in range(len(x)):
        for j in range(len(x)):
            I_KH[i, j] -= K[i] * H[j]
    P = matmul(I_KH, P)
    nll = 0.5 * (np.log(2 * np.pi * S) + y * y / S)
    return x, P, nll


def program(z, x0, P0, q, r, dt=1.0):
    F = eye(2)
    F[0, 1] = dt
    Q = np.array([[dt**4 / 4, dt**3 / 2], [dt**3 / 2, dt**2]]) * q
    H = np.array([1.0, 0.0])
    x = x0
    P = P0
    total = 0.0
    for k in range(len(z)):
        x, P = predict(x, P, F, Q)
        x, P, nll = update(x, P, z[k], H, r)
        total += nll
    return total


def inputs(rng):
    return {
        "z": np.cumsum(rng.normal(0.5, 0.3, 7)),
        "x0": rng.normal(0, 0.5, 2),
        "P0": np.array([[1.0, 0.1], [0.1, 0.8]]),
        "q": 0.2,
        "r": 0.4,
    }
