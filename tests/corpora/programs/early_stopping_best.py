"""Machine learning: linear regression by gradient steps."""

import numpy as np


def loss(X, y, w):
    r = X @ w - y
    return 0.5 * (r @ r) / len(y)


def gradient(X, y, w):
    return X.T @ (X @ w - y) / len(y)


def fit(X, y, Xv, yv, w0, rate, epochs, patience):
    w = w0.copy()
    best = w0.copy()
    best_loss = loss(Xv, yv, w0)
    bad = 0
    for _ in range(epochs):
        w = w - rate * gradient(X, y, w)
        v = loss(Xv, yv, w)
        if v < best_loss:
            best = w
            best_loss = v
            bad = 0
        else:
            bad += 1
            if bad >= patience:
                break
    return best, best_loss


def program(X, y, Xv, yv, w0, rate, epochs=5, patience=2):
    w, seen = fit(X, y, Xv, yv, w0, rate, epochs, patience)
    return seen + 0.1 * np.sum(w**2)


def inputs(rng):
    return {
        "X": rng.normal(size=(5, 3)),
        "y": rng.normal(size=5),
        "Xv": rng.normal(size=(4, 3)),
        "yv": rng.normal(size=4),
        "w0": rng.normal(size=3),
        "rate": 0.6,
    }
