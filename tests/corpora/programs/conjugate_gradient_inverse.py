"""Inverse problems: deconvolution by conjugate gradients on the normal equations."""

import numpy as np


def forward(x, psf):
    n = len(x)
    k = len(psf)
    y = np.zeros(n)
    for i in range(n):
        for j in range(k):
            y[i] += psf[j] * x[(i - j) % n]
    return y


def adjoint(y, psf):
    n = len(y)
    x = np.zeros(n)
    for i in range(n):
        for j in range(len(psf)):
            x[(i - j) % n] += psf[j] * y[i]
    return x


def dot(a, b):
    s = 0.0
    for i in range(len(a)):
        s += a[i] * b[i]
    return s


def normal_operator(x, psf, lam):
    return adjoint(forward(x, psf), psf) + lam * x


def cg(b, psf, lam, iters):
    x = np.zeros_like(b)
    r = b.copy()
    p = r.copy()
    rs = dot(r, r)
    for _ in range(iters):
        Ap = normal_operator(p, psf, lam)
        alpha = rs / dot(p, Ap)
        x = x + alpha * p
        r = r - alpha * Ap
        rs_new = dot(r, r)
        p = r + (rs_new / rs) * p
        rs = rs_new
    return x


def program(blurred, truth, psf, lam, iters=4):
    x = cg(adjoint(blurred, psf), psf, lam, iters)
    e = x - truth
    return 0.5 * dot(e, e)


def inputs(rng):
    truth = rng.uniform(0, 1, 8)
    return {
        "blurred": truth + 0.1 * rng.normal(size=8),
        "truth": truth,
        "psf": np.array([0.6, 0.3, 0.1]),
        "lam": 0.1,
    }
