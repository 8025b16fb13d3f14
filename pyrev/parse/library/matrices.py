"""Matrices made of vectors and of other matrices."""

from __future__ import annotations

import numpy as np

from pyrev.parse.library.entries import Count, Matrix, Number, Vector, means


@means(np.kron)
def kron(a: Vector, b: Vector) -> Vector:
    """Each element of one times all of the other."""
    m = b.shape[0]
    made = np.empty(a.shape[0] * m, dtype=np.result_type(a, b))
    for i in range(a.shape[0]):
        for k in range(m):
            made[i * m + k] = a[i] * b[k]
    return made


@means(np.kron)
def kron_of_matrices(a: Matrix, b: Matrix) -> Matrix:
    """The same: blocks, each of them the second one."""
    n = b.shape[0]
    m = b.shape[1]
    shape = (a.shape[0] * n, a.shape[1] * m)
    made = np.empty(shape, dtype=np.result_type(a, b))
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            for k in range(n):
                for l in range(m):  # noqa: E741
                    made[i * n + k, j * m + l] = a[i, j] * b[k, l]
    return made


@means(np.kron)
def kron_of_a_row(a: Vector, b: Matrix) -> Matrix:
    """A vector is a row."""
    return np.kron(a.reshape(1, a.shape[0]), b)


@means(np.kron)
def kron_with_a_row(a: Matrix, b: Vector) -> Matrix:
    """A vector is a row."""
    return np.kron(a, b.reshape(1, b.shape[0]))


@means(np.vander)
def vander(x: Vector) -> Matrix:
    """As many powers as there are elements."""
    return np.vander(x, x.shape[0])


@means(np.vander)
def vander_of(x: Vector, N: Count) -> Matrix:
    """The powers of each element, the highest first."""
    made = np.ones((x.shape[0], N), dtype=np.result_type(x, np.int64))
    for i in range(x.shape[0]):
        for k in range(N - 2, -1, -1):
            made[i, k] = made[i, k + 1] * x[i]
    return made


@means(np.vander, increasing=True)
def vander_upwards(x: Vector) -> Matrix:
    """As many powers as there are elements, the lowest first."""
    return np.vander(x, x.shape[0], increasing=True)


@means(np.vander, increasing=True)
def vander_upwards_of(x: Vector, N: Count) -> Matrix:
    """The powers of each element, the lowest first."""
    made = np.ones((x.shape[0], N), dtype=np.result_type(x, np.int64))
    for i in range(x.shape[0]):
        for k in range(1, N):
            made[i, k] = made[i, k - 1] * x[i]
    return made


@means(np.tri)
def tri(N: Count, k: Count = 0) -> Matrix:
    """Ones on and below a diagonal of a square matrix."""
    return np.tri(N, N, k)


@means(np.tri)
def tri_of(N: Count, M: Count, k: Count = 0) -> Matrix:
    """The same of any shape."""
    made = np.zeros((max(N, 0), max(M, 0)))
    for i in range(N):
        for j in range(min(max(i + k + 1, 0), M)):
            made[i, j] = 1.0
    return made


@means(np.diagflat)
def diagflat(v: Vector, k: Count = 0) -> Matrix:
    """These on a diagonal, and zeros."""
    n = v.shape[0] + abs(k)
    made = np.zeros((n, n), dtype=v.dtype)
    for i in range(v.shape[0]):
        made[i + max(-k, 0), i + max(k, 0)] = v[i]
    return made


@means(np.diagflat)
def diagflat_of_all(v: Matrix, k: Count = 0) -> Matrix:
    """The same of the elements of a matrix, row by row."""
    return np.diagflat(v.ravel(), k)


@means(np.trace, method="trace")
def trace_beside(a: Matrix, offset: Count) -> Number:
    """The sum of a diagonal beside the first one."""
    first = max(-offset, 0)
    count = min(a.shape[0] - first, a.shape[1] - max(offset, 0))
    found = np.empty(max(count, 0), dtype=a.dtype)
    for k in range(found.shape[0]):
        found[k] = a[first + k, first + k + offset]
    return np.sum(found)


@means(np.rot90)
def rot90(m: Matrix) -> Matrix:
    """A quarter of a turn."""
    return m[:, ::-1].T


@means(np.rot90, k=2)
@means(np.rot90, k=-2)
def rot180(m: Matrix) -> Matrix:
    """Half a turn."""
    return m[::-1, ::-1]


@means(np.rot90, k=3)
@means(np.rot90, k=-1)
def rot270(m: Matrix) -> Matrix:
    """A quarter of a turn the other way."""
    return m.T[:, ::-1]


@means(np.linalg.matrix_power, n=-1)
def first_negative_power(a: Matrix) -> Matrix:
    """The inverse."""
    return np.linalg.inv(a)


@means(np.linalg.matrix_power, n=-2)
def second_negative_power(a: Matrix) -> Matrix:
    """The square of the inverse."""
    inverse = np.linalg.inv(a)
    return inverse @ inverse


@means(np.linalg.matrix_power)
def matrix_power(a: Matrix, n: Count) -> Matrix:
    """A product of so many of one matrix."""
    if a.shape[0] != a.shape[1]:
        raise np.linalg.LinAlgError("Last 2 dimensions of the array must be square")
    if n < 0:
        raise ValueError("a negative power: take a positive one of np.linalg.inv(a)")
    made = np.zeros(a.shape, dtype=a.dtype)
    for k in range(a.shape[0]):
        made[k, k] = 1
    for _ in range(n):
        made[:] = made @ a
    return made


@means(np.resize)
def resize(a: Vector, new_shape: Count) -> Vector:
    """So many elements, from the first one on again and again; zeros where none is."""
    n = a.shape[0]
    if new_shape < 0:
        raise ValueError("all elements of `new_shape` must be non-negative")
    made = np.zeros(new_shape, dtype=a.dtype)
    if n > 0:
        for k in range(made.shape[0]):
            made[k] = a[k % n]
    return made


@means(np.take_along_axis, axis=0)
def take_along_columns(arr: Matrix, indices: Matrix) -> Matrix:
    """Of each column the elements in its own places."""
    if arr.shape[1] != indices.shape[1]:
        raise IndexError("shape mismatch: indexing arrays could not be broadcast")
    made = np.empty(indices.shape, dtype=arr.dtype)
    for i in range(indices.shape[0]):
        for k in range(indices.shape[1]):
            made[i, k] = arr[indices[i, k], k]
    return made


@means(np.take_along_axis, axis=1)
@means(np.take_along_axis, axis=-1)
def take_along_rows(arr: Matrix, indices: Matrix) -> Matrix:
    """Of each row the elements in its own places."""
    if arr.shape[0] != indices.shape[0]:
        raise IndexError("shape mismatch: indexing arrays could not be broadcast")
    made = np.empty(indices.shape, dtype=arr.dtype)
    for i in range(indices.shape[0]):
        for k in range(indices.shape[1]):
            made[i, k] = arr[i, indices[i, k]]
    return made


@means(np.take_along_axis, axis=0)
@means(np.take_along_axis, axis=-1)
def take_along(arr: Vector, indices: Vector) -> Vector:
    """The elements in these places."""
    return arr[indices]


@means(np.ediff1d)
def ediff1d(ary: Vector) -> Vector:
    """The difference of each element and the one before."""
    return np.diff(ary)


@means(np.ediff1d)
def ediff1d_of_all(ary: Matrix) -> Vector:
    """The same of a matrix, row by row."""
    return np.diff(ary.ravel())


@means(np.extract)
def extract(condition: Vector, arr: Vector) -> Vector:
    """The elements for which something holds."""
    return arr[np.flatnonzero(condition)]


@means(np.extract)
def extract_of_all(condition: Matrix, arr: Matrix) -> Vector:
    """The same of a matrix, row by row."""
    return arr.ravel()[np.flatnonzero(condition.ravel())]
