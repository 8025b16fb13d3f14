"""Solvers whose derivative is that of the solution, not of the iterations.

By the implicit function theorem the derivative of ``x = step(x, a)`` by `a` is
``(1 - dstep/dx)^-1 dstep/da`` at the solution, wherever the search began. These are
plain functions of the language, and inlined like any helper: through the search no
derivative passes (`stop_gradient`), and behind it stand so many steps at the solution
as the series of the inverse needs. That is the two-phase method of Christianson,
"Reverse accumulation and attractive fixed points" (Optimization Methods and Software,
1994); derivatives of second order are those of the solution, too.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from pyrev.parse.directives import stop_gradient


def fixed_point(
    step: Callable[..., Any],
    x0: Any,
    *args: Any,
    tol: float = 1e-10,
    max_iter: int = 1000,
) -> Any:
    """The `x` with ``x = step(x, *args)``, from `x0` on: a float, or an array of such.

    Steps are made until none changes an element by more than ``tol * (1 + max|x|)``.
    Derivatives by `args` are those of the solution; to `x0` passes none. How many steps
    these need is seen from how fast steps bring back what was moved by a thousandth.

    Raises `ArithmeticError` where `max_iter` steps do not settle it, or do not bring it
    back: the derivative has no series then.
    """
    if np.ndim(x0) == 0:
        x = _settled(step, float(x0), args, tol, max_iter)
        steps = _way_back(step, x, args, max_iter)
    else:
        x = _settled_array(step, x0, args, tol, max_iter)
        steps = _way_back_of_array(step, x, args, max_iter)
    for _ in range(steps):
        x = step(x, *args)
    return x


def root(
    residual: Callable[..., Any],
    x0: Any,
    *args: Any,
    tol: float = 1e-10,
    max_iter: int = 50,
) -> Any:
    """The `x` with ``residual(x, *args) = 0``, by Newton's method from `x0` on.

    `x` is a float, or an array with one axis and as many elements as the residual has.
    Slopes are differences of residuals; steps are made until none changes an element by
    more than ``tol * (1 + max|x|)``. Derivatives by `args` are those of the solution,
    to `x0` passes none: slopes are good to some seven digits, so three steps with them
    leave of the series of the inverse nothing out.

    Raises `ArithmeticError` where `max_iter` steps do not settle it.
    """
    if np.ndim(x0) == 0:
        x = _root_of_one(residual, float(x0), args, tol, max_iter)
        slope = _slope(residual, x, args)
        for _ in range(3):
            x = x - residual(x, *args) / slope
    else:
        x = _root_of_several(residual, x0, args, tol, max_iter)
        slopes = _slopes(residual, x, args)
        for _ in range(3):
            x = x - np.linalg.solve(slopes, residual(x, *args))
    return x


# ------------------------------------------------------------------ numbers


def _settled(
    step: Callable[..., Any], x0: float, args: Any, tol: float, max_iter: int
) -> float:
    x = stop_gradient(x0)
    change = 1.0 + tol
    count = 0
    while not change <= tol * (1.0 + abs(x)):
        if count == max_iter:
            raise ArithmeticError("fixed_point: max_iter steps do not settle it")
        new = stop_gradient(step(x, *args))
        change = abs(new - x)
        x = new
        count += 1
    return x


def _way_back(step: Callable[..., Any], x: float, args: Any, max_iter: int) -> int:
    """How many steps bring back a number that was moved."""
    here = x
    away = x + 1e-3 * (1.0 + abs(x))
    apart = abs(away - here)
    first = apart
    count = 0
    while not apart <= 1e-13 * first:
        if count == max_iter:
            raise ArithmeticError("fixed_point: steps do not bring x back when moved")
        before = apart
        here = stop_gradient(step(here, *args))
        away = stop_gradient(step(away, *args))
        apart = abs(away - here)
        count += 1
        if before <= apart <= 1e-3 * first:
            break  # what is left is rounding
    return count


def _root_of_one(
    residual: Callable[..., Any], x0: float, args: Any, tol: float, max_iter: int
) -> float:
    x = stop_gradient(x0)
    change = 1.0 + tol
    count = 0
    while not abs(change) <= tol * (1.0 + abs(x)):
        if count == max_iter:
            raise ArithmeticError("root: max_iter steps do not settle it")
        change = stop_gradient(residual(x, *args)) / _slope(residual, x, args)
        x -= change
        count += 1
    return x


def _slope(residual: Callable[..., Any], x: float, args: Any) -> Any:
    h = 1e-6 * (1.0 + abs(x))
    above = stop_gradient(residual(x + h, *args))
    below = stop_gradient(residual(x - h, *args))
    return stop_gradient((above - below) / (2.0 * h))


# ------------------------------------------------------------------ arrays


def _stopped(x: Any) -> Any:
    """A copy of an array, through which no derivative passes."""
    flat = x.ravel()
    copy = np.empty_like(flat)
    for k in range(flat.size):
        copy[k] = stop_gradient(flat[k])
    return copy.reshape(x.shape)


def _moved(x: Any) -> Any:
    """An array with each element moved, by another amount each."""
    flat = x.ravel()
    copy = np.empty_like(flat)
    scale = 1e-3 * (1.0 + np.max(np.abs(flat)))
    for k in range(flat.size):
        copy[k] = flat[k] + scale * np.sin(12.9898 * (k + 1))
    return copy.reshape(x.shape)


def _settled_array(
    step: Callable[..., Any], x0: Any, args: Any, tol: float, max_iter: int
) -> Any:
    x = _stopped(x0)
    change = 1.0 + tol
    size = 0.0
    count = 0
    while not change <= tol * (1.0 + size):
        if count == max_iter:
            raise ArithmeticError("fixed_point: max_iter steps do not settle it")
        new = _stopped(step(x, *args))
        change = np.max(np.abs(new - x))
        size = np.max(np.abs(new))
        x = new
        count += 1
    return x


def _way_back_of_array(
    step: Callable[..., Any], x: Any, args: Any, max_iter: int
) -> int:
    """How many steps bring back an array that was moved."""
    here = x
    away = _moved(x)
    apart = np.max(np.abs(away - here))
    first = apart
    count = 0
    while not apart <= 1e-13 * first:
        if count == max_iter:
            raise ArithmeticError("fixed_point: steps do not bring x back when moved")
        before = apart
        here = _stopped(step(here, *args))
        away = _stopped(step(away, *args))
        apart = np.max(np.abs(away - here))
        count += 1
        if before <= apart <= 1e-3 * first:
            break  # what is left is rounding
    return count


def _root_of_several(
    residual: Callable[..., Any], x0: Any, args: Any, tol: float, max_iter: int
) -> Any:
    x = _stopped(x0)
    change = 1.0 + tol
    size = 0.0
    count = 0
    while not change <= tol * (1.0 + size):
        if count == max_iter:
            raise ArithmeticError("root: max_iter steps do not settle it")
        slopes = _slopes(residual, x, args)
        step = _stopped(np.linalg.solve(slopes, _stopped(residual(x, *args))))
        x = x - step
        change = np.max(np.abs(step))
        size = np.max(np.abs(x))
        count += 1
    return x


def _slopes(residual: Callable[..., Any], x: Any, args: Any) -> Any:
    """The Jacobian of a residual, a column from two of them each."""
    n = x.size
    slopes = np.empty((n, n))
    for j in range(n):
        h = 1e-6 * (1.0 + abs(x[j]))
        ahead = x.copy()
        back = x.copy()
        ahead[j] += h
        back[j] -= h
        above = residual(ahead, *args)
        below = residual(back, *args)
        for i in range(n):
            slopes[i, j] = stop_gradient((above[i] - below[i]) / (2.0 * h))
    return slopes
