"""Sorting and searching in vectors.

Which element comes first is an integer, and passes no derivative; what is sorted passes
its own along the permutation. Equal elements stay in their order; nan comes last, as in
NumPy.
"""

from __future__ import annotations

import numpy as np

from pyrev.parse.library.entries import ANY, Count, Matrix, Number, Vector, means


def in_order(a: Vector) -> Vector:
    """Places in order: the one thing about arrays that is no loop in the language,
    since all that compiles it sorts better than loops that it would compile.
    """
    return np.argsort(a, kind="stable")


@means(np.argsort, method="argsort", kind=ANY, stable=ANY)
def argsort(a: Vector) -> Vector:
    """Places in order."""
    order = in_order(a)
    return order


@means(np.lexsort)
def lexsort(keys: Matrix) -> Vector:
    """Places in the order of the last row; of equal ones in that of the row before."""
    order = in_order(keys[0])
    for r in range(1, keys.shape[0]):
        order = order[in_order(keys[r][order])]
    return order


def by_keys(*keys: Vector) -> Vector:
    """``np.lexsort(keys)`` of keys that are written out, each of a dtype of its own."""
    return np.lexsort(keys)


@means(by_keys)
def by_two_keys(first: Vector, second: Vector) -> Vector:
    """Places in the order of the second; of equal ones in that of the first."""
    if first.shape[0] != second.shape[0]:
        raise ValueError("all keys need to be the same shape")
    order = in_order(first)
    return order[in_order(second[order])]


@means(by_keys)
def by_three_keys(first: Vector, second: Vector, third: Vector) -> Vector:
    """The same of three."""
    if first.shape[0] != second.shape[0] or first.shape[0] != third.shape[0]:
        raise ValueError("all keys need to be the same shape")
    order = in_order(first)
    order = order[in_order(second[order])]
    return order[in_order(third[order])]


@means(np.sort, kind=ANY, stable=ANY)
def sort(a: Vector) -> Vector:
    """The elements in ascending order."""
    order = np.argsort(a)
    made = np.empty_like(a)
    for k in range(a.shape[0]):
        made[k] = a[order[k]]
    return made


@means(np.sort, axis=1, kind=ANY, stable=ANY)
@means(np.sort, kind=ANY, stable=ANY)
def sort_rows(a: Matrix) -> Matrix:
    """Each row in ascending order."""
    made = np.empty_like(a)
    for i in range(a.shape[0]):
        order = np.argsort(a[i])
        for k in range(a.shape[1]):
            made[i, k] = a[i, order[k]]
    return made


@means(np.sort, axis=0, kind=ANY, stable=ANY)
def sort_columns(a: Matrix) -> Matrix:
    """Each column in ascending order."""
    made = np.empty_like(a)
    for j in range(a.shape[1]):
        order = np.argsort(a[:, j])
        for k in range(a.shape[0]):
            made[k, j] = a[order[k], j]
    return made


@means(np.ndarray.sort, method="sort")
def sort_in_place(a: Vector) -> None:
    """The elements in ascending order, where they were."""
    made = np.sort(a)
    for k in range(a.shape[0]):
        a[k] = made[k]


@means(np.searchsorted, method="searchsorted")
def first_not_below(a: Vector, v: Number) -> Count:
    """The first place whose element is not less than `v`: binary search."""
    low = 0
    high = a.shape[0]
    while low < high:
        middle = (low + high) // 2
        if a[middle] < v or (np.isnan(v) and not np.isnan(a[middle])):
            low = middle + 1
        else:
            high = middle
    return low


@means(np.searchsorted, side="right")
def first_above(a: Vector, v: Number) -> Count:
    """The first place whose element is greater than `v`: binary search."""
    low = 0
    high = a.shape[0]
    while low < high:
        middle = (low + high) // 2
        if v < a[middle] or (np.isnan(a[middle]) and not np.isnan(v)):
            high = middle
        else:
            low = middle + 1
    return low


@means(np.searchsorted)
def all_not_below(a: Vector, v: Vector) -> Vector:
    """The same for each element of `v`."""
    places = np.empty(v.shape[0], dtype=np.int64)
    for k in range(v.shape[0]):
        places[k] = np.searchsorted(a, v[k])
    return places


@means(np.searchsorted, side="right")
def all_above(a: Vector, v: Vector) -> Vector:
    """The same for each element of `v`."""
    places = np.empty(v.shape[0], dtype=np.int64)
    for k in range(v.shape[0]):
        places[k] = np.searchsorted(a, v[k], side="right")
    return places


@means(np.digitize)
def bin_of(x: Number, bins: Vector) -> Count:
    """The bin of a number; `bins` ascend or descend."""
    if bins.shape[0] > 1 and bins[bins.shape[0] - 1] < bins[0]:
        place = bins.shape[0] - np.searchsorted(bins[::-1], x, side="right")
    else:
        place = np.searchsorted(bins, x, side="right")
    return place


@means(np.digitize, right=True)
def bin_to_the_right_of(x: Number, bins: Vector) -> Count:
    """The same, each bin with its upper end."""
    if bins.shape[0] > 1 and bins[bins.shape[0] - 1] < bins[0]:
        place = bins.shape[0] - np.searchsorted(bins[::-1], x)
    else:
        place = np.searchsorted(bins, x)
    return place


@means(np.digitize)
def bins_of(x: Vector, bins: Vector) -> Vector:
    """The bin of each element."""
    places = np.empty(x.shape[0], dtype=np.int64)
    for k in range(x.shape[0]):
        places[k] = np.digitize(x[k], bins)
    return places


@means(np.digitize, right=True)
def bins_to_the_right_of(x: Vector, bins: Vector) -> Vector:
    """The same, each bin with its upper end."""
    places = np.empty(x.shape[0], dtype=np.int64)
    for k in range(x.shape[0]):
        places[k] = np.digitize(x[k], bins, right=True)
    return places


@means(np.unique)
def unique(ar: Vector) -> Vector:
    """The different elements in ascending order; of equal ones the first passes the
    derivative. All nan are one.
    """
    order = np.argsort(ar)
    count = 0
    for k in range(ar.shape[0]):
        x = ar[order[k]]
        if k == 0 or not (
            x == ar[order[k - 1]] or (np.isnan(x) and np.isnan(ar[order[k - 1]]))
        ):
            count += 1
    made = np.empty(count, dtype=ar.dtype)
    count = 0
    for k in range(ar.shape[0]):
        x = ar[order[k]]
        if k == 0 or not (
            x == ar[order[k - 1]] or (np.isnan(x) and np.isnan(ar[order[k - 1]]))
        ):
            made[count] = x
            count += 1
    return made


@means(np.unique, return_counts=True)
def unique_counts(ar: Vector) -> tuple[Vector, Vector]:
    """The different elements, and how often each of them is there."""
    made = np.unique(ar)
    counts = np.zeros(made.shape[0], dtype=np.int64)
    for k in range(ar.shape[0]):
        counts[np.searchsorted(made, ar[k])] += 1
    return made, counts


@means(np.argmax, method="argmax", axis=0)
def greatest_of_columns(a: Matrix) -> Vector:
    """Where the greatest element of each column is."""
    return np.argmax(a.T, axis=1)


@means(np.argmax, axis=1)
def greatest_of_rows(a: Matrix) -> Vector:
    """Where the greatest element of each row is."""
    made = np.empty(a.shape[0], dtype=np.int64)
    for i in range(a.shape[0]):
        made[i] = np.argmax(a[i])
    return made


@means(np.argmin, method="argmin", axis=0)
def least_of_columns(a: Matrix) -> Vector:
    """Where the least element of each column is."""
    return np.argmin(a.T, axis=1)


@means(np.argmin, axis=1)
def least_of_rows(a: Matrix) -> Vector:
    """Where the least element of each row is."""
    made = np.empty(a.shape[0], dtype=np.int64)
    for i in range(a.shape[0]):
        made[i] = np.argmin(a[i])
    return made


@means(np.median)
def median(a: Vector) -> Number:
    """The middle element, or the mean of the two; nan if there is one, or nothing."""
    n = a.shape[0]
    found = np.nan
    if n > 0:
        order = np.argsort(a)
        last = a[order[n - 1]]
        if np.isnan(last):
            found = last
        elif n % 2 == 1:
            found = 1.0 * a[order[n // 2]]
        else:
            found = (1.0 * a[order[n // 2 - 1]] + a[order[n // 2]]) / 2
    return found


@means(np.median, axis=0)
def median_of_columns(a: Matrix) -> Vector:
    """The median of each column."""
    return np.median(a.T, axis=1)


@means(np.median, axis=1)
def median_of_rows(a: Matrix) -> Vector:
    """The median of each row."""
    made = np.empty(a.shape[0], dtype=np.result_type(a, 1.0))
    for i in range(a.shape[0]):
        made[i] = np.median(a[i])
    return made


@means(np.nanmedian)
def nanmedian(a: Vector) -> Number:
    """The median of what is not nan."""
    n = 0
    for k in range(a.shape[0]):
        if not np.isnan(a[k]):
            n += 1
    found = np.nan
    if n > 0:
        order = np.argsort(a)
        if n % 2 == 1:
            found = 1.0 * a[order[n // 2]]
        else:
            found = (1.0 * a[order[n // 2 - 1]] + a[order[n // 2]]) / 2
    return found


@means(np.quantile)
def quantile(a: Vector, q: Number) -> Number:
    """Linear between the two elements beside the place `q (n - 1)` (Hyndman and Fan,
    Sample quantiles in statistical packages, 1996, definition 7).
    """
    if q < 0.0 or q > 1.0:
        raise ValueError("Quantiles must be in the range [0, 1]")
    order = np.argsort(a)
    n = a.shape[0]
    last = a[order[n - 1]]
    found = last
    if not np.isnan(last):
        place = q * (n - 1)
        below = int(np.floor(place))
        above = min(below + 1, n - 1)
        part = place - below
        low = a[order[below]]
        found = low + (1.0 * a[order[above]] - low) * part
    return found


@means(np.quantile)
def quantiles(a: Vector, q: Vector) -> Vector:
    """The same at several places."""
    made = np.empty(q.shape[0])
    for k in range(q.shape[0]):
        made[k] = np.quantile(a, q[k])
    return made


@means(np.percentile)
def percentiles(a: Vector, q: Vector) -> Vector:
    """The quantiles at `q` of a hundred."""
    return np.quantile(a, q / 100)


@means(np.percentile)
def percentile(a: Vector, q: Number) -> Number:
    """The quantile at `q` of a hundred."""
    if q < 0.0 or q > 100.0:
        raise ValueError("Percentiles must be in the range [0, 100]")
    return np.quantile(a, q / 100)
