"""Seismology: travel times of rays in layers by Newton shooting with a tolerance."""

import math

import numpy as np


def offset(p, v, h):
    x = 0.0
    for k in range(len(v)):
        s = p * v[k]
        x += h[k] * s / math.sqrt(1.0 - s * s)
    return x


def offset_slope(p, v, h):
    d = 0.0
    for k in range(len(v)):
        c2 = 1.0 - (p * v[k]) ** 2
        d += h[k] * v[k] / (c2 * math.sqrt(c2))
    return d


def shoot(x, v, h, tol=1e-12):
    p = 0.0
    total = 0.0
    for k in range(len(h)):
        total += h[k]
    p = x / math.hypot(x, total) / max(v)
    count = 0
    while True:
        err = offset(p, v, h) - x
        if abs(err) < tol or count >= 30:
            break
        p -= err / offset_slope(p, v, h)
        count += 1
    return p


def travel_time(p, v, h):
    t = 0.0
    for k in range(len(v)):
        t += h[k] / (v[k] * math.sqrt(1.0 - (p * v[k]) ** 2))
    return t


def program(v, h, receivers, picks):
    misfit = 0.0
    for i in range(len(receivers)):
        p = shoot(receivers[i], v, h)
        misfit += (travel_time(p, v, h) - picks[i]) ** 2
    return misfit


def inputs(rng):
    return {
        "v": np.array([1.5, 2.1, 2.9]),
        "h": np.array([0.4, 0.6, 0.8]),
        "receivers": np.array([0.5, 1.0, 1.6]),
        "picks": rng.uniform(0.5, 1.5, 3),
    }
