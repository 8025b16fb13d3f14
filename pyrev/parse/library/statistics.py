"""What is told of many numbers: sums without nan, means with weights, counts."""

from __future__ import annotations

import numpy as np

from pyrev.parse.library.entries import Count, Matrix, Number, Vector, means


@means(np.nansum)
def nansum(a: Vector) -> Number:
    """The sum of what is not nan."""
    total = 0.0
    for k in range(a.shape[0]):
        if not np.isnan(a[k]):
            total += a[k]
    return total


@means(np.nansum)
def nansum_of_all(a: Matrix) -> Number:
    """The same of a matrix."""
    total = 0.0
    for i in range(a.shape[0]):
        for k in range(a.shape[1]):
            if not np.isnan(a[i, k]):
                total += a[i, k]
    return total


@means(np.nanmean)
def nanmean(a: Vector) -> Number:
    """The mean of what is not nan; nan if nothing is left."""
    total = 0.0
    count = 0
    for k in range(a.shape[0]):
        if not np.isnan(a[k]):
            total += a[k]
            count += 1
    return total / count if count > 0 else np.nan


@means(np.nanmean)
def nanmean_of_all(a: Matrix) -> Number:
    """The same of a matrix."""
    total = 0.0
    count = 0
    for i in range(a.shape[0]):
        for k in range(a.shape[1]):
            if not np.isnan(a[i, k]):
                total += a[i, k]
                count += 1
    return total / count if count > 0 else np.nan


@means(np.nanvar)
def nanvar(a: Vector) -> Number:
    """The variance of what is not nan."""
    mean = np.nanmean(a)
    total = 0.0
    count = 0
    for k in range(a.shape[0]):
        if not np.isnan(a[k]):
            total += (a[k] - mean) ** 2
            count += 1
    return total / count if count > 0 else np.nan


@means(np.nanstd)
def nanstd(a: Vector) -> Number:
    """The standard deviation of what is not nan."""
    return np.sqrt(np.nanvar(a))


@means(np.nanmax)
def nanmax(a: Vector) -> Number:
    """The greatest of what is not nan; nan if nothing is left."""
    if a.shape[0] == 0:
        raise ValueError("zero-size array to reduction operation fmax")
    place = -1
    for k in range(a.shape[0]):
        if not np.isnan(a[k]) and (place < 0 or a[k] > a[place]):
            place = k
    return a[place] if place >= 0 else np.nan


@means(np.nanmin)
def nanmin(a: Vector) -> Number:
    """The least of what is not nan; nan if nothing is left."""
    if a.shape[0] == 0:
        raise ValueError("zero-size array to reduction operation fmin")
    place = -1
    for k in range(a.shape[0]):
        if not np.isnan(a[k]) and (place < 0 or a[k] < a[place]):
            place = k
    return a[place] if place >= 0 else np.nan


@means(np.ptp)
def ptp(a: Vector) -> Number:
    """The greatest less the least."""
    return np.max(a) - np.min(a)


@means(np.ptp)
def ptp_of_all(a: Matrix) -> Number:
    """The same of a matrix."""
    return np.max(a) - np.min(a)


@means(np.average)
def average(a: Vector) -> Number:
    """The mean."""
    return np.mean(a)


@means(np.average)
def weighted_average(a: Vector, weights: Vector) -> Number:
    """The mean with weights."""
    whole = np.sum(weights)
    if whole == 0.0:
        raise ZeroDivisionError("Weights sum to zero, can't be normalized")
    return np.sum(1.0 * a * weights) / whole


@means(np.count_nonzero)
def count_nonzero(a: Vector) -> Count:
    """How many elements are not zero."""
    count = 0
    for k in range(a.shape[0]):
        if a[k] != 0:
            count += 1
    return count


@means(np.count_nonzero)
def count_nonzero_of_all(a: Matrix) -> Count:
    """The same of a matrix."""
    count = 0
    for i in range(a.shape[0]):
        for k in range(a.shape[1]):
            if a[i, k] != 0:
                count += 1
    return count


@means(np.flatnonzero)
def flatnonzero(a: Vector) -> Vector:
    """The places of elements that are not zero."""
    places = np.empty(np.count_nonzero(a), dtype=np.int64)
    count = 0
    for k in range(a.shape[0]):
        if a[k] != 0:
            places[count] = k
            count += 1
    return places


@means(np.bincount)
def bincount(x: Vector, minlength: Count = 0) -> Vector:
    """How often each integer from zero on is an element."""
    most = int(minlength) - 1
    for k in range(x.shape[0]):
        if x[k] < 0:
            raise ValueError("'list' argument must have no negative elements")
        most = max(most, int(x[k]))
    counts = np.zeros(most + 1, dtype=np.int64)
    for k in range(x.shape[0]):
        counts[x[k]] += 1
    return counts


@means(np.bincount)
def bincount_weights(x: Vector, weights: Vector, minlength: Count = 0) -> Vector:
    """The sum of the weights of each integer from zero on."""
    if x.shape[0] != weights.shape[0]:
        raise ValueError("The weights and list don't have the same length.")
    most = int(minlength) - 1
    for k in range(x.shape[0]):
        if x[k] < 0:
            raise ValueError("'list' argument must have no negative elements")
        most = max(most, int(x[k]))
    sums = np.zeros(most + 1)
    for k in range(x.shape[0]):
        sums[x[k]] += weights[k]
    return sums


@means(np.array_equal)
def array_equal(a1: Vector, a2: Vector) -> Count:
    """Have both the same elements?"""
    same = a1.shape[0] == a2.shape[0]
    if same:
        for k in range(a1.shape[0]):
            if not a1[k] == a2[k]:
                same = False
    return same


@means(np.isclose, np.allclose)
def isclose(a: Number, b: Number, rtol: Number = 1e-05, atol: Number = 1e-08) -> Count:
    """Are two numbers equal within a tolerance? Infinite ones if they are equal."""
    return a == b or (np.isfinite(b) and abs(1.0 * a - b) <= atol + rtol * abs(1.0 * b))


@means(np.allclose)
def allclose(a: Vector, b: Vector, rtol: Number = 1e-05, atol: Number = 1e-08) -> Count:
    """Are all elements equal within a tolerance?"""
    if a.shape[0] != b.shape[0]:
        raise ValueError("operands could not be broadcast together")
    close = True
    for k in range(len(a)):
        if not np.isclose(a[k], b[k], rtol, atol):
            close = False
    return close
