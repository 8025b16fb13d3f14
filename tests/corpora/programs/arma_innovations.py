"""Time series: conditional sum of squares of an ARMA(p, q) with an exogenous mean."""

import numpy as np


def mean_function(X, beta):
    return X @ beta


def innovations(w, ar, ma):
    p = len(ar)
    q = len(ma)
    e = np.zeros(len(w))
    for t in range(p, len(w)):
        pred = 0.0
        for i in range(p):
            pred += ar[i] * w[t - 1 - i]
        for j in range(q):
            if t - 1 - j >= 0:
                pred += ma[j] * e[t - 1 - j]
        e[t] = w[t] - pred
    return e


def forecast(w, e, ar, ma, horizon):
    out = np.zeros(horizon)
    n = len(w)
    for h in range(horizon):
        for i in range(len(ar)):
            k = h - 1 - i
            past = out[k] if k >= 0 else w[n + k]
            out[h] += ar[i] * past
        for j in range(len(ma)):
            k = h - 1 - j
            if k < 0:
                out[h] += ma[j] * e[n + k]
    return out


def program(y, X, beta, ar, ma, future):
    w = y - mean_function(X, beta)
    e = innovations(w, ar, ma)
    css = np.sum(e[len(ar) :] ** 2) / (len(y) - len(ar))
    f = forecast(w, e, ar, ma, len(future))
    return np.log(css) + np.mean((f - future) ** 2)


def inputs(rng):
    return {
        "y": rng.normal(size=9),
        "X": rng.normal(size=(9, 2)),
        "beta": np.array([0.3, -0.2]),
        "ar": np.array([0.5, -0.2]),
        "ma": np.array([0.3]),
        "future": rng.normal(size=3),
    }
