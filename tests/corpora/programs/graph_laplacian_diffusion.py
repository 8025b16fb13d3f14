"""Graphs: label diffusion over an edge list with normalised weights and clamping."""

import numpy as np


def degrees(src, dst, w, n):
    d = np.zeros(n)
    for e in range(len(src)):
        d[src[e]] += w[e]
        d[dst[e]] += w[e]
    return d


def laplacian_apply(f, src, dst, w, d):
    out = np.zeros_like(f)
    for e in range(len(src)):
        i, j = src[e], dst[e]
        s = w[e] / np.sqrt(d[i] * d[j])
        out[i] += s * f[j]
        out[j] += s * f[i]
    return out


def diffuse(f0, src, dst, w, alpha, iterations):
    d = degrees(src, dst, w, len(f0))
    f = f0.copy()
    for _ in range(iterations):
        f = alpha * laplacian_apply(f, src, dst, w, d) + (1 - alpha) * f0
    return f


def program(seeds, features, src, dst, alpha, labels, mask):
    w = np.zeros(len(src))
    for e in range(len(src)):
        diff = features[src[e]] - features[dst[e]]
        w[e] = np.exp(-np.sum(diff * diff))
    f = diffuse(seeds, src, dst, w, alpha, 4)
    loss = 0.0
    count = 0
    for i in range(len(f)):
        if not mask[i]:
            continue
        loss += (f[i] - labels[i]) ** 2
        count += 1
    return loss / count


def inputs(rng):
    return {
        "seeds": rng.normal(size=6),
        "features": rng.normal(0, 0.6, (6, 2)),
        "src": np.array([0, 0, 1, 2, 3, 4, 1]),
        "dst": np.array([1, 2, 3, 3, 4, 5, 5]),
        "alpha": 0.7,
        "labels": rng.normal(size=6),
        "mask": np.array([True, False, True, True, False, True]),
    }
