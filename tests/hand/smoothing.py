"""The likelihood of a series under exponential smoothing."""

import math

import numpy as np


def smoothing(series, level, alpha, sigma):
    loss = 0.0
    for t in range(series.shape[0]):
        error = series[t] - level
        loss += 0.5 * (error / sigma) ** 2 + math.log(sigma)
        level += alpha * error
    return loss


def smoothing_adjoint(series, level, alpha, sigma, d_result):
    n = series.shape[0]
    errors = np.empty(n)
    for t in range(n):
        errors[t] = series[t] - level
        level += alpha * errors[t]
    d_series = np.zeros_like(series)
    d_level, d_alpha, d_sigma = 0.0, 0.0, 0.0
    for t in range(n - 1, -1, -1):
        # level += alpha * error
        d_alpha += errors[t] * d_level
        # loss += 0.5 * (error / sigma) ** 2 + math.log(sigma)
        ratio = errors[t] / sigma
        d_sigma += d_result * (1.0 - ratio * ratio) / sigma
        # error = series[t] - level
        d_error = alpha * d_level + d_result * ratio / sigma
        d_series[t] = d_error
        d_level -= d_error
    return d_series, d_level, d_alpha, d_sigma


def arguments(n, rng):
    return {"series": rng.normal(size=n), "level": 0.3, "alpha": 0.4, "sigma": 0.8}
