"""Mechanical engineering: rainflow counting on a load history, Miner's damage."""

import numpy as np


def turning_points(x):
    """Local extrema; how many there are, too."""
    out = np.zeros_like(x)
    out[0] = x[0]
    n = 1
    for i in range(1, len(x) - 1):
        if (x[i] - x[i - 1]) * (x[i + 1] - x[i]) < 0:
            out[n] = x[i]
            n += 1
    out[n] = x[-1]
    return out, n + 1


def cycles_to_failure(amplitude, mean, fatigue, exponent, ultimate):
    # Goodman's correction for the mean stress
    effective = amplitude / (1.0 - mean / ultimate)
    return (fatigue / effective) ** exponent


def damage_of(a, b, fatigue, exponent, ultimate):
    return 1.0 / cycles_to_failure(
        abs(a - b) / 2, (a + b) / 2, fatigue, exponent, ultimate
    )


def rainflow(points, n, fatigue, exponent, ultimate):
    stack = np.zeros(n)
    top = 0
    total = 0.0
    for k in range(n):
        stack[top] = points[k]
        top += 1
        while top >= 3:
            x = abs(stack[top - 1] - stack[top - 2])
            y = abs(stack[top - 2] - stack[top - 3])
            if x < y:
                break
            if top == 3:
                total += 0.5 * damage_of(
                    stack[0], stack[1], fatigue, exponent, ultimate
                )
                stack[0] = stack[1]
                stack[1] = stack[2]
                top = 2
            else:
                total += damage_of(
                    stack[top - 2], stack[top - 3], fatigue, exponent, ultimate
                )
                stack[top - 3] = stack[top - 1]
                top -= 2
    for k in range(top - 1):
        total += 0.5 * damage_of(stack[k], stack[k + 1], fatigue, exponent, ultimate)
    return total


def program(load, stiffness, fatigue, exponent, ultimate):
    stress = stiffness * load
    points, n = turning_points(stress)
    return np.log(rainflow(points, n, fatigue, exponent, ultimate))


def inputs(rng):
    load = np.array([0.0, 1.3, -0.9, 2.1, 0.4, 1.1, -1.6, 1.9, 0.2, 0.9, -0.3])
    return {
        "load": load + 0.05 * rng.normal(size=load.shape),
        "stiffness": 40.0,
        "fatigue": 900.0,
        "exponent": 4.0,
        "ultimate": 1200.0,
    }
