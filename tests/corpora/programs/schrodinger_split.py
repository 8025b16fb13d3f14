"""Quantum mechanics: a wave packet by Crank-Nicolson in real and imaginary parts."""

import numpy as np


def potential(x, depth, width):
    return -depth * np.exp(-((x / width) ** 2))


def apply_h(psi, V, dx, out):
    n = len(psi)
    for j in range(n):
        left = psi[j - 1] if j > 0 else 0.0
        right = psi[j + 1] if j < n - 1 else 0.0
        out[j] = -0.5 * (left - 2.0 * psi[j] + right) / dx**2 + V[j] * psi[j]


def visscher(re, im, V, dx, dt, steps):
    """Staggered real and imaginary parts."""
    work = np.zeros_like(re)
    for _ in range(steps):
        apply_h(im, V, dx, work)
        re += dt * work
        apply_h(re, V, dx, work)
        im -= dt * work


def norm(re, im, dx):
    return dx * np.sum(re**2 + im**2)


def program(x, depth, width, k0, x0, spread, dt, steps):
    """How much of the packet is found on the right of the well."""
    dx = x[1] - x[0]
    V = potential(x, depth, width)
    envelope = np.exp(-((x - x0) ** 2) / (4 * spread**2))
    re = envelope * np.cos(k0 * x)
    im = envelope * np.sin(k0 * x)
    total = norm(re, im, dx)
    visscher(re, im, V, dx, dt, steps)
    half = len(x) // 2
    return norm(re[half:], im[half:], dx) / total


def inputs(rng):
    return {
        "x": np.linspace(-4.0, 4.0, 12),
        "depth": 1.1,
        "width": 0.9,
        "k0": 1.5,
        "x0": -1.5 + 0.1 * rng.random(),
        "spread": 0.8,
        "dt": 0.05,
        "steps": 6,
    }
