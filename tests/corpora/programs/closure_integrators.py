"""Numerical analysis: a closure as right-hand side."""

import math

import numpy as np

ORDER_WEIGHTS = np.array([0.5, 0.3, 0.2])


def program(y0, stiffness, drive, horizon, steps=6):
    def rhs(t, y):
        return -stiffness * (y - math.cos(drive * t))

    def euler(t, y, h):
        return y + h * rhs(t, y)

    def midpoint(t, y, h):
        half = euler(t, y, 0.5 * h)
        return y + h * rhs(t + 0.5 * h, half)

    def trapezoid(t, y, h):
        # linear in y, so the implicit equation is solved at once
        explicit = y + 0.5 * h * rhs(t, y)
        new = explicit + 0.5 * h * stiffness * math.cos(drive * (t + h))
        return new / (1.0 + 0.5 * h * stiffness)

    h = horizon / steps
    a = b = c = y0
    error = 0.0
    for k in range(steps):
        t = k * h
        a, b, c = euler(t, a, h), midpoint(t, b, h), trapezoid(t, c, h)
        error += ORDER_WEIGHTS[0] * (a - c) ** 2 + ORDER_WEIGHTS[1] * (b - c) ** 2
    mean = ORDER_WEIGHTS[0] * a + ORDER_WEIGHTS[1] * b + ORDER_WEIGHTS[2] * c
    return error + mean**2


def inputs(rng):
    return {
        "y0": 0.7,
        "stiffness": 1.9,
        "drive": 1.1,
        "horizon": 1.0 + 0.01 * rng.random(),
    }
