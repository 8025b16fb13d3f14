"""NVIDIA Warp #1479: elements read through an array of indices got no gradient.

Every sample is an element that an index picks, some of them several times.
"""

from __future__ import annotations

from tests.corpora.entry import Entry


def weighted(base, picked, weights, total):
    for i in range(picked.shape[0]):
        sample = base[picked[i]]
        total[0] += sample * sample * weights[i]


def arguments(n, m):
    return dict(base=m(n), picked=m.indices(n, 2 * n), weights=m(2 * n), total=m(1))


ENTRY = Entry("weighted", weighted, arguments, ("total",), real=9)
