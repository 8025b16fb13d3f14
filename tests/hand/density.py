"""How dense particles are around each of them, with a kernel of limited reach."""

import numpy as np


def density(x, y, mass, h, rho):
    n = x.shape[0]
    for i in range(n):
        rho[i] = 0.0
        for j in range(n):
            dx = x[i] - x[j]
            dy = y[i] - y[j]
            q = 1.0 - (dx * dx + dy * dy) / (h * h)
            if q > 0.0:
                rho[i] += mass[j] * q**3


def density_adjoint(x, y, mass, h, rho, d_rho):
    n = x.shape[0]
    d_x, d_y, d_mass = np.zeros_like(x), np.zeros_like(y), np.zeros_like(mass)
    d_h = 0.0
    for i in range(n):
        for j in range(n):
            dx = x[i] - x[j]
            dy = y[i] - y[j]
            q = 1.0 - (dx * dx + dy * dy) / (h * h)
            if q > 0.0:
                # rho[i] += mass[j] * q**3
                d_mass[j] += q**3 * d_rho[i]
                d_q = 3.0 * mass[j] * q**2 * d_rho[i]
                # q = 1.0 - (dx * dx + dy * dy) / (h * h)
                d_h += d_q * 2.0 * (1.0 - q) / h
                d_dx = -2.0 * dx * d_q / (h * h)
                d_dy = -2.0 * dy * d_q / (h * h)
                d_x[i] += d_dx
                d_x[j] -= d_dx
                d_y[i] += d_dy
                d_y[j] -= d_dy
    return d_x, d_y, d_mass, d_h, np.zeros_like(rho)


def density_tangent(x, y, mass, h, rho, dot_x, dot_y, dot_mass, dot_h, dot_rho):
    n = x.shape[0]
    for i in range(n):
        rho[i] = dot_rho[i] = 0.0
        for j in range(n):
            dx = x[i] - x[j]
            dy = y[i] - y[j]
            q = 1.0 - (dx * dx + dy * dy) / (h * h)
            if q > 0.0:
                # q = 1.0 - (dx * dx + dy * dy) / (h * h)
                dot_dx = dot_x[i] - dot_x[j]
                dot_dy = dot_y[i] - dot_y[j]
                along = (dx * dot_dx + dy * dot_dy) / (h * h)
                dot_q = 2.0 * (dot_h * (1.0 - q) / h - along)
                rho[i] += mass[j] * q**3
                dot_rho[i] += dot_mass[j] * q**3 + 3.0 * mass[j] * q**2 * dot_q


def arguments(n, rng):
    x, y = rng.uniform(0.0, 1.0, (2, n))
    mass, rho = rng.uniform(0.5, 1.5, (2, n))
    return {"x": x, "y": y, "mass": mass, "h": 0.5, "rho": rho}
