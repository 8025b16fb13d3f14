# mypy: disallow-untyped-defs=False, disallow-untyped-calls=False
"""What checks arguments and tells of the run: shapes compared, limits, `print`."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pyrev
from tests.tools.oracle import check

X = np.array([0.35, 0.71, 1.12, 0.2])
A = X.reshape(2, 2)


def tells(x, n):
    s = 0.0
    for i in range(len(x)):
        s += x[i] * x[i]
        if s > n:
            print("large", i, s, f"{s:.3f}", str(s))
            warnings.warn(f"large: {s}", stacklevel=1)
    return s


def equal_shapes(a, b):
    if a.shape != b.shape:
        raise ValueError("two arrays of one shape")
    return np.sum(a * b)


def a_shape_and_a_tuple(a, n):
    if not a.shape == (n, 2):
        raise AssertionError("a has two columns")
    if a.shape[1:] == (3,) or a.shape == (2,):
        return 0.0
    return a[0, 1] * a[1, 0]


def limits(x):
    tiny = np.finfo(np.float64).eps
    return x[0] / (x[1] + tiny) + np.finfo(float).tiny


def a_model(x, model):
    a, b, w = model
    return a * x[0] + b * np.sum(w)


def tells_of_arrays(a, n):
    print("a", a.sum(), np.mean(a, axis=0), a.reshape((n, -1))[::-1], f"{a.max():.3f}")
    return np.sum(a * a)


CALLS: list[tuple[Callable[..., Any], dict[str, Any]]] = [
    (tells, {"x": X, "n": 100.0}),
    (equal_shapes, {"a": X, "b": X + 1}),
    (equal_shapes, {"a": A, "b": A + 1}),
    (a_shape_and_a_tuple, {"a": A, "n": 2}),
    (limits, {"x": X}),
    (tells_of_arrays, {"a": A, "n": 1}),
    (a_model, {"x": X, "model": (1.0, 2.0, X + 1)}),
]


@pytest.mark.parametrize("target", ["python", "numba"])
@pytest.mark.parametrize("number", range(len(CALLS)))
def test_derivatives_are_those_of_the_function(number: int, target: str) -> None:
    plain, given = CALLS[number]
    f = pyrev.differentiable(plain, target=target)
    check(f, plain, given, (), np.random.default_rng(number))


@pytest.mark.parametrize("target", ["python", "numba"])
def test_shapes_that_differ_raise_what_the_function_raises(target: str) -> None:
    f = pyrev.differentiable(equal_shapes, target=target)
    for a, b in ((X, X[:2]), (A, X)):
        with pytest.raises(ValueError, match="two arrays of one shape"):
            f(a, b)
    g = pyrev.differentiable(a_shape_and_a_tuple, target=target)
    with pytest.raises(AssertionError, match="two columns"):
        g(A, 3)


def test_compiled_code_tells_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    f = pyrev.differentiable(tells, target="numba")
    assert f(X, 0.5) == tells(X, 100.0)
    assert capsys.readouterr().out == ""


def _changes(y):
    y[0] = 2.0
    return y[1]


def tells_what_changes(x):
    y = x.copy()
    print(_changes(y))
    return y[0] * x[0]


def test_what_is_told_is_not_dropped_where_it_changes_something() -> None:
    with pytest.raises(pyrev.UnsupportedError, match="print"):
        pyrev.differentiable(tells_what_changes).adjoint.source  # noqa: B018
