"""Remote sensing: gaps under clouds (nan) filled by weighted medians of passes."""

import numpy as np


def ndvi(red, nir):
    if np.isnan(red) or np.isnan(nir):
        return np.nan
    return (nir - red) / (nir + red)


def fill_in_time(series, bandwidth):
    n = len(series)
    out = np.zeros(n)
    for t in range(n):
        num = 0.0
        den = 0.0
        for s in range(n):
            if np.isnan(series[s]):
                continue
            w = np.exp(-0.5 * ((t - s) / bandwidth) ** 2)
            num += w * series[s]
            den += w
        out[t] = num / den
    return out


def double_logistic(t, p):
    rise = 1.0 / (1.0 + np.exp(-p[2] * (t - p[3])))
    fall = 1.0 / (1.0 + np.exp(-p[4] * (t - p[5])))
    return p[0] + p[1] * (rise - fall)


def program(red, nir, params, bandwidth):
    days = red.shape[0]
    loss = 0.0
    for y in range(red.shape[1]):
        for x in range(red.shape[2]):
            series = np.full(days, np.nan)
            for d in range(days):
                series[d] = ndvi(red[d, y, x], nir[d, y, x])
            filled = fill_in_time(series, bandwidth)
            for d in range(days):
                w = 0.2 if np.isnan(series[d]) else 1.0
                loss += w * (filled[d] - double_logistic(d, params)) ** 2
    return loss


def inputs(rng):
    red = rng.uniform(0.05, 0.2, (5, 2, 2))
    nir = rng.uniform(0.3, 0.5, (5, 2, 2))
    red[1, 0, 0] = np.nan
    nir[3, 1, 1] = np.nan
    red[2] = np.nan
    return {
        "red": red,
        "nir": nir,
        "params": np.array([0.3, 0.4, 1.5, 1.2, 1.1, 3.3]),
        "bandwidth": 1.1,
    }
