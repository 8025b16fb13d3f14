"""The serial scatter adjoint of the loops of `loops.py`, compiled by plain Numba.

What reverse mode gives when it is transcribed statement by statement: natural loop
order, C-contiguous arrays, run-time extents, one thread. The baseline that pyrev's
schedules are measured against.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import loops
import numpy as np
from numba import njit

Inputs = dict[str, Any]
Step = Callable[[], Inputs]

conv2d_primal = njit(loops.conv2d)
dilconv_primal = njit(loops.dilconv)
heat3d_primal = njit(loops.heat3d)


@njit
def conv2d_adjoint(x, w, go, d_x, d_w):
    for n in range(go.shape[0]):
        for k in range(go.shape[1]):
            for a in range(go.shape[2]):
                for b in range(go.shape[3]):
                    for c in range(x.shape[1]):
                        for j in range(w.shape[2]):
                            for i in range(w.shape[3]):
                                d_x[n, c, a + j, b + i] += (
                                    go[n, k, a, b] * w[k, c, j, i]
                                )
                                d_w[k, c, j, i] += (
                                    go[n, k, a, b] * x[n, c, a + j, b + i]
                                )


@njit
def ckpt_adjoint(x, k, target, d_x):
    convolved = np.zeros_like(target)
    for a in range(target.shape[0]):
        for b in range(target.shape[1]):
            for j in range(k.shape[0]):
                for i in range(k.shape[1]):
                    convolved[a, b] += x[a + j, b + i] * k[j, i]
    for a in range(target.shape[0]):
        for b in range(target.shape[1]):
            d_convolved = 2 * (convolved[a, b] - target[a, b])
            for j in range(k.shape[0]):
                for i in range(k.shape[1]):
                    d_x[a + j, b + i] += d_convolved * k[j, i]


@njit
def heat3d_adjoint(u, a, go, d_u, d_a):
    for z in range(1, u.shape[0] - 1):
        for y in range(1, u.shape[1] - 1):
            for x in range(1, u.shape[2] - 1):
                around = (
                    u[z - 1, y, x]
                    + u[z + 1, y, x]
                    + u[z, y - 1, x]
                    + u[z, y + 1, x]
                    + u[z, y, x - 1]
                    + u[z, y, x + 1]
                )
                d_a[z, y, x] += go[z, y, x] * (around - 6 * u[z, y, x])
                d_around = go[z, y, x] * a[z, y, x]
                d_u[z - 1, y, x] += d_around
                d_u[z + 1, y, x] += d_around
                d_u[z, y - 1, x] += d_around
                d_u[z, y + 1, x] += d_around
                d_u[z, y, x - 1] += d_around
                d_u[z, y, x + 1] += d_around
                d_u[z, y, x] -= 6 * d_around
    for z in range(u.shape[0]):
        for y in range(u.shape[1]):
            for x in range(u.shape[2]):
                d_u[z, y, x] += go[z, y, x]


@njit
def dilconv_adjoint(x, w, go, d_x, d_w):
    for n in range(go.shape[0]):
        for a in range(go.shape[1]):
            for b in range(go.shape[2]):
                for j in range(w.shape[0]):
                    for i in range(w.shape[1]):
                        for c in range(w.shape[2]):
                            for k in range(w.shape[3]):
                                d_x[n, 3 * a + 2 * j, 3 * b + 2 * i, c] += (
                                    go[n, a, b, k] * w[j, i, c, k]
                                )
                                d_w[j, i, c, k] += (
                                    go[n, a, b, k]
                                    * x[n, 3 * a + 2 * j, 3 * b + 2 * i, c]
                                )


def two_inputs(
    primal: Callable[..., None],
    adjoint: Callable[..., None],
    i: Inputs,
    names: tuple[str, str],
    outs: tuple[str, str],
) -> Step:
    first, second, go = i[names[0]], i[names[1]], i["go"]

    def step() -> Inputs:
        out = np.zeros_like(go)
        primal(first, second, out)
        d_first, d_second = np.zeros_like(first), np.zeros_like(second)
        adjoint(first, second, go, d_first, d_second)
        return {"out": out, outs[0]: d_first, outs[1]: d_second}

    return step


def conv2d(i: Inputs) -> Step:
    names, outs = ("x", "w"), ("d_input", "d_w")
    return two_inputs(conv2d_primal, conv2d_adjoint, i, names, outs)


def dilconv(i: Inputs) -> Step:
    names, outs = ("x", "w"), ("d_input", "d_w")
    return two_inputs(dilconv_primal, dilconv_adjoint, i, names, outs)


def heat3d(i: Inputs) -> Step:
    return two_inputs(heat3d_primal, heat3d_adjoint, i, ("u", "a"), ("d_u", "d_a"))


def ckpt1x5(i: Inputs) -> Step:
    def step() -> Inputs:
        d_x = np.zeros_like(i["x"])
        ckpt_adjoint(i["x"], i["k"], i["target"], d_x)
        return {"d_input": d_x}

    return step


ckpt3x5 = ckpt1x5
