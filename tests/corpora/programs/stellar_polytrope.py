"""Astronomy: the Lane-Emden equation by RK4 until the surface."""

import math

import numpy as np


def derivatives(xi, theta, phi, n):
    if theta > 0.0:
        source = theta**n
    else:
        source = 0.0
    return -phi / (xi * xi), xi * xi * source


def rk4(xi, theta, phi, h, n):
    a1, b1 = derivatives(xi, theta, phi, n)
    a2, b2 = derivatives(xi + h / 2, theta + h / 2 * a1, phi + h / 2 * b1, n)
    a3, b3 = derivatives(xi + h / 2, theta + h / 2 * a2, phi + h / 2 * b2, n)
    a4, b4 = derivatives(xi + h, theta + h * a3, phi + h * b3, n)
    theta += h / 6 * (a1 + 2 * a2 + 2 * a3 + a4)
    phi += h / 6 * (b1 + 2 * b2 + 2 * b3 + b4)
    return theta, phi


def surface(n, h):
    """xi and phi where theta reaches zero, interpolated linearly."""
    xi = h
    theta = 1.0 - xi * xi / 6.0 + n * xi**4 / 120.0
    phi = xi**3 / 3.0 - n * xi**5 / 30.0
    while theta > 0.0:
        old_theta, old_phi = theta, phi
        theta, phi = rk4(xi, theta, phi, h, n)
        xi += h
        if xi > 20.0:
            break
    w = old_theta / (old_theta - theta)
    return xi - h + w * h, old_phi + w * (phi - old_phi)


def program(n, k, rho_c, masses, radii, errors):
    """Chi squared of observed masses and radii for each central density."""
    xi1, phi1 = surface(n, 0.2)
    chi2 = 0.0
    for s in range(len(rho_c)):
        a = math.sqrt((n + 1.0) * k * rho_c[s] ** (1.0 / n - 1.0) / (4.0 * math.pi))
        mass = 4.0 * math.pi * a**3 * rho_c[s] * phi1
        chi2 += ((mass - masses[s]) / errors[s]) ** 2
        chi2 += ((a * xi1 - radii[s]) / errors[s]) ** 2
    return chi2


def inputs(rng):
    return {
        "n": 1.53,
        "k": 1.2,
        "rho_c": np.array([0.8, 1.3]),
        "masses": np.array([5.0, 6.0]) + 0.1 * rng.random(2),
        "radii": np.array([1.5, 1.4]),
        "errors": np.array([0.5, 0.6]),
    }
