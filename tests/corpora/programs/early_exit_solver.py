"""Numerical analysis: fixed point with Aitken steps; returns as soon as it is done."""

import math

import numpy as np


def g(x, a, b):
    return a * math.cos(x) + b


def aitken(x0, x1, x2):
    den = x2 - 2.0 * x1 + x0
    if abs(den) < 1e-13:
        return x2
    return x0 - (x1 - x0) ** 2 / den


def fixed_point(a, b, start, tol):
    x = start
    for k in range(50):
        x1 = g(x, a, b)
        x2 = g(x1, a, b)
        new = aitken(x, x1, x2)
        if abs(new - x) < tol:
            return new, k
        x = new
    return x, -1


def weighted(values, weights):
    if len(values) == 0:
        return 0.0
    total = 0.0
    norm = 0.0
    for v, w in zip(values, weights):
        if w <= 0.0:
            continue
        total += w * v
        norm += w
    if norm == 0.0:
        return 0.0
    return total / norm


def program(a, b, weights, start, tol=1e-14):
    roots = np.zeros(len(a))
    for i in range(len(a)):
        root, used = fixed_point(a[i], b[i], start, tol)
        if used < 0:
            return -1.0
        roots[i] = root
    return weighted(roots, weights) ** 2


def inputs(rng):
    return {
        "a": rng.uniform(0.3, 0.7, 4),
        "b": rng.uniform(-0.5, 0.5, 4),
        "weights": np.array([0.5, 1.2, 0.8, 0.3]),
        "start": 0.4,
    }
