"""Tests of how many axes an argument has, of its dtype and of its class."""

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

V = np.array([0.5, 1.5, 0.75, 2.0])
M = np.array([[0.5, 1.5, 0.75], [2.0, 0.25, 1.0]])
NARROW = V.astype(np.float32)


def squares_or_cubes(u):
    if u.ndim == 1:
        s = 0.0
        for i in range(len(u)):
            s += u[i] ** 2
    elif np.ndim(u) == 2 and len(u.shape) != 3:
        s = 1.0
        for i in range(u.shape[0]):
            for j in range(u.shape[1]):
                s += u[i, j] ** 3
    else:
        raise ValueError("one or two axes")
    return s


def a_number_or_an_array(u):
    if u.ndim == 1:
        w = 0.0
        if u[0] != 0:
            w = u[1] / u[0]
    else:
        w = np.zeros_like(u[..., 0])
        for i in range(u.shape[0]):
            w[i] = u[i, 1] / u[i, 0]
    return u[..., 0] * w


def one_row_of_a_vector(u):
    if u.ndim not in (1, 2):
        raise TypeError("a vector or a matrix")
    if len(u.shape) < 2:
        u = u.reshape(1, -1)
    s = 0.0
    for i in range(u.shape[0]):
        s += u[i, 0] * u[i, -1]
    return s


def weighted(x, w):
    if isinstance(w, np.ndarray):
        return (x * w).sum()
    return w * x[0]


def filled(x, w):
    if np.isscalar(w):
        w = np.full(x.shape, w)
    return (x * w**2).sum()


def by_class(x, w):
    scale = 2.0 if isinstance(w, (float, int)) and not isinstance(w, bool) else 3.0
    if type(w) is int:
        return x[0] * scale
    return (x * scale).sum()


def by_dtype(x):
    if x.dtype == np.float32 or x.dtype != np.dtype("float64"):
        return x[0] * 2
    return x[1] * 3


def at_least(x, w):
    x = np.atleast_1d(x)
    w = np.atleast_2d(w)
    return w.sum() * x.sum() + w[0, 0] + w.shape[0]


def asked_in_a_loop(x, w):
    s = 0.0
    for k in range(3):
        if isinstance(w, float):
            s += w * x[k]
        else:
            s += w[k] * x[k]
    return s


def a_function_inside(x, w):
    def at(k):
        return w[k] if w.ndim == 1 else w[k, 0]

    return at(0) * x[0] + at(1)


def bound_again_on_a_path(x, w):
    if x[0] > 1.0:
        w = w * 2.0
    if np.isscalar(w):
        return w * x[0]
    return x[1]


def a_name_of_its_own_in_a_comprehension(x, w):
    t = sum([v * x[0] for v in w])
    return t * w.sum() * (3.0 if x.ndim == 1 else 1.0) + x[0]


def values_of_and_and_or(x, w):
    n = 3
    k = n and x.ndim == 1
    j = x.ndim == 2 or n
    return x[0] * k + x[1] * j + w * (n and np.ndim(w) == 0)


CALLS: list[tuple[Callable[..., Any], dict[str, Any]]] = [
    (squares_or_cubes, {"u": V}),
    (squares_or_cubes, {"u": M}),
    (a_number_or_an_array, {"u": V}),
    (a_number_or_an_array, {"u": M}),
    (one_row_of_a_vector, {"u": V}),
    (one_row_of_a_vector, {"u": M}),
    (weighted, {"x": V, "w": V[::-1]}),
    (weighted, {"x": V, "w": 0.7}),
    (filled, {"x": V, "w": V[::-1]}),
    (filled, {"x": V, "w": 0.7}),
    (filled, {"x": V, "w": np.float64(0.7)}),
    (by_class, {"x": V, "w": 2}),
    (by_class, {"x": V, "w": True}),
    (by_class, {"x": V, "w": 2.5}),
    (by_dtype, {"x": V}),
    (at_least, {"x": V, "w": M}),
    (at_least, {"x": 0.5, "w": V}),
    (at_least, {"x": 0.5, "w": 0.75}),
    (asked_in_a_loop, {"x": V, "w": 0.5}),
    (asked_in_a_loop, {"x": V, "w": V * 2.0}),
    (a_function_inside, {"x": V, "w": V * 2.0}),
    (a_function_inside, {"x": V, "w": M}),
    (values_of_and_and_or, {"x": V, "w": 0.7}),
    (a_name_of_its_own_in_a_comprehension, {"x": V, "w": V[::-1]}),
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


def test_one_function_serves_all_kinds() -> None:
    f = pyrev.differentiable(squares_or_cubes, target="numba")
    for u in (V, M, V, M):
        assert np.isclose(f(u), squares_or_cubes(u))
        expected = 2.0 * u if u.ndim == 1 else 3.0 * u**2
        np.testing.assert_allclose(pyrev.grad(f, wrt="u")(u), expected)
        _, moved = pyrev.jvp(f, u, tangents={"u": np.ones_like(u)})
        assert np.isclose(moved["return"], expected.sum())
        bent = pyrev.hvp(f, u, tangents={"u": np.ones_like(u)})["u"]
        np.testing.assert_allclose(bent, 2.0 + 0.0 * u if u.ndim == 1 else 6.0 * u)


def test_a_dtype_decides() -> None:
    f = pyrev.differentiable(by_dtype)
    assert list(pyrev.grad(f, wrt="x")(V)) == [0.0, 3.0, 0.0, 0.0]
    assert list(pyrev.grad(f, wrt="x")(NARROW)) == [2.0, 0.0, 0.0, 0.0]


def test_what_the_call_excludes_raises() -> None:
    f = pyrev.differentiable(squares_or_cubes, target="numba")
    with pytest.raises(ValueError, match="one or two axes"):
        f(np.ones((2, 2, 2)))


def test_a_name_that_is_bound_again_is_not_asked() -> None:
    f = pyrev.differentiable(bound_again_on_a_path)
    with pytest.raises(pyrev.UnsupportedError):
        f.adjoint(V, 0.5, 1.0)


def test_a_name_of_the_users_asks_nothing() -> None:
    def isinstance(a, b):
        return a[0] > b

    def own(x, w):
        if isinstance(x, w):
            return x[0] ** 2
        return x[1]

    f = pyrev.differentiable(own)
    assert np.allclose(pyrev.grad(f, wrt="x")(V, 0.1), [1.0, 0.0, 0.0, 0.0])
    assert np.allclose(pyrev.grad(f, wrt="x")(V, 9.0), [0.0, 1.0, 0.0, 0.0])


def test_a_comprehension_has_names_of_its_own() -> None:
    text = "def f(x, w):\n    return [x.ndim == 1 for x in w], x.ndim == 1\n"
    made = known_kinds.with_kinds(
        gast.parse(text).body[0], {"x": known_kinds.Tested(1)}, {}.get
    )
    assert (
        gast.unparse(made).strip().endswith("return ([x.ndim == 1 for x in w], True)")
    )


def test_a_module_is_for_the_kinds_that_it_was_saved_for(tmp_path: Path) -> None:
    def load(function: Callable[..., Any], *given: Any) -> Callable[..., Any]:
        f = pyrev.differentiable(function)
        where = f.adjoint.save(tmp_path / f"{function.__name__}.py", "python", *given)
        scope: dict[str, Any] = {}
        exec(where.read_text(), scope)
        found: Callable[..., Any] = scope[f"{function.__name__}_adjoint"]
        return found

    narrow = load(by_dtype, NARROW)
    np.testing.assert_allclose(narrow(NARROW, 1.0)[0], [2.0, 0.0, 0.0, 0.0])
    with pytest.raises(TypeError, match="`x` of float32"):
        narrow(V, 1.0)
    whole = load(by_class, V, 2)
    whole(V, 2, 1.0)
    with pytest.raises(TypeError, match="`w` of int"):
        whole(V, 2.5, 1.0)
    arrays = load(filled, V, V)
    with pytest.raises(TypeError, match="an array `w`"):
        arrays(V, 0.5, 1.0)
