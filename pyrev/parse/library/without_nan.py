"""What is told of the numbers of an array that are not nan: products, places, ranks."""

from __future__ import annotations

import numpy as np

from pyrev.parse.library.entries import Matrix, Number, Vector, means


@means(np.nanprod)
def nanprod(a: Vector) -> Number:
    """The product of what is not nan."""
    return np.prod(np.where(np.isnan(a), 1, a))


@means(np.nanprod)
def nanprod_of_all(a: Matrix) -> Number:
    """The same of a matrix."""
    return np.prod(np.where(np.isnan(a), 1, a))


@means(np.nancumsum)
def nancumsum(a: Vector) -> Vector:
    """The sums up to each element, to which nan adds nothing."""
    return np.cumsum(np.where(np.isnan(a), 0, a))


@means(np.nancumsum)
def nancumsum_of_all(a: Matrix) -> Vector:
    """The same of a matrix, row by row."""
    return np.nancumsum(a.ravel())


@means(np.nancumprod)
def nancumprod(a: Vector) -> Vector:
    """The products up to each element, which nan leaves as they are."""
    return np.cumprod(np.where(np.isnan(a), 1, a))


@means(np.nancumprod)
def nancumprod_of_all(a: Matrix) -> Vector:
    """The same of a matrix, row by row."""
    return np.nancumprod(a.ravel())


@means(np.nanargmax)
def nanargmax(a: Vector) -> Number:
    """Where the greatest of what is not nan is: the first place."""
    if a.shape[0] == 0:
        raise ValueError("attempt to get argmax of an empty sequence")
    place = -1
    for k in range(a.shape[0]):
        if not np.isnan(a[k]) and (place < 0 or a[k] > a[place]):
            place = k
    if place < 0:
        raise ValueError("All-NaN slice encountered")
    return place


@means(np.nanargmin)
def nanargmin(a: Vector) -> Number:
    """Where the least of what is not nan is: the first place."""
    if a.shape[0] == 0:
        raise ValueError("attempt to get argmin of an empty sequence")
    place = -1
    for k in range(a.shape[0]):
        if not np.isnan(a[k]) and (place < 0 or a[k] < a[place]):
            place = k
    if place < 0:
        raise ValueError("All-NaN slice encountered")
    return place


@means(np.nanquantile)
def nanquantile(a: Vector, q: Number) -> Number:
    """The quantile of what is not nan, which comes last in the order; nan if nothing is
    left.
    """
    if q < 0.0 or q > 1.0:
        raise ValueError("Quantiles must be in the range [0, 1]")
    n = 0
    for k in range(a.shape[0]):
        if not np.isnan(a[k]):
            n += 1
    made = np.full(1, np.nan, dtype=np.result_type(a, 1.0))
    if n > 0:
        order = np.argsort(a)
        place = q * (n - 1)
        below = int(np.floor(place))
        low = a[order[below]]
        high = a[order[min(below + 1, n - 1)]]
        made[0] = low + (1.0 * high - low) * (place - below)
    return made[0]


@means(np.nanquantile)
def nanquantiles(a: Vector, q: Vector) -> Vector:
    """The same at several places."""
    made = np.empty(q.shape[0])
    for k in range(q.shape[0]):
        made[k] = np.nanquantile(a, q[k])
    return made


@means(np.nanpercentile)
def nanpercentile(a: Vector, q: Number) -> Number:
    """The quantile of what is not nan at `q` of a hundred."""
    if q < 0.0 or q > 100.0:
        raise ValueError("Percentiles must be in the range [0, 100]")
    return np.nanquantile(a, q / 100)


@means(np.nanpercentile)
def nanpercentiles(a: Vector, q: Vector) -> Vector:
    """The same at several places."""
    return np.nanquantile(a, q / 100)
