"""Optics: the reflectance of a dielectric stack by transfer matrices in real parts."""

import math

import numpy as np


def layer_matrix(n, d, wavelength):
    """cos, and the two imaginary off-diagonal entries, of one layer."""
    delta = 2.0 * math.pi * n * d / wavelength
    return math.cos(delta), math.sin(delta) / n, n * math.sin(delta)


def stack_matrix(index, thickness, wavelength):
    a, b, c, d = 1.0, 0.0, 0.0, 1.0  # [[a, i b], [i c, d]]
    for k in range(len(index)):
        co, s1, s2 = layer_matrix(index[k], thickness[k], wavelength)
        a, b, c, d = (
            a * co - b * s2,
            a * s1 + b * co,
            c * co + d * s2,
            -c * s1 + d * co,
        )
    return a, b, c, d


def reflectance(index, thickness, wavelength, n_in, n_sub):
    a, b, c, d = stack_matrix(index, thickness, wavelength)
    # r = (n_in B - C) / (n_in B + C), B = a + i b n_sub, C = i c + d n_sub
    br, bi = a, b * n_sub
    cr, ci = d * n_sub, c
    num_r, num_i = n_in * br - cr, n_in * bi - ci
    den_r, den_i = n_in * br + cr, n_in * bi + ci
    return (num_r**2 + num_i**2) / (den_r**2 + den_i**2)


def program(index, thickness, wavelengths, target, n_in=1.0, n_sub=1.52):
    merit = 0.0
    for i in range(len(wavelengths)):
        r = reflectance(index, thickness, wavelengths[i], n_in, n_sub)
        merit += (r - target[i]) ** 2
    return merit / len(wavelengths)


def inputs(rng):
    return {
        "index": np.array([1.38, 2.1, 1.46, 2.3]),
        "thickness": rng.uniform(60.0, 120.0, 4),
        "wavelengths": np.linspace(420.0, 680.0, 5),
        "target": rng.uniform(0.0, 0.1, 5),
    }
