"""Calibration: bracket search with loop else, then regula falsi, over many curves."""

import numpy as np


def polynomial(c, x):
    y = 0.0
    for k in range(len(c) - 1, -1, -1):
        y = y * x + c[k]
    return y


def bracket(c, lo, width, tries):
    """The first interval with a change of sign; the last one if there is none."""
    left = lo
    for k in range(tries):
        right = left + width
        if polynomial(c, left) * polynomial(c, right) < 0:
            break
        left = right
    else:
        return lo, lo + tries * width, False
    return left, right, True


def illinois(c, a, b, iters):
    fa = polynomial(c, a)
    fb = polynomial(c, b)
    x = a
    for _ in range(iters):
        x = (a * fb - b * fa) / (fb - fa)
        fx = polynomial(c, x)
        if abs(fx) < 1e-13:
            break
        if fx * fb < 0:
            a, fa = b, fb
        else:
            fa *= 0.5
        b, fb = x, fx
    return x


def program(curves, targets, weight, lo, width):
    loss = 0.0
    missing = 0
    for i in range(len(curves)):
        a, b, found = bracket(curves[i], lo, width, 8)
        if not found:
            missing += 1
            continue
        loss += weight * (illinois(curves[i], a, b, 40) - targets[i]) ** 2
    return loss + 0.1 * missing


def inputs(rng):
    return {
        "curves": np.array(
            [[-1.3, 1.1, 0.2, 0.31], [0.9, -1.7, 0.3, 0.1], [4.0, 0.1, 0.5, 0.2]]
        ),
        "targets": rng.normal(size=3),
        "weight": 1.3,
        "lo": -0.07,
        "width": 0.43,
    }
