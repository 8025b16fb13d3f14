# mypy: disallow-untyped-defs=False, disallow-untyped-calls=False
"""Helpers that are ufuncs of Numba's: `vectorize` for floats, of one kind or both."""

from __future__ import annotations

import math
from math import exp
from typing import Any

import numba
import numpy as np
import pytest

import pyrev
from tests.tools.oracle import check

F8, F4 = numba.float64, numba.float32


@numba.vectorize([F8(F8, F8)])
def grown(a, b):
    return a * b + math.exp(a)


@numba.vectorize([F8(F8)])
def bent(a):
    if a > 0.5:
        return a * 2.0
    return a / 3


@numba.njit
def kinked(a):
    if a > 0.5:
        return a * 2.0
    return a


@numba.vectorize
def lazily(a, b):
    return a * b + a**2


@numba.vectorize([F8(F8), F4(F4)])
def of_two_kinds(a):
    return a * 2.0


def of_elements(x, y, n):
    s = 0.0
    for i in range(x.shape[0]):
        s += grown(x[i], y[i]) * grown(n, x[i]) + bent(x[i]) * bent(n)
    return s


def of_arrays(x, y, n):
    z = x * 2.0
    return np.sum(lazily(x, y)) + lazily(z, y)[n] * np.sum(lazily(x * 2.0, y[:3]))


@numba.vectorize([F8(F8, F8)])
def with_branches(found, each):
    if found > 0.5 and each < 1.5:
        return found * math.log(each + 1)
    return 1


@numba.vectorize([F8(F8)])
def by_names(a):
    return exp(a) * kinked(a)


@numba.vectorize([F8(F8, F8)])
def the_first(a, b):
    return a


@numba.vectorize([F4(F4, F4)])
def above(a, b):
    if a > b:
        return 1
    return 0


def of_elements_of_arrays(x, y, n):
    z = the_first(x, 2)
    z[0] = 7.0 * y[1]
    a = np.outer(x, y)
    s = np.sum(with_branches(a, y) * a) + np.sum(of_two_kinds(x[1:]) * x[1:])
    s += np.sum(by_names(x) * by_names(y))
    return s + np.sum(z * x) + with_branches(x, y[n]).mean()


def of_single_precision(x, y, n):
    c = np.zeros(len(x), np.float32)
    for i in range(len(x)):
        c[i] = x[i] * 2
    return above(c[n:], y[0]).mean() * x[0] ** 2 + y[1] * np.sum(above(c, y))


X, Y = np.array([0.3, 0.7, 1.1]), np.array([1.0, 2.0, 0.5])


@pytest.mark.parametrize("target", ["python", "numba"])
@pytest.mark.parametrize("plain", [of_elements, of_arrays, of_elements_of_arrays])
def test_a_ufunc_is_its_function_of_floats(plain: Any, target: str) -> None:
    f = pyrev.differentiable(plain, target=target)
    check(f, plain, {"x": X, "y": Y, "n": 2}, [], np.random.default_rng(2))


def test_elements_become_floats_of_64_bits() -> None:
    f = pyrev.differentiable(of_elements, target="numba")
    x, y = X.astype(np.float32), Y.astype(np.float32)
    assert type(f(x, y, 2)) is type(of_elements(x, y, 2))
    assert f(x, y, 2) == pytest.approx(of_elements(x, y, 2), rel=1e-14)


@pytest.mark.parametrize("target", ["python", "numba"])
def test_arrays_of_32_bits_take_the_loop_of_32_bits(target: str) -> None:
    f = pyrev.differentiable(of_single_precision, target=target)
    x, y = X.astype(np.float32), Y.astype(np.float32)
    value, pullback = pyrev.vjp(f, x, y, 1)
    assert value == of_single_precision(x, y, 1) != 0
    step, found = np.float32(2.0**-7), pullback(1.0)
    for name, k in (("x", 0), ("y", 1)):
        along = step * np.eye(3, dtype=np.float32)[k]
        dx, dy = (along, 0 * along) if name == "x" else (0 * along, along)
        up = of_single_precision(x + dx, y + dy, 1)
        down = of_single_precision(x - dx, y - dy, 1)
        assert found[name][k] == pytest.approx((up - down) / (2 * step), rel=1e-4)
    with pytest.raises(pyrev.PyrevError):  # as NumPy does
        f(X, Y, 1)


def test_arrays_for_a_ufunc_have_one_shape() -> None:
    f = pyrev.differentiable(of_pairs, target="numba")
    with pytest.raises(ValueError, match="different shapes"):
        f(X, Y[:2])


def of_pairs(x, y):
    return np.sum(with_branches(x, y))


def of_both(x):
    return np.sum(of_two_kinds(x[0:2])) + of_two_kinds(x[0])


def test_what_loop_it_takes_must_be_known() -> None:
    with pytest.raises(pyrev.PyrevError):
        pyrev.vjp(pyrev.differentiable(of_both), X.astype(np.float32))
    with pytest.raises(pyrev.PyrevError):
        pyrev.differentiable(of_arrays)(X.astype(np.float32), Y, 1)
