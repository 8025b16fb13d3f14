"""Arrays that a function returns on one path or another, and conditional expressions
that choose between arrays.

All were refused (P110, P206). Right, or refused as before.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pyrev
from tests.corpora.everything import named, on_targets
from tests.tools.oracle import check

RIGHT: list[Any] = []
REFUSED: list[tuple[str, Any]] = []


def right(f: Any) -> Any:
    RIGHT.append(f)
    return f


def refused(code: str) -> Any:
    def note(f: Any) -> Any:
        REFUSED.append((code, f))
        return f

    return note


@right
def numbers_and_arrays_where_nothing_is_to_do(x, w, c):
    n = len(x)
    if c > 0.5:
        return 0.0, np.zeros(n)
    s = 0.0
    out = np.empty(n)
    for i in range(n):
        if x[i] < -1.5:
            continue
        out[i] = x[i] ** 2
        s += out[i] * w[i]
    out[x < -1.5] = 1.0
    return s, out


@right
def arrays_of_the_function_or_made_of_them(x, w, c):
    n = len(x) + 1
    n = n + 1
    a = np.zeros(n)
    b = np.zeros(n)
    a[1:-1] = x * w
    b[1:-1] = x + w
    if c > 0.5:
        return a, b
    return b - a[1] * a, b


@right
def made_in_a_loop(x, w, c):
    for i in range(len(x)):
        if x[i] > c:
            return np.zeros(len(x)) + x[i] * w
    return x * 2.0


@right
def what_the_loop_fills(x, w, c):
    u = np.zeros(len(x))
    for i in range(len(x)):
        u[i] = x[i] ** 2 * w[i]
        if u[i] > c:
            return u
    return w * x


@right
def rows(x, w, c):
    m = np.outer(x, w)
    for i in range(m.shape[0]):
        row = m[i] * c
        if row[0] > 0.2:
            return row, i
    return np.zeros(m.shape[1]), -1


def _descent(x, w, most):
    z = x * 0.1
    for k in range(most):
        step = w * (z - x)
        if np.sum(step * step) < 0.4:
            return z, k
        z = z - 0.3 * step
    return z, most


@right
def in_helpers_that_are_called_twice(x, w, c):
    one, k = _descent(x, w, 5)
    two, m = _descent(one * w, w, 5)
    return np.sum(one * two) + k * x[0] + m


def _either(u, v, c):
    for i in range(len(u)):
        if u[i] > c:
            return u
    return v


@right
def in_a_helper_that_returns_what_it_is_given(x, w, c):
    s = 0.0
    for k in range(3):
        r = _either(x, w * (k + 1), c)
        s += r[k] * r[0]
    return s


def _solved(rhs, w, overwrite=False):
    y = rhs if overwrite else rhs.copy()
    y[0] = y[0] * w[0]
    for i in range(1, len(y)):
        y[i] = y[i] - w[i] * y[i - 1]
    return y


@right
def overwritten_or_not_as_the_call_says(x, w, c):
    b = x * c
    d = _solved(b, w, overwrite=True)
    e = _solved(d, w)
    return np.sum(d * b) + np.sum(e * d)


@right
def one_of_three(x, w, c):
    b = x * 2.0
    y = b if c > 0.9 else x[::-1] * w if c > 0.3 else w
    return y * x + (b if c > 0.5 else w)


@right
def parts_that_depend_on_the_iteration(x, w, c):
    s = 0.0
    for k in range(3):
        v = x[k:] if k % 2 == 0 else w[: 3 - k] * c
        s += np.sum(v) * v[0]
    return s


@right
def in_an_argument_and_in_a_return(x, w, c):
    s = np.sum(x if c > 0.5 else w)
    return x * s if c > 0.5 else w.copy()


@refused("P110")
def an_array_or_a_number(x, w, c):
    for i in range(len(x)):
        if x[i] > c:
            return x * w
    return w[0]


@refused("P206")
def written_by_another_name_than_returned(x, w, c):
    a = x * 2.0
    r = _either(a, w * 1.0, c)
    a[0] = 5.0 * a[1]
    return np.sum(a) + np.sum(r)


def arguments(c: float) -> dict[str, Any]:
    x = np.array([0.7, -1.8, 1.3])
    return {"x": x, "w": np.array([0.6, 0.9, 1.2]), "c": c}


@pytest.mark.parametrize("c", [1.1, 0.6, 0.4, 9.0])
@pytest.mark.parametrize(("f", "target"), on_targets(RIGHT, 6), ids=named)
def test_it_is_right(f: Any, c: float, target: str) -> None:
    g = pyrev.differentiable(f, target=target)
    check(g, f, arguments(c), (), np.random.default_rng(3))


@pytest.mark.parametrize("c", [1.1, 0.4])
@pytest.mark.parametrize("f", [made_in_a_loop, what_the_loop_fills, one_of_three])
def test_tangents_and_second_derivatives(f: Any, c: float) -> None:
    def total(x: Any, w: Any, c: Any) -> Any:
        return np.sum(f(x, w, c) ** 2)

    given = arguments(c)
    move, e = np.array([0.3, 1.0, -0.5]), 1e-5

    def moved(h: float) -> dict[str, Any]:
        return given | {"x": given["x"] + h * move}

    along = (f(**moved(e)) - f(**moved(-e))) / (2 * e)
    _, tangent = pyrev.jvp(pyrev.differentiable(f), **given, tangents={"x": move})
    np.testing.assert_allclose(tangent["return"], along, rtol=1e-6, atol=1e-8)
    g = pyrev.differentiable(total)
    one, two = (pyrev.vjp(g, **moved(h))[1](1.0)["x"] for h in (e, -e))
    found = pyrev.hvp(g, **given, tangents={"x": move})
    np.testing.assert_allclose(found["x"], (one - two) / (2 * e), rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize(("code", "f"), REFUSED, ids=[f.__name__ for _, f in REFUSED])
def test_it_is_refused(code: str, f: Any) -> None:
    with pytest.raises(pyrev.UnsupportedError) as caught:
        pyrev.vjp(pyrev.differentiable(f), **arguments(1.1))
    assert code in {e.code for e in caught.value.findings}


def test_paths_of_other_shapes_raise() -> None:
    def f(x: Any, w: Any, c: Any) -> Any:
        for i in range(len(x)):
            if x[i] > c:
                return np.zeros(2)
        return x * w

    g = pyrev.differentiable(f)
    with pytest.raises(ValueError, match="arrays of different shapes"):
        pyrev.vjp(g, **arguments(9.0))


def _nothing_to_do(x: Any, n: int) -> Any:
    if n == 0:
        return np.array([], dtype=x.dtype)
    out = np.zeros(n)
    for i in range(n):
        out[i] = x[i] ** 2
    return out


def _rows(x: Any, n: int) -> Any:
    if n < 0:
        return np.zeros((2, 3))
    out = np.zeros((n, 3))
    for i in range(n):
        out[i] = x[i] * x[0]
    return out


def _beside_a_number(x: Any, n: int) -> Any:
    if n < 0:
        return np.zeros(3), 1.0
    y = np.empty(n)
    for i in range(n):
        y[i] = x[i] ** 2
    return y, y.sum()


def _of_helpers(x: Any, n: int) -> Any:
    y, s = _beside_a_number(x, n)
    z = _nothing_to_do(x, max(n, 0))
    return s * len(y) + y.sum() + len(z) + (z * z).sum()


def _of_no_elements(x: Any, n: int) -> Any:
    if n == 0:
        return np.empty(0)
    return x * x[n]


EARLY = [_nothing_to_do, _rows, _beside_a_number, _of_helpers, _of_no_elements]


@pytest.mark.parametrize("n", [3, 0, -1])
@pytest.mark.parametrize(("f", "target"), on_targets(EARLY, 2), ids=named)
def test_what_is_returned_early_has_its_own_length(f: Any, target: str, n: int) -> None:
    if n < 0 and f is _nothing_to_do:
        n = 2
    g = pyrev.differentiable(f, target=target)
    given = {"x": np.array([0.5, 0.3, 0.9, 0.7]), "n": n}
    check(g, f, given, [], np.random.default_rng(3))


def _window(sig: Any, i: int, h: int) -> Any:
    if i < h or i >= len(sig) - h:
        return np.zeros(0), 0.0
    seg = sig[i - h : i + h + 1]
    return seg - seg.mean(), 1.0


def _windows(sig: Any, h: int) -> Any:
    rows = []
    total = 0.0
    for i in range(len(sig)):
        if np.isnan(sig[i]):
            continue
        seg, ok = _window(sig, i, h)
        if ok == 0.0:
            continue
        for v in seg:
            total += v * v
        rows.append(seg)
    return total


def test_paths_of_unlike_ranks_are_refused() -> None:
    # Where `sig` is tried as a matrix the paths of the helper differ in their axes.
    with pytest.raises(pyrev.UnsupportedError, match="P206"):
        pyrev.vjp(pyrev.differentiable(_windows), np.ones(9), 1)
