"""Numerical analysis: adaptive Simpson with an explicit stack."""

import math

import numpy as np


def integrand(x, centre, width, tilt):
    return math.exp(-(((x - centre) / width) ** 2)) + tilt * x * x


def simpson(a, b, fa, fm, fb):
    return (b - a) / 6.0 * (fa + 4.0 * fm + fb)


def integrate(lo, hi, centre, width, tilt, tol, depth=24):
    left = np.zeros(depth)
    right = np.zeros(depth)
    left[0] = lo
    right[0] = hi
    top = 1
    total = 0.0
    while top > 0:
        top -= 1
        a = left[top]
        b = right[top]
        m = 0.5 * (a + b)
        fa = integrand(a, centre, width, tilt)
        fm = integrand(m, centre, width, tilt)
        fb = integrand(b, centre, width, tilt)
        whole = simpson(a, b, fa, fm, fb)
        f1 = integrand(0.5 * (a + m), centre, width, tilt)
        f2 = integrand(0.5 * (m + b), centre, width, tilt)
        halves = simpson(a, m, fa, f1, fm) + simpson(m, b, fm, f2, fb)
        if abs(halves - whole) < 15.0 * tol or top + 2 > depth:
            total += halves + (halves - whole) / 15.0
        else:
            left[top] = a
            right[top] = m
            left[top + 1] = m
            right[top + 1] = b
            top += 2
    return total


def program(lo, hi, centres, widths, tilt, measured):
    loss = 0.0
    for k in range(len(centres)):
        area = integrate(lo, hi, centres[k], widths[k], tilt, 1e-5)
        loss += (area - measured[k]) ** 2
    return loss


def inputs(rng):
    return {
        "lo": -1.0,
        "hi": 2.0,
        "centres": np.array([0.31, 0.87]),
        "widths": np.array([0.41, 0.63]),
        "tilt": 0.2,
        "measured": rng.uniform(0.5, 1.5, 2),
    }
