"""Cognitive science: a drift diffusion model's first passage densities."""

import numpy as np


def advance(p, drift, noise, dx, dt, lost):
    """One step of Fokker-Planck with absorbing bounds; probability lost at both."""
    n = p.shape[0]
    q = np.zeros(n)
    d = 0.5 * noise * noise * dt / dx**2
    a = 0.5 * drift * dt / dx
    for i in range(n):
        out_left = (d - a) * p[i]
        out_right = (d + a) * p[i]
        q[i] += p[i] - out_left - out_right
        if i > 0:
            q[i - 1] += out_left
        else:
            lost[0] = out_left
        if i < n - 1:
            q[i + 1] += out_right
        else:
            lost[1] = out_right
    return q


def start_density(n, bias, width):
    p = np.zeros(n)
    for i in range(n):
        x = (i + 0.5) / n
        p[i] = np.exp(-0.5 * ((x - bias) / width) ** 2)
    return p / p.sum()


def passage_densities(drift, noise, bias, n, dt, steps):
    p = start_density(n, bias, 0.1)
    out = np.zeros((steps, 2))
    lost = np.zeros(2)
    for t in range(steps):
        p = advance(p, drift, noise, 1.0 / n, dt, lost)
        out[t] = lost / dt
    return out


def program(times, choices, coherence, gain, noise, bias, delay, dt=0.02):
    nll = 0.0
    for k in range(len(times)):
        dens = passage_densities(gain * coherence[k], noise, bias, 6, dt, 12)
        pos = (times[k] - delay) / dt
        i = int(pos)
        if i < 0 or i > 10:
            nll += 10.0
            continue
        f = pos - i
        value = (1 - f) * dens[i, choices[k]] + f * dens[i + 1, choices[k]]
        nll -= np.log(0.99 * value + 0.01)
    return nll


def inputs(rng):
    return {
        "times": np.array([0.253, 0.311, 0.287, 0.369]),
        "choices": np.array([0, 1, 1, 0]),
        "coherence": np.array([-0.2, 0.5, 0.3, 0.1]),
        "gain": 2.0,
        "noise": 0.9,
        "bias": 0.55,
        "delay": 0.2 + 0.001 * rng.random(),
    }
