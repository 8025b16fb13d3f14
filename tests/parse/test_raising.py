"""`raise`: the same exception out of every target, and derivatives of what goes on."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pyrev
from tests.corpora.everything import on_targets
from tests.tools.oracle import check

WHY = "no such mode"


class NoConvergence(RuntimeError):
    """An exception of the user's own."""


def arguments_are_tested(x, out):
    if x.shape[0] != out.shape[0]:
        raise ValueError("sizes differ")
    for i in range(x.shape[0]):
        out[i] = x[i] * x[i]


def one_branch_raises(x, out):
    if x[0] > 3.0:
        w = 2.0 * x[0]
    elif x[0] > 0.0:
        w = x[0] * x[0]
    else:
        raise ValueError(WHY)
    for i in range(out.shape[0]):
        out[i] = w * x[i]


def the_first_branch_raises(x, out):
    if x[0] < 0.0:
        raise ValueError
    elif x[0] > 1.0:
        w = x[0]
    else:
        w = x[0] * 2.0
    out[:] = w * x


def in_a_loop(x, out):
    for i in range(x.shape[0]):
        if x[i] < 0.0:
            raise ArithmeticError("negative", -1, 2.5, True, None)
        out[i] = math.sqrt(x[i])


def behind_a_loop(x, out):
    y = x[0] + 2.0
    for _ in range(60):
        d = (y * y - x[0]) / (2.0 * y)
        y -= d
        if abs(d) < 1e-9:
            break
    else:
        raise NoConvergence("no convergence")
    out[0] = y * x[1]


def returned_in_the_loop(x, out):
    y = x[0] + 2.0
    for _ in range(60):
        d = (y * y - x[0]) / (2.0 * y)
        y -= d
        if abs(d) < 1e-9:
            return y * y * x[1]
    raise NoConvergence


def each_path_returns(x, out):
    if x[0] > 3.0:
        return x[0] * x[1]
    if x[0] > 0.0:
        return x[0] * x[0]
    raise NotImplementedError(f"{WHY}" + " yet")


def the_text_has_a_name(x, out):
    if x[0] < 0.0:
        message = "negative"
        raise ValueError(message + ", " + WHY)
    out[0] = x[0] * x[1]


def while_it_goes_on(x, out):
    y = x[0]
    n = 0
    while True:
        y = 0.5 * y + 0.01 * y * y
        n += 1
        if y < 0.05:
            break
        if n > 40 or y < 0.0:
            raise RuntimeError("too many")
    out[0] = y * n


def _root(v, name):
    if v < 0.0:
        raise ValueError("negative in a helper")
    return math.sqrt(v) * name


def in_a_helper(x, out):
    for i in range(x.shape[0]):
        out[i] = _root(x[i], 2.0)


def something_is_done_before(x, out):
    if x[0] < 0.0:
        out[0] = 7.0
        raise ValueError("done")
    out[0] = x[0] * out[1]


def nested(x, out):
    for i in range(x.shape[0]):
        if i % 2:
            if x[i] < 0.0:
                raise IndexError("odd")
            out[i] = x[i] * x[i]
        else:
            if x[i] < 0.0:
                out[i] = 1.0
            elif x[i] > 100.0:
                raise IndexError("even")
            else:
                out[i] = x[i] * 2.0


def both_branches_raise(x, out):
    if x[0] < 0.0:
        if x[1] > 0.0:
            raise ValueError("one")
        else:
            raise KeyError("other")
    out[0] = x[0] * x[1]


def a_return_before(x, out):
    if x[0] < 0.0:
        if x[1] > 0.0:
            return x[1] * x[1]
        raise ValueError("both negative")
    return x[0] * x[1]


def an_array_on_each_path(x, out):
    if x[0] > 2.0:
        y = x * x
    elif x[0] > 0.0:
        y = x + 1.0
    else:
        raise ValueError("none")
    out[:] = y * x[1]


FORMS = [
    arguments_are_tested,
    one_branch_raises,
    the_first_branch_raises,
    in_a_loop,
    behind_a_loop,
    returned_in_the_loop,
    each_path_returns,
    the_text_has_a_name,
    while_it_goes_on,
    in_a_helper,
    something_is_done_before,
    nested,
    both_branches_raise,
    a_return_before,
    an_array_on_each_path,
]
RETURNING = (returned_in_the_loop, each_path_returns, a_return_before)
FINE = (np.array([0.7, 1.3, 2.1]), np.array([4.0, 1.3, 2.1]))
RAISING = (
    np.array([-0.7, 1.3, 2.1]),
    np.array([-0.7, -1.3, 2.1]),
    np.array([1.0, -1.3, 2.1]),
    np.array([2.0, 2.0, 400.0]),
    np.array([50.0, 1.0, 1.0]),
    np.ones(2),
)


def outcome(f: Callable[..., Any], x: Any) -> tuple[Any, ...]:
    """What comes of a call: an exception or a result, and the array that is written."""
    out = np.full(3, 0.5)
    try:
        result = f(x.copy(), out)
    except Exception as error:
        return type(error), error.args, out
    return None, result, out


@pytest.mark.parametrize("k", range(len(FINE)))
@pytest.mark.parametrize(("plain", "target"), on_targets(FORMS, 3))
def test_what_goes_on_has_its_derivative(
    plain: Callable[..., Any], target: str, k: int
) -> None:
    f = pyrev.differentiable(plain, target=target)
    given = {"x": FINE[k], "out": np.full(3, 0.5)}
    if outcome(plain, FINE[k])[0] is None:
        outputs = [] if plain in RETURNING else ["out"]
        check(f, plain, given, outputs, np.random.default_rng(k))


@pytest.mark.parametrize(("plain", "target"), on_targets(FORMS, 3))
def test_the_same_is_raised(plain: Callable[..., Any], target: str) -> None:
    f = pyrev.differentiable(plain, target=target)
    raised = 0
    for x in RAISING:
        if len(x) < 3 and plain is not arguments_are_tested:
            continue  # NumPy's own errors, in its words
        kind, given, out = outcome(plain, x)
        found, args, written = outcome(f, x)
        assert found is kind, (found, kind, args)
        if kind is not None:
            raised += 1
            assert args == given and list(map(type, args)) == list(map(type, given))
            with pytest.raises(kind):
                pyrev.vjp(f, x.copy(), np.full(3, 0.5))
            with pytest.raises(kind):
                pyrev.jvp(f, x.copy(), np.ones(3), tangents={"x": np.ones_like(x)})
        if plain in (arguments_are_tested, something_is_done_before, in_a_loop):
            assert np.array_equal(out, written), "arrays are as CPython leaves them"
    assert raised, "no case raises"


def which_comes_first(x, y, out):
    s = 0.0
    for i in range(x.shape[0]):
        if x[i] < 0.0:
            raise ValueError("x")
        s += x[i]
        out[i] = x[i] * y[i]
        if y[i] < 0.0:
            raise ValueError("y")
    for i in range(x.shape[0]):
        if out[i] > 1e6:
            raise ValueError("out")
        out[i] += s


@pytest.mark.slow
def test_the_first_iteration_that_raises_counts() -> None:
    f = pyrev.differentiable(which_comes_first, target="numba")
    n = 200_000  # enough for all cores
    for at_x, at_y in [(5, 3), (3, 5), (n - 2, 7), (7, n - 2), (4, 4)]:
        x, y = np.ones(n), np.ones(n)
        x[at_x] = y[at_y] = -1.0
        x[n - 1] = 1e7
        for call in (which_comes_first, f):
            with pytest.raises(ValueError) as error:
                call(x, y, np.zeros(n))
            assert error.value.args == ("x" if at_x <= at_y else "y",)


@pytest.mark.parametrize("target", ["python", "numba"])
def test_second_order(target: str) -> None:
    f = pyrev.differentiable(each_path_returns, target=target)
    x = FINE[0]
    found = pyrev.hessian(f, wrt="x")(x, np.zeros(3))
    assert np.allclose(np.asarray(found), np.diag([2.0, 0.0, 0.0]))


def again(x):
    raise x


def values(x):
    if x < 0.0:
        raise ValueError(x)
    return x


def of_a_local_class(x):
    if x < 0.0:
        raise Hidden("no name")
    return x


Hidden = type("NoName", (ValueError,), {})


@pytest.mark.parametrize(
    ("plain", "words"),
    [
        (again, "`x` is no class of exceptions"),
        (values, "the exception is made of values of the run"),
        (of_a_local_class, "`NoName` is no name of a module"),
    ],
)
def test_what_has_no_form_is_refused(plain: Callable[..., Any], words: str) -> None:
    with pytest.raises(pyrev.UnsupportedError, match=words):
        pyrev.differentiable(plain)


def test_the_text_raises_by_the_name_of_the_class() -> None:
    text = pyrev.differentiable(behind_a_loop, target="python").primal.source
    assert f"import {__name__}" in text
    assert f'raise {__name__}.NoConvergence("no convergence")' in text
