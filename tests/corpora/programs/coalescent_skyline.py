"""Population genetics: the skyline coalescent likelihood of sampled event times."""

import math

import numpy as np


def choose2(k):
    return 0.5 * k * (k - 1)


def epoch_of(t, breaks):
    k = 0
    while k < len(breaks) and t >= breaks[k]:
        k += 1
    return k


def integral(t0, t1, sizes, breaks):
    """The integral of 1 / N from t0 to t1 for piecewise constant N."""
    total = 0.0
    t = t0
    k = epoch_of(t0, breaks)
    while t < t1:
        end = t1
        if k < len(breaks) and breaks[k] < t1:
            end = breaks[k]
        total += (end - t) / sizes[k]
        t = end
        k += 1
    return total


def smoothing(log_sizes, precision):
    s = 0.0
    for k in range(len(log_sizes) - 1):
        d = log_sizes[k + 1] - log_sizes[k]
        s += 0.5 * precision * d * d
    return s


def program(log_sizes, precision, times, kinds, breaks):
    """`kinds` is 1 for a coalescence and 0 for a new sample."""
    sizes = np.exp(log_sizes)
    lineages = 1
    nll = smoothing(log_sizes, precision)
    last = 0.0
    for i in range(len(times)):
        pairs = choose2(lineages)
        nll += pairs * integral(last, times[i], sizes, breaks)
        if kinds[i] == 1:
            nll -= math.log(pairs / sizes[epoch_of(times[i], breaks)])
            lineages -= 1
        else:
            lineages += 1
        last = times[i]
    return nll


def inputs(rng):
    return {
        "log_sizes": rng.normal(0.5, 0.3, 3),
        "precision": 1.5,
        "times": np.array([0.05, 0.11, 0.3, 0.52, 0.9, 1.4, 2.3]),
        "kinds": np.array([0, 0, 0, 1, 1, 0, 1]),
        "breaks": np.array([0.4, 1.1]),
    }
