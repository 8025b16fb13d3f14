"""Numbers that say which axis is meant, helpers that ask what they get, and norms."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import gast
import numpy as np
import pytest

import pyrev
from pyrev.parse.rewriting import known_kinds
from tests.tools.oracle import check

V = np.array([0.5, -1.5, 0.75, 2.0])
M = np.array([[0.5, -1.5, 0.75], [2.0, 0.25, -1.0]])


def along(x, axis):
    s = np.empty(x.shape[1 - axis], dtype=x.dtype)
    for i in range(s.shape[0]):
        s[i] = np.sum(x[:, i] ** 2) if axis == 0 else np.sum(x[i] ** 3)
    return s


def from_the_end(x, axis=-1):
    if axis < 0:
        axis += x.ndim
    return np.sum(x * x, axis=axis) / x.shape[axis]


def if_one_is_meant(x, axis=None):
    if axis is None:
        return np.sum(x * x)
    return np.sum(x * x, axis=axis)


def standardized(x, axis, keep):
    return (x - x.mean(axis=axis, keepdims=keep)) / np.std(x, axis, keepdims=keep)


def _squares(x, k, factor):
    return np.sum(x * x, axis=k) * factor


def by_a_helper(x, k):
    def inside(y):
        return np.cumsum(y, axis=k)

    total = lambda y: np.sum(y, axis=k)  # noqa: E731
    return _squares(x, k, 2.0) + total(x) + total(inside(x))


def another_axis_later(x, k):
    s = np.sum(x, axis=k)
    k = 1 - k
    t = np.sum(x, axis=k)
    k = 0
    return s.sum() * np.concatenate((t, np.sum(x * x, axis=k)), axis=k)


def counted_along(x, axis):
    s = 0.0
    for k in range(x.shape[axis]):
        s += x[k, 0] if axis == 0 else x[0, k] ** 2
    return s * axis + s


def _spread(u, n):
    if np.isscalar(u):
        return np.full(n, u)
    return u * 2.0


def spread(x, c):
    v = _spread(c * 1.5, len(x))
    return _spread(v, len(x)) * x + _spread(c, len(x)) + _spread(x, len(x))


def _rows(u):
    if u.ndim == 1:
        u = u[None, :]
    return u


def gram(x, y):
    return _rows(x) @ _rows(y).T


def shared(x):
    v = _rows(x)
    v[0, 0] = 3.0 * v[0, 1]
    return x * 2.0


def _sum_of_squares(u):
    if u.ndim == 1:
        return np.sum(u * u)
    s = 0.0
    for i in range(u.shape[0]):
        s += _sum_of_squares(u[i]) * (i + 1)
    return s


def as_deep_as_its_axes(x):
    return _sum_of_squares(x) * 0.5


def _total(u):
    if isinstance(u, np.ndarray):
        return u.sum()
    return u * 3.0


def a_number_is_no_array(x, c):
    return _total(c) + _total(c * x[0]) + x[1]


def row_norms(x):
    return x / np.linalg.norm(x, axis=1, keepdims=True)


def norm_of_order(x, p):
    return np.linalg.norm(x, p) * x


def norms(x):
    largest = np.linalg.norm(x, np.inf) + np.linalg.norm(x, -np.inf)
    return largest * np.linalg.norm(x, 1) + np.linalg.norm(x, 3) + np.linalg.norm(x, 0)


def norms_of_a_matrix(x):
    rows = np.linalg.norm(x, 1, axis=(1, 0), keepdims=True)
    both = np.linalg.norm(x, np.inf) + np.linalg.norm(x, -1, (0, 1))
    return rows * both + np.linalg.norm(x, "fro") + np.linalg.norm(x, 2.5, 0).sum()


def of_integers(n, x):
    return np.linalg.norm(n) * x + np.linalg.norm(n, 1) + np.linalg.norm(n, axis=0)


def padded(x, n):
    y = np.r_[x[:n], x, x[-n:]]
    return np.c_[y, y * y, y[::-1]]


CALLS: list[tuple[Callable[..., Any], dict[str, Any]]] = [
    (along, {"x": M, "axis": 0}),
    (along, {"x": M, "axis": 1}),
    (along, {"x": M, "axis": np.int32(1)}),
    (from_the_end, {"x": M, "axis": -1}),
    (from_the_end, {"x": M, "axis": -2}),
    (from_the_end, {"x": M, "axis": 0}),
    (from_the_end, {"x": V, "axis": -1}),
    (if_one_is_meant, {"x": M, "axis": None}),
    (if_one_is_meant, {"x": M, "axis": 1}),
    (standardized, {"x": M, "axis": 0, "keep": True}),
    (standardized, {"x": M, "axis": 1, "keep": True}),
    (standardized, {"x": V, "axis": 0, "keep": False}),
    (by_a_helper, {"x": M @ M.T, "k": 0}),
    (by_a_helper, {"x": M @ M.T, "k": 1}),
    (another_axis_later, {"x": M, "k": 1}),
    (another_axis_later, {"x": M, "k": 0}),
    (counted_along, {"x": M, "axis": 0}),
    (counted_along, {"x": M, "axis": 1}),
    (spread, {"x": V, "c": 0.5}),
    (spread, {"x": V, "c": V[::-1]}),
    (gram, {"x": V, "y": V[::-1]}),
    (gram, {"x": M, "y": M * M}),
    (gram, {"x": M[0], "y": M}),
    (as_deep_as_its_axes, {"x": V}),
    (as_deep_as_its_axes, {"x": M}),
    (a_number_is_no_array, {"x": V, "c": 0.5}),
    (row_norms, {"x": M}),
    (norm_of_order, {"x": V, "p": 1}),
    (norm_of_order, {"x": V, "p": 2}),
    (norms, {"x": V}),
    (norms_of_a_matrix, {"x": M}),
    (of_integers, {"n": np.arange(1, 5), "x": V}),
    (padded, {"x": V, "n": 2}),
]


@pytest.mark.parametrize(
    "target", ["python", pytest.param("numba", marks=pytest.mark.slow)]
)
@pytest.mark.parametrize("number", range(len(CALLS)))
def test_derivatives(number: int, target: str) -> None:
    plain, given = CALLS[number]
    given = {k: v.copy() if isinstance(v, np.ndarray) else v for k, v in given.items()}
    f = pyrev.differentiable(plain, target=target)
    check(f, plain, given, [], np.random.default_rng(number))


def test_what_a_helper_writes_is_the_callers() -> None:
    f = pyrev.differentiable(shared, target="python")
    check(f, shared, {"x": V.copy()}, ["x"], np.random.default_rng(0))


def test_one_function_serves_all_axes() -> None:
    f = pyrev.differentiable(from_the_end, target="numba")
    for axis in (0, 1, -1, 0):
        np.testing.assert_allclose(f(M, axis), from_the_end(M, axis))
        count = M.shape[axis]
        gradient = pyrev.vjp(f, M, axis)[1](np.ones(M.shape[1 - axis % 2]))["x"]
        np.testing.assert_allclose(gradient, 2.0 * M / count)
    np.testing.assert_allclose(f(M), from_the_end(M))
    assert pyrev.check_grad(f, M, 1).max_error < 1e-6


def test_a_matrix_has_no_norm_of_order_two_here() -> None:
    f = pyrev.differentiable(norm_of_order)
    with pytest.raises((pyrev.UnsupportedError, pyrev.ArgumentError)):
        f.adjoint(M, 2)


def test_a_class_that_is_not_known_is_refused() -> None:
    def helper(u):
        return u * 2.0 if isinstance(u, int) else u * 3.0

    def f(x, k):
        return helper(k) * x

    with pytest.raises(pyrev.UnsupportedError):
        pyrev.differentiable(f)(V, 2)


def test_what_says_the_axis_is_no_parameter_of_the_text() -> None:
    f = pyrev.differentiable(along, target="numba")
    with pytest.raises(pyrev.UnsupportedError, match=r"waits for arguments.*x, axis"):
        f.adjoint.source  # noqa: B018
    text = f.adjoint.source_for("python", M, 1)
    assert "along_adjoint(x, d_result)" in text
    scope: dict[str, Any] = {}
    exec(text, scope)
    ones = np.ones(2)
    expected = pyrev.vjp(f, M, 1)[1](ones)["x"]
    np.testing.assert_allclose(scope["along_adjoint"](M, ones)[0], expected)
    np.testing.assert_allclose(f.adjoint(M, 1, ones)[0], expected)
    np.testing.assert_allclose(f.adjoint(M, axis=1, d_result=ones)[0], expected)
    np.testing.assert_allclose(f.primal(M, 1), along(M, 1))
    _, moved = pyrev.jvp(f, M, 1, tangents={"x": M})
    np.testing.assert_allclose(f.tangent(M, 1, M)[1], moved["return"])
    assert "along" in f.explain("python", M, 1)


def test_a_module_for_one_axis(tmp_path: Path) -> None:
    f = pyrev.differentiable(along)
    where = f.adjoint.save(tmp_path / "one.py", "python", M, 0)
    scope: dict[str, Any] = {}
    exec(where.read_text(), scope)
    expected = pyrev.vjp(f, M, 0)[1](np.ones(3))["x"]
    np.testing.assert_allclose(scope["along_adjoint"](M, np.ones(3))[0], expected)
    with pytest.raises(pyrev.UnsupportedError):
        f.adjoint.save(tmp_path / "none.py")


def _doubled_if_scalar(u):
    if np.isscalar(u):
        return u * 2.0
    return u * 3.0


def _tripled_if_array(u):
    if isinstance(u, np.ndarray):
        return u * 3.0
    return u * 2.0


def _passed_on(u):
    return _doubled_if_scalar(u) * 1.5


def chosen(x, c):
    return _doubled_if_scalar(np.where(c > 0.0, c, 1.0)) * x[0]


def chosen_under_a_name(x, c):
    v = np.where(c > 0.0, c, 1.0)
    return _tripled_if_array(v) * x[0]


def chosen_and_passed_on(x, c):
    return _passed_on(np.where(c > 0.0, c, 1.0)) * x[0]


def all_axes_and_an_ellipsis(x, c):
    return _doubled_if_scalar(x[..., 0]) * c


def a_row_and_an_ellipsis(x, c):
    for row in np.stack((x, x)):
        c = c + _doubled_if_scalar(row[..., 1])
    return c


@pytest.mark.parametrize(
    "function",
    [
        chosen,
        chosen_under_a_name,
        chosen_and_passed_on,
        all_axes_and_an_ellipsis,
        a_row_and_an_ellipsis,
    ],
    ids=lambda f: f.__name__,
)
def test_a_number_may_be_an_array_without_axes(function: Callable[..., Any]) -> None:
    with pytest.raises(pyrev.UnsupportedError):
        pyrev.vjp(pyrev.differentiable(function, target="python"), V, 0.5)


def test_only_what_says_an_axis_is_asked_for() -> None:
    def power(x, ord):
        return np.sum(x**ord)

    def summed(x, along):
        return np.sum(x, axis=along)

    def f(x, n, k):
        return power(x, ord=n) * summed(x, along=k)

    outside = {"np": np, "power": power, "summed": summed}
    text = "def f(x, n, k):\n    return power(x, ord=n) * summed(x, along=k)\n"
    found = known_kinds.tested_parameters(gast.parse(text).body[0], outside.get)
    assert found == {"k": {"number"}}
    np.testing.assert_allclose(pyrev.differentiable(f)(M, 2, 1), f(M, 2, 1))


def test_a_truth_value_is_another_kind_than_the_equal_integer() -> None:
    one = known_kinds.tested(1, ["number"])
    assert known_kinds.tested(True, ["number"]) != one
