"""Geomorphology: the Exner equation with Meyer-Peter and Mueller, an eroded bed."""

import numpy as np

G = 9.81
S_MINUS_1 = 1.65


def normal_depth(q, slope, manning):
    return (q * manning / np.sqrt(slope)) ** 0.6


def shields(depth, slope, d50):
    return depth * slope / (S_MINUS_1 * d50)


def transport(theta, d50, theta_c=0.047):
    excess = theta - theta_c
    if excess <= 0.0:
        return 0.0
    return 8.0 * np.sqrt(S_MINUS_1 * G * d50**3) * excess**1.5


def bed_slope(z, i, dx):
    n = len(z)
    if i == 0:
        return (z[0] - z[1]) / dx
    if i == n - 1:
        return (z[n - 2] - z[n - 1]) / dx
    return (z[i - 1] - z[i + 1]) / (2 * dx)


def exner(z, q, feed, manning, d50, porosity, dx, dt):
    n = len(z)
    qs = np.zeros(n)
    for i in range(n):
        s = max(bed_slope(z, i, dx), 1e-4)
        h = normal_depth(q, s, manning)
        qs[i] = transport(shields(h, s, d50), d50)
    znew = z.copy()
    for i in range(n):
        upstream = feed if i == 0 else qs[i - 1]
        znew[i] += dt * (upstream - qs[i]) / dx / (1 - porosity)
    return znew


def program(z0, discharge, feed, manning, d50, survey, porosity=0.4, dx=100.0):
    z = z0
    for t in range(len(discharge)):
        z = exner(z, discharge[t], feed, manning, d50, porosity, dx, 3000.0)
    return np.sum((z - survey) ** 2)


def inputs(rng):
    z0 = np.linspace(8.0, 4.0, 6) + 0.1 * rng.random(6)
    return {
        "z0": z0,
        "discharge": np.array([3.0, 6.0, 4.0]),
        "feed": 2e-3,
        "manning": 0.03,
        "d50": 0.03,
        "survey": z0 - 0.1 * rng.random(6),
    }
