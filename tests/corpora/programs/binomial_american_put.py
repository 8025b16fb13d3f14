"""Finance: an American put on a Cox-Ross-Rubinstein tree, rolled back in place."""

import math

import numpy as np


def tree_parameters(sigma, r, dt):
    u = math.exp(sigma * math.sqrt(dt))
    d = 1.0 / u
    p = (math.exp(r * dt) - d) / (u - d)
    disc = math.exp(-r * dt)
    return u, d, p, disc


def payoff(s, k):
    return max(k - s, 0.0)


def terminal_values(s0, k, u, d, n):
    values = np.zeros(n + 1)
    for j in range(n + 1):
        values[j] = payoff(s0 * u**j * d ** (n - j), k)
    return values


def roll_back(values, s0, k, u, d, p, disc, n):
    for i in range(n - 1, -1, -1):
        for j in range(i + 1):
            cont = disc * (p * values[j + 1] + (1.0 - p) * values[j])
            exercise = payoff(s0 * u**j * d ** (i - j), k)
            if exercise > cont:
                values[j] = exercise
            else:
                values[j] = cont


def price(s0, k, sigma, r, t, n):
    dt = t / n
    u, d, p, disc = tree_parameters(sigma, r, dt)
    values = terminal_values(s0, k, u, d, n)
    roll_back(values, s0, k, u, d, p, disc, n)
    return values[0]


def program(spots, k, sigma, r, t, n):
    """The value of a book of puts on several stocks."""
    book = 0.0
    for i in range(spots.shape[0]):
        book += price(spots[i], k, sigma, r, t, n)
    return book


def inputs(rng):
    return {
        "spots": np.array([92.3, 101.1, 108.7]) + rng.uniform(0, 0.1, 3),
        "k": 103.37,
        "sigma": 0.27,
        "r": 0.043,
        "t": 0.75,
        "n": 7,
    }
