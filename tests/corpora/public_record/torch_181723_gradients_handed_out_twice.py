"""PyTorch #181723: a later backward pass overwrote the gradients handed out before.

One layer's parameters serve two inputs, and their gradients are summed over calls.
"""

from __future__ import annotations

import numpy as np

from tests.corpora.entry import Entry


def layer(weight, bias, v, out):
    for i in range(weight.shape[0]):
        acc = bias[i]
        for j in range(weight.shape[1]):
            acc += weight[i, j] * v[j]
        out[i] = np.tanh(acc)


def twice(weight, bias, a, b, out):
    layer(weight, bias, a, out[0])
    layer(weight, bias, b, out[1])
    layer(weight, bias, out[0].copy(), out[2])


def arguments(n, m):
    return dict(weight=m(n, n), bias=m(n), a=m(n), b=m(n), out=m(3, n))


ENTRY = Entry("twice", twice, arguments, ("out",), real=5)
