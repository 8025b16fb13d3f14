"""Deep learning: an LSTM over a sequence in loops, squared error of a linear head."""

import numpy as np


def sigmoid(x):
    return 1.0 / (1.0 + np.exp(-x))


def lstm_cell(x, h, c, Wx, Wh, b):
    hidden = h.shape[0]
    z = x @ Wx + h @ Wh + b
    i = sigmoid(z[:hidden])
    f = sigmoid(z[hidden : 2 * hidden] + 1.0)
    g = np.tanh(z[2 * hidden : 3 * hidden])
    o = sigmoid(z[3 * hidden :])
    c = f * c + i * g
    h = o * np.tanh(c)
    return h, c


def run(xs, Wx, Wh, b):
    hidden = Wh.shape[0]
    h = np.zeros(hidden)
    c = np.zeros(hidden)
    hist = np.zeros((xs.shape[0], hidden))
    for t in range(xs.shape[0]):
        h, c = lstm_cell(xs[t], h, c, Wx, Wh, b)
        hist[t] = h
    return hist


def program(xs, ys, Wx, Wh, b, head):
    hist = run(xs, Wx, Wh, b)
    loss = 0.0
    for t in range(xs.shape[0]):
        pred = np.dot(hist[t], head)
        loss += (pred - ys[t]) ** 2
    return loss / xs.shape[0]


def inputs(rng):
    d, hidden, T = 3, 2, 4
    return {
        "xs": rng.normal(size=(T, d)),
        "ys": rng.normal(size=T),
        "Wx": 0.5 * rng.normal(size=(d, 4 * hidden)),
        "Wh": 0.5 * rng.normal(size=(hidden, 4 * hidden)),
        "b": 0.1 * rng.normal(size=4 * hidden),
        "head": rng.normal(size=hidden),
    }
