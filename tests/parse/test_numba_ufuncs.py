# mypy: disallow-untyped-defs=False, disallow-untyped-calls=False
"""Helpers that are ufuncs of Numba's: `vectorize` for floats of 64 bits, or for all."""

from __future__ import annotations

import math
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
    return np.sum(lazily(x, y)) + lazily(z, y)[n]


X, Y = np.array([0.3, 0.7, 1.1]), np.array([1.0, 2.0, 0.5])


@pytest.mark.parametrize("target", ["python", "numba"])
@pytest.mark.parametrize("plain", [of_elements, of_arrays])
def test_a_ufunc_is_its_function_of_floats(plain: Any, target: str) -> None:
    f = pyrev.differentiable(plain, target=target)
    check(f, plain, {"x": X, "y": Y, "n": 2}, [], np.random.default_rng(2))


def test_elements_become_floats_of_64_bits() -> None:
    f = pyrev.differentiable(of_elements, target="numba")
    x, y = X.astype(np.float32), Y.astype(np.float32)
    assert type(f(x, y, 2)) is type(of_elements(x, y, 2))
    assert f(x, y, 2) == pytest.approx(of_elements(x, y, 2), rel=1e-14)


def of_an_expression(x):
    return np.sum(lazily(x * 2.0, x[:3]))


def of_both(x):
    return np.sum(of_two_kinds(x[0:2]))


@pytest.mark.parametrize("plain", [of_an_expression, of_both])
def test_what_loop_it_takes_must_be_known(plain: Any) -> None:
    with pytest.raises(pyrev.PyrevError):
        pyrev.differentiable(plain)(X)
    with pytest.raises(pyrev.PyrevError):
        pyrev.differentiable(of_arrays)(X.astype(np.float32), Y, 1)
