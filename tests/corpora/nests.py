"""The functions whose text about whole arrays is reviewed: one golden file each."""

from __future__ import annotations

import numpy as np


def blur(u, out):
    for i in range(1, u.shape[0] - 1):
        for j in range(1, u.shape[1] - 1):
            around = u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1]
            out[i, j] = 0.5 * u[i, j] + 0.125 * around


def diffuse(u, k, steps):
    now, new = u.copy(), u.copy()
    for _ in range(steps):
        for i in range(1, u.shape[0] - 1):
            new[i] = now[i] + k * (now[i - 1] - 2.0 * now[i] + now[i + 1])
        now, new = new, now
    return now


def product(a, b):
    c = np.zeros((a.shape[0], b.shape[1]))
    for i in range(a.shape[0]):
        for j in range(b.shape[1]):
            for k in range(a.shape[1]):
                c[i, j] += a[i, k] * b[k, j]
    return c


def shares(x, out):
    for i in range(x.shape[0]):
        total = 0.0
        for j in range(x.shape[1]):
            total += np.exp(x[i, j])
        for j in range(x.shape[1]):
            out[i, j] = np.exp(x[i, j]) / total


def mesh_forces(x, start, end, stiffness, force):
    for e in range(start.shape[0]):
        stretch = x[end[e]] - x[start[e]]
        if stretch > 0.0:
            pull = stiffness[e] * np.sqrt(stretch)
            force[start[e]] += pull
            force[end[e]] -= pull


WHOLE = (blur, diffuse, product, shares, mesh_forces)
