"""Enzyme.jl #2564: broadcasting a logistic likelihood gave gradients far too large.

Whole arrays from the product of the data with the parameters to the likelihood's sum.
"""

from __future__ import annotations

import numpy as np

from tests.corpora.entry import Entry


def likelihood(x, beta, y):
    score = np.sum(x * beta[None, :], axis=1)
    p = 1.0 / (1.0 + np.exp(-score))
    return np.sum(np.where(y == 1, np.log(p), np.log(1.0 - p)))


def arguments(n, m):
    return dict(x=m(3 * n, n), beta=m(n), y=m.indices(2, 3 * n))


ENTRY = Entry("likelihood", likelihood, arguments, real=6)
