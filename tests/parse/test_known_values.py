"""`None`: parameters that are it in a call, and the tests of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pyrev
from tests.tools.oracle import check

X = np.array([0.3, 0.7, 0.2, 0.9])


def weights_by_default(x, w=None):
    if w is None:
        w = np.ones(len(x))
    return np.sum(w * x * x)


def a_choice(x, *, scale=None):
    k = 2.0 if scale is None else scale * scale
    return np.sum(x * x) * k


def in_a_loop(x, y=None, scale=None, n=3):
    s = 0.0
    k = 1.0 if scale is None else scale
    for i in range(len(x)):
        if y is not None and i < len(y):
            s += x[i] * y[i] * k
        elif scale is None or i % 2:
            s += x[i] * x[i] * n
        else:
            s += x[i]
    return s


def _powered(v, p=None, q=2.0):
    if p is None:
        return v * q * v
    return v**p


def in_a_helper(x, p=None):
    s = 0.0
    for i in range(len(x)):
        s += _powered(x[i], p) + _powered(x[i]) + _powered(x[i], None, 3.0)
        s += _powered(x[i], q=0.5, p=3)
    return s


def an_array_to_write_to(x, out=None):
    if out is None:
        out = np.empty_like(x)
    for i in range(len(x)):
        out[i] = x[i] ** 2
    return np.sum(out * x)


def a_truth_value(x, w=None):
    if not w:
        w = 3.0
    return x[0] * w * x[1]


def what_is_none_raises(x, w=None, strict=None):
    if w is None:
        if strict is not None:
            raise ValueError("no weights")
        return np.sum(x * x)
    return np.sum(x * w)


def a_local_name(x, w=None):
    last = None
    if w is None:
        last = x[0] * x[0]
    if last is None:
        last = w * x[1]
    return last * x[2]


def without_a_default(x, w):
    if w is None:
        return np.sum(x * x)
    return np.sum(x * x * x) * w


def by_a_text(x, mode="sum"):
    s = 0.0
    for i in range(len(x)):
        s += x[i] * x[i]
    if mode == "sum":
        return s
    elif mode in ("mean", "average"):
        return s / len(x)
    raise ValueError("unknown mode")


def _scaled(v, how):
    if how != "twice":
        return v
    return 2.0 * v


def a_text_for_a_helper(x, how):
    local = "twice"
    return _scaled(x[0] * x[1], how) + _scaled(x[2] * x[2], local)


def _of_three(v, a=1.0, b=2.0, how="plain"):
    if how == "plain":
        return v * a + b
    return v * b


def _of_weights(v, a=1.0, b=2.0, w=None):
    if w is None:
        return v * a + b
    return v * b * w


def defaults_in_front_of_what_is_known(x):
    s = _of_three(x[0], b=x[3]) * x[1] + _of_three(x[1], how="other")
    return s + _of_weights(x[2], b=3.0) * x[0] + _of_weights(x[1], w=x[2])


def _by_its_default(v, how="once"):
    if how == "once":
        return v
    return v * v


_by_its_default.__defaults__ = ("twice",)


def a_default_that_is_another_by_now(x):
    return _by_its_default(x[0]) * x[1]


def a_function_within_asks(x, how="plain", w=None):
    k = "odd"

    def part(v, n):
        if w is not None and how == "plain":
            return v * w
        if k == "odd" and n % 2:
            return v * v
        return 2.0 * v if how == "plain" else v

    twice = lambda v: v * (2.0 if how == "plain" else 3.0)  # noqa: E731
    return part(x[0], 1) + part(x[1], 2) * twice(x[2])


def a_function_within_has_its_own(x, how="plain"):
    def part(v, how):
        if how > 1:
            return v * v
        return v

    def other(v):
        how = "other"
        return v if how == "other" else v * v

    return part(x[0], 2) + part(x[1], 1) * other(x[2])


def methods_of_texts(x, mode="Mean "):
    kind = mode.strip().lower()
    s = np.sum(x * x)
    if kind.endswith("x") or kind.startswith("me"):
        s = s / len(x)
    if "ea" in mode and "z" not in kind + mode:
        s = s * 2.0
    if kind[0] == "s" or mode.upper() == "TOTAL":
        s = s * 3.0
    return s


CALLS: list[tuple[Callable[..., Any], dict[str, Any]]] = [
    (weights_by_default, {}),
    (weights_by_default, {"w": X + 1.0}),
    (weights_by_default, {"w": None}),
    (a_choice, {}),
    (a_choice, {"scale": 1.7}),
    (in_a_loop, {}),
    (in_a_loop, {"y": X[:2] + 1.0}),
    (in_a_loop, {"scale": 0.7}),
    (in_a_loop, {"y": X + 1.0, "scale": 0.7, "n": 2}),
    (in_a_helper, {}),
    (in_a_helper, {"p": 2.5}),
    (an_array_to_write_to, {}),
    (a_truth_value, {}),
    (a_truth_value, {"w": 2.0}),
    (what_is_none_raises, {}),
    (what_is_none_raises, {"w": X + 2.0}),
    (a_local_name, {}),
    (a_local_name, {"w": 0.4}),
    (by_a_text, {}),
    (defaults_in_front_of_what_is_known, {}),
    (a_default_that_is_another_by_now, {}),
    (by_a_text, {"mode": "average"}),
    (a_text_for_a_helper, {"how": "twice"}),
    (a_text_for_a_helper, {"how": "once"}),
    (a_function_within_asks, {}),
    (a_function_within_asks, {"how": "other"}),
    (a_function_within_asks, {"w": 1.5}),
    (a_function_within_has_its_own, {}),
    (methods_of_texts, {}),
    (methods_of_texts, {"mode": "total"}),
    (methods_of_texts, {"mode": "Sum"}),
]


@pytest.mark.parametrize(
    "target", ["python", pytest.param("numba", marks=pytest.mark.slow)]
)
@pytest.mark.parametrize("number", range(len(CALLS)))
def test_derivatives_are_those_of_the_call(number: int, target: str) -> None:
    plain, given = CALLS[number]
    f = pyrev.differentiable(plain, target=target)
    check(f, plain, {"x": X.copy(), **given}, [], np.random.default_rng(number))


def test_one_function_is_called_both_ways() -> None:
    f = pyrev.differentiable(weights_by_default)
    for _ in range(2):
        assert np.allclose(pyrev.grad(f, wrt="x")(X), 2 * X)
        assert np.allclose(pyrev.grad(f, wrt="x")(X, X), 2 * X * X)
        assert np.allclose(pyrev.grad(f, wrt="w")(X, X), X * X)
        assert np.allclose(f.adjoint(X, 1.0)[0], 2 * X)
        assert np.allclose(f.adjoint(X, w=X, d_result=1.0)[1], X * X)
    # Then it is a value of the function's own, which may be asked for, too.
    assert np.allclose(pyrev.grad(f, wrt="w")(X), X * X)


def test_the_text_before_a_call_is_for_the_defaults() -> None:
    f = pyrev.differentiable(weights_by_default)
    assert "def weights_by_default_adjoint(x, d_result):" in f.adjoint.source
    text = f.adjoint.source_for("python", X, X)
    assert "def weights_by_default_adjoint(x, w, d_result):" in text
    assert "return d_x, d_w" in text


def test_a_parameter_without_a_default_may_be_none() -> None:
    f = pyrev.differentiable(without_a_default)
    assert np.allclose(pyrev.grad(f, wrt="x")(X, None), 2 * X)
    assert np.allclose(pyrev.grad(f, wrt="x")(X, 2.0), 6 * X * X)


def test_where_a_default_has_no_meaning_the_others_are_read() -> None:
    def scaled(x, w=None):
        return np.sum(x * w)

    f = pyrev.differentiable(scaled)
    assert "def scaled_adjoint(x, w, d_result):" in f.adjoint.source
    assert np.allclose(pyrev.grad(f, wrt="x")(X, 2.0 * X), 2.0 * X)
    with pytest.raises(pyrev.UnsupportedError):
        f(X)


def test_a_number_may_not_be_none() -> None:
    def plain(x, k):
        return np.sum(x) * k

    f = pyrev.differentiable(plain)
    with pytest.raises(pyrev.ArgumentError, match="k"):
        f(X, None)


@pytest.mark.parametrize("target", ["python", "numba"])
def test_an_exception_depends_on_it(target: str) -> None:
    f = pyrev.differentiable(what_is_none_raises, target=target)
    with pytest.raises(ValueError, match="no weights"):
        f(X, None, 1.0)
    with pytest.raises(ValueError, match="no weights"):
        pyrev.vjp(f, X, strict=1.0)


def a_text_on_some_paths(x, c):
    mode = "a"
    if c > 0:
        mode = "b"
    if c > 1:
        mode = "b"
    if mode == "b":
        return x[0]
    return x[1]


def _of_mode(x, mode):
    return x if mode == "a" else x * x


def a_text_for_a_helper(x, c):
    mode = "a"
    s = 0.0
    for i in range(len(x)):
        s += _of_mode(x[i], mode)
        mode = "b"
    return s * c


def a_function_within_reads_what_changes(x, c):
    mode = "a"

    def part(v):
        if mode == "a":
            return v * v
        return v

    first = part(x[0])
    mode = "b"
    return first + part(x[1])


@pytest.mark.parametrize(
    "plain",
    [
        a_text_on_some_paths,
        a_text_for_a_helper,
        a_function_within_reads_what_changes,
    ],
)
def test_what_is_a_text_on_some_paths_is_refused(plain: Any) -> None:
    with pytest.raises(pyrev.UnsupportedError):
        pyrev.differentiable(plain).adjoint.source  # noqa: B018
