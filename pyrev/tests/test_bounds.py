# mypy: disallow-untyped-defs=False, disallow-untyped-calls=False
"""Subscripts: negative ones count from the end, others outside raise, as in Python."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pyrev
from pyrev.tests import oracle

Make = Callable[[int, Callable[..., Any]], dict[str, Any]]
CASES: dict[str, tuple[Callable[..., Any], Make, tuple[str, ...]]] = {}


def case(make: Make, *outputs: str) -> Callable[[Any], Any]:
    """Register a function with what makes its arguments and what it writes."""

    def register(function: Any) -> Any:
        CASES[function.__name__] = (function, make, outputs)
        return function

    return register


def same(n: int, m: Any) -> dict[str, Any]:
    return {"a": m(n), "out": m(n)}


# ----------------------------------------------------------------- sizes decide


@case(same, "out")
def the_one_before(a, out):
    for i in range(out.shape[0]):
        out[i] = a[i - 1] * a[i]


@case(same, "out")
def a_ring(a, out):
    n = a.shape[0]
    for i in range(n):
        out[i] = a[i - 1] + 2.0 * a[i] * a[(i + 1) % n]


@case(same, "out")
def backwards(a, out):
    for i in range(out.shape[0]):
        out[i] = a[-i] * a[i] + a[-i - 1]


@case(lambda n, m: {"a": m(n), "out": m(n), "k": n // 2}, "out")
def a_distance(a, out, k):
    for i in range(out.shape[0]):
        out[i] += a[i - k] * a[k]


@case(lambda n, m: {"a": m(n), "out": m(n), "k": -1}, "out")
def a_negative_number(a, out, k):
    for i in range(out.shape[0]):
        out[i] += a[k] * a[i]


@case(lambda n, m: {"a": m(2 * n), "b": m(n), "out": m(2 * n)}, "out")
def by_the_size_of_another(a, b, out):
    for i in range(a.shape[0]):
        out[i] = a[i - b.shape[0]] * a[i]


@case(lambda n, m: {"a": m(n, n + 1), "out": m(n, n + 1)}, "out")
def both_axes(a, out):
    n, w = a.shape
    for i in range(n):
        for j in range(w):
            out[i, j] = a[i - 1, j] * a[i, j - 1] + a[-1, -j]


@case(same, "out")
def written_from_the_end(a, out):
    for i in range(out.shape[0]):
        out[i - 1] = a[i] * a[i]


@case(same, "out")
def written_twice(a, out):
    n = out.shape[0]
    for i in range(n):
        out[i] = a[i] * a[i]
    for i in range(n // 2 + 1):
        out[-i] = out[i] * a[-i]


@case(lambda n, m: {"u": m(n)}, "u")
def in_place(u):
    for i in range(u.shape[0]):
        u[i] = u[i - 1] * u[i] + 1.0


@case(lambda n, m: {"u": m(n), "steps": 3}, "u")
def in_place_again_and_again(u, steps):
    for _ in range(steps):
        for i in range(u.shape[0]):
            u[i] = 0.5 * u[i] * u[i] + 0.25 * u[i - 1]


@case(same, "out")
def a_local_array(a, out):
    n = a.shape[0]
    t = np.zeros(n)
    for i in range(n):
        t[i - 1] = a[i] * a[i]
    for i in range(n):
        out[i] = t[i] * t[i - 1]


@case(same, "out")
def through_a_scalar(a, out):
    for i in range(out.shape[0]):
        left = i - 1
        right = -i
        out[i] = a[left] * a[i] + a[right]


@case(same, "out")
def a_scalar_of_an_outer_loop(a, out):
    for i in range(2):
        j = i - 2 if a.shape[0] > 1 else -1
        for k in range(out.shape[0]):
            out[k] += a[j] * a[k]


@case(lambda n, m: {"a": m(n)})
def only_a_sum(a):
    s = 0.0
    for i in range(a.shape[0]):
        s += a[i - 1] * a[i] * a[-i]
    return s


@case(same, "out")
def under_a_test(a, out):
    for i in range(out.shape[0]):
        if a[i] > 0.9:
            out[i] = a[i - 1] * a[i]


@case(same, "out")
def on_one_path_of_an_expression(a, out):
    for i in range(out.shape[0]):
        out[i] = a[i - 1] * a[i] if a[i] > 1.0 else a[i]


# ----------------------------------------------------------------- data decides


@case(lambda n, m: {"a": m(2 * n), "out": m(n, 2), "w": 2}, "out")
def flat_rows(a, out, w):
    for y in range(out.shape[0]):
        for x in range(w):
            out[y, x] = a[(y - 1) * w + x] * a[y * w + x]


@case(lambda n, m: {"a": m(n + 3), "p": np.arange(-2, n - 1), "out": m(n)}, "out")
def bounds_from_an_array(a, p, out):
    for i in range(out.shape[0]):
        for k in range(p[i], p[i + 1]):
            out[i] += a[k] * a[k + 1]


@case(same, "out")
def carried_from_below_zero(a, out):
    k = -1
    for i in range(a.shape[0]):
        out[k] = a[k] * a[i]
        k += 1


@case(lambda n, m: {"a": m(n), "p": np.arange(-n, n), "out": m(2 * n)}, "out")
def an_array_of_both_signs(a, p, out):
    for i in range(p.shape[0]):
        out[p[i]] += a[p[i]] * a[-p[i] - 1]


@case(lambda n, m: {"a": m(n), "next": np.arange(-1, n - 1), "out": m(n)}, "out")
def a_walk(a, next, out):
    k, steps = -1, 0
    while steps < a.shape[0]:
        out[k] += a[k] * a[-1 - k]
        k = next[k]
        steps += 1


@case(lambda n, m: {"a": m(n), "out": m(n)}, "out")
def left_early(a, out):
    for i in range(out.shape[0]):
        if a[i - 1] > 1.4:
            break
        out[i - 1] = a[i - 1] * a[i]


@case(lambda n, m: {"a": np.sort(m(n)), "x": m(3), "out": m(3)}, "out")
def binary_search(a, x, out):
    for i in range(x.shape[0]):
        low, high = -1, a.shape[0]
        while high - low > 1:
            middle = (low + high) // 2
            if a[middle] <= x[i]:
                low = middle
            else:
                high = middle
        out[i] = a[low] * x[i]


COMPILED = ("a_distance", "both_axes", "in_place", "through_a_scalar", "a_walk")


@pytest.mark.parametrize("name", sorted(CASES))
@pytest.mark.parametrize("size", [1, 2, 3, 17])
def test_a_negative_subscript_counts_from_the_end(
    name: str, size: int, rng: np.random.Generator
) -> None:
    function, make, outputs = CASES[name]
    arguments = make(size, lambda *shape: rng.uniform(0.5, 1.5, shape))
    f = pyrev.differentiable(function, target="python")
    oracle.check(f, function, arguments, outputs, rng)


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(n, marks=() if n in COMPILED else pytest.mark.slow)
        for n in sorted(CASES)
    ],
)
def test_a_negative_subscript_counts_from_the_end_compiled(
    name: str, rng: np.random.Generator
) -> None:
    function, make, outputs = CASES[name]
    f = pyrev.differentiable(function)
    for size in (2, 17):
        arguments = make(size, lambda *shape: rng.uniform(0.5, 1.5, shape))
        oracle.check(f, function, arguments, outputs, rng)


@pytest.mark.parametrize("name", sorted(CASES))
def test_the_text_before_any_call_is_right_for_negative_subscripts(
    name: str, rng: np.random.Generator
) -> None:
    function, make, outputs = CASES[name]
    arguments = make(9, lambda *shape: rng.uniform(0.5, 1.5, shape))
    f = pyrev.differentiable(function, target="python")
    own = copy.deepcopy(arguments)
    result, pullback = pyrev.vjp(f, **own)
    seeds: Any
    if result is None:
        seeds = {f"d_{n}": rng.uniform(size=arguments[n].shape) for n in outputs}
        expected = pullback(cotangents={n: seeds[f"d_{n}"] for n in outputs})
    else:
        seeds = {"d_result": 1.5}
        expected = pullback(1.5)
    found = f.adjoint.python(*arguments.values(), *seeds.values())
    for mine, theirs in zip(found, expected.values(), strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=1e-12, atol=1e-14)
