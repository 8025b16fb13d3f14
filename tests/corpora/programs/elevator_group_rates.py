"""Operations: transient Markov queues by uniformisation, waiting cost of a schedule."""

import numpy as np


def generator(arrival, service, servers, size):
    Q = np.zeros((size, size))
    for n in range(size):
        if n + 1 < size:
            Q[n, n + 1] = arrival
        if n > 0:
            Q[n, n - 1] = service * min(n, servers)
    for n in range(size):
        total = 0.0
        for m in range(size):
            if m != n:
                total += Q[n, m]
        Q[n, n] = -total
    return Q


def uniformise(p, Q, t, terms):
    rate = 0.0
    for n in range(Q.shape[0]):
        rate = max(rate, -Q[n, n])
    rate *= 1.1
    weight = np.exp(-rate * t)
    v = p.copy()
    out = weight * v
    for k in range(1, terms):
        nxt = v + (v @ Q) / rate
        v = nxt
        weight *= rate * t / k
        out += weight * v
    return out


def mean_queue(p, servers):
    q = 0.0
    for n in range(servers + 1, len(p)):
        q += (n - servers) * p[n]
    return q


def program(arrivals, service, staff, period, wage, waiting):
    size = 7
    p = np.zeros(size)
    p[0] = 1.0
    cost = 0.0
    for k in range(len(arrivals)):
        Q = generator(arrivals[k], service, staff[k], size)
        p = uniformise(p, Q, period, 12)
        cost += wage * staff[k] * period + waiting * mean_queue(p, staff[k]) * period
    return cost


def inputs(rng):
    return {
        "arrivals": rng.uniform(0.8, 2.2, 3),
        "service": 0.93,
        "staff": np.array([1, 2, 2]),
        "period": 0.8,
        "wage": 1.0,
        "waiting": 3.0,
    }
