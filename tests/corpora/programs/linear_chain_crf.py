"""Natural language: a linear-chain CRF, log partition minus the score of the tags."""

import numpy as np


def emissions(features, weights):
    n, f = features.shape
    tags = weights.shape[0]
    e = np.zeros((n, tags))
    for i in range(n):
        for t in range(tags):
            for k in range(f):
                e[i, t] += weights[t, k] * features[i, k]
    return e


def log_sum_exp(x):
    m = x[0]
    for i in range(1, x.shape[0]):
        if x[i] > m:
            m = x[i]
    total = 0.0
    for i in range(x.shape[0]):
        total += np.exp(x[i] - m)
    return m + np.log(total)


def log_partition(e, trans, start, stop):
    n, tags = e.shape
    score = start + e[0]
    work = np.zeros(tags)
    for i in range(1, n):
        nxt = np.zeros(tags)
        for j in range(tags):
            for k in range(tags):
                work[k] = score[k] + trans[k, j]
            nxt[j] = e[i, j] + log_sum_exp(work)
        score = nxt
    return log_sum_exp(score + stop)


def path_score(e, trans, start, stop, tags):
    s = start[tags[0]] + e[0, tags[0]]
    prev = tags[0]
    for i in range(1, len(tags)):
        s += trans[prev, tags[i]] + e[i, tags[i]]
        prev = tags[i]
    return s + stop[prev]


def program(features, weights, trans, start, stop, tags, l2=0.05):
    e = emissions(features, weights)
    nll = log_partition(e, trans, start, stop)
    nll -= path_score(e, trans, start, stop, tags)
    return nll + l2 * np.sum(weights**2)


def inputs(rng):
    return {
        "features": rng.normal(size=(5, 4)),
        "weights": 0.5 * rng.normal(size=(3, 4)),
        "trans": 0.5 * rng.normal(size=(3, 3)),
        "start": rng.normal(size=3),
        "stop": rng.normal(size=3),
        "tags": np.array([0, 2, 1, 1, 0]),
    }
