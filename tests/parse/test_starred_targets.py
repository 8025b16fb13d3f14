# mypy: disallow-untyped-defs=False, disallow-untyped-calls=False
"""Targets with stars, and tuples in tuples that helpers return and callers unpack."""

from __future__ import annotations

from collections import namedtuple
from typing import Any

import numpy as np
import pytest

import pyrev
from tests.tools.oracle import check

X = np.array([0.3, 0.7, 0.2])
Q = namedtuple("Q", "a b c")


def _three(x):
    return x, x * x, x + 1.0


def _arrays(x):
    return x * 2.0, x.copy(), x.sum()


def _named(x):
    return Q(x, x * x, 2.0)


def _pairs(x):
    return (x, x * 2), (0.0, x + 1)


def _on_two_paths(x):
    if x > 0.25:
        return x, x * x, 1.0
    return 0.0, x, 2.0


def the_first(x):
    a, *_ = _three(x[0])
    return a * x[1]


def the_last(x):
    *_, last = _three(x[1])
    return last**2


def both_ends(x):
    a, *m, b = _three(x[0])
    return a * b + m[0]


def in_a_loop(x):
    s = 0.0
    for v in x:
        f, *g = _on_two_paths(v)
        s += f * g[0] + g[1]
    return s


def arrays_that_are_written(x):
    *head, last = _arrays(x)
    head[1][0] = 5.0
    return np.sum(head[0] * head[1]) * last


def of_a_named_tuple(x):
    a, *r = _named(x[1])
    return a + r[0] * r[1]


def an_element_and_the_rest(x):
    y = np.zeros(3)
    y[0], *r = _three(x[0])
    return y[0] * r[1]


def of_what_is_written_out(x):
    first, *rest = x[0], x[1] * x[0], x[2]
    s = first
    for r in rest:
        s += r * r
    return s


def a_list_of_one(x):
    *u, v = x[0], x[1]
    return u[0] * v


def tuples_in_a_tuple(x):
    s = 0.0
    for v in x:
        a, b = _pairs(v)
        for w in a:
            s += w
        s += a[1] * b[1] + b[0]
    return s


def unpacked_at_once(x):
    (a, b), (c, d) = _pairs(x[0])
    return a * b + c * d + d


@pytest.mark.parametrize("target", ["python", "numba"])
@pytest.mark.parametrize(
    "plain",
    [
        *(the_first, the_last, both_ends, in_a_loop, arrays_that_are_written),
        *(of_a_named_tuple, an_element_and_the_rest, of_what_is_written_out),
        *(tuples_in_a_tuple, unpacked_at_once, a_list_of_one),
    ],
)
def test_a_star_takes_what_is_left(plain: Any, target: str) -> None:
    f = pyrev.differentiable(plain, target=target)
    check(f, plain, {"x": X.copy()}, (), np.random.default_rng(1))


def of_a_parameter(x, params):
    a, *rest = params
    s = a * x[0]
    for r in rest:
        s += r * x[1]
    return s


@pytest.mark.parametrize("target", ["python", "numba"])
def test_the_rest_of_a_parameter(target: str) -> None:
    f = pyrev.differentiable(of_a_parameter, target=target)
    for params in ((1.0, 2.0), (1.0, 2.0, 3.0, 0.5)):
        given = {"x": X.copy(), "params": params}
        check(f, of_a_parameter, given, (), np.random.default_rng(1))


def _of_an_array(x):
    a, *rest = x
    return a


def _of_a_shape(x):
    n, *_ = x.shape
    return x[0] * n


def _too_few(x):
    a, b, c, d, *r = _three(x[0])
    return a * b


def _a_list_that_is_changed(x):
    a, *r = _three(x[0])
    r[0] = x[2]
    return a * r[0]


@pytest.mark.parametrize(
    "plain", [_of_an_array, _of_a_shape, _too_few, _a_list_that_is_changed]
)
def test_what_is_no_tuple_of_known_length_is_refused(plain: Any) -> None:
    with pytest.raises(pyrev.UnsupportedError):
        pyrev.differentiable(plain)(X)


def _residual(law, x, args):
    flows, bracket = law(x, *args)
    change = 0.0
    for q in flows:
        change += q
    return x - change, *bracket


def _law(x, k, m):
    return (k * x, -x * m), (0.0, x + k)


def _other_law(x, k, m):
    return (k, x, m * x * x), (x, 2.0 * m)


def of_functions_that_are_passed(x, residual, law, args):
    s = 0.0
    for i in range(len(x)):
        f, low, high = residual(law, x[i], args)
        g, *_ = residual(law=law, x=f, args=args)
        *_, top = residual(law, g, args)
        s += f * high + g * low + top
    return s


def nested_of_a_function_that_is_passed(x, law):
    a, b = law(x[0], x[1], x[2])
    return a[0] * b[1] + a[1]


@pytest.mark.parametrize("target", ["python", "numba"])
def test_functions_that_are_passed_return_tuples_in_tuples(target: str) -> None:
    f = pyrev.differentiable(of_functions_that_are_passed, target=target)
    g = pyrev.differentiable(nested_of_a_function_that_is_passed, target=target)
    rng = np.random.default_rng(1)
    for law in (_law, _other_law, _law):
        args = (0.7, 1.3)
        expected = of_functions_that_are_passed(X, _residual, law, args)
        value, pullback = pyrev.vjp(f, X, _residual, law, args)
        assert np.isclose(value, expected, rtol=1e-12)
        v = rng.normal(size=X.shape)
        sides = [
            of_functions_that_are_passed(X + s * 1e-6 * v, _residual, law, args)
            for s in (1, -1)
        ]
        moved = (sides[0] - sides[1]) / 2e-6
        assert np.isclose(pullback(1.0).x @ v, moved, rtol=1e-6)
        value, pullback = pyrev.vjp(g, X, law)
        assert value == nested_of_a_function_that_is_passed(X, law)
        sides = [
            nested_of_a_function_that_is_passed(X + s * 1e-6 * v, law) for s in (1, -1)
        ]
        assert np.isclose(pullback(1.0).x @ v, (sides[0] - sides[1]) / 2e-6, rtol=1e-6)
