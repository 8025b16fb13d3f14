"""Structures: SIMP topology optimisation of a spring grid by Gauss-Seidel."""

import numpy as np


def density_filter(rho, radius):
    h, w = rho.shape
    out = np.zeros_like(rho)
    for y in range(h):
        for x in range(w):
            total = 0.0
            weight = 0.0
            for yy in range(max(0, y - 1), min(h, y + 2)):
                for xx in range(max(0, x - 1), min(w, x + 2)):
                    d = radius - np.sqrt((y - yy) ** 2 + (x - xx) ** 2)
                    if d <= 0:
                        continue
                    total += d * rho[yy, xx]
                    weight += d
            out[y, x] = total / weight
    return out


def stiffness(rho, penal, emin=1e-2):
    return emin + rho**penal * (1.0 - emin)


def heaviside(rho, beta, eta=0.5):
    a = np.tanh(beta * eta)
    return (a + np.tanh(beta * (rho - eta))) / (a + np.tanh(beta * (1.0 - eta)))


def solve_membrane(k, load, sweeps):
    h, w = k.shape
    u = np.zeros((h, w))
    for _ in range(sweeps):
        for y in range(h):
            for x in range(1, w):  # the left edge is clamped
                num = load[y, x]
                den = 0.0
                for dy, dx in ((0, 1), (1, 0), (0, -1), (-1, 0)):
                    yy = y + dy
                    xx = x + dx
                    if yy < 0 or yy >= h or xx >= w:
                        continue
                    c = 2.0 * k[y, x] * k[yy, xx] / (k[y, x] + k[yy, xx])
                    num += c * u[yy, xx]
                    den += c
                u[y, x] = num / den
    return u


def program(design, load, penal, radius, beta, volume):
    rho = heaviside(density_filter(design, radius), beta)
    k = stiffness(rho, penal)
    u = solve_membrane(k, load, 4)
    compliance = np.sum(load * u)
    excess = np.mean(rho) - volume
    return compliance + 10.0 * excess**2


def inputs(rng):
    return {
        "design": rng.uniform(0.2, 0.8, (4, 4)),
        "load": rng.uniform(-0.5, 1.0, (4, 4)),
        "penal": 3.0,
        "radius": 1.2,
        "beta": 2.0,
        "volume": 0.4,
    }
