"""Aerodynamics: vortex blobs convected by Heun steps over an ellipse of panels."""

import math

import numpy as np


def induced(x, y, px, py, gamma, core):
    dx = x - px
    dy = y - py
    r2 = dx * dx + dy * dy
    k = gamma / (2.0 * math.pi) * (1.0 - math.exp(-r2 / core**2)) / (r2 + 1e-12)
    return -k * dy, k * dx


def velocities(pos, gamma, core, wind, vel):
    n = len(gamma)
    for i in range(n):
        vel[i, 0] = wind[0]
        vel[i, 1] = wind[1]
        for j in range(n):
            if i != j:
                u, v = induced(
                    pos[i, 0], pos[i, 1], pos[j, 0], pos[j, 1], gamma[j], core
                )
                vel[i, 0] += u
                vel[i, 1] += v


def heun(pos, gamma, core, wind, dt, v1, v2, trial):
    velocities(pos, gamma, core, wind, v1)
    trial[:] = pos + dt * v1
    velocities(trial, gamma, core, wind, v2)
    pos += 0.5 * dt * (v1 + v2)


def impulse(pos, gamma):
    ix = 0.0
    iy = 0.0
    for i in range(len(gamma)):
        ix += gamma[i] * pos[i, 1]
        iy -= gamma[i] * pos[i, 0]
    return ix, iy


def program(pos0, gamma, core, wind, dt, steps, drifters):
    pos = pos0.copy()
    v1 = np.zeros_like(pos)
    v2 = np.zeros_like(pos)
    trial = np.zeros_like(pos)
    for _ in range(steps):
        heun(pos, gamma, core, wind, dt, v1, v2, trial)
    ix, iy = impulse(pos, gamma)
    shear = 0.0
    for d in range(drifters.shape[0]):
        su, sv = 0.0, 0.0
        for j in range(len(gamma)):
            u, v = induced(
                drifters[d, 0], drifters[d, 1], pos[j, 0], pos[j, 1], gamma[j], core
            )
            su, sv = su + u, sv + v
        shear += su * su + sv * sv
    return math.hypot(ix, iy) + shear


def inputs(rng):
    return {
        "pos0": rng.normal(size=(5, 2)),
        "gamma": rng.uniform(0.5, 1.5, 5),
        "core": 0.4,
        "wind": np.array([0.3, -0.1]),
        "dt": 0.1,
        "steps": 3,
        "drifters": rng.normal(size=(2, 2)),
    }
