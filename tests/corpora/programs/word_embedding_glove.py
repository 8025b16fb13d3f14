"""Natural language: GloVe factors with a hand-written AdaGrad pass, weighted loss."""

import numpy as np

X_MAX = 10.0


def weight(x, alpha):
    return (x / X_MAX) ** alpha if x < X_MAX else 1.0


def pair_error(W, C, bw, bc, i, j, x):
    return W[i] @ C[j] + bw[i] + bc[j] - np.log(x)


def adagrad_pass(W, C, bw, bc, rows, cols, counts, alpha, lr):
    gW = np.ones_like(W)
    gC = np.ones_like(C)
    for k in range(len(counts)):
        i, j = rows[k], cols[k]
        e = weight(counts[k], alpha) * pair_error(W, C, bw, bc, i, j, counts[k])
        for d in range(W.shape[1]):
            dw = e * C[j, d]
            dc = e * W[i, d]
            W[i, d] -= lr * dw / np.sqrt(gW[i, d])
            C[j, d] -= lr * dc / np.sqrt(gC[j, d])
            gW[i, d] += dw * dw
            gC[j, d] += dc * dc
        bw[i] -= lr * e
        bc[j] -= lr * e


def total_loss(W, C, bw, bc, rows, cols, counts, alpha):
    J = 0.0
    for k in range(len(counts)):
        e = pair_error(W, C, bw, bc, rows[k], cols[k], counts[k])
        J += 0.5 * weight(counts[k], alpha) * e * e
    return J


def program(W0, C0, rows, cols, counts, alpha, lr, passes=2):
    W = W0.copy()
    C = C0.copy()
    bw = np.zeros(W.shape[0])
    bc = np.zeros(C.shape[0])
    for _ in range(passes):
        adagrad_pass(W, C, bw, bc, rows, cols, counts, alpha, lr)
    return total_loss(W, C, bw, bc, rows, cols, counts, alpha)


def inputs(rng):
    return {
        "W0": 0.5 * rng.normal(size=(4, 2)),
        "C0": 0.5 * rng.normal(size=(4, 2)),
        "rows": np.array([0, 1, 2, 3, 1, 0]),
        "cols": np.array([1, 0, 3, 2, 2, 3]),
        "counts": np.array([3.0, 12.0, 1.5, 7.0, 22.0, 2.0]),
        "alpha": 0.75,
        "lr": 0.1,
    }
