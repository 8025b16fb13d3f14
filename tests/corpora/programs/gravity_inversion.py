"""Geophysics: the gravity of prisms over a basin, depth-weighted smooth inversion."""

import math

import numpy as np

TWO_G = 2.0 * 6.674e-3


def column_effect(x_obs, x_left, x_right, top, bottom, density):
    """A thin-sheet stack approximates the column."""
    total = 0.0
    layers = 4
    for k in range(layers):
        z = top + (k + 0.5) * (bottom - top) / layers
        a = math.atan2(x_right - x_obs, z)
        b = math.atan2(x_left - x_obs, z)
        total += (a - b) * (bottom - top) / layers
    return TWO_G * density * total


def contrast(z, rho0, decay):
    return rho0 * math.exp(-decay * z)


def forward(depths, x_edges, stations, rho0, decay):
    out = np.zeros(len(stations))
    for s in range(len(stations)):
        for c in range(len(depths)):
            rho = contrast(0.5 * depths[c], rho0, decay)
            out[s] += column_effect(
                stations[s], x_edges[c], x_edges[c + 1], 0.01, depths[c], rho
            )
    return out


def roughness(m):
    r = 0.0
    for i in range(1, len(m) - 1):
        second = m[i + 1] - 2.0 * m[i] + m[i - 1]
        r += second * second
    return r


def program(log_depths, x_edges, stations, data, error, rho0, decay, mu):
    depths = np.zeros_like(log_depths)
    for i, value in enumerate(log_depths):
        depths[i] = math.exp(value)
    calc = forward(depths, x_edges, stations, rho0, decay)
    phi = 0.0
    for d, c, e in zip(data, calc, error):
        phi += ((d - c) / e) ** 2
    return phi + mu * roughness(depths)


def inputs(rng):
    return {
        "log_depths": rng.uniform(-0.5, 0.7, 5),
        "x_edges": np.linspace(0.0, 10.0, 6),
        "stations": np.array([0.7, 2.9, 5.2, 8.1]),
        "data": rng.normal(-0.01, 0.005, 4),
        "error": np.full(4, 0.003),
        "rho0": -0.5,
        "decay": 0.1,
        "mu": 0.5,
    }
