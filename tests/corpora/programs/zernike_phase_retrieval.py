"""Optics: phase from a point spread, Zernike pupil and a separable DFT in loops."""

import math

import numpy as np


def zernike(index, x, y):
    r2 = x * x + y * y
    if index == 0:
        return 2.0 * r2 - 1.0  # defocus
    if index == 1:
        return x * x - y * y  # astigmatism
    if index == 2:
        return (3.0 * r2 - 2.0) * x  # coma
    return 6.0 * r2 * r2 - 6.0 * r2 + 1.0  # spherical


def pupil(coef, n):
    re = np.zeros((n, n))
    im = np.zeros((n, n))
    for i in range(n):
        for j in range(n):
            y = 2.0 * (i + 0.5) / n - 1.0
            x = 2.0 * (j + 0.5) / n - 1.0
            if x * x + y * y > 1.0:
                continue
            phase = 0.0
            for k in range(len(coef)):
                phase += coef[k] * zernike(k, x, y)
            re[i, j] = math.cos(phase)
            im[i, j] = math.sin(phase)
    return re, im


def dft_rows(re, im, m):
    n = re.shape[1]
    out_r = np.zeros((re.shape[0], m))
    out_i = np.zeros((re.shape[0], m))
    for row in range(re.shape[0]):
        for u in range(m):
            for j in range(n):
                a = -2.0 * math.pi * (u - m // 2) * (j + 0.5) / (2.0 * n)
                out_r[row, u] += re[row, j] * math.cos(a) - im[row, j] * math.sin(a)
                out_i[row, u] += re[row, j] * math.sin(a) + im[row, j] * math.cos(a)
    return out_r, out_i


def psf(coef, n, m):
    re, im = pupil(coef, n)
    re, im = dft_rows(re, im, m)
    re, im = dft_rows(re.T, im.T, m)
    intensity = re**2 + im**2
    return intensity / np.sum(intensity)


def program(coef, measured, background):
    model = psf(coef, 5, measured.shape[0]) + background
    return np.sum((np.sqrt(model) - np.sqrt(measured)) ** 2)


def inputs(rng):
    return {
        "coef": np.array([0.4, -0.3, 0.2, 0.15]),
        "measured": rng.uniform(0.01, 0.1, (4, 4)),
        "background": 0.01,
    }
