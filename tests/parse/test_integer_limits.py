# mypy: disallow-untyped-defs=False, disallow-untyped-calls=False
"""The largest and the least integers, ``np.iinfo(np.int64).max``, as numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pyrev
from tests.tools.oracle import check

X = np.random.default_rng(0).uniform(0.2, 0.9, 6)
K = np.array([5, 2, 9, 1, 3, 3])


def nearest(x, k, q):
    best = np.iinfo(np.int64).max
    at = -1
    for i in range(len(k)):
        d = abs(k[i] - q)
        if d < best:
            best = d
            at = i
    if best == np.iinfo(np.int64).max:
        return 0.0
    return x[at] ** 2


def named(x, n):
    most = np.iinfo(np.intp).max
    s = 0.0
    for i in range(len(x)):
        if n < most // (i + 1) and n != most and i <= most % 5:
            s += x[i] ** 2
    return s


def least(x, n):
    low = np.iinfo(np.int64).min
    s = 0.0
    for i in range(len(x)):
        if n > low and low < i:
            s += x[i] ** 2
        low = max(low, i - 3)
    return s


def of_an_array(x, k):
    top = np.iinfo(k.dtype).max if k.dtype == np.int32 else np.iinfo(np.int32).max
    s = 0.0
    for i in range(len(x)):
        if k[i] != np.iinfo(np.int16).min and k[i] < top - i:
            s += x[i] ** 2
    return s * np.iinfo(np.uint8).bits


CALLS: list[tuple[Any, dict[str, Any]]] = [
    (nearest, {"x": X, "k": K, "q": 4}),
    (nearest, {"x": X, "k": K[:0], "q": 4}),
    (named, {"x": X, "n": 4}),
    (named, {"x": X, "n": 2**61}),
    (least, {"x": X, "n": 2}),
    (least, {"x": X, "n": -(2**61)}),
    (of_an_array, {"x": X, "k": K}),
]


@pytest.mark.parametrize("target", ["python", "numba"])
@pytest.mark.parametrize("number", range(len(CALLS)))
def test_limits_are_numbers(number: int, target: str) -> None:
    plain, given = CALLS[number]
    f = pyrev.differentiable(plain, target=target)
    check(f, plain, dict(given), [], np.random.default_rng(number))


def moved(x, n):
    most = np.iinfo(np.int64).max
    s = 0.0
    for i in range(len(x)):
        if n < most - i:
            s += x[i] ** 2
    return s


def counted(x):
    s = 0.0
    for i in range(np.iinfo(np.int64).max):
        if i >= len(x):
            break
        s += x[i] ** 2
    return s


@pytest.mark.parametrize("plain, given", [(moved, (X, 4)), (counted, (X,))])
def test_what_is_made_of_them_by_sums_is_refused(plain: Any, given: Any) -> None:
    f = pyrev.differentiable(plain, target="numba")
    with pytest.raises(pyrev.ArgumentError, match="64 bits"):
        pyrev.vjp(f, *given)
