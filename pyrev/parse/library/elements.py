"""What is told element by element, where that is more than an expression, or has
values that a call may leave out.
"""

from __future__ import annotations

import builtins
import math

import numpy as np

from pyrev.parse.library.entries import Count, Matrix, Number, Vector, means


@means(np.modf, math.modf)
def modf(x: Number) -> tuple[Number, Number]:
    """What is behind the point, and the integer in front; both have the sign of the
    number, also where they are zero.
    """
    value = 1.0 * x
    part = np.copysign(0.0, value) if np.isinf(value) else np.fmod(value, 1.0)
    return part, np.trunc(value)


@means(np.modf)
def modf_of_each(x: Vector) -> tuple[Vector, Vector]:
    """The same of each element."""
    value = 1.0 * x
    rest = np.fmod(np.where(np.isinf(value), np.copysign(0.0, value), value), 1.0)
    return rest, np.trunc(value)


@means(np.modf)
def modf_of_all(x: Matrix) -> tuple[Matrix, Matrix]:
    """The same of a matrix."""
    value = 1.0 * x
    rest = np.fmod(np.where(np.isinf(value), np.copysign(0.0, value), value), 1.0)
    return rest, np.trunc(value)


@means(np.divmod)
def quotient(x1: Number, x2: Number) -> tuple[Number, Number]:
    """The quotient, rounded down, and what is left."""
    return x1 // x2, x1 % x2


@means(np.divmod)
def quotients_by(x1: Vector, x2: Number) -> tuple[Vector, Vector]:
    """The same of each element and a number."""
    return x1 // x2, x1 % x2


@means(np.divmod)
def quotients(x1: Vector, x2: Vector) -> tuple[Vector, Vector]:
    """The same of each of two."""
    return x1 // x2, x1 % x2


@means(np.divmod)
def quotients_of_one(x1: Number, x2: Vector) -> tuple[Vector, Vector]:
    """The same of a number and each."""
    return x1 // x2, x1 % x2


@means(np.divmod)
def quotients_of_all_by(x1: Matrix, x2: Number) -> tuple[Matrix, Matrix]:
    """The same of a matrix and a number."""
    return x1 // x2, x1 % x2


@means(np.divmod)
def quotients_of_all(x1: Matrix, x2: Matrix) -> tuple[Matrix, Matrix]:
    """The same of each of two matrices."""
    return x1 // x2, x1 % x2


@means(np.isclose)
def each_is_close(
    a: Vector, b: Vector, rtol: Number = 1e-05, atol: Number = 1e-08
) -> Vector:
    """Which elements are equal within a tolerance?"""
    end = np.where(np.isfinite(b), b, 0.0)  # no difference of infinite ones
    near = np.abs(1.0 * a - end) <= atol + rtol * np.abs(1.0 * b)
    return (a == b) | (np.isfinite(b) & near)


@means(np.isclose)
def each_is_close_to(
    a: Vector, b: Number, rtol: Number = 1e-05, atol: Number = 1e-08
) -> Vector:
    """The same of each and a number."""
    end = np.where(np.isfinite(b), b, 0.0)  # no difference of infinite ones
    near = np.abs(1.0 * a - end) <= atol + rtol * np.abs(1.0 * b)
    return (a == b) | (np.isfinite(b) & near)


@means(np.isclose)
def is_close_to_each(
    a: Number, b: Vector, rtol: Number = 1e-05, atol: Number = 1e-08
) -> Vector:
    """The same of a number and each."""
    end = np.where(np.isfinite(b), b, 0.0)
    near = np.abs(1.0 * a - end) <= atol + rtol * np.abs(1.0 * b)
    return (a == b) | (np.isfinite(b) & near)


@means(np.isclose)
def all_are_close(
    a: Matrix, b: Matrix, rtol: Number = 1e-05, atol: Number = 1e-08
) -> Matrix:
    """The same of matrices."""
    end = np.where(np.isfinite(b), b, 0.0)  # no difference of infinite ones
    near = np.abs(1.0 * a - end) <= atol + rtol * np.abs(1.0 * b)
    return (a == b) | (np.isfinite(b) & near)


@means(np.isclose)
def all_are_close_to(
    a: Matrix, b: Number, rtol: Number = 1e-05, atol: Number = 1e-08
) -> Matrix:
    """The same of a matrix and a number."""
    end = np.where(np.isfinite(b), b, 0.0)  # no difference of infinite ones
    near = np.abs(1.0 * a - end) <= atol + rtol * np.abs(1.0 * b)
    return (a == b) | (np.isfinite(b) & near)


@means(np.isclose, equal_nan=True)
def each_is_close_or_nan(
    a: Vector, b: Vector, rtol: Number = 1e-05, atol: Number = 1e-08
) -> Vector:
    """The same of two, in which nan is equal to nan."""
    return np.isclose(a, b, rtol, atol) | (np.isnan(a) & np.isnan(b))


@means(np.isclose, equal_nan=True)
def is_close_or_nan(
    a: Number, b: Number, rtol: Number = 1e-05, atol: Number = 1e-08
) -> Count:
    """The same of numbers."""
    return np.isclose(a, b, rtol, atol) or (np.isnan(a) and np.isnan(b))


@means(np.allclose)
def is_all_close_to(
    a: Vector, b: Number, rtol: Number = 1e-05, atol: Number = 1e-08
) -> Count:
    """Are all elements near a number?"""
    return np.all(np.isclose(a, b, rtol, atol))


@means(np.allclose)
def matrices_are_close(
    a: Matrix, b: Matrix, rtol: Number = 1e-05, atol: Number = 1e-08
) -> Count:
    """Are two matrices equal within a tolerance?"""
    return np.all(np.isclose(a, b, rtol, atol))


@means(np.allclose, equal_nan=True)
def are_close_or_nan(
    a: Vector, b: Vector, rtol: Number = 1e-05, atol: Number = 1e-08
) -> Count:
    """The same of two vectors, in which nan is equal to nan."""
    return np.all(np.isclose(a, b, rtol, atol, equal_nan=True))


@means(math.isclose)
def is_close(
    a: Number, b: Number, rel_tol: Number = 1e-09, abs_tol: Number = 0.0
) -> Count:
    """Python's: within a part of any of the two. Infinite ones if they are equal."""
    if rel_tol < 0.0 or abs_tol < 0.0:
        raise ValueError("tolerances must be non-negative")
    apart = abs(1.0 * b - a)
    near = apart <= abs(rel_tol * b) or apart <= abs(rel_tol * a) or apart <= abs_tol
    return a == b or (not np.isinf(a) and not np.isinf(b) and near)


@means(math.log)
def log_to(x: Number, base: Number) -> Number:
    """The logarithm to a base."""
    return math.log(x) / math.log(base)


@means(math.dist)
def dist(p: Vector, q: Vector) -> Number:
    """How far points are apart."""
    if p.shape[0] != q.shape[0]:
        raise ValueError("both points must have the same number of dimensions")
    found = 0.0
    for k in range(p.shape[0]):
        found = np.hypot(found, float(p[k]) - float(q[k]))
    return found


@means(math.prod)
def prod(iterable: Vector, start: Number = 1) -> Number:
    """All elements, and what they begin with, multiplied."""
    found = start
    for k in range(iterable.shape[0]):
        found = found * iterable[k]
    return found


@means(builtins.any)
def any_of(iterable: Vector) -> Count:
    """Is any element not zero?"""
    return bool(np.any(iterable))


@means(builtins.all)
def all_of(iterable: Vector) -> Count:
    """Is no element zero?"""
    return bool(np.all(iterable))
