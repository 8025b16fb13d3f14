"""What writes to the array that it is given, and returns nothing.

`np.copyto` stores no float in integers. Nor does an addition in place, which is why
there is one in front, of no elements.
"""

from __future__ import annotations

import numpy as np

from pyrev.parse.library.entries import Matrix, Number, Vector, means


@means(np.put)
def put(a: Vector, ind: Vector, v: Vector) -> None:
    """Values in these places, from the first one again where there are fewer."""
    for k in range(ind.shape[0]):
        if v.shape[0] > 0:
            a[ind[k]] = v[k % v.shape[0]]


@means(np.put)
def put_number(a: Vector, ind: Vector, v: Number) -> None:
    """A number in these places."""
    for k in range(ind.shape[0]):
        a[ind[k]] = v


@means(np.put)
def put_one(a: Vector, ind: Number, v: Number) -> None:
    """A number in one place."""
    a[ind] = v


@means(np.copyto)
def copyto(dst: Vector, src: Vector) -> None:
    """The elements of another array."""
    dst[:0] += src[:0]
    dst[:] = src


@means(np.copyto)
def copy_number_to(dst: Vector, src: Number) -> None:
    """One number everywhere."""
    dst[:0] += src
    dst[:] = src


@means(np.copyto)
def copy_all_to(dst: Matrix, src: Matrix) -> None:
    """The elements of another matrix."""
    dst[:0] += src[:0]
    dst[:] = src


@means(np.copyto)
def copy_row_to(dst: Matrix, src: Vector) -> None:
    """A vector in each row."""
    dst[:0] += src
    dst[:] = src


@means(np.copyto)
def copy_number_to_all(dst: Matrix, src: Number) -> None:
    """One number everywhere."""
    dst[:0] += src
    dst[:] = src


@means(np.copyto)
def copy_where(dst: Vector, src: Vector, where: Vector) -> None:
    """The elements of another array, where something holds."""
    if dst.shape[0] != src.shape[0] or dst.shape[0] != where.shape[0]:
        raise ValueError("could not broadcast input array")
    dst[:0] += src[:0]
    for k in range(dst.shape[0]):
        if where[k]:
            dst[k] = src[k]


@means(np.copyto)
def copy_number_where(dst: Vector, src: Number, where: Vector) -> None:
    """One number, where something holds."""
    if dst.shape[0] != where.shape[0]:
        raise ValueError("could not broadcast where mask")
    dst[:0] += src
    for k in range(dst.shape[0]):
        if where[k]:
            dst[k] = src


@means(np.fill_diagonal)
def fill_diagonal(a: Matrix, val: Number) -> None:
    """One number along the diagonal."""
    for k in range(min(a.shape[0], a.shape[1])):
        a[k, k] = val


@means(np.fill_diagonal)
def fill_diagonal_with(a: Matrix, val: Vector) -> None:
    """These along the diagonal, from the first one again where there are fewer."""
    if val.shape[0] == 0:
        raise ValueError("cannot copy an array without elements")
    for k in range(min(a.shape[0], a.shape[1])):
        a[k, k] = val[k % val.shape[0]]
