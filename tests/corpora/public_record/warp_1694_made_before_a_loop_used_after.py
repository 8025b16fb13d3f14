"""NVIDIA Warp #1694: what was made before a loop and used after it got no gradient.

The area is made before a loop of run-time length and multiplies its sum; the sum does
not start at zero, which had made the wrong gradient plausible.
"""

from __future__ import annotations

from tests.corpora.entry import Entry


def force(position, stress, layers, out):
    for e in range(out.shape[0]):
        area = position[e] * position[e + 1]
        acc = 5.0
        for k in range(layers):
            acc += stress[k] * position[e]
        out[e] = acc * area


def arguments(n, m):
    return dict(position=m(n + 1), stress=m(n + 2), layers=n + 1, out=m(n))


ENTRY = Entry("force", force, arguments, ("out",), real=6)
