"""Heat conduction: double-buffered explicit steps, loss on a final profile."""

import numpy as np


def diffuse(src, dst, alpha, dx, dt):
    n = src.shape[0]
    r = alpha * dt / dx**2
    dst[0] = src[0]
    dst[n - 1] = src[n - 1]
    for i in range(1, n - 1):
        dst[i] = src[i] + r * (src[i - 1] - 2 * src[i] + src[i + 1])


def simulate(T0, alpha, dx, dt, nsteps):
    T = T0.copy()
    Tnew = np.empty_like(T)
    for _ in range(nsteps):
        diffuse(T, Tnew, alpha, dx, dt)
        T, Tnew = Tnew, T
    return T


def program(T0, alpha, measured, dx, dt, nsteps):
    T = simulate(T0, alpha, dx, dt, nsteps)
    misfit = 0.0
    for i in range(len(measured)):
        misfit += 0.5 * (T[i] - measured[i]) ** 2
    return misfit


def inputs(rng):
    n = 9
    return dict(
        T0=rng.uniform(10.0, 20.0, n),
        alpha=0.8,
        measured=rng.uniform(10.0, 20.0, n),
        dx=0.5,
        dt=0.1,
        nsteps=5,
    )
