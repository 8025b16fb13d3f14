"""Statistical physics: belief propagation on a grid Potts model, log messages."""

import numpy as np


def logsumexp(v):
    m = np.max(v)
    return m + np.log(np.sum(np.exp(v - m)))


def message(unary, incoming, coupling, out):
    """From a node with the sum of its incoming messages to a neighbour."""
    q = unary.shape[0]
    work = np.zeros(q)
    for s in range(q):
        for r in range(q):
            work[r] = unary[r] + incoming[r]
            if r == s:
                work[r] += coupling
        out[s] = logsumexp(work)
    shift = logsumexp(out)
    for s in range(q):
        out[s] -= shift


def sweep(unary, msg, coupling):
    # 0: from the left, 1: from the right, 2: from above, 3: from below
    h, w, q = unary.shape
    for y in range(h):
        for x in range(w):
            if x + 1 < w:
                inc = msg[0, y, x] + msg[2, y, x] + msg[3, y, x]
                message(unary[y, x], inc, coupling, msg[0, y, x + 1])
            if x > 0:
                inc = msg[1, y, x] + msg[2, y, x] + msg[3, y, x]
                message(unary[y, x], inc, coupling, msg[1, y, x - 1])
            if y + 1 < h:
                inc = msg[0, y, x] + msg[1, y, x] + msg[2, y, x]
                message(unary[y, x], inc, coupling, msg[2, y + 1, x])
            if y > 0:
                inc = msg[0, y, x] + msg[1, y, x] + msg[3, y, x]
                message(unary[y, x], inc, coupling, msg[3, y - 1, x])


def program(unary, coupling, labels, rounds=2):
    h, w, q = unary.shape
    msg = np.zeros((4, h, w, q))
    for _ in range(rounds):
        sweep(unary, msg, coupling)
    loss = 0.0
    for y in range(h):
        for x in range(w):
            belief = unary[y, x].copy()
            for d in range(4):
                belief += msg[d, y, x]
            loss += logsumexp(belief) - belief[labels[y, x]]
    return loss


def inputs(rng):
    return {
        "unary": rng.normal(size=(2, 3, 3)),
        "coupling": 0.7,
        "labels": rng.integers(0, 3, (2, 3)),
    }
