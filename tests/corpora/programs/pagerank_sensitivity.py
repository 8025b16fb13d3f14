"""Networks: PageRank until convergence with dangling nodes, a weighted score."""

import numpy as np


def out_weights(links, weights, n):
    out = np.zeros(n)
    for e in range(links.shape[0]):
        out[links[e, 0]] += weights[e]
    return out


def step(rank, links, weights, out, damping):
    n = rank.shape[0]
    new = np.zeros(n)
    dangling = 0.0
    for i in range(n):
        if out[i] == 0.0:
            dangling += rank[i]
    for e in range(links.shape[0]):
        s = links[e, 0]
        new[links[e, 1]] += damping * rank[s] * weights[e] / out[s]
    for i in range(n):
        new[i] += (1.0 - damping) / n + damping * dangling / n
    return new


def pagerank(links, weights, n, damping, tol=1e-14):
    rank = np.full(n, 1.0 / n)
    out = out_weights(links, weights, n)
    for _ in range(300):
        new = step(rank, links, weights, out, damping)
        change = np.sum(np.abs(new - rank))
        rank = new
        if change < tol:
            break
    return rank


def program(links, weights, damping, importance):
    rank = pagerank(links, weights, importance.shape[0], damping)
    return np.dot(importance, rank)


def inputs(rng):
    links = np.array([[0, 1], [0, 2], [1, 2], [2, 0], [3, 2], [1, 3], [3, 4]])
    return {
        "links": links,
        "weights": rng.uniform(0.5, 1.5, len(links)),
        "damping": 0.55,
        "importance": rng.normal(size=5),
    }
