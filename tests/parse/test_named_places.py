# mypy: disallow-untyped-defs=False, disallow-untyped-calls=False
"""What ``np.where(mask)`` gives under one name, places of extrema in all of an array,
and other ways to write what the language has.
"""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
import pytest

import pyrev
from tests.tools.oracle import check

M = np.random.default_rng(0).uniform(0.1, 0.9, (3, 4))
TIES = np.array([[2.0, 5.0, 5.0], [5.0, 1.0, 1.0]])


def the_first_axis(m):
    x, y = m[0], m[1]
    found = np.where(x > 0.3)
    s = 0.0
    if len(found[0]) > 1:
        for k in found[0]:
            s += x[k] ** 2
    return s + y[found[0][0]]


def apart_and_as_a_subscript(m):
    found = np.nonzero(m[1] > 0.2)
    total = np.sum(m[1][found] ** 2) + found[0].size * m[0, 0]
    for r in range(2):
        found = np.where(m[r] > 0.4)
        total += np.sum(m[r][found]) * (1 + len(found[0]))
    return total


def two_axes(m):
    found = np.where(m > 0.2)
    return np.sum(m[found[0], found[1]] ** 2) + np.sum(m[found])


def least_of_all(m):
    part = m[1:3, 1:3] * 2.0
    i, j = np.argmin(part) // 2, np.argmin(part) % 2
    k = m.argmax()
    return (
        part[i, j] ** 2 + m[k // m.shape[1], k % m.shape[1]] * m.ravel()[np.argmin(m)]
    )


def least_of_a_box(m):
    box = np.zeros((2, *m.shape))
    box[1] = m
    box[0] = m[::-1] * 1.5
    k = np.argmax(box)
    return box.ravel()[k] ** 2


def rows_of_a_matrix(m):
    means = np.atleast_2d(np.sum(m, axis=1) / m.shape[1]).T
    again = np.atleast_2d(m)
    return np.sum(np.atleast_1d(again - means) ** 3)


def asks_for_threads(m):
    numba.set_num_threads(1)
    numba.get_num_threads()
    s = 0.0
    for i in range(len(m)):
        s += m[i, 0] ** 2
    return s


def without_an_end(m):
    k = 0
    while 0 < 1:
        while 1 != 2:
            if m[0, k] > 0.1:
                return m[0, k] ** 2
            k += 1
    return  # which nobody comes to


EVERY = [
    the_first_axis,
    apart_and_as_a_subscript,
    two_axes,
    least_of_all,
    least_of_a_box,
    rows_of_a_matrix,
    asks_for_threads,
    without_an_end,
]


@pytest.mark.parametrize("target", ["python", "numba"])
@pytest.mark.parametrize("plain", EVERY, ids=lambda f: f.__name__)
def test_they_are_numpys(plain: Any, target: str, rng: np.random.Generator) -> None:
    f = pyrev.differentiable(plain, target=target)
    check(f, plain, {"m": M.copy()}, [], rng)


def places(m):
    return np.argmin(m), np.argmax(m), m.argmin(), np.sum(m)


@pytest.mark.parametrize("target", ["python", "numba"])
@pytest.mark.parametrize(
    "m", [TIES, -TIES.T, np.where(TIES == 1, np.nan, TIES), TIES[None]], ids=range(4)
)
def test_the_first_extreme_row_by_row(m: Any, target: str) -> None:
    value, _ = pyrev.vjp(pyrev.differentiable(places, target=target), m)
    np.testing.assert_array_equal(value, places(m))


def test_an_empty_matrix_has_no_extreme() -> None:
    f = pyrev.differentiable(places, target="numba")
    with pytest.raises(ValueError):
        pyrev.vjp(f, np.zeros((0, 3)))


def rows_of_places(m):
    found = np.where(m > 0.5)
    return np.sum(m[found[0], 0])


def test_places_of_a_matrix_are_not_those_of_a_vector() -> None:
    with pytest.raises(pyrev.UnsupportedError, match="1 axis"):
        pyrev.vjp(pyrev.differentiable(rows_of_places), M)


def fitted(data, n, model, inverse, one, other):
    """The signal over the noise of frequencies, for two kinds of sensors."""
    if data.shape[1] != model.shape[0]:
        model = model[: data.shape[1]]
        inverse = np.linalg.pinv(model)
    coefs = np.ascontiguousarray(inverse) @ np.ascontiguousarray(data.T)
    power = (coefs[:n] ** 2 + coefs[n : (2 * n)] ** 2) / 2
    rest = data - np.ascontiguousarray((model @ coefs).T)
    mean = np.atleast_2d(rest.sum(axis=1) / rest.shape[1]).T
    spread = (np.abs(rest - mean) ** 2).sum(axis=1) / rest.shape[1]
    found = np.empty((n, 0))
    for picks in (one, other):
        if len(picks):
            level = power[:, picks].sum(axis=1) / len(picks)
            noise = spread[picks].mean() * np.ones(n)
            ratio = 10 * np.log10(level / noise)
            found = np.hstack((found, np.stack((ratio, level, noise), 1)))
    return found


@pytest.mark.parametrize("target", ["python", "numba"])
@pytest.mark.parametrize("length", [8, 6])
def test_early_walks_may_see_fewer_axes(
    length: int, target: str, rng: np.random.Generator
) -> None:
    model = rng.uniform(0.1, 0.9, (8, 4))
    given = {
        "data": rng.uniform(0.1, 0.9, (5, length)),
        "n": 2,
        "model": model,
        "inverse": np.linalg.pinv(model),
        "one": np.array([0, 2]),
        "other": np.array([1, 3, 4]),
    }
    f = pyrev.differentiable(fitted, target=target)
    check(f, fitted, given, [], rng)
