"""Control: a linear regulator with a history of states, Riccati gains backwards."""

import numpy as np


def riccati(A, B, Q, R, n):
    """Gains of a finite horizon, from the end to the start."""
    m = A.shape[0]
    P = Q
    K = np.zeros((n, m))
    for t in range(n - 1, -1, -1):
        PB = P @ B
        s = R + B @ PB
        gain = (A.T @ PB) / s
        K[t] = gain
        P = Q + A.T @ P @ A - s * np.outer(gain, gain)
    return K, P


def rollout(A, B, K, x0, noise):
    n = len(K)
    xs = np.zeros((n + 1, len(x0)))
    us = np.zeros(n)
    xs[0] = x0
    for t in range(n):
        us[t] = -(K[t] @ xs[t])
        xs[t + 1] = A @ xs[t] + B * us[t] + noise[t]
    return xs, us


def quadratic(x, Q):
    return x @ (Q @ x)


def program(A, B, Q, R, x0, noise):
    K, P = riccati(A, B, Q, R, len(noise))
    xs, us = rollout(A, B, K, x0, noise)
    cost = quadratic(xs[-1], Q)
    for t in range(len(us)):
        cost += quadratic(xs[t], Q) + R * us[t] ** 2
    return cost - quadratic(x0, P)


def inputs(rng):
    return {
        "A": np.array([[1.0, 0.1], [0.05, 0.95]]),
        "B": np.array([0.02, 0.1]),
        "Q": np.array([[1.0, 0.1], [0.1, 0.5]]),
        "R": 0.1,
        "x0": rng.normal(size=2),
        "noise": 0.05 * rng.normal(size=(5, 2)),
    }
