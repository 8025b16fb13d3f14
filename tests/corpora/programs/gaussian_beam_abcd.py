"""Optics: a Gaussian beam through a train of lenses by ABCD matrices, coupling."""

import numpy as np


def mat_mult(a, b):
    out = np.zeros((2, 2))
    for i in range(2):
        for j in range(2):
            out[i, j] = a[i, 0] * b[0, j] + a[i, 1] * b[1, j]
    return out


def free_space(d):
    return np.array([[1.0, d], [0.0, 1.0]])


def thin_lens(f):
    return np.array([[1.0, 0.0], [-1.0 / f, 1.0]])


def system(distances, focals):
    m = np.eye(2)
    for k in range(len(focals)):
        m = mat_mult(free_space(distances[k]), m)
        m = mat_mult(thin_lens(focals[k]), m)
    return mat_mult(free_space(distances[-1]), m)


def transform_q(qr, qi, m):
    # (A q + B) / (C q + D) in real and imaginary parts
    nr = m[0, 0] * qr + m[0, 1]
    ni = m[0, 0] * qi
    dr = m[1, 0] * qr + m[1, 1]
    di = m[1, 0] * qi
    den = dr * dr + di * di
    return (nr * dr + ni * di) / den, (ni * dr - nr * di) / den


def beam(qr, qi, wavelength):
    inv_r = qr / (qr * qr + qi * qi)
    inv_i = -qi / (qr * qr + qi * qi)
    w = np.sqrt(-wavelength / (np.pi * inv_i))
    return w, inv_r


def program(distances, focals, waist, wavelength, fibre_waist):
    zr = np.pi * waist**2 / wavelength
    qr, qi = transform_q(0.0, zr, system(distances, focals))
    w, curvature = beam(qr, qi, wavelength)
    mismatch = (w / fibre_waist + fibre_waist / w) ** 2
    mismatch += (np.pi * w * fibre_waist * curvature / wavelength) ** 2
    return 4.0 / mismatch


def inputs(rng):
    return {
        "distances": rng.uniform(0.8, 1.2, 3),
        "focals": np.array([1.1, 0.7]),
        "waist": 0.9,
        "wavelength": 1.3,
        "fibre_waist": 0.7,
    }
