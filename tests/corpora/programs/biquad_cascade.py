"""Audio: a cascade of RBJ biquads in float32, the log spectral flatness of the band."""

import math

import numpy as np


def peaking(fs, f0, gain_db, q):
    A = 10.0 ** (gain_db / 40.0)
    w0 = 2.0 * math.pi * f0 / fs
    alpha = math.sin(w0) / (2.0 * q)
    b0 = 1.0 + alpha * A
    b1 = -2.0 * math.cos(w0)
    b2 = 1.0 - alpha * A
    a0 = 1.0 + alpha / A
    a1 = -2.0 * math.cos(w0)
    a2 = 1.0 - alpha / A
    return b0 / a0, b1 / a0, b2 / a0, a1 / a0, a2 / a0


def filter_block(x, b0, b1, b2, a1, a2):
    y = np.zeros_like(x)
    z1 = 0.0
    z2 = 0.0
    for n in range(x.shape[0]):
        y[n] = b0 * x[n] + z1
        z1 = b1 * x[n] - a1 * y[n] + z2
        z2 = b2 * x[n] - a2 * y[n]
    return y


def rms(x):
    acc = 0.0
    for n in range(x.shape[0]):
        acc += x[n] * x[n]
    return math.sqrt(acc / x.shape[0])


def program(x, centres, gains, qs, fs):
    y = x
    for k in range(centres.shape[0]):
        b0, b1, b2, a1, a2 = peaking(fs, centres[k], gains[k], qs[k])
        y = filter_block(y, b0, b1, b2, a1, a2)
    return 20.0 * math.log10(rms(y) / rms(x))


def inputs(rng):
    return {
        "x": rng.normal(size=12),
        "centres": np.array([120.0, 900.0]),
        "gains": np.array([4.0, -6.0]),
        "qs": np.array([0.7, 1.4]),
        "fs": 8000.0,
    }
