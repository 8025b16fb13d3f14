"""Deep learning: a vanilla RNN with two hidden buffers chosen by parity, truncated."""

import numpy as np


def cell(x, h_in, h_out, Wx, Wh):
    for i in range(len(h_out)):
        a = 0.0
        for j in range(len(x)):
            a += Wx[i, j] * x[j]
        for j in range(len(h_in)):
            a += Wh[i, j] * h_in[j]
        h_out[i] = np.tanh(a)


def readout(h, w):
    y = 0.0
    for i in range(len(h)):
        y += w[i] * h[i]
    return y


def program(xs, ys, Wx, Wh, w, h0, start=2):
    """Mean squared error of the outputs from `start` on."""
    T = xs.shape[0]
    buffers = np.zeros((2, len(h0)))
    buffers[0] = h0
    loss = 0.0
    used = 0
    for t in range(T):
        cell(xs[t], buffers[t % 2], buffers[(t + 1) % 2], Wx, Wh)
        if t < start:
            continue
        err = readout(buffers[(t + 1) % 2], w) - ys[t]
        loss += err * err
        used += 1
    return loss / used


def inputs(rng):
    return {
        "xs": rng.normal(size=(5, 2)),
        "ys": rng.normal(size=5),
        "Wx": 0.7 * rng.normal(size=(3, 2)),
        "Wh": 0.7 * rng.normal(size=(3, 3)),
        "w": rng.normal(size=3),
        "h0": 0.2 * rng.normal(size=3),
    }
