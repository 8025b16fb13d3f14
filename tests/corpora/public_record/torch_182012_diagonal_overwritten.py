"""PyTorch #182012: beside an overwritten diagonal, the matrix got no gradient at all.

A copy of the matrix whose diagonal another vector replaces; off it, nothing changes.
"""

from __future__ import annotations

from tests.corpora.entry import Entry


def scattered(x, diagonal):
    copy = x.copy()
    for i in range(diagonal.shape[0]):
        copy[i, i] = diagonal[i]
    total = 0.0
    for i in range(copy.shape[0]):
        for j in range(copy.shape[1]):
            total += copy[i, j]
    return total


def arguments(n, m):
    return dict(x=m(n, n), diagonal=m(n))


ENTRY = Entry("scattered", scattered, arguments, real=5)
