"""Chemistry: A -> B <-> C kinetics by RK4, the misfit to measured concentrations."""

import numpy as np


def rates(c, k):
    r1 = k[0] * c[0]
    r2 = k[1] * c[1] * c[2]
    r3 = k[2] * c[1] ** 2
    return r1, r2, r3


def rhs(c, k, out):
    r1, r2, r3 = rates(c, k)
    out[0] = -r1 + r2
    out[1] = r1 - r2 - r3
    out[2] = r3


def rk4(c, k, h, n_steps):
    k1 = np.zeros_like(c)
    k2 = np.zeros_like(c)
    k3 = np.zeros_like(c)
    k4 = np.zeros_like(c)
    for _ in range(n_steps):
        rhs(c, k, k1)
        rhs(c + 0.5 * h * k1, k, k2)
        rhs(c + 0.5 * h * k2, k, k3)
        rhs(c + h * k3, k, k4)
        c += h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)


def program(c0, log_k, times, measured):
    k = np.exp(log_k)
    c = c0.copy()
    sse = 0.0
    t = 0.0
    for i in range(len(times)):
        n_steps = 2
        rk4(c, k, (times[i] - t) / n_steps, n_steps)
        t = times[i]
        for s in range(len(c)):
            sse += (c[s] - measured[i, s]) ** 2
    return sse


def inputs(rng):
    return {
        "c0": np.array([1.0, 0.1, 0.05]),
        "log_k": np.array([-0.5, 0.2, 0.3]),
        "times": np.array([0.3, 0.8, 1.5]),
        "measured": rng.uniform(0, 1, (3, 3)),
    }
