"""Finance: a Monte Carlo Asian call with given normals and antithetic paths."""

import numpy as np


def path_average(s0, r, sigma, dt, z, sign):
    s = s0
    acc = 0.0
    drift = (r - 0.5 * sigma * sigma) * dt
    vol = sigma * np.sqrt(dt)
    for k in range(z.shape[0]):
        s *= np.exp(drift + sign * vol * z[k])
        acc += s
    return acc / z.shape[0]


def smooth_positive_part(x, width):
    # softplus keeps the gradient of the payoff smooth
    return width * np.log1p(np.exp(x / width))


def program(s0, strike, r, sigma, maturity, normals, width=2.0):
    n_paths, n_steps = normals.shape
    dt = maturity / n_steps
    total = 0.0
    total_sq = 0.0
    for i in range(n_paths):
        a = path_average(s0, r, sigma, dt, normals[i], 1.0)
        b = path_average(s0, r, sigma, dt, normals[i], -1.0)
        x = 0.5 * (
            smooth_positive_part(a - strike, width)
            + smooth_positive_part(b - strike, width)
        )
        total += x
        total_sq += x * x
    mean = total / n_paths
    variance = total_sq / n_paths - mean**2
    return np.exp(-r * maturity) * (mean + 0.01 * np.sqrt(variance / n_paths))


def inputs(rng):
    return {
        "s0": 100.0,
        "strike": 98.0,
        "r": 0.03,
        "sigma": 0.25,
        "maturity": 1.0,
        "normals": rng.normal(size=(6, 5)),
    }
