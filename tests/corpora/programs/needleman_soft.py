"""Bioinformatics: soft global alignment with affine gaps, three tables in log space."""

import numpy as np

LOW = -1e12


def lse3(a, b, c):
    m = max(a, max(b, c))
    return m + np.log(np.exp(a - m) + np.exp(b - m) + np.exp(c - m))


def borders(M, X, Y, go, ge):
    for i in range(1, M.shape[0]):
        M[i, 0] = LOW
        Y[i, 0] = LOW
        X[i, 0] = go + (i - 1) * ge
    for j in range(1, M.shape[1]):
        M[0, j] = LOW
        X[0, j] = LOW
        Y[0, j] = go + (j - 1) * ge
    X[0, 0] = LOW
    Y[0, 0] = LOW


def align(a, b, score, go, ge):
    n, m = len(a), len(b)
    M = np.zeros((n + 1, m + 1))
    X = np.zeros((n + 1, m + 1))
    Y = np.zeros((n + 1, m + 1))
    borders(M, X, Y, go, ge)
    for i in range(1, n + 1):
        for j in range(1, m + 1):
            s = score[a[i - 1], b[j - 1]]
            M[i, j] = s + lse3(M[i - 1, j - 1], X[i - 1, j - 1], Y[i - 1, j - 1])
            X[i, j] = lse3(M[i - 1, j] + go, X[i - 1, j] + ge, LOW)
            Y[i, j] = lse3(M[i, j - 1] + go, Y[i, j - 1] + ge, LOW)
    return lse3(M[n, m], X[n, m], Y[n, m])


def program(score, gap_open, gap_extend, seqs, lengths, reference):
    """How much better each sequence aligns to itself than to the reference."""
    loss = 0.0
    for k in range(seqs.shape[0]):
        a = seqs[k, : lengths[k]]
        own = align(a, a, score, gap_open, gap_extend)
        other = align(a, reference, score, gap_open, gap_extend)
        loss += np.log1p(np.exp(other - own))
    return loss


def inputs(rng):
    return {
        "score": rng.normal(size=(4, 4)) + 1.5 * np.eye(4),
        "gap_open": -1.2,
        "gap_extend": -0.4,
        "seqs": rng.integers(0, 4, (2, 4)),
        "lengths": np.array([3, 4]),
        "reference": np.array([0, 2, 1]),
    }
