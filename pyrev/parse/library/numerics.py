"""Interpolation, quadrature, polynomials, running products, small linear systems."""

from __future__ import annotations

import math

import numpy as np

from pyrev.parse.library.entries import Count, Matrix, Number, Vector, means


@means(np.interp)
def interp(x: Number, xp: Vector, fp: Vector) -> Number:
    """Linear between the points, which are finite; constant beyond them.

    At a point, the derivative is that of the line to its right.
    """
    n = xp.shape[0]
    if n != fp.shape[0]:
        raise ValueError("fp and xp are not of the same length.")
    if n == 0:
        raise ValueError("array of sample points is empty")
    if x < xp[0]:
        found = np.float64(fp[0])
    elif x >= xp[n - 1]:
        found = np.float64(fp[n - 1])
    elif np.isnan(x):
        found = np.float64(x)
    else:
        k = np.searchsorted(xp, x, side="right") - 1
        left = np.float64(xp[k])
        low = np.float64(fp[k])
        found = low + (fp[k + 1] - low) / (xp[k + 1] - left) * (x - left)
    return found


@means(np.interp)
def interp_all(x: Vector, xp: Vector, fp: Vector) -> Vector:
    """The same for each element."""
    made = np.empty(x.shape[0])
    for k in range(x.shape[0]):
        made[k] = np.interp(x[k], xp, fp)
    return made


@means(np.trapezoid, getattr(np, "trapz", np.trapezoid))
def trapezoid(y: Vector, x: Vector) -> Number:
    """The integral of a polygon through points."""
    if x.shape[0] != y.shape[0]:
        raise ValueError("operands could not be broadcast together")
    total = 0.0
    for k in range(y.shape[0] - 1):
        total += (x[k + 1] - x[k]) * (y[k + 1] + y[k]) / 2.0
    return total


@means(np.trapezoid, getattr(np, "trapz", np.trapezoid))
def trapezoid_even(y: Vector, dx: Number = 1.0) -> Number:
    """The same at points `dx` apart."""
    total = 0.0
    for k in range(y.shape[0] - 1):
        total += dx * (y[k + 1] + y[k]) / 2.0
    return total


@means(np.polyval)
def polyval(p: Vector, x: Number) -> Number:
    """A polynomial, its highest coefficient first, by Horner's rule."""
    value = 0.0
    for k in range(p.shape[0]):
        value = value * x + p[k]
    return value


@means(np.polyval)
def polyval_all(p: Vector, x: Vector) -> Vector:
    """The same for each element."""
    made = np.zeros(x.shape[0], dtype=np.result_type(p, x))
    for i in range(x.shape[0]):
        for k in range(p.shape[0]):
            made[i] = made[i] * x[i] + p[k]
    return made


@means(np.cross)
def cross(a: Vector, b: Vector) -> Vector:
    """The product of vectors in space."""
    if a.shape[0] != 3 or b.shape[0] != 3:
        raise ValueError("np.cross takes vectors of three elements here")
    return np.array(
        [
            a[1] * b[2] - a[2] * b[1],
            a[2] * b[0] - a[0] * b[2],
            a[0] * b[1] - a[1] * b[0],
        ]
    )


@means(np.gradient)
def gradient(f: Vector) -> Vector:
    """Central differences, one-sided ones at the ends, of points one apart."""
    return np.gradient(f, 1.0)


@means(np.gradient)
def gradient_at(f: Vector, varargs: Number) -> Vector:
    """The same of points `varargs` apart."""
    n = f.shape[0]
    if n < 2:
        raise ValueError("Shape of array too small to calculate a numerical gradient")
    made = np.empty(n, dtype=np.result_type(f, 1.0))
    made[0] = (1.0 * f[1] - f[0]) / varargs
    for k in range(1, n - 1):
        made[k] = (1.0 * f[k + 1] - f[k - 1]) / (2.0 * varargs)
    made[n - 1] = (1.0 * f[n - 1] - f[n - 2]) / varargs
    return made


@means(np.linalg.cholesky)
def cholesky(a: Matrix) -> Matrix:
    """The lower factor of a symmetric positive definite matrix, of whose upper part
    nothing is read (Golub and Van Loan, Matrix Computations, section 4.2).
    """
    n = a.shape[0]
    if n != a.shape[1]:
        raise np.linalg.LinAlgError("Last 2 dimensions of the array must be square")
    made = np.zeros((n, n), dtype=np.result_type(a, 1.0))
    for j in range(n):
        for i in range(j, n):
            total = 1.0 * a[i, j]
            for k in range(j):
                total -= made[i, k] * made[j, k]
            if i == j:
                if not total > 0.0:
                    raise np.linalg.LinAlgError("Matrix is not positive definite")
                made[j, j] = np.sqrt(total)
            else:
                made[i, j] = total / made[j, j]
    return made


@means(np.logspace)
def logspace(start: Number, stop: Number, num: Count = 50) -> Vector:
    """Powers of ten with exponents that are evenly spaced."""
    return 10.0 ** np.linspace(start, stop, num)


@means(np.maximum.accumulate)
def running_maximum(array: Vector) -> Vector:
    """The greatest element up to each; the first of equals passes the derivative."""
    made = np.empty_like(array)
    place = 0
    for k in range(array.shape[0]):
        if array[k] > array[place] or np.isnan(array[k]):
            place = k if not np.isnan(array[place]) else place
        made[k] = array[place]
    return made


@means(np.minimum.accumulate)
def running_minimum(array: Vector) -> Vector:
    """The least element up to each; the first of equals passes the derivative."""
    made = np.empty_like(array)
    place = 0
    for k in range(array.shape[0]):
        if array[k] < array[place] or np.isnan(array[k]):
            place = k if not np.isnan(array[place]) else place
        made[k] = array[place]
    return made


@means(np.convolve)
def convolve(a: Vector, v: Vector) -> Vector:
    """All places at which the two meet."""
    if a.shape[0] == 0 or v.shape[0] == 0:
        raise ValueError("an array without elements cannot be convolved")
    made = np.zeros(a.shape[0] + v.shape[0] - 1, dtype=np.result_type(a, v))
    for i in range(a.shape[0]):
        for k in range(v.shape[0]):
            made[i + k] += a[i] * v[k]
    return made


@means(np.convolve, mode="valid")
def convolve_inside(a: Vector, v: Vector) -> Vector:
    """The places at which the shorter one lies inside the longer one."""
    n = a.shape[0]
    m = v.shape[0]
    least = min(n, m)
    if least == 0:
        raise ValueError("an array without elements cannot be convolved")
    made = np.zeros(max(n, m) - least + 1, dtype=np.result_type(a, v))
    for i in range(made.shape[0]):
        for k in range(least):
            if n >= m:
                made[i] += a[i + m - 1 - k] * v[k]
            else:
                made[i] += a[k] * v[i + n - 1 - k]
    return made


@means(np.convolve, mode="same")
def convolve_same(a: Vector, v: Vector) -> Vector:
    """As many places as the longer one has, from the middle."""
    n = a.shape[0]
    m = v.shape[0]
    if n == 0 or m == 0:
        raise ValueError("an array without elements cannot be convolved")
    first = (min(n, m) - 1) // 2
    made = np.zeros(max(n, m), dtype=np.result_type(a, v))
    for i in range(n):
        for k in range(m):
            if first <= i + k < first + made.shape[0]:
                made[i + k - first] += a[i] * v[k]
    return made


@means(np.linalg.solve)
def solve(a: Matrix, b: Vector) -> Vector:
    """Gaussian elimination with partial pivoting (Golub and Van Loan, Matrix
    Computations, section 3.4).
    """
    n = a.shape[0]
    if n != a.shape[1]:
        raise np.linalg.LinAlgError("Last 2 dimensions of the array must be square")
    if n != b.shape[0]:
        raise ValueError("the right side has another length than the matrix has rows")
    u = np.empty((n, n), dtype=np.result_type(a, b, 1.0))
    x = np.empty(n, dtype=np.result_type(a, b, 1.0))
    for i in range(n):
        x[i] = b[i]
        for k in range(n):
            u[i, k] = a[i, k]
    for j in range(n):
        pivot = j
        for i in range(j + 1, n):
            if abs(u[i, j]) > abs(u[pivot, j]):
                pivot = i
        if u[pivot, j] == 0.0:
            raise np.linalg.LinAlgError("Singular matrix")
        for k in range(n):
            kept = u[j, k]
            u[j, k] = u[pivot, k]
            u[pivot, k] = kept
        kept = x[j]
        x[j] = x[pivot]
        x[pivot] = kept
        for i in range(j + 1, n):
            factor = u[i, j] / u[j, j]
            for k in range(j, n):
                u[i, k] -= factor * u[j, k]
            x[i] -= factor * x[j]
    for j in range(n - 1, -1, -1):
        for k in range(j + 1, n):
            x[j] -= u[j, k] * x[k]
        x[j] /= u[j, j]
    return x


@means(np.linalg.solve)
def solve_all(a: Matrix, b: Matrix) -> Matrix:
    """The same for each column."""
    x = np.empty(b.shape, dtype=np.result_type(a, b, 1.0))
    for k in range(b.shape[1]):
        column = np.linalg.solve(a, b[:, k])
        for i in range(b.shape[0]):
            x[i, k] = column[i]
    return x


@means(np.linalg.inv)
def inv(a: Matrix) -> Matrix:
    """The inverse, column by column."""
    made = np.empty(a.shape, dtype=np.result_type(a, 1.0))
    unit = np.zeros(a.shape[0], dtype=np.result_type(a, 1.0))
    for k in range(a.shape[0]):
        unit[k] = 1.0
        column = np.linalg.solve(a, unit)
        unit[k] = 0.0
        for i in range(a.shape[0]):
            made[i, k] = column[i]
    return made


@means(np.linalg.det)
def det(a: Matrix) -> Number:
    """The determinant, by elimination with partial pivoting."""
    n = a.shape[0]
    if n != a.shape[1]:
        raise np.linalg.LinAlgError("Last 2 dimensions of the array must be square")
    u = np.empty((n, n), dtype=np.result_type(a, 1.0))
    for i in range(n):
        for k in range(n):
            u[i, k] = a[i, k]
    found = 1.0
    for j in range(n):
        pivot = j
        for i in range(j + 1, n):
            if abs(u[i, j]) > abs(u[pivot, j]):
                pivot = i
        if pivot != j:
            found = -found
            for k in range(n):
                kept = u[j, k]
                u[j, k] = u[pivot, k]
                u[pivot, k] = kept
        found *= u[j, j]
        if u[j, j] != 0.0:
            for i in range(j + 1, n):
                factor = u[i, j] / u[j, j]
                for k in range(j, n):
                    u[i, k] -= factor * u[j, k]
    return found


@means(math.fsum)
def fsum(seq: Vector) -> Number:
    """The sum; CPython rounds it once only."""
    total = 0.0
    for k in range(seq.shape[0]):
        total += seq[k]
    return total


@means(math.gamma)
def gamma(x: Number) -> Number:
    """The factorial of a number less one: from the one between one and two, factor by
    factor, so that integers are exact.
    """
    if x <= 0.0 and x == np.floor(x):
        raise ValueError("math domain error")
    steps = 0
    if not np.isnan(x):
        steps = int(np.floor(min(max(x, -200.0), 200.0))) - 1
    first = x - steps
    found = np.exp(math.lgamma(first))
    for k in range(steps):
        found *= first + k
    for k in range(-steps):
        found /= x + k
    return found
