"""PyTorch #193671: recomputed from a checkpoint, an unset noise entered the gradient.

The slope of each negative element is noted in an array that is set nowhere else, in a
loop whose steps are made again for the reverse sweep.
"""

from __future__ import annotations

import numpy as np

import pyrev
from tests.corpora.entry import Entry


def leaky(x, noise, weight, steps):
    slope = np.empty(x.shape[0])
    for t in pyrev.checkpointed(range(steps)):
        for i in range(x.shape[0]):
            x[i] = x[i] * weight + 0.3 * noise[t, i]
        for i in range(x.shape[0]):
            if x[i] < 0.0:
                slope[i] = 0.1 + 0.2 * noise[t, i] * weight
        for i in range(x.shape[0]):
            if x[i] < 0.0:
                x[i] = x[i] * slope[i]


def arguments(n, m):
    return dict(x=m.away(n), noise=m.away(n + 3, n), weight=m.scalar(), steps=n + 3)


ENTRY = Entry("leaky", leaky, arguments, ("x",), real=7)
