"""Statistics: EM steps of a Gaussian mixture, then the log likelihood of held data."""

import numpy as np

LOG2PI = np.log(2 * np.pi)


def log_density(x, mu, var):
    return -0.5 * (LOG2PI + np.log(var) + (x - mu) ** 2 / var)


def e_step(x, w, mu, var):
    n, k = len(x), len(w)
    logp = np.zeros((n, k))
    for j in range(k):
        logp[:, j] = np.log(w[j]) + log_density(x, mu[j], var[j])
    top = np.max(logp, axis=1, keepdims=True)
    p = np.exp(logp - top)
    s = np.sum(p, axis=1, keepdims=True)
    ll = np.sum(np.log(s) + top)
    return p / s, ll


def m_step(x, r):
    nk = r.sum(axis=0)
    k = len(nk)
    mu = np.zeros(k)
    var = np.zeros(k)
    for j in range(k):
        mu[j] = np.sum(r[:, j] * x) / nk[j]
        var[j] = np.sum(r[:, j] * (x - mu[j]) ** 2) / nk[j] + 1e-3
    return nk / len(x), mu, var


def program(x, held, w0, mu0, var0, iters=2):
    w, mu, var = w0, mu0, var0
    for _ in range(iters):
        r, ll = e_step(x, w, mu, var)
        w, mu, var = m_step(x, r)
    _, score = e_step(held, w, mu, var)
    return -score


def inputs(rng):
    return {
        "x": np.concatenate([rng.normal(-1, 0.6, 5), rng.normal(1.5, 0.8, 5)]),
        "held": rng.normal(size=4),
        "w0": np.array([0.4, 0.6]),
        "mu0": np.array([-0.7, 0.9]),
        "var0": np.array([1.0, 0.8]),
    }
