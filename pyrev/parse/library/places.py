"""Places of elements, grids of places, sets of elements, and elements left out."""

from __future__ import annotations

import numpy as np

from pyrev.parse.library.entries import Count, Matrix, Number, Vector, means


@means(np.nonzero, np.where, method="nonzero")
def nonzero(a: Matrix) -> tuple[Vector, Vector]:
    """The rows and the columns of elements that are not zero, row by row."""
    size = np.count_nonzero(a)
    rows = np.empty(size, dtype=np.int64)
    columns = np.empty(size, dtype=np.int64)
    count = 0
    for i in range(a.shape[0]):
        for k in range(a.shape[1]):
            if a[i, k] != 0:
                rows[count] = i
                columns[count] = k
                count += 1
    return rows, columns


@means(np.argwhere)
def argwhere_row(a: Vector) -> Matrix:
    """The places of elements that are not zero, as a column."""
    places = np.empty((np.count_nonzero(a), 1), dtype=np.int64)
    count = 0
    for k in range(a.shape[0]):
        if a[k] != 0:
            places[count, 0] = k
            count += 1
    return places


@means(np.argwhere)
def argwhere(a: Matrix) -> Matrix:
    """The same of a matrix: a row and a column each."""
    places = np.empty((np.count_nonzero(a), 2), dtype=np.int64)
    count = 0
    for i in range(a.shape[0]):
        for k in range(a.shape[1]):
            if a[i, k] != 0:
                places[count, 0] = i
                places[count, 1] = k
                count += 1
    return places


@means(np.triu_indices)
def triu_indices(n: Count, k: Count = 0) -> tuple[Vector, Vector]:
    """The places on and above a diagonal of a square matrix, row by row."""
    size = 0
    for i in range(n):
        size += n - min(max(i + k, 0), n)
    rows = np.empty(size, dtype=np.int64)
    columns = np.empty(size, dtype=np.int64)
    count = 0
    for i in range(n):
        for j in range(max(i + k, 0), n):
            rows[count] = i
            columns[count] = j
            count += 1
    return rows, columns


@means(np.tril_indices)
def tril_indices(n: Count, k: Count = 0) -> tuple[Vector, Vector]:
    """The places on and below a diagonal of a square matrix, row by row."""
    size = 0
    for i in range(n):
        size += min(max(i + k + 1, 0), n)
    rows = np.empty(size, dtype=np.int64)
    columns = np.empty(size, dtype=np.int64)
    count = 0
    for i in range(n):
        for j in range(min(i + k + 1, n)):
            rows[count] = i
            columns[count] = j
            count += 1
    return rows, columns


@means(np.meshgrid)
def meshgrid(x1: Vector, x2: Vector) -> tuple[Matrix, Matrix]:
    """The coordinates of a grid, whose rows go along the second one."""
    first = np.empty((x2.shape[0], x1.shape[0]), dtype=x1.dtype)
    second = np.empty((x2.shape[0], x1.shape[0]), dtype=x2.dtype)
    for i in range(x2.shape[0]):
        for k in range(x1.shape[0]):
            first[i, k] = x1[k]
            second[i, k] = x2[i]
    return first, second


@means(np.meshgrid, indexing="ij")
def meshgrid_by_rows(x1: Vector, x2: Vector) -> tuple[Matrix, Matrix]:
    """The coordinates of a grid, whose rows go along the first one."""
    first = np.empty((x1.shape[0], x2.shape[0]), dtype=x1.dtype)
    second = np.empty((x1.shape[0], x2.shape[0]), dtype=x2.dtype)
    for i in range(x1.shape[0]):
        for k in range(x2.shape[0]):
            first[i, k] = x1[i]
            second[i, k] = x2[k]
    return first, second


@means(np.isin)
def isin(element: Vector, test_elements: Vector) -> Vector:
    """Which elements are among the others?"""
    found = np.zeros(element.shape[0], dtype=np.bool_)
    for i in range(element.shape[0]):
        for k in range(test_elements.shape[0]):
            if element[i] == test_elements[k]:
                found[i] = True
    return found


@means(np.isin, invert=True)
def is_not_in(element: Vector, test_elements: Vector) -> Vector:
    """Which elements are not?"""
    found = np.ones(element.shape[0], dtype=np.bool_)
    for i in range(element.shape[0]):
        for k in range(test_elements.shape[0]):
            if element[i] == test_elements[k]:
                found[i] = False
    return found


@means(np.delete)
def delete(arr: Vector, obj: Count) -> Vector:
    """All elements but one."""
    n = arr.shape[0]
    if not -n <= obj < n:
        raise IndexError("index is out of bounds for axis 0")
    place = obj % n
    made = np.empty(n - 1, dtype=arr.dtype)
    for k in range(n - 1):
        made[k] = arr[k] if k < place else arr[k + 1]
    return made


@means(np.delete, axis=0)
def delete_row(arr: Matrix, obj: Count) -> Matrix:
    """All rows but one."""
    n = arr.shape[0]
    if not -n <= obj < n:
        raise IndexError("index is out of bounds for axis 0")
    place = obj % n
    made = np.empty((n - 1, arr.shape[1]), dtype=arr.dtype)
    for i in range(n - 1):
        for k in range(arr.shape[1]):
            made[i, k] = arr[i, k] if i < place else arr[i + 1, k]
    return made


@means(np.delete, axis=1)
def delete_column(arr: Matrix, obj: Count) -> Matrix:
    """All columns but one."""
    n = arr.shape[1]
    if not -n <= obj < n:
        raise IndexError("index is out of bounds for axis 1")
    place = obj % n
    made = np.empty((arr.shape[0], n - 1), dtype=arr.dtype)
    for i in range(arr.shape[0]):
        for k in range(n - 1):
            made[i, k] = arr[i, k] if k < place else arr[i, k + 1]
    return made


@means(np.insert)
def insert(arr: Vector, obj: Count, values: Number) -> Vector:
    """One element more, in front of a place; it gets the dtype of the others."""
    n = arr.shape[0]
    if not -n <= obj <= n:
        raise IndexError("index is out of bounds for axis 0")
    place = obj if obj >= 0 else obj + n
    made = np.empty(n + 1, dtype=arr.dtype)
    for k in range(n + 1):
        if k < place:
            made[k] = arr[k]
        elif k > place:
            made[k] = arr[k - 1]
    made[place] = values
    return made
