"""NVIDIA Warp #1728: a copy's adjoint replaced its source's and kept its target's.

The source of the copies is read again after them, and each overwrites what was written
into their target before.
"""

from __future__ import annotations

import numpy as np

from tests.corpora.entry import Entry


def relax(x, total):
    y = np.empty(x.shape[0])
    for _ in range(3):
        for i in range(x.shape[0]):
            y[i] = 7.0 * x[i] * x[i]
        y[:] = x
        for i in range(x.shape[0]):
            total[0] += x[i] * y[i]
            x[i] = 0.5 * y[i] + 0.1 * x[i] * x[i]
    last = x.copy()
    for i in range(x.shape[0]):
        total[0] += last[i] * x[i]


def arguments(n, m):
    return dict(x=m(n), total=m(1))


ENTRY = Entry("relax", relax, arguments, ("x", "total"), real=6)
