"""Glaciology: a shallow-ice flow line with Glen's law and an elevation feedback."""

import numpy as np

RHO_G = 910.0 * 9.81
GLEN_N = 3


def mass_balance(surface, ela, gradient, cap):
    b = gradient * (surface - ela)
    for i in range(len(b)):
        if b[i] > cap:
            b[i] = cap
    return b


def staggered(a):
    return 0.5 * (a[1:] + a[:-1])


def ice_flux(H, bed, A, dx):
    s = bed + H
    slope = (s[1:] - s[:-1]) / dx
    Hm = staggered(H)
    gamma = 2.0 * A * RHO_G**GLEN_N / (GLEN_N + 2)
    return -gamma * Hm ** (GLEN_N + 2) * np.abs(slope) ** (GLEN_N - 1) * slope


def step(H, bed, A, ela, gradient, cap, dx, dt):
    q = ice_flux(H, bed, A, dx)
    b = mass_balance(bed + H, ela, gradient, cap)
    new = np.zeros_like(H)
    for i in range(1, len(H) - 1):
        h = H[i] + dt * (b[i] - (q[i] - q[i - 1]) / dx)
        new[i] = h if h > 0.0 else 0.0
    new[0] = new[1]
    return new


def program(bed, H0, A, ela, gradient, lengths, dx, dt, years):
    H = H0
    for _ in range(years):
        H = step(H, bed, A, ela, gradient, 2.03, dx, dt)
    volume = np.sum(H) * dx
    wet = 0.0
    for i in range(len(H)):
        wet += H[i] / (H[i] + 1.0)
    return volume * 1e-4 + (wet - lengths) ** 2


def inputs(rng):
    n = 8
    return {
        "bed": np.linspace(1003.7, 401.3, n) + rng.uniform(-10, 10, n),
        "H0": np.array([80.0, 90.0, 95.0, 90.0, 70.0, 50.0, 30.0, 0.0])
        + rng.uniform(0, 3, n),
        "A": 1e-16,
        "ela": 803.1,
        "gradient": 0.007,
        "lengths": 6.0,
        "dx": 400.0,
        "dt": 0.5,
        "years": 4,
    }
