"""Quantum gases: imaginary time relaxation of a condensate, energy per particle."""

import numpy as np


def trap(x, omega, tilt):
    return 0.5 * omega**2 * x**2 + tilt * x


def second_derivative(f, dx):
    d2 = np.zeros_like(f)
    d2[1:-1] = (f[2:] - 2 * f[1:-1] + f[:-2]) / dx**2
    return d2


def normalise(psi, dx):
    norm = np.sqrt(np.sum(psi**2) * dx)
    return psi / norm


def hamiltonian(psi, V, g, dx):
    return -0.5 * second_derivative(psi, dx) + V * psi + g * psi**3


def relax(psi, V, g, dx, dtau, steps):
    for _ in range(steps):
        psi = psi - dtau * hamiltonian(psi, V, g, dx)
        psi = normalise(psi, dx)
    return psi


def energy(psi, V, g, dx):
    kin = 0.0
    for i in range(len(psi) - 1):
        kin += 0.5 * ((psi[i + 1] - psi[i]) / dx) ** 2 * dx
    return kin + dx * np.sum(V * psi**2 + 0.5 * g * psi**4)


def program(x, omega, tilt, g, dtau, steps):
    dx = x[1] - x[0]
    V = trap(x, omega, tilt)
    psi = normalise(np.exp(-0.5 * x**2), dx)
    psi = relax(psi, V, g, dx, dtau, steps)
    width = np.sum(psi**2 * x**2) * dx
    return energy(psi, V, g, dx) + width


def inputs(rng):
    return {
        "x": np.linspace(-3, 3, 9),
        "omega": 1.1,
        "tilt": 0.2 + 0.01 * rng.random(),
        "g": 2.0,
        "dtau": 0.05,
        "steps": 4,
    }
