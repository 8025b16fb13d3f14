"""Statistics: a hidden Markov model, scaled forward algorithm with Gaussian output."""

import math

import numpy as np


def softmax_rows(logits):
    n, m = logits.shape
    out = np.empty_like(logits)
    for i in range(n):
        hi = logits[i, 0]
        for j in range(1, m):
            if logits[i, j] > hi:
                hi = logits[i, j]
        z = 0.0
        for j in range(m):
            out[i, j] = math.exp(logits[i, j] - hi)
            z += out[i, j]
        for j in range(m):
            out[i, j] /= z
    return out


def normal_pdf(x, mu, sd):
    d = (x - mu) / sd
    return math.exp(-0.5 * d * d) / (sd * math.sqrt(2.0 * math.pi))


def forward(obs, trans, pi, mu, sd):
    n = len(pi)
    alpha = np.zeros(n)
    nxt = np.zeros(n)
    loglik = 0.0
    for t in range(len(obs)):
        scale = 0.0
        for j in range(n):
            if t == 0:
                prior = pi[j]
            else:
                prior = 0.0
                for i in range(n):
                    prior += alpha[i] * trans[i, j]
            nxt[j] = prior * normal_pdf(obs[t], mu[j], sd[j])
            scale += nxt[j]
        for j in range(n):
            alpha[j] = nxt[j] / scale
        loglik += math.log(scale)
    return loglik


def program(obs, logits, mu, log_sd):
    trans = softmax_rows(logits)
    n = trans.shape[0]
    pi = np.full(n, 1.0 / n)
    return -forward(obs, trans, pi, mu, np.exp(log_sd))


def inputs(rng):
    return {
        "obs": rng.normal(size=8),
        "logits": rng.normal(size=(3, 3)),
        "mu": np.array([-1.0, 0.2, 1.1]),
        "log_sd": rng.uniform(-0.4, 0.3, 3),
    }
