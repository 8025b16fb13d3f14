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


def smoothing_tangent(
    series, level, alpha, sigma, dot_series, dot_level, dot_alpha, dot_sigma
):
    loss = dot_loss = 0.0
    for t in range(series.shape[0]):
        error = series[t] - level
        dot_error = dot_series[t] - dot_level
        # loss += 0.5 * (error / sigma) ** 2 + math.log(sigma)
        ratio = error / sigma
        loss += 0.5 * ratio * ratio + math.log(sigma)
        dot_loss += (ratio * dot_error + (1.0 - ratio * ratio) * dot_sigma) / sigma
        # level += alpha * error
        level += alpha * error
        dot_level += dot_alpha * error + alpha * dot_error
    return loss, dot_loss


def arguments(n, rng):
    return {"series": rng.normal(size=n), "level": 0.3, "alpha": 0.4, "sigma": 0.8}
