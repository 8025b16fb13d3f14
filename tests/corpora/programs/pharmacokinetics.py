"""Pharmacology: two compartments with absorption and repeated doses, assay limits."""

import math

import numpy as np


def rates(a, ka, ke, k12, k21, vmax, km):
    gut, central, peripheral = a[0], a[1], a[2]
    saturable = vmax * central / (km + central)
    d = np.zeros(3)
    d[0] = -ka * gut
    d[1] = ka * gut - ke * central - k12 * central + k21 * peripheral - saturable
    d[2] = k12 * central - k21 * peripheral
    return d


def heun(a, dt, ka, ke, k12, k21, vmax, km):
    f1 = rates(a, ka, ke, k12, k21, vmax, km)
    f2 = rates(a + dt * f1, ka, ke, k12, k21, vmax, km)
    return a + 0.5 * dt * (f1 + f2)


def phi(z):
    return 0.5 * (1.0 + math.erf(z / math.sqrt(2.0)))


def program(conc, doses, given, log_theta, volume, sigma, loq, dt=0.25):
    """Negative log likelihood; what is below the limit (nan) counts as censored."""
    theta = np.exp(log_theta)
    a = np.zeros(3)
    nll = 0.0
    for t in range(len(conc)):
        if given[t]:
            a[0] += doses[t]
        for _ in range(2):
            a = heun(a, dt, theta[0], theta[1], theta[2], theta[3], theta[4], theta[5])
        predicted = a[1] / volume
        if np.isnan(conc[t]):
            nll -= math.log(phi((math.log(loq) - math.log(predicted)) / sigma))
        else:
            z = (math.log(conc[t]) - math.log(predicted)) / sigma
            nll += 0.5 * z * z + math.log(sigma)
    return nll


def inputs(rng):
    conc = rng.uniform(0.5, 2.0, 6)
    conc[0] = np.nan
    conc[3] = np.nan
    return {
        "conc": conc,
        "doses": np.array([10.0, 0.0, 0.0, 8.0, 0.0, 0.0]),
        "given": np.array([True, False, False, True, False, False]),
        "log_theta": np.log(np.array([1.1, 0.2, 0.15, 0.1, 0.5, 1.2])),
        "volume": 3.0,
        "sigma": 0.4,
        "loq": 0.3,
    }
