"""Optimisation: steepest descent with Armijo backtracking."""

import numpy as np


def value(x, A, b):
    return 0.5 * (x @ (A @ x)) - b @ x + 0.1 * np.sum(x**4)


def slope(x, A, b):
    return A @ x - b + 0.4 * x**3


def line_search(x, g, A, b, start):
    f0 = value(x, A, b)
    gg = g @ g
    t = start
    trial = x - t * g
    while value(trial, A, b) > f0 - 1e-4 * t * gg:
        t *= 0.5
        trial = x - t * g
    return trial, t


def program(x0, A, b, start=4.0, iterations=3):
    x = x0
    t = start
    S = 0.5 * (A + A.T)
    for _ in range(iterations):
        g = slope(x, S, b)
        if g @ g < 1e-16:
            break
        x, t = line_search(x, g, S, b, 2.0 * t)
    return value(x, S, b) + 1e-3 * t


def inputs(rng):
    M = 0.3 * rng.normal(size=(3, 3))
    return {
        "x0": rng.normal(size=3),
        "A": M + M.T + 2 * np.eye(3),
        "b": rng.normal(size=3),
    }
