"""Optimisation: Nelder-Mead with a fixed number of moves."""

import numpy as np


def rosen(x, a, b):
    return (a - x[0]) ** 2 + b * (x[1] - x[0] ** 2) ** 2


def order(simplex, f):
    """Selection sort of the rows by value."""
    n = len(f)
    for i in range(n):
        best = i
        for j in range(i + 1, n):
            if f[j] < f[best]:
                best = j
        if best != i:
            f[i], f[best] = f[best], f[i]
            for k in range(simplex.shape[1]):
                simplex[i, k], simplex[best, k] = simplex[best, k], simplex[i, k]


def move(centre, worst, factor):
    return centre + factor * (worst - centre)


def iterate(simplex, f, a, b):
    order(simplex, f)
    n = simplex.shape[1]
    centre = simplex[:n].mean(axis=0)
    trial = move(centre, simplex[n], -1.0)
    ft = rosen(trial, a, b)
    if ft < f[0]:
        further = move(centre, simplex[n], -2.0)
        fe = rosen(further, a, b)
        if fe < ft:
            simplex[n] = further
            f[n] = fe
        else:
            simplex[n] = trial
            f[n] = ft
    elif ft < f[n - 1]:
        simplex[n] = trial
        f[n] = ft
    else:
        inner = move(centre, simplex[n], 0.5)
        fc = rosen(inner, a, b)
        if fc < f[n]:
            simplex[n] = inner
            f[n] = fc
        else:
            for i in range(1, n + 1):
                simplex[i] = simplex[0] + 0.5 * (simplex[i] - simplex[0])
                f[i] = rosen(simplex[i], a, b)


def program(start, a, b, moves=5):
    simplex = start.copy()
    f = np.zeros(len(start))
    for i in range(len(start)):
        f[i] = rosen(start[i], a, b)
    for _ in range(moves):
        iterate(simplex, f, a, b)
    order(simplex, f)
    return f[0] + simplex[0, 0] * simplex[0, 1]


def inputs(rng):
    start = np.array([[-0.5, 0.8], [0.3, 0.9], [-0.2, 0.1]])
    return {"start": start + 0.05 * rng.normal(size=(3, 2)), "a": 1.0, "b": 3.0}
