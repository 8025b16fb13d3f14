"""Time series: AR(1) state space likelihood; missing observations are nan."""

import math

import numpy as np


def count_observed(y):
    n = 0
    for i in range(len(y)):
        if not np.isnan(y[i]):
            n += 1
    return n


def update(a, p, obs, noise):
    f = p + noise
    v = obs - a
    gain = p / f
    return a + gain * v, p * (1.0 - gain), -0.5 * (math.log(f) + v * v / f)


def program(y, phi, sigma, noise, mean):
    state = mean
    p = sigma**2 / (1.0 - phi**2)
    loglik = -0.5 * count_observed(y) * math.log(2.0 * math.pi)
    for t in range(len(y)):
        if t > 0:
            state = mean + phi * (state - mean)
            p = phi * phi * p + sigma * sigma
        if math.isnan(y[t]):
            continue
        state, p, term = update(state, p, y[t], noise * noise)
        loglik += term
    return -loglik


def inputs(rng):
    y = rng.normal(0.5, 1.0, 9)
    y[2] = np.nan
    y[5:7] = np.nan
    return {"y": y, "phi": 0.7, "sigma": 0.5, "noise": 0.3, "mean": 0.4}
