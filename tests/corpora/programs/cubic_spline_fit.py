"""Interpolation: a natural cubic spline through knots, evaluated at data points."""

import numpy as np


def second_derivatives(x, y):
    n = len(x)
    m = np.zeros(n)
    u = np.zeros(n)
    for i in range(1, n - 1):
        sig = (x[i] - x[i - 1]) / (x[i + 1] - x[i - 1])
        p = sig * m[i - 1] + 2.0
        m[i] = (sig - 1.0) / p
        slope = (y[i + 1] - y[i]) / (x[i + 1] - x[i])
        slope -= (y[i] - y[i - 1]) / (x[i] - x[i - 1])
        u[i] = (6.0 * slope / (x[i + 1] - x[i - 1]) - sig * u[i - 1]) / p
    m[n - 1] = 0.0
    for k in range(n - 2, -1, -1):
        m[k] = m[k] * m[k + 1] + u[k]
    return m


def locate(x, at):
    lo = 0
    hi = len(x) - 1
    while hi - lo > 1:
        mid = (lo + hi) // 2
        if x[mid] > at:
            hi = mid
        else:
            lo = mid
    return lo


def evaluate(x, y, m, at):
    k = locate(x, at)
    h = x[k + 1] - x[k]
    a = (x[k + 1] - at) / h
    b = (at - x[k]) / h
    cubic = (a**3 - a) * m[k] + (b**3 - b) * m[k + 1]
    return a * y[k] + b * y[k + 1] + cubic * h * h / 6.0


def program(knots, values, t, data, weight):
    m = second_derivatives(knots, values)
    chi2 = 0.0
    for i in range(len(t)):
        resid = evaluate(knots, values, m, t[i]) - data[i]
        chi2 += weight[i] * resid**2
    rough = 0.0
    for i in range(len(knots) - 1):
        rough += (m[i + 1] - m[i]) ** 2 / (knots[i + 1] - knots[i])
    return chi2 + 1e-2 * rough


def inputs(rng):
    return {
        "knots": np.array([0.0, 0.9, 2.1, 3.0, 4.2]),
        "values": rng.normal(size=5),
        "t": np.array([0.3, 1.2, 1.7, 2.6, 3.3, 4.0]),
        "data": rng.normal(size=6),
        "weight": rng.uniform(0.5, 1.5, 6),
    }
