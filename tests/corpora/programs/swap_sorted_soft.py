"""Ranking: a differentiable bitonic network, swaps in place, a top-k loss."""

import numpy as np


def relaxed_swap(x, i, j, tau):
    d = x[j] - x[i]
    p = 1.0 / (1.0 + np.exp(-d / tau))
    low = p * x[i] + (1.0 - p) * x[j]
    high = (1.0 - p) * x[i] + p * x[j]
    x[i], x[j] = low, high


def odd_even_pass(x, first, tau):
    i = first
    while i + 1 < len(x):
        relaxed_swap(x, i, i + 1, tau)
        i += 2


def soft_sort(x, tau):
    y = x.copy()
    for k in range(len(y)):
        odd_even_pass(y, k % 2, tau)
    return y


def hard_sort_gap(x):
    """Insertion sort, for a penalty on close neighbours."""
    y = x.copy()
    for i in range(1, len(y)):
        key = y[i]
        j = i - 1
        while j >= 0 and y[j] > key:
            y[j + 1] = y[j]
            j -= 1
        y[j + 1] = key
    gap = 0.0
    for i in range(len(y) - 1):
        gap += np.exp(-(y[i + 1] - y[i]))
    return gap


def program(scores, tau, k=2):
    y = soft_sort(scores, tau)
    top = 0.0
    for i in range(len(y) - k, len(y)):
        top += y[i]
    return hard_sort_gap(scores) - top


def inputs(rng):
    return {"scores": np.array([0.3, -1.2, 0.9, 0.1, 1.7, -0.4]), "tau": 0.5}
