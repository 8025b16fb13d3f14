"""Geophysics: a wave marched in place on skewed rows, int8 codes, nan for gaps."""

import numpy as np


def faces(codes, gain):
    """Impedances of the layers, from codes that go around in eight bits."""
    out = np.empty(codes.shape[0])
    for k in range(codes.shape[0]):
        twice = codes[k] + codes[k]
        out[k] = 1.0 + 0.001 * gain * twice
    return out


def marched(p, z, shape):
    """Each row reads what the row before it has left one place to the right."""
    rows, cols = shape
    for i in range(rows):
        for j in range(1, cols):
            p[i + j, j - 1] += p[i + j, j] * p[i + j, j] * z[i] * 0.1
    return p


def damped(p, q, wet):
    if wet:
        p, q = q.copy(), p.copy()
    for i in range(p.shape[0]):
        for j in range(p.shape[1]):
            p[i, j] *= 0.9 + 0.01 * q[i, j]
    return p, q


def program(field, other, codes, gain, picks):
    z = faces(codes, gain)
    a, b = field.copy(), other.copy()
    shape = (codes.shape[0], field.shape[1])
    a = marched(a, z, shape)
    misfit = 0.0
    for step in range(3):
        a, b = damped(a, b, step == 1)
        for k, pick in enumerate(picks):
            if np.isnan(pick):
                continue
            gap = a[k, 1] / (1.0 + z[k] * z[k]) - pick
            misfit += gap * gap / (k + 1)
    return misfit + np.sum(b) * 0.01


def inputs(rng):
    picks = rng.uniform(0.2, 0.6, 4)
    picks[2] = np.nan
    return {
        "field": rng.uniform(0.3, 0.9, (9, 5)),
        "other": rng.uniform(0.3, 0.9, (9, 5)),
        "codes": np.array([100, -100, 27, 64], dtype=np.int8),
        "gain": 0.8,
        "picks": picks,
    }
