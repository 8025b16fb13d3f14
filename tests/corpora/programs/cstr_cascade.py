"""Chemical engineering: stirred tanks in series at steady state by Newton."""

import numpy as np


def rate_constants(T, k0, e):
    k = np.empty(3)
    for r in range(3):
        k[r] = k0[r] * np.exp(-e[r] * (1.0 / T - 1.0 / 350.0))
    return k


def residual(c, feed, tau, k):
    a, b = c[0], c[1]
    r1 = k[0] * a
    r2 = k[1] * b
    r3 = k[2] * a * a
    f0 = (feed[0] - a) / tau - r1 - r3
    f1 = (feed[1] - b) / tau + r1 - r2
    return f0, f1


def newton(feed, tau, k, tol=1e-13):
    c = feed.copy()
    for it in range(40):
        f0, f1 = residual(c, feed, tau, k)
        j00 = -1.0 / tau - k[0] - 2.0 * k[2] * c[0]
        j10 = k[0]
        j11 = -1.0 / tau - k[1]
        d0 = f0 / j00
        d1 = (f1 - j10 * d0) / j11
        c[0] -= d0
        c[1] -= d1
        if abs(d0) + abs(d1) < tol:
            return c
    return c


def program(feed, taus, temps, k0, e, price):
    c = feed
    cost = 0.0
    for tank in range(len(taus)):
        k = rate_constants(temps[tank], k0, e)
        c = newton(c, taus[tank], k)
        cost += price[0] * taus[tank] + price[1] * (temps[tank] - 330.0) ** 2
    return c[1] - 0.1 * c[0] - cost


def inputs(rng):
    return {
        "feed": np.array([1.0, 0.05]),
        "taus": rng.uniform(0.5, 1.5, 3),
        "temps": rng.uniform(340.0, 360.0, 3),
        "k0": np.array([1.0, 0.2, 0.1]),
        "e": np.array([3000.0, 5000.0, 4000.0]),
        "price": np.array([0.01, 1e-5]),
    }
