"""Deep learning: float32 weights with float64 masters and loss scaling."""

import numpy as np


def half_forward(x, w):
    """In single precision."""
    n, d = x.shape
    y = np.zeros(n, dtype=np.float32)
    for i in range(n):
        acc = np.float32(0.0)
        for j in range(d):
            acc += x[i, j] * w[j]
        y[i] = acc
    return y


def backward(x, err, scale):
    n, d = x.shape
    g = np.zeros(d, dtype=np.float32)
    for j in range(d):
        for i in range(n):
            g[j] += np.float32(scale) * err[i] * x[i, j]
    return g


def master_step(master, g, scale, lr, decay):
    out = np.zeros(master.shape[0])
    for j in range(master.shape[0]):
        out[j] = (1.0 - lr * decay) * master[j] - lr * float(g[j]) / scale
    return out


def program(x, y, master, lr, decay, scale=8.0, steps=2):
    for _ in range(steps):
        w = master.astype(np.float32)
        err = half_forward(x, w) - y
        g = backward(x, err, scale)
        master = master_step(master, g, scale, lr, decay)
    final = half_forward(x, master.astype(np.float32)) - y
    return np.sum(final.astype(np.float64) ** 2)


def inputs(rng):
    return {
        "x": rng.normal(size=(4, 3)).astype(np.float32),
        "y": rng.normal(size=4).astype(np.float32),
        "master": rng.normal(size=3),
        "lr": 0.05,
        "decay": 0.01,
    }
