"""Machine learning: logistic regression by unrolled Adam, the meta objective."""

import numpy as np

B1 = 0.9
B2 = 0.99
EPS = 1e-6


def predict(X, w, b):
    return 1.0 / (1.0 + np.exp(-(X @ w + b)))


def gradients(X, y, w, b, l2):
    p = predict(X, w, b)
    n = len(y)
    gw = X.T @ (p - y) / n + l2 * w
    gb = np.sum(p - y) / n
    return gw, gb


def adam(theta, g, m, v, t, lr):
    m = B1 * m + (1 - B1) * g
    v = B2 * v + (1 - B2) * g * g
    mhat = m / (1 - B1**t)
    vhat = v / (1 - B2**t)
    return theta - lr * mhat / (np.sqrt(vhat) + EPS), m, v


def cross_entropy(X, y, w, b):
    p = predict(X, w, b)
    return -np.mean(y * np.log(p) + (1 - y) * np.log(1 - p))


def program(X, y, Xv, yv, w0, log_lr, log_l2, steps=3):
    lr = np.exp(log_lr)
    l2 = np.exp(log_l2)
    w = w0
    b = 0.0
    mw = np.zeros_like(w0)
    vw = np.zeros_like(w0)
    mb = 0.0
    vb = 0.0
    for t in range(1, steps + 1):
        gw, gb = gradients(X, y, w, b, l2)
        w, mw, vw = adam(w, gw, mw, vw, t, lr)
        b, mb, vb = adam(b, gb, mb, vb, t, lr)
    return cross_entropy(Xv, yv, w, b)


def inputs(rng):
    return {
        "X": rng.normal(size=(5, 3)),
        "y": rng.uniform(0.1, 0.9, 5),
        "Xv": rng.normal(size=(4, 3)),
        "yv": rng.uniform(0.1, 0.9, 4),
        "w0": rng.normal(size=3),
        "log_lr": -1.5,
        "log_l2": -2.0,
    }
