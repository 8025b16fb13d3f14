"""Image processing: gradient descent on smoothed total variation, the final error."""

import numpy as np


def grad_x(u):
    g = np.zeros_like(u)
    g[:, :-1] = u[:, 1:] - u[:, :-1]
    return g


def grad_y(u):
    g = np.zeros_like(u)
    g[:-1, :] = u[1:, :] - u[:-1, :]
    return g


def divergence(px, py):
    d = np.zeros_like(px)
    d[:, 0] = px[:, 0]
    d[:, 1:] = px[:, 1:] - px[:, :-1]
    e = np.zeros_like(py)
    e[0, :] = py[0, :]
    e[1:, :] = py[1:, :] - py[:-1, :]
    return d + e


def tv_gradient(u, eps):
    gx = grad_x(u)
    gy = grad_y(u)
    norm = np.sqrt(gx * gx + gy * gy + eps * eps)
    return -divergence(gx / norm, gy / norm)


def denoise(noisy, lam, eps, rate, iterations):
    u = noisy.copy()
    for _ in range(iterations):
        u -= rate * (u - noisy + lam * tv_gradient(u, eps))
    return u


def program(noisy, clean, lam, eps, rate, iterations):
    u = denoise(noisy, lam, eps, rate, iterations)
    return np.mean((u - clean) ** 2)


def inputs(rng):
    clean = rng.uniform(0, 1, (5, 4))
    return {
        "noisy": clean + 0.1 * rng.normal(size=(5, 4)),
        "clean": clean,
        "lam": 0.1,
        "eps": 0.1,
        "rate": 0.2,
        "iterations": 3,
    }
