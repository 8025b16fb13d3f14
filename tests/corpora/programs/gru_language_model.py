"""Deep learning: a GRU over characters with loops over gates, mean log loss."""

import numpy as np


def gate(x, h, W, U, b, row):
    s = b[row]
    for j in range(x.shape[0]):
        s += W[row, j] * x[j]
    for j in range(h.shape[0]):
        s += U[row, j] * h[j]
    return s


def sigmoid(z):
    if z >= 0:
        return 1.0 / (1.0 + np.exp(-z))
    e = np.exp(z)
    return e / (1.0 + e)


def gru_step(x, h, W, U, b):
    n = h.shape[0]
    r = np.zeros(n)
    z = np.zeros(n)
    for i in range(n):
        r[i] = sigmoid(gate(x, h, W, U, b, i))
        z[i] = sigmoid(gate(x, h, W, U, b, n + i))
    rh = r * h
    new = np.zeros(n)
    for i in range(n):
        cand = np.tanh(gate(x, rh, W, U, b, 2 * n + i))
        new[i] = (1.0 - z[i]) * h[i] + z[i] * cand
    return new


def log_softmax_at(h, V, k):
    scores = V @ h
    m = scores.max()
    return scores[k] - m - np.log(np.sum(np.exp(scores - m)))


def program(text, E, W, U, b, V):
    h = np.zeros(U.shape[1])
    nll = 0.0
    for t in range(len(text) - 1):
        h = gru_step(E[text[t]], h, W, U, b)
        nll -= log_softmax_at(h, V, text[t + 1])
    return nll / (len(text) - 1)


def inputs(rng):
    n, d, vocab = 2, 3, 4
    return {
        "text": np.array([0, 2, 1, 3, 1]),
        "E": rng.normal(size=(vocab, d)),
        "W": 0.6 * rng.normal(size=(3 * n, d)),
        "U": 0.6 * rng.normal(size=(3 * n, n)),
        "b": 0.1 * rng.normal(size=3 * n),
        "V": rng.normal(size=(vocab, n)),
    }
