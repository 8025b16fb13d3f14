"""New arrays of the elements of others, in another arrangement."""

from __future__ import annotations

import numpy as np

from pyrev.parse.library.entries import Count, Matrix, Number, Vector, means


@means(np.append)
def append(arr: Vector, values: Number) -> Vector:
    """One element more."""
    made = np.empty(arr.shape[0] + 1, dtype=np.result_type(arr, values))
    for k in range(arr.shape[0]):
        made[k] = arr[k]
    made[arr.shape[0]] = values
    return made


@means(np.append)
def append_all(arr: Vector, values: Vector) -> Vector:
    """The elements of both."""
    return np.concatenate((arr, values))


@means(np.repeat, method="repeat")
def repeat(a: Vector, repeats: Count) -> Vector:
    """Each element several times."""
    made = np.empty(a.shape[0] * repeats, dtype=a.dtype)
    for i in range(a.shape[0]):
        for k in range(repeats):
            made[i * repeats + k] = a[i]
    return made


@means(np.repeat)
def repeat_each(a: Vector, repeats: Vector) -> Vector:
    """Each element as often as said for it."""
    count = 0
    for i in range(a.shape[0]):
        count += repeats[i]
    made = np.empty(count, dtype=a.dtype)
    count = 0
    for i in range(a.shape[0]):
        for _ in range(repeats[i]):
            made[count] = a[i]
            count += 1
    return made


@means(np.tile)
def tile(A: Vector, reps: Count) -> Vector:
    """All elements several times."""
    made = np.empty(reps * A.shape[0], dtype=A.dtype)
    for i in range(reps):
        for k in range(A.shape[0]):
            made[i * A.shape[0] + k] = A[k]
    return made


@means(np.diag)
def diag(v: Vector) -> Matrix:
    """A matrix with these elements on its diagonal."""
    made = np.zeros((v.shape[0], v.shape[0]), dtype=v.dtype)
    for k in range(v.shape[0]):
        made[k, k] = v[k]
    return made


@means(np.diagonal, method="diagonal")
def diagonal(a: Matrix) -> Vector:
    """The diagonal of a matrix."""
    return np.diag(a)


@means(np.diag)
def diagonal_of(v: Matrix) -> Vector:
    """The diagonal of a matrix."""
    made = np.empty(min(v.shape[0], v.shape[1]), dtype=v.dtype)
    for k in range(made.shape[0]):
        made[k] = v[k, k]
    return made


@means(np.tril)
def tril(m: Matrix, k: Count = 0) -> Matrix:
    """The elements on and below a diagonal."""
    made = np.zeros_like(m)
    for i in range(m.shape[0]):
        for j in range(m.shape[1]):
            if j - i <= k:
                made[i, j] = m[i, j]
    return made


@means(np.triu)
def triu(m: Matrix, k: Count = 0) -> Matrix:
    """The elements on and above a diagonal."""
    made = np.zeros_like(m)
    for i in range(m.shape[0]):
        for j in range(m.shape[1]):
            if j - i >= k:
                made[i, j] = m[i, j]
    return made
