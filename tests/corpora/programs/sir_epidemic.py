"""Epidemiology: SEIR by RK4 with a helper, Poisson likelihood of case counts."""

import numpy as np


def rhs(y, beta, sigma, gamma):
    s, e, i, r = y[0], y[1], y[2], y[3]
    n = s + e + i + r
    out = np.zeros(4)
    infection = beta * s * i / n
    out[0] = -infection
    out[1] = infection - sigma * e
    out[2] = sigma * e - gamma * i
    out[3] = gamma * i
    return out


def rk4_step(y, h, beta, sigma, gamma):
    k1 = rhs(y, beta, sigma, gamma)
    k2 = rhs(y + 0.5 * h * k1, beta, sigma, gamma)
    k3 = rhs(y + 0.5 * h * k2, beta, sigma, gamma)
    k4 = rhs(y + h * k3, beta, sigma, gamma)
    return y + h / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + k4)


def program(cases, y0, betas, sigma, gamma, switch_day, report=0.4, substeps=2):
    """Negative log likelihood; the contact rate changes on the day of a lockdown."""
    y = y0.copy()
    nll = 0.0
    h = 1.0 / substeps
    for day in range(len(cases)):
        if day < switch_day:
            beta = betas[0]
        else:
            beta = betas[1]
        before = y[0]
        for _ in range(substeps):
            y = rk4_step(y, h, beta, sigma, gamma)
        lam = report * (before - y[0]) + 1e-3
        nll += lam - cases[day] * np.log(lam)
    return nll


def inputs(rng):
    return {
        "cases": rng.integers(1, 12, 6),
        "y0": np.array([990.0, 6.0, 5.0, 1.0]),
        "betas": np.array([0.6, 0.25]),
        "sigma": 0.3,
        "gamma": 0.2,
        "switch_day": 3,
    }
