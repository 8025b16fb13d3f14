"""NVIDIA Warp #1697: `v[i] = v[i] + x` on a small local matrix lost its adjoint.

Four points add to the components of a local 2 x 2 matrix that moves the state; the
wrong factor had grown with every step.
"""

from __future__ import annotations

import numpy as np

from tests.corpora.entry import Entry


def advance(state, weights, steps):
    for _ in range(steps):
        for e in range(state.shape[0] - 1):
            m = np.zeros((2, 2))
            for g in range(4):
                w = weights[g] * state[e]
                m[0, 0] = m[0, 0] + w
                m[0, 1] = m[0, 1] + w * state[e + 1]
                m[1, 1] = m[1, 1] + w * w
                m[1, 0] = m[0, 1]
            state[e] = state[e] + 0.1 * (m[0, 0] * m[1, 1] - m[0, 1] * m[1, 0])
            state[e + 1] += 0.1 * m[1, 0]


def arguments(n, m):
    return dict(state=m(n), weights=m(4), steps=n)


ENTRY = Entry("advance", advance, arguments, ("state",), least=2, real=5)
