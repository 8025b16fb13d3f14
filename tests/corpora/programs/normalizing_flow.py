"""Statistics: a RealNVP-like coupling flow, negative log density of a batch."""

import numpy as np


def scale_and_shift(a, w, u, v, c):
    s = np.tanh(w * a + c) * u
    t = v * a
    return s, t


def coupling(x, params, swap):
    """Half the coordinates move given the other half; log determinant."""
    if swap:
        a, b = x[1], x[0]
    else:
        a, b = x[0], x[1]
    s, t = scale_and_shift(a, params[0], params[1], params[2], params[3])
    b = b * np.exp(s) + t
    y = np.zeros(2)
    if swap:
        y[0], y[1] = b, a
    else:
        y[0], y[1] = a, b
    return y, s


def log_base(z):
    return -0.5 * (z[0] * z[0] + z[1] * z[1]) - np.log(2 * np.pi)


def log_density(x, layers):
    z = x
    logdet = 0.0
    for k in range(layers.shape[0]):
        z, ld = coupling(z, layers[k], k % 2 == 1)
        logdet += ld
    return log_base(z) + logdet


def program(batch, layers):
    nll = 0.0
    for i in range(batch.shape[0]):
        nll -= log_density(batch[i], layers)
    return nll / batch.shape[0]


def inputs(rng):
    return {"batch": rng.normal(size=(4, 2)), "layers": 0.7 * rng.normal(size=(3, 4))}
