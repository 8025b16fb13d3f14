"""Statistics: leapfrog of Hamiltonian Monte Carlo on a hierarchical model."""

import numpy as np


def log_posterior(theta, y, sigma):
    mu, log_tau = theta[0], theta[1]
    tau = np.exp(log_tau)
    lp = -0.5 * mu * mu / 25.0 - 0.5 * log_tau * log_tau
    for j in range(len(y)):
        eta = theta[2 + j]
        effect = mu + tau * eta
        lp -= 0.5 * eta * eta + 0.5 * ((y[j] - effect) / sigma[j]) ** 2
    return lp


def gradient(theta, y, sigma, g):
    """By hand, as in old samplers."""
    mu, tau = theta[0], np.exp(theta[1])
    g[0] = -mu / 25.0
    g[1] = -theta[1]
    for j in range(len(y)):
        eta = theta[2 + j]
        r = (y[j] - mu - tau * eta) / sigma[j] ** 2
        g[0] += r
        g[1] += r * tau * eta
        g[2 + j] = -eta + r * tau


def trajectory(theta, p, y, sigma, eps, length):
    g = np.zeros_like(theta)
    gradient(theta, y, sigma, g)
    for i in range(length):
        p += 0.5 * eps * g
        theta += eps * p
        gradient(theta, y, sigma, g)
        p += 0.5 * eps * g


def hamiltonian(theta, p, y, sigma):
    return 0.5 * np.dot(p, p) - log_posterior(theta, y, sigma)


def program(theta0, p0, y, sigma, eps, length):
    theta = theta0.copy()
    p = p0.copy()
    before = hamiltonian(theta, p, y, sigma)
    trajectory(theta, p, y, sigma, eps, length)
    after = hamiltonian(theta, p, y, sigma)
    jump = theta - theta0
    return min(1.0, np.exp(before - after)) * np.sum(jump**2) + (after - before) ** 2


def inputs(rng):
    return {
        "theta0": rng.normal(size=6),
        "p0": rng.normal(size=6),
        "y": np.array([2.8, 0.8, -0.3, 1.8]),
        "sigma": np.array([1.5, 1.0, 1.6, 1.1]),
        "eps": 0.15,
        "length": 4,
    }
