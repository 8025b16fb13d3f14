"""Neuroscience: leaky neurons with surrogate spikes, delays in a ring, rate targets."""

import numpy as np


def surrogate(v, threshold, steep):
    return 1.0 / (1.0 + np.exp(-steep * (v - threshold)))


def synaptic_input(history, weights, delays, t):
    n = weights.shape[0]
    depth = history.shape[0]
    total = np.zeros(n)
    for post in range(n):
        for pre in range(n):
            when = t - delays[post, pre]
            if when >= 0:
                total[post] += weights[post, pre] * history[when % depth, pre]
    return total


def program(weights, delays, drive, targets, tau, threshold, steps):
    n = weights.shape[0]
    depth = int(delays.max()) + 1
    history = np.zeros((depth, n))
    v = np.zeros(n)
    rate = np.zeros(n)
    decay = np.exp(-1.0 / tau)
    for t in range(steps):
        current = synaptic_input(history, weights, delays, t)
        for i in range(n):
            v[i] = decay * v[i] + (1.0 - decay) * (drive[i] + current[i])
            s = surrogate(v[i], threshold, 5.0)
            history[t % depth, i] = s
            v[i] -= threshold * s
            rate[i] += s / steps
    loss = 0.0
    for i in range(n):
        loss += (rate[i] - targets[i]) ** 2
    return loss


def inputs(rng):
    n = 4
    return {
        "weights": rng.normal(size=(n, n)),
        "delays": rng.integers(1, 4, (n, n)),
        "drive": rng.uniform(0.5, 2.0, n),
        "targets": rng.uniform(0.1, 0.5, n),
        "tau": 3.0,
        "threshold": 0.7,
        "steps": 7,
    }
