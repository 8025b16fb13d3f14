"""Imaging: FISTA with rebinding of the last two iterates, a deblurred line."""

import numpy as np


def blur(x, w):
    y = np.zeros_like(x)
    y += (1.0 - 2.0 * w) * x
    y[1:] += w * x[:-1]
    y[:-1] += w * x[1:]
    return y


def gradient(x, b, w):
    return blur(blur(x, w) - b, w)


def prox(x, t):
    return x / (1.0 + t / np.sqrt(x * x + 0.01))


def fista(b, w, lam, rate, iters):
    x = b.copy()
    y = b.copy()
    t = 1.0
    for _ in range(iters):
        x_old = x
        x = prox(y - rate * gradient(y, b, w), rate * lam)
        t_new = 0.5 * (1.0 + np.sqrt(1.0 + 4.0 * t * t))
        y = x + (t - 1.0) / t_new * (x - x_old)
        t = t_new
    return x


def program(b, truth, w, lam, rate=0.8, iters=3):
    x = fista(b, w, lam, rate, iters)
    err = x - truth
    return 0.5 * np.sum(err * err)


def inputs(rng):
    truth = rng.normal(size=8)
    return {"b": truth + 0.1 * rng.normal(size=8), "truth": truth, "w": 0.2, "lam": 0.1}
