# mypy: disallow-untyped-defs=False, disallow-untyped-calls=False
"""NumPy's truth values in arithmetic: a product is *and*, a sum is *or*."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pyrev
from tests.tools.oracle import check

X, L = np.array([0.6, 0.45, 0.9]), np.array([0.3, 0.7, 1.1])
T = np.array([True, False, True])


def of_comparisons(c, lim, x):
    m = (c < lim) * (lim <= lim[1])
    k = m + (x > 0.5)
    s = 0.0
    for i in range(len(x)):
        b = (x[i] > 0.4) * (lim[i] > 0.2)
        s += x[i] ** 2 * b
        if k[i]:
            s += lim[i]
    either = np.sum((c < lim) + (x > 0.5)) * c
    return np.sum(-c * x * m * x) + s + np.sum(k * x) + np.sum(m) * c**2 + either


def of_python_numbers(x, n):
    return x * ((n > 1) + (n > 2)) * x


def of_what_is_given(x, m, n):
    s = 0.0
    for i in range(len(x)):
        s += x[i] * (m[i] * n[i]) + x[i] ** 2 * (m[i] + n[i])
    return s + np.sum((m * n) * x)


def added_to(x, m):
    for i in range(len(x)):
        m[i] += x[i] > 0.5
    return np.sum(x * m)


CALLS: list[tuple[Any, dict[str, Any]]] = [
    (of_comparisons, {"c": 0.5, "lim": L, "x": X}),
    (of_comparisons, {"c": np.float64(0.5), "lim": L, "x": X}),
    (of_python_numbers, {"x": 0.5, "n": 3}),
    (of_what_is_given, {"x": X, "m": T, "n": ~T | T}),
    (of_what_is_given, {"x": X, "m": np.array([1, 2, 0]), "n": T}),
    (of_what_is_given, {"x": X, "m": np.array([1, 2, 0]), "n": L}),
]


@pytest.mark.parametrize("target", ["python", "numba"])
@pytest.mark.parametrize("number", range(len(CALLS)))
def test_they_do_not_count(number: int, target: str) -> None:
    plain, given = CALLS[number]
    f = pyrev.differentiable(plain, target=target)
    check(f, plain, given, [], np.random.default_rng(number))


def test_increments_of_them_are_refused() -> None:
    f = pyrev.differentiable(added_to, target="numba")
    with pytest.raises(pyrev.UnsupportedError, match="do not count"):
        pyrev.vjp(f, X, T.copy(), wrt="x")
