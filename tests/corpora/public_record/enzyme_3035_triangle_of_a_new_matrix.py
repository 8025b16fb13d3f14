"""Enzyme.jl #3035: a factor's gradient held what was never set, other in every run.

A correlation's Cholesky factor is made in one triangle of a matrix without values, with
the logarithm of its volume beside it.
"""

from __future__ import annotations

import numpy as np

from tests.corpora.entry import Entry


def log_of_rest(x):
    if x > 0:
        log1pexp = 2.0 * x + np.log1p(np.exp(-2.0 * x))
    else:
        log1pexp = np.log1p(np.exp(2.0 * x))
    return 2.0 * (np.log(2.0) + x - log1pexp), np.log(4.0) + 2.0 * x - 2.0 * log1pexp


def factor(y, n, scale):
    triangle = np.empty((n, n))
    volume = 0.0
    k = 0
    for j in range(n):
        log_r = 0.0
        for i in range(j):
            rest, slope = log_of_rest(y[k])
            triangle[j, i] = np.tanh(y[k]) * np.exp(0.5 * log_r)
            volume += slope + 0.5 * log_r
            log_r += rest
            k += 1
        triangle[j, j] = np.exp(0.5 * log_r)
    total = volume
    for j in range(n):
        for i in range(j + 1):
            total += scale[i] * triangle[j, i] ** 3
    return total


def arguments(n, m):
    return dict(y=m.away(n * (n - 1) // 2), n=n, scale=m(n))


ENTRY = Entry("factor", factor, arguments, real=5)
