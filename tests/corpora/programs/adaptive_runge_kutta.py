"""Celestial mechanics: adaptive Bogacki-Shampine with accepted and rejected steps."""

import numpy as np


def force(s, mu):
    x, y, vx, vy = s[0], s[1], s[2], s[3]
    r3 = (x * x + y * y) ** 1.5
    return np.array([vx, vy, -mu * x / r3, -mu * y / r3])


def trial_step(s, h, mu):
    k1 = force(s, mu)
    k2 = force(s + 0.5 * h * k1, mu)
    k3 = force(s + 0.75 * h * k2, mu)
    new = s + h * (2.0 * k1 + 3.0 * k2 + 4.0 * k3) / 9.0
    k4 = force(new, mu)
    err = h * (-5.0 * k1 / 72.0 + k2 / 12.0 + k3 / 9.0 - 0.125 * k4)
    return new, err


def size_of(err, s, tol):
    worst = 0.0
    for i in range(len(s)):
        worst = max(worst, abs(err[i]) / (tol * (1.0 + abs(s[i]))))
    return worst


def integrate(s0, mu, t_end, h, tol):
    s = s0.copy()
    t = 0.0
    rejected = 0
    while t < t_end:
        if t + h > t_end:
            h = t_end - t
        new, err = trial_step(s, h, mu)
        e = size_of(err, s, tol)
        if e <= 1.0:
            t += h
            s = new
            h *= min(2.0, 0.9 / (e + 1e-6) ** (1.0 / 3.0))
        else:
            rejected += 1
            h *= 0.5
        if rejected > 20:
            break
    return s


def program(s0, mu, target, t_end=0.8, h=0.5, tol=1e-3):
    s = integrate(s0, mu, t_end, h, tol)
    miss = s[:2] - target
    return np.dot(miss, miss)


def inputs(rng):
    return {
        "s0": np.array([1.0, 0.1, -0.1, 0.9]),
        "mu": 1.1,
        "target": rng.normal(size=2),
    }
