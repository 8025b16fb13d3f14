"""NVIDIA Warp #1293: two nested loops of run-time length gave twice the gradient.

A chain of bodies, each turned by the joints that data gives it: what the outer loop
carries is changed by the inner one.
"""

from __future__ import annotations

import math

import numpy as np

from tests.corpora.entry import Entry


def turned(c, s, angle):
    cosine, sine = math.cos(angle), math.sin(angle)
    return c * cosine - s * sine, s * cosine + c * sine


def place(branch, first, count, angle, length, out):
    for b in range(branch.shape[0] - 1):
        x, y = 0.0, 0.0
        c, s = 1.0, 0.0
        for i in range(branch[b], branch[b + 1]):
            x += c * length[i]
            y += s * length[i]
            for j in range(first[i], first[i] + count[i]):
                c, s = turned(c, s, angle[j])
            out[i, 0] = x
            out[i, 1] = y + c * s


def arguments(n, m):
    count = m.indices(4, n)
    first = np.concatenate([[0], np.cumsum(count)])
    return dict(
        branch=np.array([0, n // 3, n // 3, n]),
        first=first[:-1],
        count=count,
        angle=m(int(first[-1])),
        length=m.positive(n),
        out=m(n, 2),
    )


ENTRY = Entry("place", place, arguments, ("out",), least=1, real=7)
