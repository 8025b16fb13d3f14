"""New arrays of the elements of others, in another arrangement."""

from __future__ import annotations

import numpy as np

from pyrev.parse.library.entries import Count, Matrix, Number, Vector, means


@means(np.append)
def append(arr: Vector, values: Number) -> Vector:
    """One element more."""
    return np.concatenate((arr, np.array([values])))


@means(np.append)
def append_all(arr: Vector, values: Vector) -> Vector:
    """The elements of both."""
    return np.concatenate((arr, values))


@means(np.append)
def append_after(arr: Number, values: Vector) -> Vector:
    """One element in front."""
    return np.concatenate((np.array([arr]), values))


@means(np.append)
def append_two(arr: Number, values: Number) -> Vector:
    """Two elements."""
    return np.array([arr, values])


@means(np.append)
def append_to_all(arr: Matrix, values: Vector) -> Vector:
    """The elements of a matrix, row by row, and more."""
    return np.concatenate((arr.ravel(), values))


@means(np.append)
def append_all_to_all(arr: Matrix, values: Matrix) -> Vector:
    """The elements of two matrices, row by row."""
    return np.concatenate((arr.ravel(), values.ravel()))


@means(np.append, axis=0)
def append_rows(arr: Matrix, values: Matrix) -> Matrix:
    """The rows of both."""
    return np.concatenate((arr, values))


@means(np.append, axis=1)
def append_columns(arr: Matrix, values: Matrix) -> Matrix:
    """The columns of both."""
    return np.concatenate((arr, values), axis=1)


@means(np.append, axis=0)
def append_along(arr: Vector, values: Vector) -> Vector:
    """The elements of both."""
    return np.concatenate((arr, values))


@means(np.take, method="take", mode="raise")
def take_one(a: Vector, indices: Number) -> Number:
    """One element."""
    return a[indices]


@means(np.take, method="take", mode="raise")
def take(a: Vector, indices: Vector) -> Vector:
    """The elements in these places."""
    return a[indices]


@means(np.take, axis=0, mode="raise")
def take_rows(a: Matrix, indices: Vector) -> Matrix:
    """These rows."""
    return a[indices]


@means(np.take, axis=1, mode="raise")
def take_columns(a: Matrix, indices: Vector) -> Matrix:
    """These columns."""
    return a[:, indices]


@means(np.take, mode="raise")
def take_of_all(a: Matrix, indices: Vector) -> Vector:
    """The elements in these places, counted row by row."""
    return a.ravel()[indices]


@means(np.repeat, method="repeat")
def repeat(a: Vector, repeats: Count) -> Vector:
    """Each element several times."""
    times = int(repeats)
    made = np.empty(a.shape[0] * times, dtype=a.dtype)
    for i in range(a.shape[0]):
        for k in range(times):
            made[i * times + k] = a[i]
    return made


@means(np.repeat)
def repeat_number(a: Number, repeats: Count) -> Vector:
    """A number several times."""
    return np.full(int(repeats), a)


@means(np.repeat, axis=0)
def repeat_along(a: Vector, repeats: Count) -> Vector:
    """Each element several times."""
    return np.repeat(a, repeats)


@means(np.repeat, axis=0)
def repeat_rows(a: Matrix, repeats: Count) -> Matrix:
    """Each row several times."""
    times = int(repeats)
    made = np.empty((a.shape[0] * times, a.shape[1]), dtype=a.dtype)
    for i in range(made.shape[0]):
        for k in range(a.shape[1]):
            made[i, k] = a[i // times, k]
    return made


@means(np.repeat, axis=1)
def repeat_columns(a: Matrix, repeats: Count) -> Matrix:
    """Each column several times."""
    times = int(repeats)
    made = np.empty((a.shape[0], a.shape[1] * times), dtype=a.dtype)
    for i in range(a.shape[0]):
        for k in range(made.shape[1]):
            made[i, k] = a[i, k // times]
    return made


@means(np.repeat)
def repeat_each(a: Vector, repeats: Vector) -> Vector:
    """Each element as often as said for it."""
    if a.shape[0] != repeats.shape[0]:
        raise ValueError("operands could not be broadcast together")
    count = 0
    for i in range(a.shape[0]):
        count += int(repeats[i])
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
    times = int(reps)
    made = np.empty(times * A.shape[0], dtype=A.dtype)
    for i in range(times):
        for k in range(A.shape[0]):
            made[i * A.shape[0] + k] = A[k]
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


@means(np.ndarray.fill, method="fill")
def fill(a: Vector, value: Number) -> None:
    """One value everywhere."""
    for k in range(a.shape[0]):
        a[k] = value


@means(np.ndarray.fill)
def fill_all(a: Matrix, value: Number) -> None:
    """The same of a matrix."""
    for i in range(a.shape[0]):
        for k in range(a.shape[1]):
            a[i, k] = value


@means(np.add.at)
def add_at(a: Vector, indices: Vector, b: Vector) -> None:
    """Each value is added to the element that is named for it, also if others are."""
    for k in range(indices.shape[0]):
        a[indices[k]] += b[k]


@means(np.add.at)
def add_one_at(a: Vector, indices: Vector, b: Number) -> None:
    """The same of one value."""
    for k in range(indices.shape[0]):
        a[indices[k]] += b


@means(np.add.outer)
def sums(A: Vector, B: Vector) -> Matrix:
    """Each element of one and each of another."""
    made = np.empty((A.shape[0], B.shape[0]), dtype=np.result_type(A, B))
    for i in range(A.shape[0]):
        for k in range(B.shape[0]):
            made[i, k] = A[i] + B[k]
    return made


@means(np.subtract.outer)
def differences(A: Vector, B: Vector) -> Matrix:
    """Each element of one less each of another."""
    made = np.empty((A.shape[0], B.shape[0]), dtype=np.result_type(A, B))
    for i in range(A.shape[0]):
        for k in range(B.shape[0]):
            made[i, k] = A[i] - B[k]
    return made


@means(np.multiply.outer)
def products(A: Vector, B: Vector) -> Matrix:
    """Each element of one times each of another."""
    made = np.empty((A.shape[0], B.shape[0]), dtype=np.result_type(A, B))
    for i in range(A.shape[0]):
        for k in range(B.shape[0]):
            made[i, k] = A[i] * B[k]
    return made
