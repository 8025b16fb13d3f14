"""Biostatistics: Cox partial likelihood with Breslow ties and censoring, a ridge."""

import numpy as np


def linear_predictor(X, beta):
    n, p = X.shape
    eta = np.zeros(n)
    for i in range(n):
        for j in range(p):
            eta[i] += X[i, j] * beta[j]
    return eta


def risk_set_sum(time, eta, t):
    total = 0.0
    for i in range(len(time)):
        if time[i] < t:
            continue
        total += np.exp(eta[i])
    return total


def program(time, event, X, beta, ridge=0.1):
    eta = linear_predictor(X, beta)
    loglik = 0.0
    n_events = 0
    for i in range(len(time)):
        if event[i] == 0:
            continue
        n_events += 1
        loglik += eta[i] - np.log(risk_set_sum(time, eta, time[i]))
    penalty = 0.0
    for j in range(len(beta)):
        penalty += beta[j] ** 2
    return -loglik / n_events + 0.5 * ridge * penalty


def inputs(rng):
    return {
        "time": np.array([5, 3, 9, 3, 7, 12, 1]),
        "event": np.array([1, 1, 0, 1, 1, 0, 1]),
        "X": rng.normal(size=(7, 3)),
        "beta": rng.normal(size=3),
    }
