"""Speech recognition: the CTC loss in log space over blanks and repeats."""

import numpy as np

NEG = -1e30


def log_add(a, b):
    if a < b:
        a, b = b, a
    if b <= NEG:
        return a
    return a + np.log1p(np.exp(b - a))


def log_softmax(logits):
    T, K = logits.shape
    out = np.empty_like(logits)
    for t in range(T):
        m = np.max(logits[t])
        z = np.sum(np.exp(logits[t] - m))
        for k in range(K):
            out[t, k] = logits[t, k] - m - np.log(z)
    return out


def extended_labels(labels, blank=0):
    ext = np.full(2 * len(labels) + 1, blank, dtype=np.int64)
    for i in range(len(labels)):
        ext[2 * i + 1] = labels[i]
    return ext


def ctc(logp, labels):
    ext = extended_labels(labels)
    S = len(ext)
    T = logp.shape[0]
    alpha = np.full((T, S), NEG)
    alpha[0, 0] = logp[0, ext[0]]
    alpha[0, 1] = logp[0, ext[1]]
    for t in range(1, T):
        for s in range(S):
            a = alpha[t - 1, s]
            if s > 0:
                a = log_add(a, alpha[t - 1, s - 1])
            if s > 1 and ext[s] != 0 and ext[s] != ext[s - 2]:
                a = log_add(a, alpha[t - 1, s - 2])
            if a > NEG:
                alpha[t, s] = a + logp[t, ext[s]]
    return -log_add(alpha[T - 1, S - 1], alpha[T - 1, S - 2])


def program(logits, labels):
    return ctc(log_softmax(logits), labels)


def inputs(rng):
    return {"logits": rng.normal(size=(7, 4)), "labels": np.array([2, 1, 1])}
