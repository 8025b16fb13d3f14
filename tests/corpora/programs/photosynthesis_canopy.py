"""Plant physiology: a Farquhar leaf in canopy layers with a stomatal fixed point."""

import math

import numpy as np


def smooth_min(a, b, theta):
    s = a + b
    return (s - math.sqrt(s * s - 4.0 * theta * a * b)) / (2.0 * theta)


def arrhenius(k25, energy, temp):
    return k25 * math.exp(energy * (temp - 298.15) / (298.15 * 8.314 * temp))


def electron_transport(par, jmax, alpha=0.24):
    return smooth_min(alpha * par, jmax, 0.7)


def leaf_assimilation(ci, par, temp, vcmax25, jmax25):
    vcmax = arrhenius(vcmax25, 65330.0, temp)
    jmax = arrhenius(jmax25, 43540.0, temp)
    gamma_star = arrhenius(42.75, 37830.0, temp)
    km = arrhenius(404.9, 79430.0, temp) * (
        1.0 + 210.0 / arrhenius(278.4, 36380.0, temp)
    )
    ac = vcmax * (ci - gamma_star) / (ci + km)
    j = electron_transport(par, jmax)
    aj = 0.25 * j * (ci - gamma_star) / (ci + 2.0 * gamma_star)
    return smooth_min(ac, aj, 0.95) - 0.015 * vcmax


def solve_ci(ca, vpd, par, temp, vcmax, jmax, g1):
    ci = 0.7 * ca
    for _ in range(12):
        a = leaf_assimilation(ci, par, temp, vcmax, jmax)
        gs = 0.01 + 1.6 * (1.0 + g1 / math.sqrt(vpd)) * a / ca
        ci = 0.5 * ci + 0.5 * (ca - a / gs)
    return ci, a


def program(par_top, temp, vpd, k, lai, layers, vcmax, jmax, g1, ca, observed):
    """Misfit of the daily canopy assimilation."""
    sse = 0.0
    for h in range(len(par_top)):
        canopy = 0.0
        for layer in range(layers):
            depth = (layer + 0.5) * lai / layers
            light = k * par_top[h] * math.exp(-k * depth)
            nitrogen = math.exp(-0.3 * depth)
            _, a = solve_ci(
                ca, vpd[h], light, temp[h], vcmax * nitrogen, jmax * nitrogen, g1
            )
            canopy += a * lai / layers
        sse += (canopy - observed[h]) ** 2
    return sse


def inputs(rng):
    return {
        "par_top": np.array([600.0, 1400.0]),
        "temp": np.array([293.0, 300.0]),
        "vpd": np.array([0.9, 1.8]),
        "k": 0.5,
        "lai": 3.0,
        "layers": 2,
        "vcmax": 60.0,
        "jmax": 110.0,
        "g1": 3.5,
        "ca": 400.0,
        "observed": rng.uniform(15.0, 30.0, 2),
    }
