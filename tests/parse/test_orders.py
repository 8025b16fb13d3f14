"""Orders of vectors: the library of the target makes them, all else is derived."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pyrev
from tests.targets.cuda import needs, ondevice
from tests.tools.oracle import check

RNG = np.random.default_rng(1)
X, W, M = RNG.normal(size=7), RNG.normal(size=7), RNG.normal(size=(4, 4))
N = np.array([3, 1, 2, 1, 5, 0, 3])


def of_each_row(m):
    s = 0.0
    for i in range(m.shape[0]):
        o = np.argsort(m[i])
        for j in range(m.shape[1]):
            s += m[i, o[j]] * j
    return s


def in_time(x, n):
    x = x.copy()
    for _ in range(n):
        o = np.argsort(x)
        y = np.zeros_like(x)
        for i in range(len(x)):
            y[i] = x[o[i]] * (1 + 0.3 * i) + 0.2 * x[i] * x[i]
        x = y
    return x


def in_place(x, n):
    for _ in range(n):
        o = np.argsort(x)
        for i in range(len(x) - 1):
            x[o[i + 1]] += 0.3 * x[o[i]] ** 2


def scaled_rows(m, n):
    m = m.copy()
    for _ in range(n):
        for i in range(m.shape[0]):
            o = np.argsort(m[i])
            for j in range(m.shape[1]):
                m[i, o[j]] *= 1.0 + 0.1 * j * m[i, j]
    return m


def of_an_expression(x, w):
    o = np.argsort(-x * w)
    return (x[o][:3] * w[o][::-1][:3]).sum()


def ranks(x):
    o = x.argsort()
    r = np.empty(len(x), dtype=np.int64)
    for i in range(len(x)):
        r[o[i]] = i
    return (r * x).sum() / len(x), o


def order_of_an_order(x):
    return (x * np.argsort(np.argsort(x))).sum()


def written_into(x):
    o = np.argsort(x)
    o[0], o[-1] = o[-1], o[0]
    return x[o] * np.arange(len(x))


def on_two_paths(x, k):
    if k > 1:
        o = np.argsort(x)
    else:
        o = np.argsort(-x)
    return x[o] * np.arange(1.0, len(x) + 1)


def of_integers(n, x):
    return x[np.argsort(n)] * x * x


def of_truths(x):
    return x[np.argsort(x > 0)] * np.arange(len(x))


def before_it_changes(x):
    o = np.argsort(x)
    x[0] = 3.0 * x[1]
    return x[o] * np.arange(len(x))


def shortened(x):
    o = np.argsort(x)
    while len(o) > 2:
        o = o[1:]
    return x[o] * x[o[0]]


CALLS: list[tuple[Callable[..., Any], dict[str, Any], list[str]]] = [
    (of_each_row, {"m": M}, []),
    (in_time, {"x": X, "n": 3}, []),
    (in_place, {"x": X, "n": 3}, ["x"]),
    (scaled_rows, {"m": M, "n": 2}, []),
    (of_an_expression, {"x": X, "w": W}, []),
    (ranks, {"x": X}, []),
    (order_of_an_order, {"x": X}, []),
    (written_into, {"x": X}, []),
    (on_two_paths, {"x": X, "k": 2}, []),
    (on_two_paths, {"x": X, "k": 0}, []),
    (of_integers, {"n": N, "x": X}, []),
    (of_integers, {"n": N.astype(np.int16), "x": X.astype(np.float32)}, []),
    (of_truths, {"x": X}, []),
    (before_it_changes, {"x": X}, ["x"]),
    (shortened, {"x": X}, []),
]


def own(given: dict[str, Any]) -> dict[str, Any]:
    return {k: v.copy() if isinstance(v, np.ndarray) else v for k, v in given.items()}


@pytest.mark.parametrize(
    "target", ["python", pytest.param("numba", marks=pytest.mark.slow)]
)
@pytest.mark.parametrize("number", range(len(CALLS)))
def test_derivatives(number: int, target: str) -> None:
    plain, given, written = CALLS[number]
    f = pyrev.differentiable(plain, target=target)
    check(f, plain, own(given), written, np.random.default_rng(number))


@pytest.mark.slow
@needs.compiler
@pytest.mark.parametrize("number", range(len(CALLS)))
def test_where_there_is_no_sort_they_are_loops(number: int) -> None:
    plain, given, written = CALLS[number]
    f = pyrev.differentiable(plain, target="cuda")
    rng = np.random.default_rng(number)
    with ondevice.standing_in():
        try:
            check(f, plain, own(given), written, rng, vjp=ondevice.vjp)
        except pyrev.UnsupportedError as why:
            # An array for each thread, or one whose size data decides.
            assert plain in (of_each_row, scaled_rows, shortened), why
            pytest.skip(f"refused: {why.findings[0].code}")


def test_second_derivatives() -> None:
    f = pyrev.differentiable(of_an_expression, target="python")

    def slope(x: Any) -> Any:
        return pyrev.grad(f)(x, W)["x"]

    found = pyrev.hvp(f, X, W, tangents={"x": W})
    step = 1e-5
    by_differences = (slope(X + step * W) - slope(X - step * W)) / (2 * step)
    np.testing.assert_allclose(found["x"], by_differences, rtol=1e-7, atol=1e-9)


def test_equal_elements_and_nan_stay_in_their_order() -> None:
    ties = np.array([2.0, 1.0, np.nan, 2.0, 1.0, -0.0, 0.0, np.nan])
    for target in ("python", "numba"):
        f = pyrev.differentiable(ranks, target=target)
        _, found = f.primal(ties)
        np.testing.assert_array_equal(found, np.argsort(ties, kind="stable"))


def test_the_text_says_what_is_sorted_and_nothing_looks_at_data_first() -> None:
    f = pyrev.differentiable(of_each_row, target="numba")
    text = str(f.adjoint.source)
    assert 'np.argsort(values, kind="stable")' in text
    assert "while" not in text
    assert 'kind="mergesort"' in f.adjoint.source_for("numba", M)
    assert "inspect" not in f.adjoint.explain("numba", M)


def along_an_order(x, w):
    order = np.argsort(x)
    s = 0.0
    for k in range(len(x)):
        s += x[order[k]] ** 2 * w[order[k]] * (k + 1)
    return s


def along_a_changed_order(x, w):
    order = np.argsort(x)
    order[0] = order[1]
    s = 0.0
    for k in range(len(x)):
        s += x[order[k]] ** 2 * w[order[k]] * (k + 1)
    return s


def along_orders_of_turns(x, w):
    s = 0.0
    for t in range(3):
        order = np.argsort(x * (t - 1.0))
        for k in range(len(x)):
            s += x[order[k]] ** 2 * w[order[k]] * (k + 1 + t)
    return s


def under_masks_of_turns(x, w):
    s = 0.0
    for t in range(3):
        good = x > 0.2 * t
        if good.sum() == 0:
            continue
        y = x[good] * w[good]
        s += np.sum(y * y) * (t + 1)
    return s


@pytest.mark.parametrize("target", ["python", "numba"])
@pytest.mark.parametrize(
    "plain",
    [
        along_an_order,
        along_a_changed_order,
        along_orders_of_turns,
        under_masks_of_turns,
    ],
)
def test_what_is_added_along_places(plain: Callable[..., Any], target: str) -> None:
    x = np.array([0.31, -0.9, 0.15, 0.62, 1.4, -0.7, 0.83])
    f = pyrev.differentiable(plain, target=target)
    given = {"x": x, "w": np.linspace(0.95, 0.35, 7)}
    check(f, plain, given, [], np.random.default_rng(3))


def test_places_are_unlike_as_long_as_nothing_else_is_put_there() -> None:
    def one_after_the_other(plain: Callable[..., Any]) -> list[str]:
        text = str(pyrev.differentiable(plain).adjoint.source)
        return re.findall(r"two iterations of (\w) may write the same", text)

    assert one_after_the_other(along_an_order) == []
    assert one_after_the_other(along_orders_of_turns) == ["t"]
    assert one_after_the_other(under_masks_of_turns) == ["t"]
    assert one_after_the_other(along_a_changed_order) == ["k"]


def test_an_array_that_a_branch_makes_belongs_to_an_iteration() -> None:
    text = str(pyrev.differentiable(under_masks_of_turns).adjoint.source)
    assert text.count("if not") == 1
    assert "overwrites what an earlier one writes" not in text
