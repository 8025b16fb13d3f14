"""Nonlinear dynamics: Kuramoto oscillators with adaptive coupling."""

import math

import numpy as np


def order_parameter(theta):
    c = 0.0
    s = 0.0
    for a in theta:
        c += math.cos(a)
        s += math.sin(a)
    n = len(theta)
    return math.sqrt(c * c + s * s) / n, math.atan2(s, c)


def phase_rates(theta, omega, K, out):
    n = len(theta)
    for i in range(n):
        acc = 0.0
        for j in range(n):
            acc += K[i, j] * math.sin(theta[j] - theta[i])
        out[i] = omega[i] + acc / n


def adapt(K, theta, eps, dt):
    for i in range(K.shape[0]):
        for j in range(K.shape[1]):
            K[i, j] += dt * eps * (math.cos(theta[j] - theta[i]) - K[i, j])


def program(theta0, omega, K0, eps, dt, steps):
    theta = theta0.copy()
    K = K0.copy()
    f1 = np.empty_like(theta)
    f2 = np.empty_like(theta)
    history = np.zeros(steps)
    for t in range(steps):
        phase_rates(theta, omega, K, f1)
        phase_rates(theta + dt * f1, omega, K, f2)
        for i in range(len(theta)):
            theta[i] += 0.5 * dt * (f1[i] + f2[i])
        adapt(K, theta, eps, dt)
        r, psi = order_parameter(theta)
        history[t] = r * math.cos(psi)
    return np.mean(history) + 0.1 * np.std(history)


def inputs(rng):
    n = 4
    return {
        "theta0": rng.uniform(-1, 1, n),
        "omega": rng.normal(size=n),
        "K0": rng.uniform(0, 1, (n, n)),
        "eps": 0.5,
        "dt": 0.1,
        "steps": 4,
    }
