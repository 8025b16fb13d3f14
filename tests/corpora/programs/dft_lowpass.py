"""Spectral methods: a DFT as loops, an attenuated spectrum, and back."""

import numpy as np


def dft(x):
    n = len(x)
    re = np.zeros(n)
    im = np.zeros(n)
    for k in range(n):
        for t in range(n):
            angle = 2.0 * np.pi * k * t / n
            re[k] += x[t] * np.cos(angle)
            im[k] -= x[t] * np.sin(angle)
    return re, im


def idft_real(re, im):
    n = len(re)
    x = np.zeros(n)
    for t in range(n):
        s = 0.0
        for k in range(n):
            angle = 2.0 * np.pi * k * t / n
            s += re[k] * np.cos(angle) - im[k] * np.sin(angle)
        x[t] = s / n
    return x


def attenuate(re, im, cutoff, order):
    n = len(re)
    for k in range(n):
        freq = min(k, n - k)
        g = 1.0 / (1.0 + (freq / cutoff) ** (2 * order))
        re[k] *= g
        im[k] *= g


def program(signal, clean, cutoff, order=2):
    re, im = dft(signal)
    attenuate(re, im, cutoff, order)
    y = idft_real(re, im)
    return np.sum((y - clean) ** 2)


def inputs(rng):
    t = np.arange(10)
    clean = np.sin(2 * np.pi * t / 10)
    return {
        "signal": clean + 0.3 * rng.normal(size=10),
        "clean": clean,
        "cutoff": 2.3,
    }
