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

#: The steps of a derivative leave this part of its series out.
_LEFT_OUT = 1e-12


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
    x = _stopped(x0)
    change = np.inf
    count = 0
    while not change <= tol * (1.0 + _largest(x)):
        if count == max_iter:
            raise ArithmeticError("fixed_point: max_iter steps do not settle it")
        new = _stopped(step(x, *args))
        change = _largest(new - x)
        x = new
        count += 1
    for _ in range(_way_back(step, x, args, max_iter)):
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
    x = _stopped(x0)
    change = np.inf
    count = 0
    while not change <= tol * (1.0 + _largest(x)):
        if count == max_iter:
            raise ArithmeticError("root: max_iter steps do not settle it")
        slopes = _slopes(residual, x, args)
        step = _stopped(_solved(slopes, _stopped(residual(x, *args))))
        x = x - step
        change = _largest(step)
        count += 1
    slopes = _slopes(residual, x, args)
    for _ in range(3):
        x = x - _solved(slopes, residual(x, *args))
    return x


def _way_back(step: Callable[..., Any], x: Any, args: Any, max_iter: int) -> int:
    """How many steps bring back what was moved, but for a part of `_LEFT_OUT`.

    Where rounding ends it earlier, as many more as the way so far lets expect. A
    distance may rise in between, as on a spiral: rounding is what has not halved it in
    as many steps as it took to come there.
    """
    here = x
    away = _moved(x)
    first = _largest(away - here)
    apart = first
    lowest = first
    count = 0
    last = 0
    while not apart <= _LEFT_OUT * first:
        if lowest <= 1e-2 * first and count > 2 * last + 20:
            return last * int(np.ceil(np.log(_LEFT_OUT) / np.log(lowest / first)))
        if count == max_iter:
            raise ArithmeticError("fixed_point: steps do not bring x back when moved")
        here = _stopped(step(here, *args))
        away = _stopped(step(away, *args))
        apart = _largest(away - here)
        count += 1
        if apart <= 0.5 * lowest:
            lowest = apart
            last = count
    return count


# ------------------------------------------------------------------ numbers or arrays


def _stopped(x: Any) -> Any:
    """A number, or a copy of an array, through which no derivative passes."""
    if np.ndim(x) == 0:
        return stop_gradient(float(x))
    flat = x.ravel()
    copy = np.empty_like(flat)
    for k in range(flat.size):
        copy[k] = stop_gradient(flat[k])
    return copy.reshape(x.shape)


def _moved(x: Any) -> Any:
    """A number that is moved, or an array with each element moved by another amount."""
    scale = 1e-3 * (1.0 + _largest(x))
    if np.ndim(x) == 0:
        return x + scale
    flat = x.ravel()
    copy = np.empty_like(flat)
    for k in range(flat.size):
        copy[k] = flat[k] + scale * np.sin(12.9898 * (k + 1))
    return copy.reshape(x.shape)


def _largest(x: Any) -> Any:
    """The absolute value of a number, or the largest of an array."""
    if np.ndim(x) == 0:
        return abs(x)
    return np.max(np.abs(x))


def _solved(slopes: Any, residual: Any) -> Any:
    """The step that the slopes let expect to take a residual away."""
    if np.ndim(residual) == 0:
        return residual / slopes
    return np.linalg.solve(slopes, residual)


def _slopes(residual: Callable[..., Any], x: Any, args: Any) -> Any:
    """The slope of a residual, or its Jacobian: of two residuals for each element."""
    if np.ndim(x) == 0:
        h = 1e-6 * (1.0 + abs(x))
        above = residual(x + h, *args)
        below = residual(x - h, *args)
        return stop_gradient((above - below) / (2.0 * h))
    n = x.size
    slopes = np.empty((n, n))
    for j in range(n):
        width = 1e-6 * (1.0 + abs(x[j]))
        ahead = x.copy()
        back = x.copy()
        ahead[j] += width
        back[j] -= width
        high = residual(ahead, *args)
        low = residual(back, *args)
        for i in range(n):
            slopes[i, j] = stop_gradient((high[i] - low[i]) / (2.0 * width))
    return slopes
