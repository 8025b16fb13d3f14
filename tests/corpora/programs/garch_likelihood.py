"""Econometrics: GJR-GARCH(1,1) likelihood with parameters through transforms."""

import math

import numpy as np


def sigmoid(x):
    return 1.0 / (1.0 + math.exp(-x))


def unpack(theta):
    omega = math.exp(theta[0])
    persistence = 0.98 * sigmoid(theta[1])
    share = sigmoid(theta[2])
    alpha = persistence * share
    beta = persistence - alpha
    gamma = 0.1 * math.tanh(theta[3])
    return omega, alpha, beta, gamma


def sample_variance(r):
    mean = 0.0
    for x in r:
        mean += x
    mean /= len(r)
    var = 0.0
    for x in r:
        var += (x - mean) ** 2
    return var / len(r)


def filter_variance(returns, omega, alpha, beta, gamma):
    h = np.empty(len(returns))
    h[0] = sample_variance(returns)
    for t in range(1, len(returns)):
        e = returns[t - 1]
        leverage = gamma if e < 0 else 0.0
        h[t] = omega + (alpha + leverage) * e * e + beta * h[t - 1]
    return h


def program(returns, theta):
    omega, alpha, beta, gamma = unpack(theta)
    h = filter_variance(returns, omega, alpha, beta, gamma)
    nll = 0.0
    for t in range(len(returns)):
        nll += 0.5 * (math.log(2 * math.pi) + math.log(h[t]) + returns[t] ** 2 / h[t])
    return nll


def inputs(rng):
    return {
        "returns": rng.normal(0, 0.8, 10) + 0.05,
        "theta": np.array([-2.0, 1.5, -1.0, 0.3]),
    }
