"""Monitoring: Welford statistics of a stream with gaps, a ring of recent values."""

import numpy as np


def welford(count, mean, m2, x):
    count += 1
    delta = x - mean
    mean += delta / count
    m2 += delta * (x - mean)
    return count, mean, m2


def ring_mean(ring, filled):
    s = 0.0
    for k in range(filled):
        s += ring[k]
    return s / filled


def softplus(x):
    return np.log1p(np.exp(-abs(x))) + max(x, 0.0)


def program(stream, limit, sharpness, size=3):
    ring = np.zeros(size)
    count, mean, m2 = 0, 0.0, 0.0
    head = 0
    alarm = 0.0
    for x in stream:
        if np.isnan(x):
            continue
        count, mean, m2 = welford(count, mean, m2, x)
        ring[head % size] = x
        head += 1
        if count < 3:
            continue
        sd = np.sqrt(m2 / (count - 1))
        z = (ring_mean(ring, min(head, size)) - mean) / sd
        alarm += softplus(sharpness * (abs(z) - limit)) / sharpness
    return alarm


def inputs(rng):
    stream = rng.normal(size=11)
    stream[2] = np.nan
    stream[7] = np.nan
    return {"stream": stream, "limit": 0.8, "sharpness": 2.0}
