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


def zip_numbered(x, y):
    s = 0.0
    lines = zip(x, y)  # noqa: B905
    for i, (a, b) in enumerate(lines):
        s += a * b * i
    return s


def zip_written_in_between(x, y):
    lines = zip(x, y)  # noqa: B905
    s = 0.0
    y[1] = x[0]
    for a, b in lines:
        s += a * b
    return s


def zip_bound_again(x, y):
    lines = zip(x, y)  # noqa: B905
    y = y * 2
    s = 0.0
    for a, b in lines:
        s += a * b
    return s


def zip_in_another_loop(x, y):
    s = 0.0
    lines = zip(x, y)  # noqa: B905
    for _ in range(2):
        for a, b in lines:
            s += a * b
    return s


def zip_used_twice(x, y):
    s = 0.0
    lines = zip(x, y)  # noqa: B905
    for a, b in lines:
        s += a * b
    for a, b in lines:
        s += a * b
    return s


def zip_made_in_a_loop(x, y):
    s = 0.0
    for k in range(2):
        pairs = zip(x, y * k)  # noqa: B905
        for j, (a, b) in enumerate(pairs, 1):
            s += a * b * j
    return s


def _zips(x, y):
    s = 0.0
    pairs = zip(x, y)  # noqa: B905
    for a, b in pairs:
        s += a * b * b
    return s


def zip_in_a_helper(x, y):
    return _zips(x, y) * x[0]


def zip_two_zips(x, y):
    s = 0.0
    p = zip(x, y)  # noqa: B905
    q = zip(y, x)  # noqa: B905
    for a, b in p:
        s += a * b * b
    for a, b in q:
        s += a * b * b * 3
    return s


def zip_in_a_branch(x, y):
    s = 0.0
    p = zip(x, y)  # noqa: B905
    if x[0] > 0:
        for a, b in p:
            s += a * b * b
    return s


ZIPS = [zip_numbered, zip_written_in_between, zip_made_in_a_loop, zip_in_a_helper]


@pytest.mark.parametrize("target", ["python", "numba"])
@pytest.mark.parametrize("plain", [*ZIPS, zip_two_zips], ids=lambda f: f.__name__)
def test_a_zip_under_a_name_is_read_by_its_loop(plain: Any, target: str) -> None:
    f = pyrev.differentiable(plain, target=target)
    given = {"x": np.array([0.3, 0.7, 1.1]), "y": np.array([0.2, 0.5, 0.8])}
    written = ("y",) if plain is zip_written_in_between else ()
    check(f, plain, given, written, np.random.default_rng(1))


@pytest.mark.parametrize(
    "plain", [zip_bound_again, zip_in_another_loop, zip_used_twice, zip_in_a_branch]
)
def test_a_zip_that_may_be_empty_or_another_is_refused(plain: Any) -> None:
    with pytest.raises(pyrev.UnsupportedError, match="zip"):
        pyrev.differentiable(plain).adjoint.source  # noqa: B018
