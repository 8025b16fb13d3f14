"""PyTorch #193061: parts of the gradient of a table that two norms share stayed unset.

Each of two chained normalisations is scaled and shifted by two rows of one table.
"""

from __future__ import annotations

import numpy as np

from tests.corpora.entry import Entry


def normalise(x, scale, shift, out):
    for r in range(x.shape[0]):
        mean = 0.0
        for k in range(x.shape[1]):
            mean += x[r, k]
        mean /= x.shape[1]
        spread = 1e-2
        for k in range(x.shape[1]):
            spread += (x[r, k] - mean) ** 2 / x.shape[1]
        root = np.sqrt(spread)
        for k in range(x.shape[1]):
            out[r, k] = (x[r, k] - mean) / root * (1.0 + scale[k]) + shift[k]


def modulated(x, table, offset, out):
    rows = table + offset
    hidden = np.empty_like(x)
    normalise(x, rows[0], rows[1], hidden)
    for r in range(x.shape[0]):
        for k in range(x.shape[1]):
            hidden[r, k] = x[r, k] + np.tanh(hidden[r, k])
    normalise(hidden, rows[2], rows[3], out)


def arguments(n, m):
    return dict(x=m(2, n), table=m(4, n), offset=m(n), out=m(2, n))


ENTRY = Entry("modulated", modulated, arguments, ("out",), least=1, real=6)
