"""Other ways to write what the language has: `np.shape`, `divmod` and their like."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy import shape

import pyrev
from tests.corpora.everything import on_targets
from tests.tools.oracle import check


def sizes(x, a):
    n, m = np.shape(a)
    s = 0.0
    for i in range(n):
        for j in range(m):
            s += a[i, j] * x[j]
    return s * np.size(a) / np.ndim(a)


def imported(x, a):
    rows = shape(a)[0]
    return x[0] * a[rows - 1, 0]


def pair(x, a):
    q, r = divmod(7 * a.shape[0], 4)
    return x[0] * q + r * a[0, 0] * x[1]


def of_floats(x, a):
    s = 0.0
    for i in range(len(x)):
        turns, rest = divmod(3.0 * x[i], 0.7)
        s += rest * rest * a[0, i] + turns
    return s


def _measured(v):
    k = np.size(v)
    return k * v[0]


def in_a_helper(x, a):
    return _measured(x) * _measured(a[0])


def places(x, a):
    (k,) = np.nonzero(x > 0.6)
    s = 0.0
    for i in np.where(x > 0.0)[0]:
        s += i * x[i] ** 2
    return s + len(k) * a[0, 0]


def all_indices(x, a):
    s = 0.0
    for (i, j), v in np.ndenumerate(a):
        if i == 1 and j == 1:
            continue
        s += i * v * v + j * v
    for i, j in np.ndindex(a.shape):
        s += a[i, j] * x[j]
    for i, j in np.ndindex(2, len(x)):
        s += i * a[i, j] ** 2
    for i, j in np.ndindex((2, 2)):
        s += j * a[i, j]
    return s


def lists_that_nobody_writes_to(x, a):
    c = [2.0, x[0] * 0.5, a[0, 0]]
    s = c[0] * x[1] + c[1] * x[2] + c[-1] * len(c)
    return s * max(c) + min([x[0], a[1, 1]]) + np.sum([x[0] ** 2, a[0, 1]])


FORMS = [
    places,
    all_indices,
    lists_that_nobody_writes_to,
    sizes,
    imported,
    pair,
    of_floats,
    in_a_helper,
]


@pytest.mark.parametrize(("plain", "target"), on_targets(FORMS, 3))
def test_derivatives(plain: Callable[..., Any], target: str) -> None:
    rng = np.random.default_rng(5)
    given = {"x": rng.uniform(0.5, 1.0, 3), "a": rng.uniform(0.5, 1.0, (2, 3))}
    check(pyrev.differentiable(plain, target=target), plain, given, [], rng)


def test_a_name_of_the_users_is_another_function() -> None:
    def divmod(a, b):
        return a * b, a + b

    def own(x):
        p, q = divmod(x[0], x[1])
        return p * q

    x = np.array([2.0, 3.0])
    found = pyrev.grad(pyrev.differentiable(own), wrt="x")(x)
    assert np.allclose(found, [3.0 * 5.0 + 6.0, 2.0 * 5.0 + 6.0])


def test_a_size_along_one_axis_is_refused() -> None:
    def own(x):
        return x[0] * np.size(x, 0)

    with pytest.raises(pyrev.UnsupportedError, match="P107"):
        pyrev.differentiable(own)
