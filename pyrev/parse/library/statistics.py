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


def true_places(a: Vector) -> Vector:
    """The places of elements that are not zero: no loop in the language, like the
    places in order (`in_order`).
    """
    return np.flatnonzero(a)


@means(np.flatnonzero)
def flatnonzero(a: Vector) -> Vector:
    """The places of elements that are not zero."""
    places = true_places(a)
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


@means(np.var, method="var")
def variance(a: Vector, ddof: Number) -> Number:
    """The mean square of the distance to the mean, for so many elements less."""
    mean = np.mean(a)
    total = 0.0 * mean
    for k in range(a.shape[0]):
        total += (a[k] - mean) ** 2
    return total / float(max(a.shape[0] - ddof, 0))


@means(np.var)
def variance_of_all(a: Matrix, ddof: Number) -> Number:
    """The same of a matrix."""
    mean = np.mean(a)
    total = 0.0 * mean
    for i in range(a.shape[0]):
        for k in range(a.shape[1]):
            total += (a[i, k] - mean) ** 2
    return total / float(max(a.shape[0] * a.shape[1] - ddof, 0))


@means(np.var, axis=0)
def variance_of_columns(a: Matrix, ddof: Number) -> Vector:
    """The same of each column."""
    made = np.zeros(a.shape[1], dtype=np.result_type(a, 1.0))
    for k in range(a.shape[1]):
        mean = np.mean(a[:, k])
        for i in range(a.shape[0]):
            made[k] += (a[i, k] - mean) ** 2
        made[k] /= float(max(a.shape[0] - ddof, 0))
    return made


@means(np.var, axis=1)
def variance_of_rows(a: Matrix, ddof: Number) -> Vector:
    """The same of each row."""
    made = np.zeros(a.shape[0], dtype=np.result_type(a, 1.0))
    for i in range(a.shape[0]):
        mean = np.mean(a[i])
        for k in range(a.shape[1]):
            made[i] += (a[i, k] - mean) ** 2
        made[i] /= float(max(a.shape[1] - ddof, 0))
    return made


@means(np.std, axis=0)
def deviation_of_columns(a: Matrix, ddof: Number) -> Vector:
    """The root of the variance of each column."""
    return np.sqrt(np.var(a, axis=0, ddof=ddof))


@means(np.std, axis=1)
def deviation_of_rows(a: Matrix, ddof: Number) -> Vector:
    """The root of the variance of each row."""
    return np.sqrt(np.var(a, axis=1, ddof=ddof))


@means(np.std, method="std")
def deviation(a: Vector, ddof: Number) -> Number:
    """The root of the variance."""
    return np.sqrt(np.var(a, ddof=ddof))


@means(np.std)
def deviation_of_all(a: Matrix, ddof: Number) -> Number:
    """The same of a matrix."""
    return np.sqrt(np.var(a, ddof=ddof))


@means(np.cov)
def cov_of_two(m: Vector, y: Vector, ddof: Number = 1) -> Matrix:
    """The variances of two vectors, and how they vary together."""
    if m.shape[0] != y.shape[0]:
        raise ValueError("all the input array dimensions must match exactly")
    return np.cov(np.stack((m, y)), ddof=ddof)


@means(np.cov)
def cov(m: Matrix, ddof: Number = 1) -> Matrix:
    """How the rows of a matrix vary together."""
    rows = m.shape[0]
    n = m.shape[1]
    if rows == 1:
        raise ValueError("of one row that is a number: write np.var(x, ddof=1)")
    means_ = np.zeros(rows)
    for i in range(rows):
        for k in range(n):
            means_[i] += m[i, k]
        means_[i] /= n
    made = np.zeros((rows, rows))
    for i in range(rows):
        for j in range(rows):
            for k in range(n):
                made[i, j] += (m[i, k] - means_[i]) * (m[j, k] - means_[j])
            made[i, j] /= max(n - ddof, 0)
    return made


@means(np.cov, rowvar=False)
def cov_of_columns(m: Matrix, ddof: Number = 1) -> Matrix:
    """How the columns of a matrix vary together."""
    return np.cov(m.T.copy(), ddof=ddof)


@means(np.corrcoef)
def corrcoef_of_two(x: Vector, y: Vector) -> Matrix:
    """The same of two vectors, each divided by its deviation."""
    if x.shape[0] != y.shape[0]:
        raise ValueError("all the input array dimensions must match exactly")
    return np.corrcoef(np.stack((x, y)))


@means(np.corrcoef)
def corrcoef(x: Matrix) -> Matrix:
    """The same of the rows of a matrix."""
    c = np.cov(x)
    made = np.empty_like(c)
    for i in range(c.shape[0]):
        for k in range(c.shape[1]):
            value = c[i, k] / np.sqrt(c[i, i]) / np.sqrt(c[k, k])
            made[i, k] = min(max(value, -1.0), 1.0)
    return made


@means(np.corrcoef, rowvar=False)
def corrcoef_of_columns(x: Matrix) -> Matrix:
    """The same of the columns of a matrix."""
    return np.corrcoef(x.T.copy())


@means(np.histogram)
def histogram_at(a: Vector, bins: Vector) -> tuple[Vector, Vector]:
    """How many elements lie between one edge and the next; the last one belongs to the
    last bin.
    """
    for k in range(bins.shape[0] - 1):
        if bins[k] > bins[k + 1]:
            raise ValueError("`bins` must increase monotonically, when an array")
    counts = np.zeros(bins.shape[0] - 1, dtype=np.int64)
    last = bins.shape[0] - 1
    for k in range(a.shape[0]):
        if bins[0] <= a[k] <= bins[last]:
            place = np.searchsorted(bins, a[k], side="right") - 1
            counts[min(place, last - 1)] += 1
    return counts, bins


@means(np.histogram)
def histogram(a: Vector, bins: Count = 10) -> tuple[Vector, Vector]:
    """The same for so many bins of one width, from the least element on."""
    if a.shape[0] == 0:
        return np.histogram(a, bins, (0.0, 1.0))
    return np.histogram(a, bins, (np.min(a), np.max(a)))


@means(np.histogram)
def histogram_between(a: Vector, bins: Count, range_: Vector) -> tuple[Vector, Vector]:
    """The same from one number to another."""
    if bins < 1:
        raise ValueError("`bins` must be positive, when an integer")
    first = 1.0 * range_[0]
    last = 1.0 * range_[1]
    if not (np.isfinite(first) and np.isfinite(last)):
        raise ValueError("autodetected range is not finite")
    if first > last:
        raise ValueError("max must be larger than min in range parameter.")
    if first == last:
        first -= 0.5
        last += 0.5
    edges = np.empty(bins + 1, dtype=np.result_type(a, 1.0))
    for k in range(bins):
        edges[k] = k * ((last - first) / bins) + first
    edges[bins] = last
    return np.histogram(a, edges)


@means(np.histogram)
def weighted_histogram_at(
    a: Vector, bins: Vector, weights: Vector
) -> tuple[Vector, Vector]:
    """The sum of the weights between one edge and the next."""
    if a.shape[0] != weights.shape[0]:
        raise ValueError("weights should have the same shape as a.")
    for k in range(bins.shape[0] - 1):
        if bins[k] > bins[k + 1]:
            raise ValueError("`bins` must increase monotonically, when an array")
    sums = np.zeros(bins.shape[0] - 1, dtype=weights.dtype)
    last = bins.shape[0] - 1
    for k in range(a.shape[0]):
        if bins[0] <= a[k] <= bins[last]:
            place = np.searchsorted(bins, a[k], side="right") - 1
            sums[min(place, last - 1)] += weights[k]
    return sums, bins


@means(np.nan_to_num)
def nan_to_num(x: Vector, nan: Number = 0.0) -> Vector:
    """A number for nan, and the greatest numbers for infinite ones."""
    made = x.copy()
    for k in range(x.shape[0]):
        if np.isnan(x[k]):
            made[k] = nan
        elif x[k] == np.inf:
            made[k] = np.finfo(x.dtype).max
        elif x[k] == -np.inf:
            made[k] = -np.finfo(x.dtype).max
    return made


@means(np.nan_to_num)
def nan_to_num_of_all(x: Matrix, nan: Number = 0.0) -> Matrix:
    """The same of a matrix."""
    made = x.copy()
    for i in range(x.shape[0]):
        for k in range(x.shape[1]):
            if np.isnan(x[i, k]):
                made[i, k] = nan
            elif x[i, k] == np.inf:
                made[i, k] = np.finfo(x.dtype).max
            elif x[i, k] == -np.inf:
                made[i, k] = -np.finfo(x.dtype).max
    return made
