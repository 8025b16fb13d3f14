"""Oceanography: shallow water by MacCormack, predictor and corrector in helpers."""

import numpy as np

g = 9.81


def fluxes(h, hu):
    return hu, hu * hu / h + 0.5 * g * h * h


def predictor(h, hu, lam):
    f1, f2 = fluxes(h, hu)
    hp = h.copy()
    hup = hu.copy()
    hp[:-1] = h[:-1] - lam * (f1[1:] - f1[:-1])
    hup[:-1] = hu[:-1] - lam * (f2[1:] - f2[:-1])
    return hp, hup


def corrector(h, hu, hp, hup, lam):
    f1, f2 = fluxes(hp, hup)
    hn = h.copy()
    hun = hu.copy()
    hn[1:] = 0.5 * (h[1:] + hp[1:] - lam * (f1[1:] - f1[:-1]))
    hun[1:] = 0.5 * (hu[1:] + hup[1:] - lam * (f2[1:] - f2[:-1]))
    return hn, hun


def walls(h, hu):
    h[0], h[-1] = h[1], h[-2]
    hu[0], hu[-1] = -hu[1], -hu[-2]


def program(h0, hu0, gauge, station, dx, dt):
    h = h0.copy()
    hu = hu0.copy()
    J = 0.0
    for n in range(len(gauge)):
        hp, hup = predictor(h, hu, dt / dx)
        h, hu = corrector(h, hu, hp, hup, dt / dx)
        walls(h, hu)
        J += (h[station] - gauge[n]) ** 2
    return J + 1e-3 * np.sum(hu**2)


def inputs(rng):
    n = 8
    return {
        "h0": 1.0 + 0.1 * rng.random(n),
        "hu0": 0.1 * rng.normal(size=n),
        "gauge": 1.0 + 0.1 * rng.random(4),
        "station": 3,
        "dx": 1.0,
        "dt": 0.05,
    }
