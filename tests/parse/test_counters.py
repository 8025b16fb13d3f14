# mypy: disallow-untyped-defs=False, disallow-untyped-calls=False
"""Counters in closed form: right where loops count, branch, nest and count down."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pyrev
from tests.tools.oracle import check

X = np.array([0.3, 0.7, 0.2, 0.9, 0.6])


def conditional(x):
    k = 2
    s = 0.0
    for i in range(len(x)):
        if x[i] > 0.5:
            k -= 1
        s += x[k] * x[i]
    return s


def of_a_while(x):
    k = 0
    s = 0.0
    while k < len(x):
        s += x[k] ** 2
        k += 1
    return s * k


def read_on_both_sides(x):
    k = 0
    y = np.zeros(len(x))
    for i in range(len(x)):
        y[i] = x[k % len(x)] * k
        k += 3
        y[i] += k * x[i]
    return y, x[0] * k


def begins_below_zero(x):
    k = -1
    s = 0.0
    for _i in range(len(x)):
        k += 1
        for j in range(k, len(x)):
            s += x[k] * x[j]
    return s


def in_a_triangle(x):
    k = 0
    s = 0.0
    for i in range(len(x)):
        for _j in range(i):
            s += x[k % 3] * k
            k += 1
    return s


def in_a_rectangle(x):
    k = 0
    s = 0.0
    for i in range(len(x)):
        for _j in range(3):
            s += x[i] * k
            k += 1
    return s * k


def begins_again(x):
    k = 0
    s = 0.0
    for i in range(3):
        k = 0
        for _j in range(len(x)):
            s += x[k] * i
            k += 1
        s += k * x[0]
    return s + k


def counts_down(x):
    k = len(x)
    s = 0.0
    for i in range(len(x) - 1, 0, -1):
        k -= 1
        if x[i] > 0.65:
            continue
        s += x[i] * k
    for _i in range(1):
        s += x[k - 1] * x[0]
        k -= 1
    return s * k


def with_a_break(x):
    k = 0
    s = 0.0
    for i in range(2, 2 + len(x)):
        if i == 4:
            break
        s += x[k]
        k += 1
    return s * k


def divided_and_raised(x):
    k = 0
    s = 0.0
    for i in range(len(x)):
        s += x[i] ** k + x[i] / (k + 1)
        s += x[i] * (k // 2) + (k % 2) * x[0]
        k += 1
    return s


def computed_of_it(x):
    k = 1
    s = 0.0
    for _i in range(6):
        n = k * k
        s += x[n % len(x)]
        k += 1
        k = k + 0
    return s


def loops_that_do_not_run(x):
    k = 0
    for _i in range(0):
        k += 1
    for _i in range(len(x), 3):
        k += 1
    return x[0] * (k + 1)


def lists_that_are_bound_again(x):
    y = [v * v for v in x]
    s = 0.0
    for _t in range(3):
        z = [0.0] * len(x)
        for i in range(len(x)):
            z[i] += y[i] * 0.5
        y = z
        s += sum(y)
    return s


def of_the_dtype_of_a_counter(x):
    k = 0
    for _i in range(3):
        k += 1
    if len(x) > 2:
        m = 2
    else:
        m = 2
    return x[0] * np.full(2, k) + np.full((m, m), m)[1] * x[-1]


def _filled(x, k):
    return np.full(2, k) * x[0]


def of_its_dtype_in_a_helper(x):
    k = 0
    s = 0.0
    for _i in range(3):
        s += _filled(x, k)[1]
        k += 1
    y = np.full(len(x), k) * 0.5
    return y * x * s


FUNCTIONS: list[Callable[..., Any]] = [
    conditional,
    of_a_while,
    read_on_both_sides,
    begins_below_zero,
    in_a_triangle,
    in_a_rectangle,
    begins_again,
    counts_down,
    with_a_break,
    divided_and_raised,
    computed_of_it,
    loops_that_do_not_run,
    lists_that_are_bound_again,
    of_the_dtype_of_a_counter,
    of_its_dtype_in_a_helper,
]


@pytest.mark.parametrize("target", ["python", "numba"])
@pytest.mark.parametrize("plain", FUNCTIONS, ids=lambda f: f.__name__)
@pytest.mark.parametrize("n", [1, 2, 5])
def test_derivatives(plain, target, n, rng):
    if n < 3 and plain in (conditional, in_a_triangle):
        n = 3  # what these read is longer
    f = pyrev.differentiable(plain, target=target)
    check(f, plain, {"x": X[:n].copy()}, [], rng)


def test_single_precision_stays(rng):
    def f(x):
        k = 0
        s = x[0]
        for _i in range(len(x)):
            s = s + x[k] * k
            k += 1
        return s * k

    x = X.astype(np.float32)
    d = pyrev.differentiable(f, target="numba")
    assert d(x).dtype == f(x).dtype == np.float32


@pytest.mark.parametrize(
    "plain", [in_a_rectangle, begins_again, counts_down, lists_that_are_bound_again]
)
def test_nothing_of_it_is_kept(plain):
    text = str(pyrev.differentiable(plain, target="python").adjoint.source)
    assert "tape" not in text
    assert "k +=" not in text


def test_a_list_of_known_length_is_no_chain():
    def f(x):
        return np.array([v * v for v in x])

    text = str(pyrev.differentiable(f, target="python").adjoint.source)
    assert "serial" not in text
    assert "range" not in text


def backwards(x, n):
    s, j = 0.0, 0
    for i in reversed(range(1, n)):
        s = 2 * s + x[j] * i
        j += 1
    for i in reversed(range(n, 1, -1)):
        s = 2 * s - x[j - 1] * i
        j -= 1
    kept = []
    for i in reversed(range(n)):
        kept.append(x[i] * s)
    for i in reversed(range(len(kept))):
        s = s * kept[i] + i
    return s + j


@pytest.mark.parametrize(
    "target", ["python", pytest.param("numba", marks=pytest.mark.slow)]
)
@pytest.mark.parametrize("n", [0, 1, 2, 5])
def test_a_counter_goes_up_where_a_range_is_reversed(n, target):
    f = pyrev.differentiable(backwards, target=target)
    rng = np.random.default_rng(0)
    check(f, backwards, {"x": X, "n": n}, (), rng)


def by_a_start(x, k, n):
    s = 0.0
    j = 0
    for i in range(k, n):
        s += x[j] * i
        j += 1
    return s + j


def by_an_element(x, k, n):
    s = 0.0
    j = 1
    for i in range(k[0], n):
        s += x[j] * i
        j -= 1
    return s + j


@pytest.mark.parametrize(
    "target", ["python", pytest.param("numba", marks=pytest.mark.slow)]
)
@pytest.mark.parametrize(
    ("start", "end"),
    [
        (np.int8(-100), 100),
        (np.uint8(100), 300),
        (np.uint8(100), np.uint8(50)),
        (-100, 100),
    ],
)
def test_a_counter_does_not_go_around_in_the_bits_of_a_range(start, end, target):
    x = np.arange(300.0)
    f = pyrev.differentiable(by_a_start, target=target)
    assert f.primal(x, start, end) == by_a_start(x, start, end)
    g, k = pyrev.differentiable(by_an_element, target=target), np.array([start])
    assert g.primal(x, k, end) == by_an_element(x, k, end)
