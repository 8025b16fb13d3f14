"""`pyrev.fixed_point` and `pyrev.root`: derivatives of solutions, of two orders."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pyrev
from tests.tools.oracle import check

Values = dict[str, Any]


def damped(x, a, b):
    return np.cos(a * x) + b


def settled(a, b):
    return pyrev.fixed_point(damped, 0.5, a, b)


def settled_from(a, b, x0):
    return pyrev.fixed_point(damped, x0, a, b) ** 2


def coupled(x, w, b):
    y = b.copy()
    for i in range(b.shape[0]):
        for j in range(b.shape[0]):
            y[i] += w[i, j] * np.tanh(x[j])
    return y


def equilibrium(w, b):
    x = pyrev.fixed_point(coupled, np.zeros_like(b), w, b)
    return np.sum(x * x)


def relaxed(u, c, f):
    v = f.copy()
    for i in range(1, u.shape[0] - 1):
        for j in range(1, u.shape[1] - 1):
            around = u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1]
            v[i, j] += 0.2 * c[i, j] * np.tanh(around)
    return v


def field(c, f, out):
    out[:, :] = pyrev.fixed_point(relaxed, f, c, f)


def kepler(anomaly, mean, e):
    return anomaly - e * np.sin(anomaly) - mean


def anomalies(mean, e, out):
    for i in range(mean.shape[0]):
        out[i] = np.cos(pyrev.root(kepler, mean[i], mean[i], e))


def balance(x, a, b):
    r = np.empty(2)
    r[0] = a * x[0] ** 2 + x[1] - 3.0
    r[1] = x[0] + b * np.exp(x[1]) - 4.0
    return r


def crossing(a, b):
    x = pyrev.root(balance, np.array([1.0, 0.5]), a, b)
    return x[0] * x[1]


def implied_rate(price, coupon, years):
    # A helper of its own, and a residual with a loop and a keyword.
    def short_of(rate, price, coupon, years):
        value = 0.0
        for k in range(1, years + 1):
            value += coupon / (1.0 + rate) ** k
        return value + 100.0 / (1.0 + rate) ** years - price

    return pyrev.root(short_of, 0.05, price, coupon, years, tol=1e-12)


def steps_of_a_branch(a):
    x = pyrev.fixed_point(lambda x, a: 0.5 * x + a if x < 3.0 else 0.25 * x + a, 0.0, a)
    return x * a


def turning(x, a, b):
    # Its steps draw in on a spiral: what was moved is further away every other step.
    y = np.empty(2)
    y[0] = 2.0 * a * x[1] + b
    y[1] = -0.4 * a * x[0] + 0.1 * b
    return y


def on_a_spiral(a, b):
    x = pyrev.fixed_point(turning, np.zeros(2), a, b)
    return x[0] * x[1]


def slowly(a):
    return pyrev.fixed_point(lambda x, a: 0.97 * np.sin(x) + a, 0.5, a)


def equal_twice(a, b):
    first = pyrev.fixed_point(damped, 0.1, a, b)
    return pyrev.fixed_point(damped, first, first * 0.5, b)


def small(m: np.random.Generator) -> Values:
    return dict(w=0.2 * m.random((4, 4)), b=m.random(4))


CASES: list[tuple[Callable[..., Any], Callable[[np.random.Generator], Values], Any]] = [
    (settled, lambda m: dict(a=0.6, b=0.2), ()),
    (settled_from, lambda m: dict(a=0.7, b=0.1, x0=0.3), ()),
    (equilibrium, small, ()),
    (
        field,
        lambda m: dict(c=m.random((5, 6)), f=m.random((5, 6)), out=m.random((5, 6))),
        ("out",),
    ),
    (anomalies, lambda m: dict(mean=m.random(5), e=0.4, out=m.random(5)), ("out",)),
    (crossing, lambda m: dict(a=1.2, b=0.7), ()),
    (implied_rate, lambda m: dict(price=95.0, coupon=4.0, years=7), ()),
    (steps_of_a_branch, lambda m: dict(a=1.0), ()),
    (on_a_spiral, lambda m: dict(a=1.0, b=0.7), ()),
    (slowly, lambda m: dict(a=0.001), ()),
    (equal_twice, lambda m: dict(a=0.6, b=0.2), ()),
]


@pytest.mark.parametrize("target", ["python", "numba"])
@pytest.mark.parametrize(
    "f, make, outputs", CASES, ids=lambda p: getattr(p, "__name__", "")
)
def test_derivatives_are_those_of_the_solution(
    f: Any, make: Any, outputs: Any, target: str
) -> None:
    rng = np.random.default_rng(3)
    wrapped = pyrev.differentiable(f, target=target)
    check(wrapped, f, make(rng), outputs, rng)


def test_second_derivatives_are_those_of_the_solution() -> None:
    mean, e = 1.0, 0.3
    at = pyrev.root(kepler, mean, mean, e)

    def anomaly(mean, e):
        return pyrev.root(kepler, mean, mean, e)

    slope = 1.0 / (1.0 - e * np.cos(at))
    found = pyrev.grad(anomaly)(mean, e)
    np.testing.assert_allclose(found.mean, slope, rtol=1e-12)
    np.testing.assert_allclose(found.e, np.sin(at) * slope, rtol=1e-12)
    second = pyrev.hvp(anomaly, mean, e, tangents={"mean": 1.0})
    bent = -(slope**3) * e * np.sin(at)
    np.testing.assert_allclose(second.mean, bent, rtol=1e-9)


def test_where_the_search_begins_does_not_matter() -> None:
    a, b = 0.6, 0.2
    solution = pyrev.fixed_point(damped, 0.5, a, b)
    far = pyrev.grad(settled_from)(a, b, -3.0)
    near = pyrev.grad(settled_from)(a, b, solution)
    np.testing.assert_allclose([near.a, near.b], [far.a, far.b], rtol=1e-9)
    assert near.x0 == far.x0 == 0.0


def test_a_search_from_far_away_is_none_that_has_ended() -> None:
    step = pyrev.fixed_point(lambda x, a: 0.5 * x + a, 1e13, 1.0)
    np.testing.assert_allclose(step, 2.0, rtol=1e-9)
    found = pyrev.root(lambda x, a: x * x * x - a, 1e13, 8.0, max_iter=200)
    np.testing.assert_allclose(found, 2.0, rtol=1e-9)


def test_floats_of_32_bits_stay_such() -> None:
    rng = np.random.default_rng(0)
    given = {n: v.astype(np.float32) for n, v in small(rng).items()}
    exact = {n: v.astype(np.float64) for n, v in given.items()}
    short = pyrev.grad(equilibrium)(**given)
    long = pyrev.grad(equilibrium)(**exact)
    assert short.b.dtype == np.float32
    np.testing.assert_allclose(short.b, long.b, rtol=2e-3)
    np.testing.assert_allclose(short.w, long.w, rtol=2e-3, atol=1e-4)


def diverging(a):
    return pyrev.fixed_point(lambda x, a: 2.0 * x + a, 1.0, a, max_iter=20)


def not_drawn_back(a):
    # It begins where it ends, but what is moved away runs away.
    return pyrev.fixed_point(lambda x, a: 3.0 * x - 2.0 * a, 1.0, a, max_iter=20)


def without_a_root(a):
    return pyrev.root(lambda x, a: x * x + a, 1.0, a, max_iter=20)


@pytest.mark.parametrize("target", ["python", "numba"])
@pytest.mark.parametrize(
    "f, why",
    [
        (diverging, "max_iter steps do not settle it"),
        (not_drawn_back, "do not bring x back"),
        (without_a_root, "max_iter steps do not settle it"),
    ],
)
def test_what_does_not_converge_raises(f: Any, why: str, target: str) -> None:
    with pytest.raises(ArithmeticError, match=why):
        f(1.0)
    with pytest.raises(ArithmeticError, match=why):
        pyrev.grad(pyrev.differentiable(f, target=target))(1.0)


def by_hand(a):
    x = 1.0
    while abs(x - np.cos(a * x)) > 1e-12:
        x = np.cos(a * x)
    return x


def test_explain_offers_them_where_a_search_is_recorded() -> None:
    told = pyrev.differentiable(by_hand).explain()
    assert "pyrev.fixed_point or pyrev.root" in told
    assert "test_solvers.py" in told.split("pyrev.root")[1].split("\n")[1]
    assert "pyrev.root" not in pyrev.differentiable(settled).explain()
