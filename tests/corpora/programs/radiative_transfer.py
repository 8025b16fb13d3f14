"""Astronomy: an absorption line in a layered atmosphere, source function and limb."""

import numpy as np


def planck(lam, temp):
    """In units of 1e-6 m and 1e4 K, without constants."""
    return lam**-5 / (np.exp(1.4388 / (lam * temp)) - 1.0)


def voigt_like(x, gamma):
    # a pseudo-Voigt profile
    gauss = np.exp(-x * x)
    lorentz = gamma / (np.pi * (x * x + gamma * gamma))
    eta = gamma / (1.0 + gamma)
    return (1.0 - eta) * gauss + eta * lorentz


def formal_solution(tau, source, mu):
    """Emergent intensity of a piecewise linear source, from the bottom up."""
    n = len(tau)
    intensity = source[n - 1]
    for k in range(n - 2, -1, -1):
        dt = (tau[k + 1] - tau[k]) / mu
        e = np.exp(-dt)
        w1 = 1.0 - (1.0 - e) / dt
        w0 = 1.0 - e - w1
        intensity = intensity * e + w1 * source[k] + w0 * source[k + 1]
    return intensity


def program(
    column, temperature, doppler, gamma, shift, wavelengths, data, mus, weights
):
    n = len(temperature)
    chi2 = 0.0
    for w in range(len(wavelengths)):
        tau = np.zeros(n)
        for k in range(1, n):
            x = (wavelengths[w] - 0.6 - shift) / doppler
            opacity = 0.2 + 5.0 * voigt_like(x, gamma)
            tau[k] = tau[k - 1] + opacity * column[k - 1]
        source = planck(wavelengths[w], temperature)
        flux = 0.0
        for m in range(len(mus)):
            flux += weights[m] * formal_solution(tau, source, mus[m])
        chi2 += (flux - data[w]) ** 2
    return chi2


def inputs(rng):
    return {
        "column": rng.uniform(0.2, 0.6, 5),
        "temperature": np.linspace(0.45, 0.75, 6),
        "doppler": 0.01,
        "gamma": 0.3,
        "shift": 0.001,
        "wavelengths": np.array([0.57, 0.59, 0.6, 0.604, 0.63]),
        "data": rng.uniform(0.2, 0.5, 5),
        "mus": np.array([0.2113, 0.7887]),
        "weights": np.array([0.5, 0.5]),
    }
