"""Genetics: a substitution model along a branch, expm by scaling and squaring."""

import numpy as np


def rate_matrix(kappa, pi):
    Q = np.zeros((4, 4))
    for i in range(4):
        for j in range(4):
            if i == j:
                continue
            transition = (i + j) % 2 == 0
            Q[i, j] = pi[j] * (kappa if transition else 1.0)
        Q[i, i] = -np.sum(Q[i])
    mean = 0.0
    for i in range(4):
        mean -= pi[i] * Q[i, i]
    return Q / mean


def expm(A, squarings=4, terms=6):
    n = A.shape[0]
    B = A / 2.0**squarings
    E = np.eye(n)
    T = np.eye(n)
    for k in range(1, terms + 1):
        T = T @ B / k
        E = E + T
    for _ in range(squarings):
        E = E @ E
    return E


def leaf(state):
    v = np.zeros(4)
    if state < 0:
        v[:] = 1.0  # a gap in the alignment
    else:
        v[state] = 1.0
    return v


def program(lengths, log_kappa, logits, left, right, out):
    """Log likelihood of a tree ((left, right), out) at independent sites."""
    pi = np.exp(logits) / np.sum(np.exp(logits))
    Q = rate_matrix(np.exp(log_kappa), pi)
    P0 = expm(Q * lengths[0])
    P1 = expm(Q * lengths[1])
    P2 = expm(Q * lengths[2])
    total = 0.0
    for s in range(len(left)):
        inner = (P0 @ leaf(left[s])) * (P1 @ leaf(right[s]))
        root = inner * (P2 @ leaf(out[s]))
        total += np.log(np.dot(pi, root))
    return total


def inputs(rng):
    return {
        "lengths": rng.uniform(0.1, 0.5, 3),
        "log_kappa": 0.7,
        "logits": 0.3 * rng.normal(size=4),
        "left": np.array([0, 1, 2, -1, 3]),
        "right": np.array([0, 3, 2, 1, 3]),
        "out": np.array([0, 1, -1, 1, 2]),
    }
