# mypy: disallow-untyped-defs=False, disallow-untyped-calls=False
"""Stars: tuples that calls spread, and arguments that `*args` collects."""

from __future__ import annotations

import math
from collections import namedtuple
from typing import Any

import numpy as np
import pytest

import pyrev
from pyrev.ir.diagnostics import UnsupportedError
from tests.tools.oracle import check

A = np.array([0.3, 0.7, 1.1])
B = np.array([1.3, 0.2, 0.5])
X = {"x": 1.3, "c": 0.7}
AB = {"a": A, "b": B}
P = namedtuple("P", "k w")
# What the names of parameters stand for outside is never read.
p = 3.0


def _cubic(z, a, b):
    return z**3 + a * z - b


def _slope(z, a, b):
    return 3.0 * z * z + a


def _newton(f, df, x0, args=(), n=4):
    x = x0
    for _ in range(n):
        x = x - f(x, *args) / df(x, *args)
    return x


def by_position_and_by_name(x, c):
    one = _newton(_cubic, _slope, x, (c, 2.0))
    return one + _newton(_cubic, _slope, x, args=(c, x), n=3)


def none_given(x, c):
    return _newton(lambda z: z * z - x, lambda z: 2.0 * z, c)


def a_local_tuple(x, c):
    args = (c, x)
    x = x + 1.0
    c = 2.0 * c
    return _cubic(x, *args) + c


def the_default(x, args=(1.0, 2.0)):
    return _newton(_cubic, _slope, x, args)


def _weighted(x, w, b):
    return np.sum(x * w) + b[0]


def _called(f, x, args):
    return f(x, *args)


def _handed_on(f, x, args):
    return 2.0 * _called(f, x, args)


def handed_on(a, b):
    return _handed_on(_weighted, a, (b, a)) + _called(_weighted, b, (a, a * b))


def bound_in_a_loop(a, b):
    s = 0.0
    args = (a, b)
    for i in range(3):
        s += _weighted(a + i, *args)
        args = (b, a * s)
    return s


def on_each_path(x, c):
    if x > c:
        args = (x, c)
    else:
        args = (c, 2.0 * x)
    return _cubic(x, *args)


def in_functions_inside(x, c):
    args = (c, 2.0)

    def inner(t):
        return _cubic(t, *args) * args[0]

    outer = lambda t: inner(t) + _cubic(x, *args)  # noqa: E731
    return outer(x) + inner(c)


def _integrate(f, a, b, n, *args, rule=0.5):
    h = (b - a) / n
    s = 0.0
    for i in range(n):
        s += h * f(a + (i + rule) * h, *args)
    return s


def _wave(t, k, w):
    return k * np.sin(w * t)


def collected(x, c):
    one = _integrate(_wave, 0.0, x, 5, c, x, rule=0.25)
    return one + _integrate(_wave, 0.0, c, 3, *(x, c))


def collected_by_a_lambda(a, b):
    return _handed_on(lambda v, *r: np.sum(v * r[0]) * r[1][0] + len(r), a, (b, b))


def collected_inside(x, c):
    def wrapped(t, *rest, scale=2.0):
        return _cubic(t, *rest) * scale

    return wrapped(x, c, 1.0) + wrapped(c, *(x, x), scale=x)


def _front(f, x, *args):
    return f(*args, x)


def with_others_around(x, c):
    return _front(_cubic, x, c, 2.0) + _front(_cubic, *(x, c), c * c)


def _or_plain(x, w, b):
    if w is None:
        return x * b
    return x * w


def with_none_inside(x, c):
    return _called(_or_plain, x, (None, c)) + _called(_or_plain, x, (c, None))


def in_a_tuple(x, c):
    pair = (x * c, c)
    a, b, d = (x, *pair)
    return a * b * d + math.hypot(*pair) + max(*pair)


def a_named_tuple(x, c):
    q = P(x, c)
    return _cubic(2.0, *q)


def _left_out(x, c=(1.5, 2.5)):
    return x * c[0] + c[1] * x * x


def a_default_of_a_helper(x):
    return _left_out(x) + _left_out(x, (x, 2.0))


def _adds(out, *src):
    for i in range(out.shape[0]):
        out[i] += src[0][i] * src[1][i]


def written(a, b):
    _adds(a, a, b)
    _adds(b, *(b, a))
    return np.sum(a * b)


CASES: list[tuple[Any, dict[str, Any], tuple[str, ...]]] = [
    (by_position_and_by_name, X, ()),
    (none_given, X, ()),
    (a_local_tuple, X, ()),
    (the_default, {"x": 1.3}, ()),
    (the_default, {"x": 1.3, "args": (0.5, 0.4)}, ()),
    (handed_on, AB, ()),
    (bound_in_a_loop, AB, ()),
    (on_each_path, X, ()),
    (in_functions_inside, X, ()),
    (collected, X, ()),
    (collected_by_a_lambda, AB, ()),
    (collected_inside, X, ()),
    (with_others_around, X, ()),
    (with_none_inside, X, ()),
    (in_a_tuple, X, ()),
    (a_named_tuple, X, ()),
    (a_default_of_a_helper, {"x": 1.3}, ()),
    (written, AB, ("a", "b")),
]


@pytest.mark.parametrize("target", ["python", "numba"])
@pytest.mark.parametrize("number", range(len(CASES)))
def test_what_a_star_spreads_has_its_derivative(number: int, target: str) -> None:
    plain, given, outputs = CASES[number]
    own = {n: v.copy() if isinstance(v, np.ndarray) else v for n, v in given.items()}
    f = pyrev.differentiable(plain, target=target)
    check(f, plain, own, outputs, np.random.default_rng(number))


def solve(f, x, args=()):
    return f(x, *args) ** 2


@pytest.mark.parametrize("target", ["python", "numba"])
def test_a_tuple_of_a_call_is_spread(target: str) -> None:
    f = pyrev.differentiable(solve, target=target)
    rng = np.random.default_rng(3)
    check(f, solve, {"f": _cubic, "x": 1.3, "args": (0.7, 2)}, (), rng)
    check(f, solve, {"f": math.sin, "x": 1.3}, (), rng)


def collects(x, *args, n=2):
    s = x
    for _ in range(n):
        s = 0.1 * _cubic(s, *args)
    return s * len(args)


@pytest.mark.parametrize("target", ["python", "numba"])
def test_gradients_come_under_the_name_of_what_collects(target: str) -> None:
    f = pyrev.differentiable(collects, target=target)
    given, h = (1.3, 0.7, 0.2), 1e-6
    assert f(*given) == pytest.approx(collects(*given), rel=1e-12)
    for n in (2, 3):
        slopes = []
        for k in range(3):
            up, down = ([*given] for _ in range(2))
            up[k] += h
            down[k] -= h
            slopes.append((collects(*up, n=n) - collects(*down, n=n)) / (2.0 * h))
        found = pyrev.grad(f)(*given, n=n)
        assert found["x"] == pytest.approx(slopes[0], rel=1e-7)
        assert found["args"] == pytest.approx(tuple(slopes[1:]), rel=1e-7)
    assert pyrev.grad(f, wrt="args.1")(*given, n=3) == pytest.approx(slopes[2])


def _as_a_whole(x, p):
    return np.sum(x * p)


def _changed(x, p):
    p = (*p, 1.0)
    return x[0] * p[0]


def _of_an_array(x, p):
    return _cubic(x[0], *x)


@pytest.mark.parametrize("plain", [_as_a_whole, _changed, _of_an_array])
def test_what_is_not_spread_is_refused(plain: Any) -> None:
    """A parameter that is not taken apart is never the module's value of its name."""
    with pytest.raises(UnsupportedError):
        pyrev.grad(pyrev.differentiable(plain))(A[:2], (5.0, 1.0))


def _calls_itself(x, c):
    def inner(n, *rest):
        return inner(n - 1, *rest)

    return inner(x, c)


def test_a_function_inside_that_calls_itself_is_refused() -> None:
    with pytest.raises(UnsupportedError, match="calls itself"):
        pyrev.differentiable(_calls_itself)
