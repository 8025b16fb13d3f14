"""Energy: Jensen wakes of a wind farm over a wind rose, with a power curve and yaw."""

import numpy as np


def rotate(x, y, angle):
    c = np.cos(angle)
    s = np.sin(angle)
    return c * x + s * y, -s * x + c * y


def smooth_box(r, radius):
    return 1.0 / (1.0 + np.exp((r - radius) / (0.1 * radius)))


def deficit(dx, dy, radius, k, ct):
    if dx <= 0.0:
        return 0.0
    wake = radius + k * dx
    return (1.0 - np.sqrt(1.0 - ct)) * (radius / wake) ** 2 * smooth_box(abs(dy), wake)


def power_curve(v, rated, cut_in=3.0):
    if v < cut_in:
        return 0.0
    p = ((v - cut_in) / (rated - cut_in)) ** 3
    return p / (1.0 + p)


def farm_power(x, y, yaw, wind, angle, radius, k, ct, rated):
    n = len(x)
    px = np.zeros(n)
    py = np.zeros(n)
    for i in range(n):
        px[i], py[i] = rotate(x[i], y[i], angle)
    total = 0.0
    for i in range(n):
        loss2 = 0.0
        for j in range(n):
            if i == j:
                continue
            shift = 0.3 * yaw[j] * (px[i] - px[j])
            d = deficit(px[i] - px[j], py[i] - py[j] - shift, radius, k, ct)
            loss2 += d * d
        v = wind * (1.0 - np.sqrt(loss2 + 1e-12)) * np.cos(yaw[i])
        total += power_curve(v, rated)
    return total


def program(x, y, yaw, winds, angles, freq, radius, k, ct, rated):
    energy = 0.0
    for a in range(len(angles)):
        for w in range(len(winds)):
            energy += freq[a, w] * farm_power(
                x, y, yaw, winds[w], angles[a], radius, k, ct, rated
            )
    return energy


def inputs(rng):
    return {
        "x": np.array([0.0, 5.3, 9.1, 4.2]) + 0.1 * rng.random(4),
        "y": np.array([0.0, 0.7, -0.9, 4.1]) + 0.1 * rng.random(4),
        "yaw": rng.uniform(-0.2, 0.2, 4),
        "winds": np.array([7.0, 11.0]),
        "angles": np.array([0.2, 1.1]),
        "freq": rng.uniform(0.1, 0.4, (2, 2)),
        "radius": 1.0,
        "k": 0.07,
        "ct": 0.8,
        "rated": 11.0,
    }
