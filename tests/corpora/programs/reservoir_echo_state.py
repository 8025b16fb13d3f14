"""Machine learning: an echo state network, ridge readout by conjugate gradients."""

import numpy as np


def reservoir(u, W, W_in, leak):
    n = W.shape[0]
    states = np.zeros((len(u), n))
    x = np.zeros(n)
    for t in range(len(u)):
        pre = W @ x + W_in * u[t]
        x = (1.0 - leak) * x + leak * np.tanh(pre)
        states[t] = x
    return states


def ridge_cg(S, y, lam, iters):
    w = np.zeros(S.shape[1])
    r = S.T @ y
    p = r
    rr = r @ r
    for _ in range(iters):
        q = S.T @ (S @ p) + lam * p
        a = rr / (p @ q)
        w = w + a * p
        r = r - a * q
        new = r @ r
        p = r + new / rr * p
        rr = new
    return w


def program(u, y, W, W_in, leak, lam, wash=2):
    S = reservoir(u, W, W_in, leak)
    split = len(u) - 3
    w = ridge_cg(S[wash:split], y[wash:split], lam, 3)
    pred = S[split:] @ w
    return np.sum((pred - y[split:]) ** 2)


def inputs(rng):
    n, T = 4, 10
    return {
        "u": rng.normal(size=T),
        "y": rng.normal(size=T),
        "W": 0.4 * rng.normal(size=(n, n)),
        "W_in": rng.normal(size=n),
        "leak": 0.6,
        "lam": 0.2,
    }
