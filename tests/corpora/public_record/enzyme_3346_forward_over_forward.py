"""Enzyme.jl #3346: forward mode over forward mode took one direction for the other.

The derivative of a gradient along one axis must hold nothing along the others.
"""

from __future__ import annotations

from tests.corpora.entry import Entry


def energy(x):
    total = 0.0
    for i in range(x.shape[0]):
        total += x[i] * x[i] * x[i]
    return total


def arguments(n, m):
    return dict(x=m(n))


ENTRY = Entry("energy", energy, arguments, real=5)
ORDER = 2
