"""Signal processing: particle weights of a stochastic volatility model, given noise."""

import numpy as np


def propagate(h, mu, phi, sigma, eps):
    return mu + phi * (h - mu) + sigma * eps


def log_obs(y, h):
    return -0.5 * (np.log(2 * np.pi) + h + y**2 * np.exp(-h))


def logsumexp(a):
    top = np.max(a)
    return top + np.log(np.sum(np.exp(a - top)))


def program(y, mu, phi, sigma, noise):
    """Log likelihood of sequential importance sampling without resampling."""
    T, N = noise.shape
    particles = np.full(N, mu)
    logw = np.full(N, -np.log(N))
    loglik = 0.0
    for t in range(T):
        particles = propagate(particles, mu, phi, sigma, noise[t])
        logw = logw + log_obs(y[t], particles)
        norm = logsumexp(logw)
        loglik += norm
        logw = logw - norm
        ess = 1.0 / np.sum(np.exp(2 * logw))
        if ess < 0.3 * N:
            # temper instead of resampling, which is not smooth
            logw = 0.5 * logw
            logw = logw - logsumexp(logw)
    return loglik


def inputs(rng):
    return {
        "y": rng.normal(size=6),
        "mu": -0.3,
        "phi": 0.9,
        "sigma": 0.3,
        "noise": rng.normal(size=(6, 5)),
    }
