"""Astronomy: radial velocities and transit times, Kepler's equation by Newton."""

import math

import numpy as np


def eccentric_anomaly(mean, ecc):
    E = mean + ecc * math.sin(mean)
    for _ in range(50):
        f = E - ecc * math.sin(E) - mean
        fp = 1.0 - ecc * math.cos(E)
        step = f / fp
        E -= step
        if abs(step) < 1e-14:
            break
    return E


def true_anomaly(E, ecc):
    return 2.0 * math.atan2(
        math.sqrt(1.0 + ecc) * math.sin(0.5 * E),
        math.sqrt(1.0 - ecc) * math.cos(0.5 * E),
    )


def radial_velocity(t, period, t0, ecc, omega, k):
    phase = 2.0 * math.pi * (t - t0) / period
    mean = phase - 2.0 * math.pi * math.floor(phase / (2.0 * math.pi))
    nu = true_anomaly(eccentric_anomaly(mean, ecc), ecc)
    return k * (math.cos(nu + omega) + ecc * math.cos(omega))


def unpack(theta):
    h, c = theta[2], theta[3]
    ecc = h * h + c * c
    return math.exp(theta[0]), theta[1], ecc, math.atan2(h, c), math.exp(theta[4])


def program(theta, gamma, jitter, times, rv, err, instrument):
    period, t0, ecc, omega, k = unpack(theta)
    if ecc >= 1.0:
        return 1e9
    nll = 0.0
    for i in range(len(times)):
        model = radial_velocity(times[i], period, t0, ecc, omega, k)
        model += gamma[instrument[i]]
        s2 = err[i] ** 2 + jitter[instrument[i]] ** 2
        nll += 0.5 * ((rv[i] - model) ** 2 / s2 + math.log(2.0 * math.pi * s2))
    return nll


def inputs(rng):
    return {
        "theta": np.array([1.1, 0.3, 0.35, 0.4, 1.5]),
        "gamma": np.array([0.2, -0.1]),
        "jitter": np.array([0.3, 0.5]),
        "times": np.sort(rng.uniform(0, 12, 8)),
        "rv": rng.normal(0, 4, 8),
        "err": rng.uniform(0.5, 1.0, 8),
        "instrument": np.array([0, 0, 1, 0, 1, 1, 0, 1]),
    }
