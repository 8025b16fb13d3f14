"""Oceanography: two grids of tide gauges with gaps, compared along a chosen axis.

An integer says along which axis, helpers ask what they got and return arrays or
numbers, two fields change places on some paths, counts have eight bits, and some of
the numbers are arrays without axes to NumPy.
"""

import numpy as np


def as_rows(levels):
    """One row of a vector; a view of what it was given."""
    if levels.ndim == 1:
        levels = levels[None, :]
    return levels


def filled(levels, axis):
    """The levels with their mean along an axis in the gaps."""
    out = np.empty_like(levels)
    known = np.where(np.isnan(levels), 0.0, levels)
    count = np.sum(np.where(np.isnan(levels), 0.0, 1.0), axis=axis, keepdims=True)
    mean = np.sum(known, axis=axis, keepdims=True) / np.maximum(count, 1.0)
    for i in range(levels.shape[0]):
        for j in range(levels.shape[1]):
            gap = np.isnan(levels[i, j])
            out[i, j] = mean[0 if axis == 0 else i, j if axis == 0 else 0]
            if not gap:
                out[i, j] = levels[i, j]
    return out


def size_of(u, order):
    """A norm of a vector, the largest one of the rows of a matrix."""
    if np.ndim(u) == 0:
        return u * u
    if u.ndim == 1:
        return np.linalg.norm(u, order)
    return np.max(np.linalg.norm(u, order, axis=1))


def program(near, far, datum, hits, axis):
    if axis < 0:
        axis += near.ndim
    a, b = filled(near, axis), filled(far, axis)
    seen = hits.copy()
    for k in range(3):
        if seen[k] > 1:
            a, b = b, a
        seen[k] += 100
        a = a * 0.9 + seen[k] * 0.01
    first = as_rows(a[0])
    first[0, 1] += datum * datum
    offset = np.where(datum > 0.0, datum, -datum)  # an array without axes
    low, high = np.sum(a, axis=axis), np.sum(b, axis=1 - axis)
    spread = size_of(low, 2) + size_of(high, 1) + size_of(b, 2) + size_of(offset, 2)
    return spread * a[0, 1] + size_of(b[..., 0], 2) + a.shape[axis] * offset


def inputs(rng):
    near = rng.uniform(-1.0, 1.0, (3, 4))
    far = rng.uniform(-1.0, 1.0, (3, 4))
    near[1, 2], far[0, 0] = np.nan, np.nan
    return {
        "near": near,
        "far": far,
        "datum": 0.7,
        "hits": np.array([0, 2, 60], np.int8),
        "axis": -1,
    }
