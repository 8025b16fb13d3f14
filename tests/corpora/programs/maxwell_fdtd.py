"""Electromagnetics: FDTD in 2-D (TM) with PEC walls and a permittivity to invert."""

import numpy as np

C0 = 1.0


def update_h(hx, hy, ez, s):
    nx, ny = ez.shape
    for i in range(nx):
        for j in range(ny - 1):
            hx[i, j] -= s * (ez[i, j + 1] - ez[i, j])
    for i in range(nx - 1):
        for j in range(ny):
            hy[i, j] += s * (ez[i + 1, j] - ez[i, j])


def update_e(hx, hy, ez, s, eps, sigma):
    nx, ny = ez.shape
    for i in range(1, nx - 1):
        for j in range(1, ny - 1):
            curl = hy[i, j] - hy[i - 1, j] - hx[i, j] + hx[i, j - 1]
            loss = 0.5 * sigma[i, j] / eps[i, j]
            ez[i, j] = ((1 - loss) * ez[i, j] + s / eps[i, j] * curl) / (1 + loss)


def gaussian_pulse(n, width):
    return np.exp(-(((n - 2.0 * width) / width) ** 2))


def program(eps, sigma, recorded, width, source_i, source_j, probe_i, probe_j):
    nx, ny = eps.shape
    ez = np.zeros((nx, ny))
    hx = np.zeros((nx, ny - 1))
    hy = np.zeros((nx - 1, ny))
    s = C0 * 0.5
    misfit = 0.0
    for n in range(recorded.size):
        update_h(hx, hy, ez, s)
        update_e(hx, hy, ez, s, eps, sigma)
        ez[source_i, source_j] += gaussian_pulse(n, width)
        misfit += (ez[probe_i, probe_j] - recorded[n]) ** 2
    return misfit


def inputs(rng):
    shape = (6, 5)
    return {
        "eps": rng.uniform(1.0, 2.0, shape),
        "sigma": rng.uniform(0.0, 0.2, shape),
        "recorded": rng.normal(0, 0.3, 9),
        "width": 2.0,
        "source_i": 2,
        "source_j": 2,
        "probe_i": 4,
        "probe_j": 3,
    }
