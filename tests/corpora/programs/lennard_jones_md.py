"""Molecular dynamics: Lennard-Jones atoms in a periodic box, virial pressure, cell."""

import numpy as np


def minimum_image(d, box):
    return d - box * np.round(d / box)


def pair_force(r2, eps, sig):
    s2 = sig * sig / r2
    s6 = s2 * s2 * s2
    energy = 4.0 * eps * (s6 * s6 - s6)
    f_over_r = 24.0 * eps * (2.0 * s6 * s6 - s6) / r2
    return energy, f_over_r


def compute(x, box, eps, sig, cutoff, force):
    n, dim = x.shape
    force[:, :] = 0.0
    energy = 0.0
    virial = 0.0
    for i in range(n - 1):
        for j in range(i + 1, n):
            d = np.empty(dim)
            r2 = 0.0
            for k in range(dim):
                d[k] = minimum_image(x[i, k] - x[j, k], box)
                r2 += d[k] ** 2
            if r2 > cutoff * cutoff:
                continue
            e, f = pair_force(r2, eps, sig)
            energy += e
            virial += f * r2
            for k in range(dim):
                force[i, k] += f * d[k]
                force[j, k] -= f * d[k]
    return energy, virial


def velocity_verlet(x, v, box, eps, sig, cutoff, dt, steps):
    force = np.zeros_like(x)
    e, vir = compute(x, box, eps, sig, cutoff, force)
    for _ in range(steps):
        v += 0.5 * dt * force
        x += dt * v
        e, vir = compute(x, box, eps, sig, cutoff, force)
        v += 0.5 * dt * force
    return e, vir


def program(x0, v0, box, eps, sig, cutoff, dt, steps):
    x, v = x0.copy(), v0.copy()
    e, vir = velocity_verlet(x, v, box, eps, sig, cutoff, dt, steps)
    kinetic = 0.5 * np.sum(v**2)
    volume = box**2
    pressure = (2.0 * kinetic + vir) / (2.0 * volume)
    return pressure + 0.1 * e


def inputs(rng):
    grid = np.array([[0.5, 0.6], [1.9, 0.4], [0.4, 2.1], [2.0, 1.9], [3.2, 1.1]])
    return {
        "x0": grid + 0.05 * rng.normal(size=grid.shape),
        "v0": 0.2 * rng.normal(size=grid.shape),
        "box": 3.9,
        "eps": 1.0,
        "sig": 1.0,
        "cutoff": 2.13,
        "dt": 0.01,
        "steps": 3,
    }
