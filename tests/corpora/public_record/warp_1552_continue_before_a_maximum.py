"""NVIDIA Warp #1552: `continue` sent every maximum's gradient to the last candidate.

Each output keeps the best of the candidates that are not skipped; another candidate
wins for another output.
"""

from __future__ import annotations

import numpy as np

from tests.corpora.entry import Entry


def best(candidates, x, out):
    for k in range(x.shape[0]):
        highest = -1e20
        for p in range(candidates.shape[0]):
            for q in range(candidates.shape[1]):
                c = candidates[p, q]
                if c == 0.0:
                    continue
                value = x[k] * c * (p + q + 1)
                if value > highest:
                    highest = value
        out[k] = highest


def arguments(n, m):
    candidates = m.distinct(3, 4)
    candidates[np.arange(12).reshape(3, 4) % 5 == 0] = 0.0
    return dict(candidates=candidates, x=m.away(n), out=m(n))


ENTRY = Entry("best", best, arguments, ("out",), real=9)
