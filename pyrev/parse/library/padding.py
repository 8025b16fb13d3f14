"""Borders around arrays: `np.pad`.

Beside a number there are four ways to go on beyond an end; each says by itself which
element of `n` stands in a place, counted from the first one.
"""

from __future__ import annotations

import numpy as np

from pyrev.parse.library.entries import Count, Matrix, Number, Vector, means


def _wider(array: Vector, pad_width: Vector) -> Vector:
    """Room for the elements and for what stands beyond both ends."""
    if pad_width.shape[0] != 2 or min(pad_width[0], pad_width[1]) < 0:
        raise ValueError("index can't contain negative values")
    length = int(pad_width[0]) + array.shape[0] + int(pad_width[1])
    return np.empty(length, dtype=array.dtype)


def _wider_on_all_sides(array: Matrix, w: Count) -> Matrix:
    """The same of a matrix."""
    if w < 0:
        raise ValueError("index can't contain negative values")
    shape = (array.shape[0] + 2 * w, array.shape[1] + 2 * w)
    return np.empty(shape, dtype=array.dtype)


def _edge(place: Count, n: Count) -> Count:
    """The first and the last element once more."""
    return min(max(place, 0), n - 1)


def _wrap(place: Count, n: Count) -> Count:
    """The elements from the other end."""
    return place % n


def _reflect(place: Count, n: Count) -> Count:
    """The elements backwards, without the last one again."""
    period = max(2 * (n - 1), 1)
    return min(place % period, period - place % period)


def _symmetric(place: Count, n: Count) -> Count:
    """The elements backwards, the last one again, too."""
    return min(place % (2 * n), 2 * n - 1 - place % (2 * n))


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
    before = int(pad_width[0])
    made = _wider(array, pad_width)
    for k in range(made.shape[0]):
        if before <= k < before + n:
            made[k] = array[k - before]
        else:
            made[k] = constant_values
    return made


@means(np.pad, mode="edge")
def pad_edge_by(array: Vector, pad_width: Count) -> Vector:
    """As often at both ends."""
    return np.pad(array, np.array([pad_width, pad_width]), "edge")


@means(np.pad, mode="edge")
def pad_edge(array: Vector, pad_width: Vector) -> Vector:
    """As often as said for each end."""
    n = array.shape[0]
    made = _wider(array, pad_width)
    if n == 0 and made.shape[0] > 0:
        raise ValueError("can't extend empty axis 0 using modes other than 'constant'")
    for k in range(made.shape[0]):
        made[k] = array[_edge(k - int(pad_width[0]), n)]
    return made


@means(np.pad, mode="wrap")
def pad_wrap_by(array: Vector, pad_width: Count) -> Vector:
    """As often at both ends."""
    return np.pad(array, np.array([pad_width, pad_width]), "wrap")


@means(np.pad, mode="wrap")
def pad_wrap(array: Vector, pad_width: Vector) -> Vector:
    """As often as said for each end."""
    n = array.shape[0]
    made = _wider(array, pad_width)
    if n == 0 and made.shape[0] > 0:
        raise ValueError("can't extend empty axis 0 using modes other than 'constant'")
    for k in range(made.shape[0]):
        made[k] = array[_wrap(k - int(pad_width[0]), n)]
    return made


@means(np.pad, mode="reflect")
def pad_reflect_by(array: Vector, pad_width: Count) -> Vector:
    """As often at both ends."""
    return np.pad(array, np.array([pad_width, pad_width]), "reflect")


@means(np.pad, mode="reflect")
def pad_reflect(array: Vector, pad_width: Vector) -> Vector:
    """As often as said for each end."""
    n = array.shape[0]
    made = _wider(array, pad_width)
    if n == 0 and made.shape[0] > 0:
        raise ValueError("can't extend empty axis 0 using modes other than 'constant'")
    for k in range(made.shape[0]):
        made[k] = array[_reflect(k - int(pad_width[0]), n)]
    return made


@means(np.pad, mode="symmetric")
def pad_symmetric_by(array: Vector, pad_width: Count) -> Vector:
    """As often at both ends."""
    return np.pad(array, np.array([pad_width, pad_width]), "symmetric")


@means(np.pad, mode="symmetric")
def pad_symmetric(array: Vector, pad_width: Vector) -> Vector:
    """As often as said for each end."""
    n = array.shape[0]
    made = _wider(array, pad_width)
    if n == 0 and made.shape[0] > 0:
        raise ValueError("can't extend empty axis 0 using modes other than 'constant'")
    for k in range(made.shape[0]):
        made[k] = array[_symmetric(k - int(pad_width[0]), n)]
    return made


@means(np.pad)
def pad_matrix_by(
    array: Matrix, pad_width: Count, constant_values: Number = 0
) -> Matrix:
    """A number around a matrix."""
    w = int(pad_width)
    n = array.shape[0]
    m = array.shape[1]
    made = _wider_on_all_sides(array, w)
    for i in range(made.shape[0]):
        for k in range(made.shape[1]):
            if w <= i < w + n and w <= k < w + m:
                made[i, k] = array[i - w, k - w]
            else:
                made[i, k] = constant_values
    return made


@means(np.pad, mode="edge")
def pad_matrix_edge_by(array: Matrix, pad_width: Count) -> Matrix:
    """As often on all sides of a matrix."""
    w = int(pad_width)
    n = array.shape[0]
    m = array.shape[1]
    if n == 0 or m == 0:
        raise ValueError("can't extend an empty axis using modes other than 'constant'")
    made = _wider_on_all_sides(array, w)
    for i in range(made.shape[0]):
        for k in range(made.shape[1]):
            made[i, k] = array[_edge(i - w, n), _edge(k - w, m)]
    return made


@means(np.pad, mode="wrap")
def pad_matrix_wrap_by(array: Matrix, pad_width: Count) -> Matrix:
    """As often on all sides of a matrix."""
    w = int(pad_width)
    n = array.shape[0]
    m = array.shape[1]
    if n == 0 or m == 0:
        raise ValueError("can't extend an empty axis using modes other than 'constant'")
    made = _wider_on_all_sides(array, w)
    for i in range(made.shape[0]):
        for k in range(made.shape[1]):
            made[i, k] = array[_wrap(i - w, n), _wrap(k - w, m)]
    return made


@means(np.pad, mode="reflect")
def pad_matrix_reflect_by(array: Matrix, pad_width: Count) -> Matrix:
    """As often on all sides of a matrix."""
    w = int(pad_width)
    n = array.shape[0]
    m = array.shape[1]
    if n == 0 or m == 0:
        raise ValueError("can't extend an empty axis using modes other than 'constant'")
    made = _wider_on_all_sides(array, w)
    for i in range(made.shape[0]):
        for k in range(made.shape[1]):
            made[i, k] = array[_reflect(i - w, n), _reflect(k - w, m)]
    return made


@means(np.pad, mode="symmetric")
def pad_matrix_symmetric_by(array: Matrix, pad_width: Count) -> Matrix:
    """As often on all sides of a matrix."""
    w = int(pad_width)
    n = array.shape[0]
    m = array.shape[1]
    if n == 0 or m == 0:
        raise ValueError("can't extend an empty axis using modes other than 'constant'")
    made = _wider_on_all_sides(array, w)
    for i in range(made.shape[0]):
        for k in range(made.shape[1]):
            made[i, k] = array[_symmetric(i - w, n), _symmetric(k - w, m)]
    return made
