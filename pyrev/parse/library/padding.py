"""Borders around arrays: `np.pad`."""

from __future__ import annotations

import numpy as np

from pyrev.parse.library.entries import Count, Matrix, Number, Vector, means


@means(np.pad)
def pad_by(array: Vector, pad_width: Count, constant_values: Number = 0) -> Vector:
    """A number beyond both ends."""
    return np.pad(
        array, np.array([pad_width, pad_width]), constant_values=constant_values
    )


@means(np.pad)
def pad(array: Vector, pad_width: Vector, constant_values: Number = 0) -> Vector:
    """The same, as often as said for each end."""
    n = array.shape[0]
    if pad_width.shape[0] != 2 or min(pad_width[0], pad_width[1]) < 0:
        raise ValueError("index can't contain negative values")
    before = int(pad_width[0])
    made = np.empty(before + n + int(pad_width[1]), dtype=array.dtype)
    for k in range(made.shape[0]):
        if before <= k < before + n:
            made[k] = array[k - before]
        else:
            made[k] = constant_values
    return made


@means(np.pad, mode="edge")
def pad_edge_by(array: Vector, pad_width: Count) -> Vector:
    """The first and the last element once more."""
    return np.pad(array, np.array([pad_width, pad_width]), "edge")


@means(np.pad, mode="edge")
def pad_edge(array: Vector, pad_width: Vector) -> Vector:
    """The same, as often as said for each end."""
    n = array.shape[0]
    if pad_width.shape[0] != 2 or min(pad_width[0], pad_width[1]) < 0:
        raise ValueError("index can't contain negative values")
    before = int(pad_width[0])
    made = np.empty(before + n + int(pad_width[1]), dtype=array.dtype)
    if n == 0 and made.shape[0] > 0:
        raise ValueError("can't extend empty axis 0 using modes other than 'constant'")
    for k in range(made.shape[0]):
        made[k] = array[min(max(k - before, 0), n - 1)]
    return made


@means(np.pad, mode="wrap")
def pad_wrap_by(array: Vector, pad_width: Count) -> Vector:
    """The elements from the other end."""
    return np.pad(array, np.array([pad_width, pad_width]), "wrap")


@means(np.pad, mode="wrap")
def pad_wrap(array: Vector, pad_width: Vector) -> Vector:
    """The same, as often as said for each end."""
    n = array.shape[0]
    if pad_width.shape[0] != 2 or min(pad_width[0], pad_width[1]) < 0:
        raise ValueError("index can't contain negative values")
    before = int(pad_width[0])
    made = np.empty(before + n + int(pad_width[1]), dtype=array.dtype)
    if n == 0 and made.shape[0] > 0:
        raise ValueError("can't extend empty axis 0 using modes other than 'constant'")
    for k in range(made.shape[0]):
        made[k] = array[(k - before) % n]
    return made


@means(np.pad, mode="reflect")
def pad_reflect_by(array: Vector, pad_width: Count) -> Vector:
    """The elements backwards, without the last one again."""
    return np.pad(array, np.array([pad_width, pad_width]), "reflect")


@means(np.pad, mode="reflect")
def pad_reflect(array: Vector, pad_width: Vector) -> Vector:
    """The same, as often as said for each end."""
    n = array.shape[0]
    if pad_width.shape[0] != 2 or min(pad_width[0], pad_width[1]) < 0:
        raise ValueError("index can't contain negative values")
    before = int(pad_width[0])
    period = max(2 * (n - 1), 1)
    made = np.empty(before + n + int(pad_width[1]), dtype=array.dtype)
    if n == 0 and made.shape[0] > 0:
        raise ValueError("can't extend empty axis 0 using modes other than 'constant'")
    for k in range(made.shape[0]):
        place = (k - before) % period
        made[k] = array[min(place, period - place)]
    return made


@means(np.pad, mode="symmetric")
def pad_symmetric_by(array: Vector, pad_width: Count) -> Vector:
    """The elements backwards, the last one again, too."""
    return np.pad(array, np.array([pad_width, pad_width]), "symmetric")


@means(np.pad, mode="symmetric")
def pad_symmetric(array: Vector, pad_width: Vector) -> Vector:
    """The same, as often as said for each end."""
    n = array.shape[0]
    if pad_width.shape[0] != 2 or min(pad_width[0], pad_width[1]) < 0:
        raise ValueError("index can't contain negative values")
    before = int(pad_width[0])
    made = np.empty(before + n + int(pad_width[1]), dtype=array.dtype)
    if n == 0 and made.shape[0] > 0:
        raise ValueError("can't extend empty axis 0 using modes other than 'constant'")
    for k in range(made.shape[0]):
        place = (k - before) % (2 * n)
        made[k] = array[min(place, 2 * n - 1 - place)]
    return made


@means(np.pad)
def pad_matrix_by(
    array: Matrix, pad_width: Count, constant_values: Number = 0
) -> Matrix:
    """A number around a matrix."""
    w = int(pad_width)
    if w < 0:
        raise ValueError("index can't contain negative values")
    n = array.shape[0]
    m = array.shape[1]
    made = np.empty((n + 2 * w, m + 2 * w), dtype=array.dtype)
    for i in range(made.shape[0]):
        for k in range(made.shape[1]):
            if w <= i < w + n and w <= k < w + m:
                made[i, k] = array[i - w, k - w]
            else:
                made[i, k] = constant_values
    return made


@means(np.pad, mode="edge")
def pad_matrix_edge_by(array: Matrix, pad_width: Count) -> Matrix:
    """The elements at the border of a matrix once more."""
    w = int(pad_width)
    if w < 0:
        raise ValueError("index can't contain negative values")
    n = array.shape[0]
    m = array.shape[1]
    if n == 0 or m == 0:
        raise ValueError("can't extend an empty axis using modes other than 'constant'")
    made = np.empty((n + 2 * w, m + 2 * w), dtype=array.dtype)
    for i in range(made.shape[0]):
        for k in range(made.shape[1]):
            made[i, k] = array[min(max(i - w, 0), n - 1), min(max(k - w, 0), m - 1)]
    return made


@means(np.pad, mode="wrap")
def pad_matrix_wrap_by(array: Matrix, pad_width: Count) -> Matrix:
    """The elements from the other side of a matrix."""
    w = int(pad_width)
    if w < 0:
        raise ValueError("index can't contain negative values")
    n = array.shape[0]
    m = array.shape[1]
    if n == 0 or m == 0:
        raise ValueError("can't extend an empty axis using modes other than 'constant'")
    made = np.empty((n + 2 * w, m + 2 * w), dtype=array.dtype)
    for i in range(made.shape[0]):
        for k in range(made.shape[1]):
            made[i, k] = array[(i - w) % n, (k - w) % m]
    return made


@means(np.pad, mode="reflect")
def pad_matrix_reflect_by(array: Matrix, pad_width: Count) -> Matrix:
    """The elements backwards on all sides, without the last ones again."""
    w = int(pad_width)
    if w < 0:
        raise ValueError("index can't contain negative values")
    n = array.shape[0]
    m = array.shape[1]
    if n == 0 or m == 0:
        raise ValueError("can't extend an empty axis using modes other than 'constant'")
    rows = max(2 * (n - 1), 1)
    columns = max(2 * (m - 1), 1)
    made = np.empty((n + 2 * w, m + 2 * w), dtype=array.dtype)
    for i in range(made.shape[0]):
        row = (i - w) % rows
        for k in range(made.shape[1]):
            column = (k - w) % columns
            made[i, k] = array[min(row, rows - row), min(column, columns - column)]
    return made


@means(np.pad, mode="symmetric")
def pad_matrix_symmetric_by(array: Matrix, pad_width: Count) -> Matrix:
    """The elements backwards on all sides, the last ones again, too."""
    w = int(pad_width)
    if w < 0:
        raise ValueError("index can't contain negative values")
    n = array.shape[0]
    m = array.shape[1]
    if n == 0 or m == 0:
        raise ValueError("can't extend an empty axis using modes other than 'constant'")
    made = np.empty((n + 2 * w, m + 2 * w), dtype=array.dtype)
    for i in range(made.shape[0]):
        row = (i - w) % (2 * n)
        for k in range(made.shape[1]):
            column = (k - w) % (2 * m)
            made[i, k] = array[
                min(row, 2 * n - 1 - row), min(column, 2 * m - 1 - column)
            ]
    return made
