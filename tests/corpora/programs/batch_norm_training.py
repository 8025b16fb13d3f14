"""Deep learning: batch normalisation with running statistics and momentum."""

import numpy as np


def batch_statistics(x):
    n, d = x.shape
    mean = np.zeros(d)
    var = np.zeros(d)
    for j in range(d):
        for i in range(n):
            mean[j] += x[i, j] / n
        for i in range(n):
            var[j] += (x[i, j] - mean[j]) ** 2 / n
    return mean, var


def normalise(x, mean, var, gamma, beta, eps=1e-3):
    return gamma * (x - mean) / np.sqrt(var + eps) + beta


def update_running(running_mean, running_var, mean, var, momentum):
    running_mean *= momentum
    running_mean += (1 - momentum) * mean
    running_var *= momentum
    running_var += (1 - momentum) * var


def program(batches, test, gamma, beta, W, momentum=0.8):
    d = gamma.shape[0]
    rm = np.zeros(d)
    rv = np.ones(d)
    loss = 0.0
    for k in range(batches.shape[0]):
        x = batches[k] @ W
        mean, var = batch_statistics(x)
        y = normalise(x, mean, var, gamma, beta)
        update_running(rm, rv, mean, var, momentum)
        loss += np.mean(np.maximum(y, 0.1 * y) ** 2)
    out = normalise(test @ W, rm, rv, gamma, beta)
    return loss + np.sum(np.tanh(out))


def inputs(rng):
    return {
        "batches": rng.normal(size=(2, 4, 3)),
        "test": rng.normal(size=(2, 3)),
        "gamma": rng.uniform(0.5, 1.5, 2),
        "beta": rng.normal(size=2),
        "W": rng.normal(size=(3, 2)),
    }
