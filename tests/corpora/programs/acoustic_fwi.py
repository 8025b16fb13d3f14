"""Seismology: acoustic waveform inversion in 2-D, a sponge and ping-pong buffers."""

import numpy as np


def ricker(t, f0):
    a = (np.pi * f0 * (t - 1.2 / f0)) ** 2
    return (1.0 - 2.0 * a) * np.exp(-a)


def damping(nz, nx, width, strength):
    d = np.ones((nz, nx))
    for i in range(nz):
        for j in range(nx):
            edge = min(min(i, nz - 1 - i), min(j, nx - 1 - j))
            if edge < width:
                k = (width - edge) / width
                d[i, j] = np.exp(-strength * k * k)
    return d


def advance(prev, cur, vel2, damp, r2):
    """prev is overwritten with the next field."""
    nz, nx = cur.shape
    for i in range(1, nz - 1):
        for j in range(1, nx - 1):
            lap = cur[i + 1, j] + cur[i - 1, j] + cur[i, j + 1] + cur[i, j - 1]
            lap -= 4.0 * cur[i, j]
            prev[i, j] = 2.0 * cur[i, j] - prev[i, j] + r2 * vel2[i, j] * lap
            prev[i, j] *= damp[i, j]


def shot(vel, sx, rz, nt, dt, dx, f0):
    nz, nx = vel.shape
    bufs = np.zeros((2, nz, nx))
    damp = damping(nz, nx, 2, 0.1)
    vel2 = vel**2
    seis = np.zeros((nt, nx))
    for it in range(nt):
        cur = it % 2
        bufs[cur, 1, sx] += dt * dt * ricker(it * dt, f0)
        advance(bufs[1 - cur], bufs[cur], vel2, damp, (dt / dx) ** 2)
        seis[it] = bufs[1 - cur, rz]
    return seis


def program(vel, observed, sources, rz, dt, dx, f0):
    misfit = 0.0
    for s in range(len(sources)):
        seis = shot(vel, sources[s], rz, observed.shape[1], dt, dx, f0)
        resid = 1e3 * (seis - observed[s])
        misfit += 0.5 * np.sum(resid**2)
    return misfit


def inputs(rng):
    return {
        "vel": rng.uniform(1.5, 2.5, (6, 7)),
        "observed": 1e-3 * rng.normal(size=(2, 8, 7)),
        "sources": np.array([2, 4]),
        "rz": 2,
        "dt": 0.1,
        "dx": 0.5,
        "f0": 2.0,
    }
