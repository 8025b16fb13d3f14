"""Celestial mechanics: N bodies by leapfrog, the energy drift as a loss."""

import numpy as np

G = 1.0
SOFT2 = 0.05**2


def accelerations(pos, mass, acc):
    n = pos.shape[0]
    acc[:] = 0.0
    for i in range(n):
        for j in range(n):
            if i == j:
                continue
            dx = pos[j, 0] - pos[i, 0]
            dy = pos[j, 1] - pos[i, 1]
            r2 = dx * dx + dy * dy + SOFT2
            w = G * mass[j] / (r2 * np.sqrt(r2))
            acc[i, 0] += w * dx
            acc[i, 1] += w * dy


def energy(pos, vel, mass):
    n = len(mass)
    kin = 0.0
    pot = 0.0
    for i in range(n):
        kin += 0.5 * mass[i] * (vel[i, 0] ** 2 + vel[i, 1] ** 2)
        for j in range(i):
            d = pos[i] - pos[j]
            pot -= G * mass[i] * mass[j] / np.sqrt(np.sum(d * d) + SOFT2)
    return kin + pot


def leapfrog(pos, vel, mass, dt, steps):
    acc = np.zeros_like(pos)
    accelerations(pos, mass, acc)
    for _ in range(steps):
        vel += 0.5 * dt * acc
        pos += dt * vel
        accelerations(pos, mass, acc)
        vel += 0.5 * dt * acc


def program(pos0, vel0, mass, dt, steps):
    pos = pos0.copy()
    vel = vel0.copy()
    e0 = energy(pos, vel, mass)
    leapfrog(pos, vel, mass, dt, steps)
    e1 = energy(pos, vel, mass)
    return 1e3 * (e1 - e0) + pos[0, 0]


def inputs(rng):
    return {
        "pos0": np.array([[0.0, 0.1], [1.0, 0.0], [-0.3, 1.2]]) + 0.1 * rng.random(),
        "vel0": rng.normal(0, 0.4, (3, 2)),
        "mass": rng.uniform(0.5, 1.5, 3),
        "dt": 0.02,
        "steps": 5,
    }
