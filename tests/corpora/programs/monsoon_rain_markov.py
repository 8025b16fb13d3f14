"""Climatology: a two-state rain generator with gamma amounts and covariates."""

import math

import numpy as np


def log_gamma(z):
    """Stirling's series, shifted up."""
    shift = 0.0
    while z < 7.0:
        shift -= math.log(z)
        z += 1.0
    inv = 1.0 / z
    series = inv / 12.0 - inv**3 / 360.0 + inv**5 / 1260.0
    return shift + (z - 0.5) * math.log(z) - z + 0.5 * math.log(2.0 * math.pi) + series


def log_density(x, shape, scale):
    return (
        (shape - 1.0) * math.log(x)
        - x / scale
        - log_gamma(shape)
        - shape * math.log(scale)
    )


def wet_probability(previous, season, coef):
    eta = coef[0] + coef[1] * math.sin(season) + coef[2] * math.cos(season)
    if previous == 1:
        eta += coef[3]
    return 1.0 / (1.0 + math.exp(-eta))


def program(rain, day, coef, log_shape, log_scale):
    """nan marks days without a record; the chain starts anew after them."""
    nll = 0.0
    shape = math.exp(log_shape)
    scale = math.exp(log_scale)
    previous = -1
    for t in range(len(rain)):
        if math.isnan(rain[t]):
            previous = -1
            continue
        wet = 1 if rain[t] > 0.05 else 0
        if previous >= 0:
            p = wet_probability(previous, 2.0 * math.pi * day[t] / 365.0, coef)
            if wet:
                nll -= math.log(p)
            else:
                nll -= math.log(1.0 - p)
        if wet:
            nll -= log_density(rain[t], shape, scale)
        previous = wet
    return nll


def inputs(rng):
    rain = np.array([0.0, 2.3, 5.1, 0.0, np.nan, 1.2, 0.7, np.nan, np.nan, 3.3, 0.0])
    return {
        "rain": rain,
        "day": np.arange(11) * 30,
        "coef": rng.normal(0, 0.5, 4),
        "log_shape": -0.3,
        "log_scale": 0.9,
    }
