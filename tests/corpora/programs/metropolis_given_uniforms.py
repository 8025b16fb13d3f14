"""Statistics: Metropolis sampling with given proposals."""

import numpy as np


def log_target(x, mean, scale):
    total = 0.0
    for i in range(len(x)):
        z = (x[i] - mean[i]) / scale
        total -= 0.5 * z * z
    total -= 0.1 * x[0] ** 2 * x[1] ** 2
    return total


def propose(x, step, noise):
    y = np.zeros_like(x)
    for i in range(len(x)):
        y[i] = x[i] + step * noise[i]
    return y


def chain(x0, mean, scale, step, noise, log_u):
    x = x0.copy()
    lp = log_target(x, mean, scale)
    total = np.zeros_like(x0)
    accepted = 0
    for t in range(noise.shape[0]):
        y = propose(x, step, noise[t])
        lq = log_target(y, mean, scale)
        if log_u[t] < lq - lp:
            x = y
            lp = lq
            accepted += 1
        total += x
    return total / noise.shape[0], accepted


def program(x0, mean, scale, step, noise, log_u):
    average, accepted = chain(x0, mean, scale, step, noise, log_u)
    return np.sum(average**2) + 0.0 * accepted


def inputs(rng):
    return {
        "x0": np.array([0.5, -0.4]),
        "mean": np.array([0.2, 0.1]),
        "scale": 0.9,
        "step": 0.8,
        "noise": rng.normal(size=(6, 2)),
        "log_u": np.log(rng.uniform(0.2, 0.9, 6)),
    }
