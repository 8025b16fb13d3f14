"""Atmospheric science: coagulation in bins with fixed pivots."""

import numpy as np


def kernel(di, dj, slip):
    ci = 1.0 + slip / di
    cj = 1.0 + slip / dj
    return (di + dj) * (ci / di + cj / dj) / 4.0


def bin_volumes(v0, ratio, n):
    v = np.zeros(n)
    v[0] = v0
    for i in range(1, n):
        v[i] = v[i - 1] * ratio
    return v


def coagulate(N, v, slip, dt):
    n = len(N)
    d = np.cbrt(v)
    gain = np.zeros(n)
    loss = np.zeros(n)
    for i in range(n):
        for j in range(n):
            rate = kernel(d[i], d[j], slip) * N[i] * N[j]
            loss[i] += rate
            if j > i:
                continue
            if i == j:
                rate *= 0.5
            total = v[i] + v[j]
            # split between the two bins around the new volume
            for k in range(n):
                if k == n - 1:
                    gain[k] += rate * total / v[k]
                    break
                if total < v[k + 1]:
                    share = (v[k + 1] - total) / (v[k + 1] - v[k])
                    gain[k] += share * rate
                    gain[k + 1] += (1.0 - share) * rate
                    break
    return N + dt * (gain - loss)


def extinction(N, v, wavelength):
    ext = 0.0
    for i in range(len(N)):
        x = np.pi * v[i] ** (1.0 / 3.0) / wavelength
        q = 2.0 - 4.0 / x * np.sin(x) + 4.0 / (x * x) * (1.0 - np.cos(x))
        ext += q * N[i] * v[i] ** (2.0 / 3.0)
    return ext


def program(N0, v0, ratio, slip, wavelength, dt, steps):
    v = bin_volumes(v0, ratio, len(N0))
    N = N0
    for _ in range(steps):
        N = coagulate(N, v, slip, dt)
    return extinction(N, v, wavelength)


def inputs(rng):
    return {
        "N0": rng.uniform(0.1, 0.5, 5),
        "v0": 0.8,
        "ratio": 2.13,
        "slip": 0.3,
        "wavelength": 0.55,
        "dt": 0.05,
        "steps": 3,
    }
