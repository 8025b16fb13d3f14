# mypy: disallow-untyped-defs=False, disallow-untyped-calls=False
"""Helpers that return None on some paths."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pyrev
from tests.tools.oracle import check

X = np.array([0.3, 0.7, 0.2, 1.9, 0.5])


def _root(b, c):
    d = b * b - c
    if d < 0.0:
        return None
    return b + math.sqrt(d)


def a_number_or_none(x):
    s = 0.0
    for i in range(len(x)):
        t = _root(x[i], 0.2)
        if t is None:
            continue
        s += t * t
    return s


def the_nearest_hit(x):
    best = None
    for i in range(len(x)):
        t = _root(x[i], 0.2)
        if t is not None and (best is None or t < best):
            best = t
    if best is None:
        return 0.0
    return best * x[0]


def _crossing(x, level):
    for i in range(len(x) - 1):
        if (x[i] - level) * (x[i + 1] - level) < 0.0:
            return i


def an_index_behind_a_loop(x):
    k = _crossing(x, 0.6)
    if k is None:
        return x[0]
    return x[k] * x[k + 1] ** 2


def none_at_last(x):
    k = _crossing(x, 9.0)
    if k is None:
        return x[0] * 2.0
    return x[k]


def _hit(x, i):
    if x[i] < 0.4:
        return None
    return x[i] ** 2, 1.0 / x[i]


def two_values_or_none(x):
    s = 0.0
    for i in range(len(x)):
        hit = _hit(x, i)
        if hit is not None:
            distance, weight = hit
            s += distance * weight * i
    return s


def by_their_places(x):
    s = 0.0
    for i in range(len(x)):
        hit = _hit(x, i)
        if hit is None:
            s += 0.1 * x[i]
        else:
            s += hit[0] * hit[1] + hit[-1]
    return s


def _through(x, i):
    if i == 2:
        return None
    return _hit(x, i)


def handed_on(x):
    s = 0.0
    for i in range(len(x)):
        hit = _through(x, i)
        if hit is None:
            continue
        a, b = hit
        s += a + b * x[0]
    return s


def _best(x, limit):
    best = None
    for v in x:
        if v > limit and (best is None or v < best):
            best = v
    return best


def a_name_that_is_none(x):
    s = 0.0
    for limit in (0.1, 0.6, 5.0):
        b = _best(x, limit)
        if b is not None:
            s += b**2
    return s


def _either(v):
    return None if v < 0.4 else v * v


def a_conditional_expression(x):
    s = 0.0
    for v in x:
        w = _either(v)
        s += 1.0 if w is None else w
    return s


def named_where_it_is_asked(x):
    s = 0.0
    for v in x:
        if (w := _either(v)) is not None:
            s += w * v
    return s


def a_function_inside(x):
    def part(v):
        if v > 1.0:
            return
        return v * x[1]

    s = 0.0
    for v in x:
        w = part(v)
        if w is None:
            w = 3.0 * v
        s += w
    return s


def _first(x, d):
    u = _root(d, 0.2)
    if u is None:
        return None
    w = _root(u, x[0])
    if w is None:
        return u
    return u * w


def helpers_in_helpers(x):
    s = 0.0
    for d in x:
        u = _first(x, d)
        if u is None:
            s += d
        else:
            s += u
    return s


def put_into_a_list(x):
    found = []
    for v in x:
        t = _root(v, 0.2)
        if t is not None:
            found.append(t)
    return sum(found) * len(found)


RIGHT = [
    put_into_a_list,
    a_number_or_none,
    the_nearest_hit,
    an_index_behind_a_loop,
    none_at_last,
    two_values_or_none,
    by_their_places,
    handed_on,
    a_name_that_is_none,
    a_conditional_expression,
    named_where_it_is_asked,
    a_function_inside,
    helpers_in_helpers,
]


@pytest.mark.parametrize("target", ["python", "numba"])
@pytest.mark.parametrize("plain", RIGHT, ids=lambda f: f.__name__)
def test_none_is_told_apart(
    plain: Callable[..., Any], target: str, rng: np.random.Generator
) -> None:
    check(pyrev.differentiable(plain, target=target), plain, {"x": X.copy()}, [], rng)


def used_untested(x):
    t = _root(x[0], 0.2)
    s = 0.0
    if t is not None:
        s += 1.0
    return s + t


def test_what_is_none_where_it_is_read_raises() -> None:
    f = pyrev.differentiable(used_untested, target="numba")
    with pytest.raises(TypeError):
        used_untested(X * 0.1)
    with pytest.raises(TypeError):
        f(X * 0.1)
    assert np.isclose(f(X + 1.0), used_untested(X + 1.0))


def _is_large(x, i):
    if x[i] < 0.25:
        return None
    return x[i] > 1.0


def truths_or_none(x):
    b = _is_large(x, 3)
    if b is None:
        return x[0]
    return np.sum(np.array([b, b]) + np.array([b, b])) * x[0]


def of_a_function_inside(x):
    def first(i):
        best = None
        for k in range(i, 5):
            if best is None or x[k] < best:
                best = x[k]
        return best

    r = first(2)
    if r is None:
        return x[0]
    return r


@pytest.mark.parametrize("plain", [truths_or_none, of_a_function_inside])
def test_what_is_not_followed_is_refused(plain: Callable[..., Any]) -> None:
    with pytest.raises(pyrev.UnsupportedError):
        assert pyrev.differentiable(plain, target="python").adjoint.source
