"""Enzyme.jl #2987: of four branches on flags, the one taken gave a gradient of zero.

What is bounded on either side, on both or on none is transformed by another formula.
"""

from __future__ import annotations

import math

import numpy as np

from tests.corpora.entry import Entry


def log_jacobian(x, lower, upper):
    bounded = math.isfinite(upper)
    if lower and bounded:
        return math.log(x / upper) / 1.0, 0.0
    elif lower:
        return math.log(x), 0.0
    elif bounded:
        return 2.0 * math.log(x), 0.0
    else:
        return x, 0.0


def transformed(x, lower, upper, out):
    for i in range(x.shape[0]):
        value, rest = log_jacobian(x[i], lower[i % 2], upper[i % 3])
        out[i] = value + rest


def arguments(n, m):
    return dict(
        x=m.positive(n),
        lower=np.array([True, False]),
        upper=np.array([1.0, np.inf, 2.5]),
        out=m(n),
    )


ENTRY = Entry("transformed", transformed, arguments, ("out",), real=7)
