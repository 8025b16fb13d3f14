"""Genesis #3119: side by side, all worlds got the gradient of the first one.

Independent worlds, a parallel loop over them, and values of each that the reverse sweep
of its own steps needs.
"""

from __future__ import annotations

import math

import numpy as np
from numba import prange

from tests.corpora.entry import Entry


def simulate(angle, torque, steps, out):
    for w in prange(angle.shape[0]):
        trail = np.empty(steps[w] + 1)
        trail[0] = angle[w]
        speed = 0.0
        for t in range(steps[w]):
            speed = speed + 0.1 * (torque[w] - math.sin(trail[t]))
            trail[t + 1] = trail[t] + 0.1 * speed * trail[t]
        out[w] = trail[steps[w]] * speed


def arguments(n, m):
    return dict(angle=m(n), torque=m(n), steps=m.indices(6, n) + 1, out=m(n))


ENTRY = Entry("simulate", simulate, arguments, ("out",), real=9)
