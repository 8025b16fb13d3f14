"""Finance: a one-factor credit portfolio by recursion."""

import math

import numpy as np

NODES = np.linspace(-3.0, 3.0, 7)


def normal_cdf(x):
    return 0.5 * (1.0 + math.erf(x / math.sqrt(2.0)))


def conditional_default(threshold, rho, m):
    return normal_cdf((threshold - math.sqrt(rho) * m) / math.sqrt(1.0 - rho))


def loss_distribution(thresholds, rho, m):
    """The number of defaults, name by name."""
    n = len(thresholds)
    dist = np.zeros(n + 1)
    dist[0] = 1.0
    for k in range(n):
        p = conditional_default(thresholds[k], rho, m)
        for j in range(k + 1, 0, -1):
            dist[j] = dist[j] * (1.0 - p) + dist[j - 1] * p
        dist[0] *= 1.0 - p
    return dist


def tranche_loss(loss, attach, detach):
    return min(max(loss - attach, 0.0), detach - attach) / (detach - attach)


def weights():
    w = np.exp(-0.5 * NODES**2)
    return w / w.sum()


def program(thresholds, rho, recovery, attach, detach, quotes):
    n = len(thresholds)
    w = weights()
    mixed = np.zeros(n + 1)
    for q in range(len(NODES)):
        mixed += w[q] * loss_distribution(thresholds, rho, NODES[q])
    error = 0.0
    for t in range(len(quotes)):
        expected = 0.0
        for k in range(n + 1):
            expected += mixed[k] * tranche_loss(
                k * (1.0 - recovery) / n, attach[t], detach[t]
            )
        error += (expected - quotes[t]) ** 2
    return error


def inputs(rng):
    return {
        "thresholds": rng.uniform(-2.0, -1.0, 5),
        "rho": 0.3,
        "recovery": 0.41,
        "attach": np.array([0.003, 0.071, 0.203]),
        "detach": np.array([0.071, 0.203, 0.577]),
        "quotes": np.array([0.5, 0.3, 0.1]),
    }
