"""Image processing: soft erosion, buffers that swap in rounds that changed much."""

import numpy as np


def smooth_min(a, b, k):
    return -np.log(np.exp(-k * a) + np.exp(-k * b)) / k


def erode(src, dst, k):
    n = len(src)
    change = 0.0
    for i in range(n):
        m = src[i]
        if i > 0:
            m = smooth_min(m, src[i - 1], k)
        if i < n - 1:
            m = smooth_min(m, src[i + 1], k)
        dst[i] = m
        change += abs(dst[i] - src[i])
    return change


def settle(signal, k, enough, rounds):
    a = signal.copy()
    b = np.zeros_like(signal)
    for r in range(rounds):
        change = erode(a, b, k)
        if change < enough:
            continue
        a, b = b, a
        enough *= 1.5
    return a


def program(signal, wanted, k, enough, rounds=4):
    out = settle(signal, k, enough, rounds)
    s = 0.0
    for x, w in zip(out, wanted):
        s += (x - w) ** 2
    return s


def inputs(rng):
    return {
        "signal": rng.uniform(0, 2, 7),
        "wanted": rng.uniform(0, 1, 7),
        "k": 3.0,
        "enough": 2.4,
    }
