"""Vectors as sets: what is in both, in any, in one of two, in ascending order.

Of equal elements one is taken, and passes the derivative. No nan is equal to another.
"""

from __future__ import annotations

import numpy as np

from pyrev.parse.library.entries import Vector, means


@means(np.union1d)
def union(ar1: Vector, ar2: Vector) -> Vector:
    """What is in any of two."""
    return np.unique(np.concatenate((ar1, ar2)))


@means(np.intersect1d)
def intersection(ar1: Vector, ar2: Vector) -> Vector:
    """What is in both: in the order of all it stands twice."""
    both = np.sort(np.concatenate((np.unique(ar1), np.unique(ar2))))
    count = 0
    for k in range(both.shape[0] - 1):
        if both[k] == both[k + 1]:
            count += 1
    made = np.empty(count, dtype=both.dtype)
    count = 0
    for k in range(both.shape[0] - 1):
        if both[k] == both[k + 1]:
            made[count] = both[k]
            count += 1
    return made


@means(np.setxor1d)
def in_one_only(ar1: Vector, ar2: Vector) -> Vector:
    """What is in one of two: in the order of all it stands once."""
    both = np.sort(np.concatenate((np.unique(ar1), np.unique(ar2))))
    n = both.shape[0]
    count = 0
    for k in range(n):
        first = k == 0 or both[k] != both[k - 1]
        if first and (k == n - 1 or both[k] != both[k + 1]):
            count += 1
    made = np.empty(count, dtype=both.dtype)
    count = 0
    for k in range(n):
        first = k == 0 or both[k] != both[k - 1]
        if first and (k == n - 1 or both[k] != both[k + 1]):
            made[count] = both[k]
            count += 1
    return made


@means(np.setdiff1d)
def difference(ar1: Vector, ar2: Vector) -> Vector:
    """What is in the first, and not in the second."""
    own = np.unique(ar1)
    return own[np.flatnonzero(np.isin(own, ar2, invert=True))]
