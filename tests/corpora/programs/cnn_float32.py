"""Deep learning: a small convolutional net in float32 loops, cross entropy."""

import numpy as np


def conv2d(x, w, b):
    cin, h, wd = x.shape
    cout, _, kh, kw = w.shape
    out = np.zeros((cout, h - kh + 1, wd - kw + 1), dtype=np.float32)
    for o in range(cout):
        for i in range(out.shape[1]):
            for j in range(out.shape[2]):
                acc = b[o]
                for c in range(cin):
                    for u in range(kh):
                        for v in range(kw):
                            acc += x[c, i + u, j + v] * w[o, c, u, v]
                out[o, i, j] = acc
    return out


def leaky_relu(x, slope=0.1):
    for c in range(x.shape[0]):
        for i in range(x.shape[1]):
            for j in range(x.shape[2]):
                if x[c, i, j] < 0:
                    x[c, i, j] *= slope


def average_pool(x):
    c, h, w = x.shape
    out = np.zeros((c, h // 2, w // 2), dtype=np.float32)
    for k in range(c):
        for i in range(h // 2):
            for j in range(w // 2):
                block = x[k, 2 * i : 2 * i + 2, 2 * j : 2 * j + 2]
                out[k, i, j] = np.mean(block)
    return out


def dense(x, w):
    n = w.shape[0]
    z = np.zeros(n, dtype=np.float32)
    flat = 0
    for c in range(x.shape[0]):
        for i in range(x.shape[1]):
            for j in range(x.shape[2]):
                for k in range(n):
                    z[k] += w[k, flat] * x[c, i, j]
                flat += 1
    return z


def program(image, w1, b1, w2, label):
    x = conv2d(image, w1, b1)
    leaky_relu(x)
    z = dense(average_pool(x), w2)
    top = np.max(z)
    return np.log(np.sum(np.exp(z - top))) + top - z[label]


def inputs(rng):
    def f32(*shape):
        return rng.normal(size=shape).astype(np.float32)

    return {
        "image": f32(2, 6, 6),
        "w1": np.float32(0.4) * f32(2, 2, 3, 3),
        "b1": f32(2),
        "w2": np.float32(0.5) * f32(3, 8),
        "label": 1,
    }
