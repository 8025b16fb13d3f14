"""NVIDIA Warp #1740: after a loop in a function, the adjoint saw the sum's first value.

The reciprocal and the square of a sum are taken in the helper that holds its loop.
"""

from __future__ import annotations

from tests.corpora.entry import Entry


def reciprocal_of_sum(x, count, start):
    acc = start
    for i in range(count):
        acc += x[i]
    return 1.0 / acc


def square_of_sum(x, count):
    acc = 0.0
    for i in range(count):
        acc += x[i]
    return acc * acc


def normalised(x, counts, start, out):
    for k in range(counts.shape[0]):
        out[k] = reciprocal_of_sum(x, counts[k], start) + square_of_sum(x, counts[k])


def arguments(n, m):
    return dict(
        x=m.positive(n), counts=m.indices(n + 1, n + 1), start=m.scalar(), out=m(n + 1)
    )


ENTRY = Entry("normalised", normalised, arguments, ("out",), real=6)
