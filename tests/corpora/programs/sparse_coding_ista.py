"""Signal processing: unrolled ISTA with learned steps, reconstruction of patches."""

import numpy as np


def soft(z, t):
    return np.sign(z) * np.maximum(np.abs(z) - t, 0.0)


def ista(x, D, steps, thresholds):
    code = np.zeros(D.shape[1])
    for k in range(len(steps)):
        residual = x - D @ code
        code = soft(code + steps[k] * (D.T @ residual), thresholds[k])
    return code


def column_norms(D):
    n = np.zeros(D.shape[1])
    for j in range(D.shape[1]):
        n[j] = np.sqrt(np.sum(D[:, j] ** 2))
    return n


def program(patches, D, steps, thresholds, l1=0.05):
    D = D / column_norms(D)
    loss = 0.0
    for p in range(patches.shape[0]):
        code = ista(patches[p], D, steps, thresholds)
        r = patches[p] - D @ code
        loss += 0.5 * (r @ r)
        for c in code:
            loss += l1 * np.sqrt(c * c + 1e-6)
    return loss / patches.shape[0]


def inputs(rng):
    return {
        "patches": rng.normal(size=(2, 4)),
        "D": rng.normal(size=(4, 5)),
        "steps": np.array([0.3, 0.25, 0.2]),
        "thresholds": np.array([0.05, 0.04, 0.03]),
    }
