"""An array in parts, each of which is a view of it."""

from __future__ import annotations

import numpy as np

from pyrev.parse.library.entries import Count, Matrix, Vector, means


def _end(n: Count, part: Count, parts: Count) -> Count:
    """Where a part ends: the first ones are longer by one than the last ones."""
    return part * (n // parts) + min(part, n % parts)


@means(np.array_split, indices_or_sections=2)
def in_two(ary: Vector) -> tuple[Vector, Vector]:
    """Two parts, the first one longer by one if need be."""
    k = _end(ary.shape[0], 1, 2)
    return ary[:k], ary[k:]


@means(np.array_split, indices_or_sections=3)
def in_three(ary: Vector) -> tuple[Vector, Vector, Vector]:
    """Three parts."""
    k = _end(ary.shape[0], 1, 3)
    m = _end(ary.shape[0], 2, 3)
    return ary[:k], ary[k:m], ary[m:]


@means(np.array_split, indices_or_sections=4)
def in_four(ary: Vector) -> tuple[Vector, Vector, Vector, Vector]:
    """Four parts."""
    k = _end(ary.shape[0], 1, 4)
    m = _end(ary.shape[0], 2, 4)
    n = _end(ary.shape[0], 3, 4)
    return ary[:k], ary[k:m], ary[m:n], ary[n:]


@means(np.split, np.hsplit, indices_or_sections=2)
def halves(ary: Vector) -> tuple[Vector, Vector]:
    """Two parts of one length."""
    if ary.shape[0] % 2 != 0:
        raise ValueError("array split does not result in an equal division")
    k = ary.shape[0] // 2
    return ary[:k], ary[k:]


@means(np.split, np.hsplit, indices_or_sections=3)
def thirds(ary: Vector) -> tuple[Vector, Vector, Vector]:
    """Three parts of one length."""
    if ary.shape[0] % 3 != 0:
        raise ValueError("array split does not result in an equal division")
    k = ary.shape[0] // 3
    return ary[:k], ary[k : 2 * k], ary[2 * k :]


@means(np.split, np.hsplit, indices_or_sections=4)
def quarters(ary: Vector) -> tuple[Vector, Vector, Vector, Vector]:
    """Four parts of one length."""
    if ary.shape[0] % 4 != 0:
        raise ValueError("array split does not result in an equal division")
    k = ary.shape[0] // 4
    return ary[:k], ary[k : 2 * k], ary[2 * k : 3 * k], ary[3 * k :]


@means(np.split, np.vsplit, indices_or_sections=2)
def upper_and_lower(ary: Matrix) -> tuple[Matrix, Matrix]:
    """Two parts of as many rows."""
    if ary.shape[0] % 2 != 0:
        raise ValueError("array split does not result in an equal division")
    k = ary.shape[0] // 2
    return ary[:k], ary[k:]


@means(np.split, np.vsplit, indices_or_sections=3)
def thirds_of_rows(ary: Matrix) -> tuple[Matrix, Matrix, Matrix]:
    """Three parts of as many rows."""
    if ary.shape[0] % 3 != 0:
        raise ValueError("array split does not result in an equal division")
    k = ary.shape[0] // 3
    return ary[:k], ary[k : 2 * k], ary[2 * k :]


@means(np.split, indices_or_sections=2, axis=1)
@means(np.hsplit, indices_or_sections=2)
def left_and_right(ary: Matrix) -> tuple[Matrix, Matrix]:
    """Two parts of as many columns."""
    if ary.shape[1] % 2 != 0:
        raise ValueError("array split does not result in an equal division")
    k = ary.shape[1] // 2
    return ary[:, :k], ary[:, k:]


@means(np.split, indices_or_sections=3, axis=1)
@means(np.hsplit, indices_or_sections=3)
def thirds_of_columns(ary: Matrix) -> tuple[Matrix, Matrix, Matrix]:
    """Three parts of as many columns."""
    if ary.shape[1] % 3 != 0:
        raise ValueError("array split does not result in an equal division")
    k = ary.shape[1] // 3
    return ary[:, :k], ary[:, k : 2 * k], ary[:, 2 * k :]
