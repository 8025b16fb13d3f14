"""Statistics: a negative binomial likelihood with guards for overflow."""

import numpy as np


def log1pexp(x):
    # four regimes, as in Maechler's note
    if x <= -37.0:
        return np.exp(x)
    if x <= 18.0:
        return np.log1p(np.exp(x))
    if x <= 33.3:
        return x + np.exp(-x)
    return x


def lgamma_ratio(y, r):
    """log Gamma(y + r) - log Gamma(r) for whole y."""
    s = 0.0
    for k in range(y):
        s += np.log(r + k)
    return s


def linear(X, beta, offset):
    eta = np.zeros(len(offset))
    for i in range(len(offset)):
        eta[i] = X[i] @ beta
        if not np.isnan(offset[i]):
            eta[i] += offset[i]
    return eta


def safe_log(p):
    return np.where(p > 0.0, np.log(np.where(p > 0.0, p, 1.0)), -50.0)


def program(X, y, beta, offset, log_r, inflation):
    r = np.exp(log_r)
    eta = linear(X, beta, offset)
    pi = 1.0 / (1.0 + np.exp(-inflation))
    nll = 0.0
    for i in range(len(y)):
        log_mu = eta[i]
        spread = log1pexp(log_mu - log_r)
        ll = lgamma_ratio(y[i], r) - (r + y[i]) * spread
        if y[i] > 0:
            ll += y[i] * (log_mu - log_r)
            nll -= ll + safe_log(1.0 - pi)
        else:
            nll -= np.log(pi + (1.0 - pi) * np.exp(ll))
    return nll


def inputs(rng):
    offset = rng.normal(0, 0.3, 6)
    offset[4] = np.nan
    X = rng.normal(size=(6, 2))
    X[2] = [25.0, 25.0]
    return {
        "X": X,
        "y": np.array([0, 3, 1, 0, 2, 5]),
        "beta": np.array([0.6, 0.8]),
        "offset": offset,
        "log_r": 0.3,
        "inflation": -1.0,
    }
