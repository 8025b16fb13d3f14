"""Machine learning: the t-SNE loss, bandwidths by a fixed bisection of perplexity."""

import math

import numpy as np


def sq_dists(X):
    n = X.shape[0]
    D = np.zeros((n, n))
    for i in range(n):
        for j in range(n):
            d = X[i] - X[j]
            D[i, j] = np.dot(d, d)
    return D


def row_probabilities(D, i, beta, p):
    z = 0.0
    for j in range(D.shape[0]):
        if j == i:
            p[j] = 0.0
        else:
            p[j] = math.exp(-D[i, j] * beta)
            z += p[j]
    for j in range(D.shape[0]):
        p[j] /= z


def joint(D, betas):
    n = D.shape[0]
    P = np.zeros((n, n))
    for i in range(n):
        row_probabilities(D, i, betas[i], P[i])
    return (P + P.T) / (2.0 * n)


def student(D):
    n = D.shape[0]
    num = 1.0 / (1.0 + D)
    for i in range(n):
        num[i, i] = 0.0
    return num / np.sum(num)


def program(X, Y, log_beta):
    P = joint(sq_dists(X), np.exp(log_beta))
    Q = student(sq_dists(Y))
    kl = 0.0
    for i in range(P.shape[0]):
        for j in range(P.shape[0]):
            if i != j:
                kl += P[i, j] * math.log(P[i, j] / Q[i, j])
    return kl


def inputs(rng):
    return {
        "X": rng.normal(size=(5, 3)),
        "Y": rng.normal(size=(5, 2)),
        "log_beta": rng.uniform(-0.5, 0.3, 5),
    }
