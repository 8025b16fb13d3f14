"""Finance: Heston by Euler paths with full truncation, given correlated normals."""

import numpy as np


def correlate(z1, z2, rho):
    return z1, rho * z1 + np.sqrt(1.0 - rho * rho) * z2


def variance_step(v, kappa, theta, xi, dt, w):
    vp = max(v, 0.0)
    return v + kappa * (theta - vp) * dt + xi * np.sqrt(vp) * np.sqrt(dt) * w


def simulate_path(s0, v0, r, kappa, theta, xi, rho, dt, z):
    s = s0
    v = v0
    lowest = s0
    for t in range(z.shape[0]):
        w1, w2 = correlate(z[t, 0], z[t, 1], rho)
        vp = max(v, 0.0)
        s = s * np.exp((r - 0.5 * vp) * dt + np.sqrt(vp) * np.sqrt(dt) * w1)
        v = variance_step(v, kappa, theta, xi, dt, w2)
        if s < lowest:
            lowest = s
    return s, lowest


def program(s0, v0, r, kappa, theta, xi, rho, strikes, quotes, z, maturity):
    n_paths = z.shape[0]
    dt = maturity / z.shape[1]
    model = np.zeros(len(strikes))
    for p in range(n_paths):
        s, lowest = simulate_path(s0, v0, r, kappa, theta, xi, rho, dt, z[p])
        for k in range(len(strikes)):
            gain = s - strikes[k]
            if gain > 0.0:
                model[k] += gain
            model[k] += 0.1 * (s - lowest)
    model *= np.exp(-r * maturity) / n_paths
    return np.sum((model - quotes) ** 2)


def inputs(rng):
    return {
        "s0": 100.0,
        "v0": 0.04,
        "r": 0.02,
        "kappa": 1.5,
        "theta": 0.05,
        "xi": 0.3,
        "rho": -0.6,
        "strikes": np.array([91.3, 99.7, 108.9]),
        "quotes": np.array([12.0, 6.5, 2.7]),
        "z": rng.normal(size=(6, 4, 2)),
        "maturity": 0.5,
    }
