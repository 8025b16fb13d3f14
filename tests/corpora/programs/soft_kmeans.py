"""Machine learning: soft k-means with given starts, the final quantisation error."""

import numpy as np


def squared_distance(a, b):
    d = 0.0
    for k in range(len(a)):
        d += (a[k] - b[k]) ** 2
    return d


def responsibilities(points, centres, beta, resp):
    for i in range(points.shape[0]):
        total = 0.0
        for c in range(centres.shape[0]):
            resp[i, c] = np.exp(-beta * squared_distance(points[i], centres[c]))
            total += resp[i, c]
        for c in range(centres.shape[0]):
            resp[i, c] /= total


def move(points, resp, centres):
    for c in range(centres.shape[0]):
        mass = 1e-9
        for i in range(points.shape[0]):
            mass += resp[i, c]
        for k in range(points.shape[1]):
            s = 0.0
            for i in range(points.shape[0]):
                s += resp[i, c] * points[i, k]
            centres[c, k] = s / mass


def program(points, start, beta, n_iter=3):
    centres = np.copy(start)
    resp = np.zeros((points.shape[0], start.shape[0]))
    for _ in range(n_iter):
        responsibilities(points, centres, beta, resp)
        move(points, resp, centres)
    loss = 0.0
    for i in range(points.shape[0]):
        for c in range(centres.shape[0]):
            loss += resp[i, c] * squared_distance(points[i], centres[c])
    return loss


def inputs(rng):
    return {
        "points": rng.normal(size=(8, 2)),
        "start": rng.normal(size=(3, 2)),
        "beta": 0.8,
    }
