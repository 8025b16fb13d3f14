"""Deep learning: causal multi-head attention and layer norm in loops, cross entropy."""

import math

import numpy as np


def layer_norm(x, gain, bias, eps=1e-5):
    T, D = x.shape
    y = np.zeros((T, D))
    for t in range(T):
        mu = 0.0
        for d in range(D):
            mu += x[t, d]
        mu /= D
        var = 0.0
        for d in range(D):
            var += (x[t, d] - mu) ** 2
        inv = 1.0 / math.sqrt(var / D + eps)
        for d in range(D):
            y[t, d] = gain[d] * (x[t, d] - mu) * inv + bias[d]
    return y


def attend(q, k, v, t, lo, hi, out):
    """One head of one query: columns lo to hi, positions up to t."""
    scores = np.zeros(t + 1)
    top = -1e30
    for s in range(t + 1):
        for d in range(lo, hi):
            scores[s] += q[t, d] * k[s, d]
        scores[s] /= math.sqrt(hi - lo)
        top = max(top, scores[s])
    z = 0.0
    for s in range(t + 1):
        scores[s] = math.exp(scores[s] - top)
        z += scores[s]
    for s in range(t + 1):
        for d in range(lo, hi):
            out[t, d] += scores[s] / z * v[s, d]


def block(x, Wq, Wk, Wv, Wo, gain, bias, heads):
    T, D = x.shape
    h = layer_norm(x, gain, bias)
    q, k, v = h @ Wq, h @ Wk, h @ Wv
    mixed = np.zeros((T, D))
    size = D // heads
    for head in range(heads):
        for t in range(T):
            attend(q, k, v, t, head * size, (head + 1) * size, mixed)
    return x + mixed @ Wo


def program(tokens, embed, Wq, Wk, Wv, Wo, gain, bias, heads=2):
    T = len(tokens) - 1
    D = embed.shape[1]
    x = np.zeros((T, D))
    for t in range(T):
        x[t] = embed[tokens[t]]
    x = block(x, Wq, Wk, Wv, Wo, gain, bias, heads)
    loss = 0.0
    for t in range(T):
        z = 0.0
        logit = 0.0
        for w in range(embed.shape[0]):
            s = np.dot(x[t], embed[w])
            z += np.exp(s)
            if w == tokens[t + 1]:
                logit = s
        loss += np.log(z) - logit
    return loss / T


def inputs(rng):
    D = 4
    args = {"tokens": np.array([2, 0, 3, 3, 1]), "embed": 0.7 * rng.normal(size=(4, D))}
    for name in ("Wq", "Wk", "Wv", "Wo"):
        args[name] = 0.5 * rng.normal(size=(D, D))
    args["gain"] = rng.uniform(0.8, 1.2, D)
    args["bias"] = 0.1 * rng.normal(size=D)
    return args
