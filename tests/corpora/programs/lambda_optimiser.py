"""Optimisation: a robust location by Newton, with lambdas as the loss."""

import math

RATIO = 0.5 * (math.sqrt(5.0) - 1.0)


def newton_1d(slope, curvature, x, rounds):
    for _ in range(rounds):
        x = x - slope(x) / curvature(x)
    return x


def program(data, weights, prior, strength, rounds=4):
    """The minimum of a smooth one-dimensional loss, and its value there."""
    soft = lambda r: math.sqrt(1.0 + r * r) - 1.0
    dsoft = lambda r: r / math.sqrt(1.0 + r * r)
    ddsoft = lambda r: 1.0 / (1.0 + r * r) ** 1.5

    def slope(x):
        s = strength * (x - prior)
        for i in range(len(data)):
            s += weights[i] * dsoft(x - data[i])
        return s

    def curvature(x):
        s = strength
        for i in range(len(data)):
            s += weights[i] * ddsoft(x - data[i])
        return s

    x = newton_1d(slope, curvature, prior, rounds)
    value = 0.5 * strength * (x - prior) ** 2
    for i in range(len(data)):
        value += weights[i] * soft(x - data[i])
    return value + RATIO * x


def inputs(rng):
    return {
        "data": rng.normal(size=6),
        "weights": rng.uniform(0.5, 1.5, 6),
        "prior": 0.2,
        "strength": 1.1,
    }
