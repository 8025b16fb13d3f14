# mypy: disallow-untyped-defs=False, disallow-untyped-calls=False
"""Tuples and lists of the call whose elements are read by a number of the run."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import pytest

import pyrev
from tests.tools.oracle import check

X = np.random.default_rng(0).uniform(0.2, 0.9, 4)
U, V = (np.random.default_rng(k).uniform(0.2, 0.9, (4, 4)) for k in (1, 2))


def layers(x, weights, shifts):
    """A network of layers of one width."""
    for i in range(len(weights)):
        x = np.tanh(weights[i] @ x + shifts[i])
    return x


def strides(x, shape):
    bins = np.asarray(shape)
    s = 0.0
    for i in range(len(shape)):
        s += x[shape[i]] * bins[i] + x[i] * shape[-1]
    return s * np.prod(np.array(shape))


def chosen_by_data(x, rates, kinds):
    s = 0.0
    for i in range(len(x)):
        s += x[i] ** 2 * rates[kinds[i]]
    return s + rates[0]


def in_a_helper(x, rates, kinds):
    return _with_rates(x, rates, kinds) * rates[1]


def _with_rates(x, rates, kinds):
    s = x[0]
    for i in range(len(x)):
        s += x[i] * rates[kinds[i]] ** 2
    return s


def read_by_a_parameter(x, fields, k):
    k += 1
    return np.sum(fields[k] * fields[k - 1]) * x[0]


KINDS = np.array([0, 1, -1, 0])
CALLS: list[tuple[Any, dict[str, Any]]] = [
    (layers, {"x": X, "weights": (U, V), "shifts": (X, X[::-1].copy())}),
    (layers, {"x": X, "weights": (U,), "shifts": (X,)}),
    (layers, {"x": X, "weights": (U, V, U - V), "shifts": (X, 2 * X, X + 1)}),
    (strides, {"x": X, "shape": (2, 3)}),
    (strides, {"x": X, "shape": (1, 0, 3)}),
    (chosen_by_data, {"x": X, "rates": (0.5, 2.0), "kinds": KINDS}),
    (chosen_by_data, {"x": X, "rates": (1, 2), "kinds": KINDS}),
    (in_a_helper, {"x": X, "rates": (0.5, 2.0, 1.5), "kinds": KINDS}),
    (read_by_a_parameter, {"x": X, "fields": (X, 2 * X, X**2), "k": 1}),
]


@pytest.mark.parametrize("target", ["python", "numba"])
@pytest.mark.parametrize("number", range(len(CALLS)))
def test_elements_are_read_by_a_number(number: int, target: str) -> None:
    plain, given = CALLS[number]
    f = pyrev.differentiable(plain, target=target)
    check(f, plain, copy.deepcopy(given), [], np.random.default_rng(number))


def test_a_list_of_arrays_is_read_as_a_tuple() -> None:
    f = pyrev.differentiable(layers, target="numba")
    weights, shifts = [U, V, U - V], [X, 2 * X, X + 1]
    value, pullback = pyrev.vjp(f, X, weights, shifts)
    same, other = pyrev.vjp(f, X, tuple(weights), tuple(shifts))
    np.testing.assert_array_equal(value, same)
    mine, theirs = pullback(X)["weights"], other(X)["weights"]
    assert len(mine) == 3
    for a, b in zip(mine, theirs, strict=True):
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("target", ["python", "numba"])
def test_there_are_so_many(target: str) -> None:
    f = pyrev.differentiable(chosen_by_data, target=target)
    for kinds in (KINDS + 1, KINDS - 2):
        with pytest.raises(IndexError):
            chosen_by_data(X, (0.5, 2.0), kinds)
        with pytest.raises(IndexError):
            pyrev.vjp(f, X, (0.5, 2.0), kinds)


def written_by_a_number(x, fields, k):
    fields[k][0] = x[0]
    return np.sum(fields[0])


def written_behind(x, fields, k):
    s = x[0]
    for i in range(k):
        fields[0][1] = s
        s += fields[i][1]
    return s


def _sets(a, v):
    a[1] = v


def written_by_a_helper(x, fields, k):
    s = x[0]
    for i in range(k):
        _sets(fields[0], s)
        s += fields[i][1]
    return s


@pytest.mark.parametrize(
    "plain", [written_by_a_number, written_behind, written_by_a_helper]
)
def test_no_copy_is_written_to(plain: Any) -> None:
    f = pyrev.differentiable(plain)
    with pytest.raises(pyrev.UnsupportedError):
        pyrev.vjp(f, X, (X.copy(), X.copy()), 2)


def test_arrays_of_unlike_shapes_are_refused() -> None:
    f = pyrev.differentiable(read_by_a_parameter, target="numba")
    with pytest.raises(ValueError, match="several shapes"):
        pyrev.vjp(f, X, (X, X, X[:2]), 0)
