"""Aerodynamics: Prandtl's lifting line, a linear system for the coefficients, drag."""

import numpy as np


def chord(theta, root, taper):
    y = np.abs(np.cos(theta))
    return root * (1.0 - (1.0 - taper) * y)


def twist(theta, washout):
    return -washout * np.abs(np.cos(theta))


def build(n, span, root, taper, alpha, washout, slope):
    A = np.zeros((n, n))
    rhs = np.zeros(n)
    for i in range(n):
        theta = (i + 1) * np.pi / (2 * n) - 0.1
        mu = slope * chord(theta, root, taper) / (4.0 * span)
        for j in range(n):
            k = 2 * j + 1
            A[i, j] = np.sin(k * theta) * (mu * k + np.sin(theta))
        rhs[i] = mu * np.sin(theta) * (alpha + twist(theta, washout))
    return A, rhs


def solve(A, b):
    """Gaussian elimination without pivots, in place; the solution replaces b."""
    n = len(b)
    for k in range(n):
        for i in range(k + 1, n):
            f = A[i, k] / A[k, k]
            A[i, k:] = A[i, k:] - f * A[k, k:]
            b[i] -= f * b[k]
    for i in range(n - 1, -1, -1):
        b[i] = (b[i] - A[i, i + 1 :] @ b[i + 1 :]) / A[i, i]


def program(span, root, taper, alpha, washout, slope, weights, n=4):
    A, coef = build(n, span, root, taper, alpha, washout, slope)
    solve(A, coef)
    area = 0.5 * span * root * (1.0 + taper)
    aspect = span**2 / area
    cl = np.pi * aspect * coef[0]
    delta = 0.0
    for j in range(1, n):
        delta += (2 * j + 1) * (coef[j] / coef[0]) ** 2
    cdi = cl**2 / (np.pi * aspect) * (1.0 + delta)
    return weights[0] * cdi - weights[1] * cl


def inputs(rng):
    return {
        "span": 10.0,
        "root": 1.5,
        "taper": 0.5,
        "alpha": 0.1,
        "washout": 0.03,
        "slope": 6.0,
        "weights": rng.uniform(0.5, 1.5, 2),
    }
