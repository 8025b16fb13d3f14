"""Enzyme.jl #2387: what one loop put into a new array and another read was left out.

An array without values is filled in one loop, which uses the same number itself.
"""

from __future__ import annotations

import numpy as np

from tests.corpora.entry import Entry


def density(a, x):
    logp = 0.0
    kept = np.empty(x.shape[0])
    for i in range(x.shape[0]):
        value = a[0]
        logp += value * value
        kept[i] = value
    for i in range(x.shape[0]):
        logp += kept[i] * x[i]
    return logp


def arguments(n, m):
    return dict(a=m(1), x=m(n))


ENTRY = Entry("density", density, arguments, real=5)
