"""Quantum chemistry: unrestricted mean field of a Hubbard ring, SCF with mixing."""

import numpy as np


def hopping(n, t, phase):
    h = np.zeros((n, n))
    for i in range(n):
        j = (i + 1) % n
        h[i, j] -= t
        h[j, i] -= t
    h[0, 0] += phase
    return h


def lowest_vector(h, guess, shift, rounds):
    """Power iteration of shift - h."""
    v = guess / np.sqrt(np.sum(guess**2))
    for _ in range(rounds):
        w = shift * v - h @ v
        v = w / np.sqrt(np.sum(w * w))
    e = v @ (h @ v)
    return v, e


def fock(h, density, u):
    f = h.copy()
    for i in range(len(density)):
        f[i, i] += u * density[i]
    return f


def scf(h, u, start, shift, mix, cycles):
    n = len(start)
    up = start
    down = start[::-1].copy()
    vu = np.ones(n)
    vd = np.ones(n)
    total = 0.0
    for c in range(cycles):
        vu, eu = lowest_vector(fock(h, down, u), vu, shift, 5)
        vd, ed = lowest_vector(fock(h, up, u), vd, shift, 5)
        double = u * np.sum(vu**2 * vd**2)
        total = eu + ed - double
        up = (1 - mix) * up + mix * vu**2
        down = (1 - mix) * down + mix * vd**2
    return total, up, down


def program(t, u, phase, start, mix, cycles=3):
    h = hopping(len(start), t, phase)
    e, up, down = scf(h, u, start, 4.0, mix, cycles)
    moment = np.sum((up - down) ** 2)
    return e + 0.5 * moment


def inputs(rng):
    start = rng.uniform(0.1, 0.4, 5)
    return {"t": 1.0, "u": 2.0, "phase": -0.3, "start": start, "mix": 0.6}
