"""Seismology: an ETAS point process with magnitudes and productivity, likelihood."""

import numpy as np


def productivity(mag, k, alpha, mc):
    return k * np.exp(alpha * (mag - mc))


def omori(dt, c, p):
    return (p - 1.0) / c * (1.0 + dt / c) ** (-p)


def omori_integral(dt, c, p):
    return 1.0 - (1.0 + dt / c) ** (1.0 - p)


def intensity(i, times, mags, mu, k, alpha, c, p, mc):
    lam = mu
    for j in range(i):
        lam += productivity(mags[j], k, alpha, mc) * omori(times[i] - times[j], c, p)
    return lam


def compensator(end, times, mags, mu, k, alpha, c, p, mc):
    total = mu * end
    for j in range(len(times)):
        if times[j] >= end:
            break
        total += productivity(mags[j], k, alpha, mc) * omori_integral(
            end - times[j], c, p
        )
    return total


def gutenberg_richter(mags, b, mc):
    beta = b * np.log(10.0)
    ll = 0.0
    for m in mags:
        ll += np.log(beta) - beta * (m - mc)
    return ll


def program(times, mags, theta, b, end, mc=2.5):
    mu, k, alpha = np.exp(theta[0]), np.exp(theta[1]), np.exp(theta[2])
    c, p = np.exp(theta[3]), 1.0 + np.exp(theta[4])
    loglik = gutenberg_richter(mags, b, mc)
    for i in range(len(times)):
        loglik += np.log(intensity(i, times, mags, mu, k, alpha, c, p, mc))
    loglik -= compensator(end, times, mags, mu, k, alpha, c, p, mc)
    return -loglik


def inputs(rng):
    return {
        "times": np.array([0.3, 0.9, 1.0, 2.4, 2.5, 2.9, 4.1]),
        "mags": 2.6 + rng.exponential(0.5, 7),
        "theta": np.array([-0.2, -1.5, 0.1, -2.0, -1.0]),
        "b": 1.0,
        "end": 5.0,
    }
