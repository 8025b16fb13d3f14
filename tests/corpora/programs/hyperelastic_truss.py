"""Structures: a truss under large displacements, explicit dynamic relaxation, work."""

import numpy as np


def bar_force(xa, xb, rest, ea):
    d = xb - xa
    length = np.sqrt(d @ d)
    strain = (length**2 - rest**2) / (2.0 * rest**2)
    return ea * strain * d / rest, 0.5 * ea * strain**2 * rest


def internal(x, bars, rest, ea, out):
    out[:] = 0.0
    energy = 0.0
    for b in range(bars.shape[0]):
        i, j = bars[b]
        f, e = bar_force(x[i], x[j], rest[b], ea[b])
        out[i] += f
        out[j] -= f
        energy += e
    return energy


def rest_lengths(x, bars):
    rest = np.zeros(len(bars))
    for b in range(len(bars)):
        d = x[bars[b, 1]] - x[bars[b, 0]]
        rest[b] = np.linalg.norm(d)
    return rest


def relax(x, load, free, bars, rest, ea, damping, dt, steps):
    v = np.zeros_like(x)
    f = np.zeros_like(x)
    for _ in range(steps):
        internal(x, bars, rest, ea, f)
        f += load
        for i in range(len(x)):
            if not free[i]:
                f[i] = 0.0
        v = damping * v + dt * f
        x += dt * v
    return internal(x, bars, rest, ea, f)


def program(nodes, load, ea, bars, free, damping, dt, steps):
    x = nodes.copy()
    rest = rest_lengths(nodes, bars)
    energy = relax(x, load, free, bars, rest, ea, damping, dt, steps)
    work = np.sum(load * (x - nodes))
    return work - energy


def inputs(rng):
    nodes = np.array([[0.0, 0.0], [2.0, 0.0], [1.0, 0.8], [3.0, 0.9]])
    return {
        "nodes": nodes + 0.05 * rng.normal(size=nodes.shape),
        "load": 0.3 * rng.normal(size=(4, 2)),
        "ea": rng.uniform(5.0, 8.0, 5),
        "bars": np.array([[0, 2], [1, 2], [1, 3], [2, 3], [0, 1]]),
        "free": np.array([False, True, True, True]),
        "damping": 0.9,
        "dt": 0.1,
        "steps": 4,
    }
