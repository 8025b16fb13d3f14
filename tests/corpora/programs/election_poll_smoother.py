"""Political science: a random walk of support with house effects."""

import numpy as np


def logit_inverse(x):
    return 1.0 / (1.0 + np.exp(-x))


def centre(effects):
    return effects - np.mean(effects)


def filter_forward(polls, size, houses, effects, sigma, start, p0):
    days = polls.shape[0]
    means = np.zeros(days)
    variances = np.zeros(days)
    m, p = start, p0
    loglik = 0.0
    for d in range(days):
        p = p + sigma * sigma
        for k in range(polls.shape[1]):
            if np.isnan(polls[d, k]):
                continue
            share = logit_inverse(m)
            r = 1.0 / (size[d, k] * share * (1.0 - share))
            y = np.log(polls[d, k] / (1.0 - polls[d, k])) - effects[houses[k]]
            s = p + r
            gain = p / s
            e = y - m
            loglik -= 0.5 * (np.log(2 * np.pi * s) + e * e / s)
            m = m + gain * e
            p = (1.0 - gain) * p
        means[d], variances[d] = m, p
    return means, variances, loglik


def smooth_backward(means, variances, sigma):
    out = means.copy()
    for d in range(len(means) - 2, -1, -1):
        g = variances[d] / (variances[d] + sigma * sigma)
        out[d] = means[d] + g * (out[d + 1] - means[d])
    return out


def program(polls, size, houses, effects, sigma, start, p0=0.5):
    means, variances, loglik = filter_forward(
        polls, size, houses, centre(effects), sigma, start, p0
    )
    path = smooth_backward(means, variances, sigma)
    wiggle = 0.0
    for d in range(1, len(path)):
        wiggle += (path[d] - path[d - 1]) ** 2
    return -loglik + wiggle


def inputs(rng):
    polls = rng.uniform(0.4, 0.6, (6, 3))
    polls[0, 1] = np.nan
    polls[2, :] = np.nan
    polls[4, 0] = np.nan
    return {
        "polls": polls,
        "size": rng.uniform(500.0, 1500.0, (6, 3)),
        "houses": np.array([0, 1, 1]),
        "effects": rng.normal(0, 0.05, 2),
        "sigma": 0.05,
        "start": 0.1,
    }
