"""Fisheries: an age-structured assessment with Baranov catches, index likelihood."""

import numpy as np


def selectivity(n_ages, a50, slope):
    s = np.zeros(n_ages)
    for a in range(n_ages):
        s[a] = 1.0 / (1.0 + np.exp(-slope * (a - a50)))
    return s / s[-1]


def beverton_holt(ssb, r0, steepness, ssb0):
    return (
        4 * steepness * r0 * ssb / (ssb0 * (1 - steepness) + ssb * (5 * steepness - 1))
    )


def unfished(r0, m, n_ages):
    n = np.zeros(n_ages)
    n[0] = r0
    for a in range(1, n_ages):
        n[a] = n[a - 1] * np.exp(-m)
    n[-1] /= 1.0 - np.exp(-m)
    return n


def baranov(n, f, m):
    z = f + m
    return f / z * (1.0 - np.exp(-z)) * n


def project(n, f, m, recruits):
    nxt = np.zeros_like(n)
    nxt[0] = recruits
    for a in range(1, len(n)):
        nxt[a] = n[a - 1] * np.exp(-m - f[a - 1])
    nxt[-1] += n[-1] * np.exp(-m - f[-1])
    return nxt


def program(
    log_r0, log_f, log_dev, m, steepness, a50, slope, weight, catch, index, sigma
):
    n_ages = len(weight)
    sel = selectivity(n_ages, a50, slope)
    n = unfished(np.exp(log_r0), m, n_ages)
    ssb0 = np.sum(n * weight)
    nll = 0.5 * np.sum(log_dev**2) / 0.36
    for y in range(len(catch)):
        f = np.exp(log_f[y]) * sel
        ssb = np.sum(n * weight)
        predicted = np.sum(baranov(n, f, m) * weight)
        nll += 0.5 * ((np.log(catch[y]) - np.log(predicted)) / 0.1) ** 2
        if not np.isnan(index[y]):
            nll += 0.5 * ((np.log(index[y]) - np.log(ssb)) / sigma) ** 2 + np.log(sigma)
        recruits = beverton_holt(ssb, np.exp(log_r0), steepness, ssb0)
        n = project(n, f, m, recruits * np.exp(log_dev[y]))
    return nll


def inputs(rng):
    index = rng.uniform(3, 6, 5)
    index[1] = np.nan
    return {
        "log_r0": 1.1,
        "log_f": rng.normal(-1.2, 0.2, 5),
        "log_dev": 0.3 * rng.normal(size=5),
        "m": 0.3,
        "steepness": 0.7,
        "a50": 1.4,
        "slope": 2.0,
        "weight": np.array([0.1, 0.4, 0.9, 1.3]),
        "catch": rng.uniform(0.5, 1.5, 5),
        "index": index,
        "sigma": 0.3,
    }
