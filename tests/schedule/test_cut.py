"""What of an iteration is recorded: the state from which the rest is made again."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pyrev

X = np.random.default_rng(5).uniform(0.3, 0.9, 6)


def midpoint(angle, speed, dt, steps):
    """Two numbers are the state; the stages between are made again."""
    for _ in range(steps):
        half = angle + 0.5 * dt * speed
        pull = -math.sin(angle)
        middle = speed + 0.5 * dt * pull
        angle = angle + dt * middle * math.cos(half)
        speed = speed - dt * math.sin(half) * middle
    return angle * speed


def updated_before_it_is_used(angle, speed, dt, steps):
    """Reads of the old and of the new value of one name."""
    for _ in range(steps):
        old = angle * angle
        angle = angle + dt * speed
        pull = math.sin(angle) * old
        speed = speed - dt * pull * pull
    return angle * speed


def one_sum_of_two(a, b, dt, steps):
    """One number is less than the two that it is made of."""
    for k in range(steps):
        both = a + 2.0 * b
        a = a + dt * math.sin(both)
        b = b + dt * (k + 1.0)
    return a


def in_branches(x, v, dt, steps):
    """Stages that some paths alone have."""
    for t in range(steps):
        if x > 0.5:
            drag = v * v
            force = math.exp(-drag * x)
            v = v - dt * force * drag
        elif t % 2:
            force = x * math.cos(x)
            v = v + dt * force * force
        x = x + dt * v * v
    return x + v


def by_conditions(x, v, dt, steps):
    """The state is read under a condition inside an expression."""
    for t in range(steps):
        one = math.sin(x) if t % 2 == 0 else v * v
        two = one * one + (x if x > 0.6 else 2.0 * v)
        x = x + dt * two * one
        v = 0.9 * v + dt * math.sin(two)
    return x * v


def until_small(x, v, least):
    """A loop that ends by its data."""
    while x * x > least:
        root = math.sqrt(x * x + v * v)
        part = root * x
        x = 0.7 * x - 0.01 * part * v
        v = v + 0.1 * part * root
        if v > 2.0:
            break
    return x + v


def with_sums(x, w, steps):
    """What a loop inside the iteration makes of the state."""
    for _ in range(steps):
        total = 0.0
        for k in range(3):
            total += w[k] * x * x
        grown = math.exp(-total)
        x = x + grown * total
    return x


def in_arrays(x, v, dt, steps):
    """A state of many elements, each with stages of its own."""
    for _ in range(steps):
        for i in range(x.shape[0]):
            half = x[i] + 0.5 * dt * v[i]
            pull = math.sin(half) * half
            middle = v[i] - 0.5 * dt * pull
            x[i] = x[i] + dt * middle * half
            v[i] = v[i] - dt * pull * middle


def in_arrays_of_steps(x, dt, steps):
    """Stages that are arrays, made in each step."""
    u = x.copy()
    for _ in range(steps):
        slope = np.zeros(u.shape[0])
        for i in range(1, u.shape[0]):
            slope[i] = (u[i] - u[i - 1]) * u[i]
        for i in range(1, u.shape[0]):
            u[i] = u[i] - dt * slope[i] * math.sin(slope[i])
    return u


def steered_by_integers(x, y, steps):
    """An integer is part of the state, and subscripts are made of it."""
    j = 1
    for _ in range(steps):
        at = (3 * j + 1) % x.shape[0]
        seen = x[at] * y
        y = y + 0.1 * seen * seen
        j = (j + at) % 5
    return y


def outer_and_inner(x, a, steps):
    """The state of one loop inside another, and of that one."""
    total = 0.0
    for i in range(x.shape[0]):
        s = x[i] * a
        for _ in range(steps):
            bent = math.sin(s) * a
            s = s + 0.3 * bent * bent
        a = a + 0.1 * s * s
        total += s * a
    return total


def _stage(x, v):
    force = -math.sin(x) * v
    return x + 0.1 * force, v - 0.1 * force * force


def helped(x, v, steps):
    """Stages in a helper that returns two."""
    for _ in range(steps):
        one, two = _stage(x, v)
        three, four = _stage(one, two)
        x = 0.5 * (x + three * four)
        v = 0.5 * (v + four * one)
    return x * v


def exchanged(x, y, steps):
    """Names that change places."""
    for _ in range(steps):
        part = x * y
        bent = math.cos(part)
        x, y = y, x + 0.2 * bent * part
    return x - y


def history_is_kept(x, dt, steps):
    """What the function keeps itself is read there when a step is made again."""
    kept = np.zeros(steps + 1)
    kept[0] = x
    for t in range(steps):
        half = kept[t] + 0.5 * dt * math.sin(kept[t])
        kept[t + 1] = kept[t] + dt * math.cos(half) * half
    return kept[steps] * kept[1]


def missing(x, gaps, steps):
    """A stage that is not used where data are missing."""
    s = x
    for t in range(steps):
        seen = gaps[t] * s
        bent = seen * seen
        if not math.isnan(gaps[t]):
            s = s + 0.1 * math.sin(bent)
    return s


def swapped_in_pairs(x, tau):
    """Elements are read by a subscript that is recorded itself."""
    y = x.copy()
    for k in range(2):
        i = k % 2
        while i + 1 < len(y):
            d = y[i + 1] - y[i]
            p = 1.0 / (1.0 + np.exp(-d / tau))
            low = p * y[i] + (1.0 - p) * y[i + 1]
            high = (1.0 - p) * y[i] + p * y[i + 1]
            y[i], y[i + 1] = low, high
            i += 2
    total = 0.0
    for i in range(len(y)):
        total += y[i] * y[i] * (i + 1)
    return total


def _solved(a, b, d):
    n = len(d)
    c = np.zeros(n)
    e = np.zeros(n)
    c[0] = a[0] / b[0]
    e[0] = d[0] / b[0]
    for i in range(1, n):
        m = b[i] - a[i] * c[i - 1]
        c[i] = a[i] / m
        e[i] = (d[i] - a[i] * e[i - 1]) / m
    x = np.zeros(n)
    x[-1] = e[-1]
    for i in range(n - 2, -1, -1):
        x[i] = e[i] - c[i] * x[i + 1]
    return x


def solved_in_steps(u, s, steps):
    """Loops inside whose iterations are numbered through, over arrays of the step."""
    v = u.copy()
    for _ in range(steps):
        rhs = v[1:-1] + s * v[:-2]
        rhs[0] += s * v[0]
        v[1:-1] = _solved(-s * rhs, 2.0 + s * rhs, rhs)
    return v[1] * v[2] + v[-2]


GAPS = np.array([0.4, math.nan, 0.7, 0.2])

#: How to call each function, and how many tapes it needs; None where that is open.
CASES: dict[Callable[..., Any], tuple[tuple[Any, ...], int | None]] = {
    midpoint: ((0.7, 0.4, 0.1, 4), 2),
    updated_before_it_is_used: ((0.7, 0.4, 0.1, 4), None),
    one_sum_of_two: ((0.7, 0.4, 0.1, 4), None),
    in_branches: ((0.45, 0.8, 0.1, 5), None),
    by_conditions: ((0.55, 0.4, 0.1, 5), None),
    until_small: ((0.9, 0.4, 0.01), 2),
    with_sums: ((0.4, X[:3], 3), 1),
    in_arrays: ((X.copy(), X[::-1].copy(), 0.1, 3), 2),
    in_arrays_of_steps: ((X, 0.1, 3), None),
    steered_by_integers: ((X, 0.6, 5), None),
    outer_and_inner: ((X, 0.4, 3), None),
    helped: ((0.7, 0.4, 3), 2),
    exchanged: ((0.7, 0.4, 3), 2),
    history_is_kept: ((0.7, 0.1, 3), 0),
    missing: ((0.7, GAPS, 4), None),
    swapped_in_pairs: ((X, 0.5), None),
    solved_in_steps: ((X, 0.3, 2), None),
}
EACH = pytest.mark.parametrize("f", CASES, ids=lambda f: f.__name__)


def arguments(f: Callable[..., Any]) -> tuple[Any, ...]:
    return tuple(a.copy() if isinstance(a, np.ndarray) else a for a in CASES[f][0])


@pytest.mark.slow
@EACH
@pytest.mark.parametrize("target", ["python", "numba"])
def test_gradients_are_right(f: Callable[..., Any], target: str) -> None:
    wrt = "x" if f is missing else None
    found = pyrev.differentiable(f, target=target, **({"wrt": wrt} if wrt else {}))
    assert pyrev.check_grad(found, *arguments(f))


@pytest.mark.slow
@EACH
def test_a_gradient_of_the_gradient_is_right(f: Callable[..., Any]) -> None:
    again = pyrev.differentiable(f, target="python").adjoint
    first = pyrev.differentiable(f, target="python")
    values = arguments(f)
    if any(isinstance(a, np.ndarray) for a in values):
        pytest.skip("by two numbers: see the cases without arrays")
    assert again.source == first.adjoint.source
    h = 1e-5
    names = list(pyrev.grad(first)(*values).keys())

    def slope(which: int, moved: float, by: str) -> float:
        at = list(values)
        at[which] += moved
        return float(getattr(pyrev.grad(first)(*at), by))

    _, pullback = pyrev.vjp(pyrev.differentiable(first.adjoint), *values, 1.0)
    rows = pullback((1.0, *[None] * (len(names) - 1)))
    for k, name in enumerate(names):
        by_differences = (slope(k, h, names[0]) - slope(k, -h, names[0])) / (2 * h)
        assert getattr(rows, name) == pytest.approx(by_differences, rel=1e-5, abs=1e-7)


@pytest.mark.parametrize(
    "f", [f for f, (_, n) in CASES.items() if n is not None], ids=lambda f: f.__name__
)
def test_so_many_tapes_are_made(f: Callable[..., Any]) -> None:
    values = pyrev.differentiable(f).adjoint.report().values
    assert sum(v.kind == "taped" and bool(v.shape) for v in values) == CASES[f][1]


def test_one_number_is_less_than_the_two_it_is_made_of() -> None:
    values = pyrev.differentiable(one_sum_of_two).adjoint.report().values
    assert "both" in {v.name for v in values if v.kind == "taped"}


def test_what_the_user_keeps_is_not_made_again() -> None:
    f = pyrev.differentiable(midpoint, store=["half"])
    kept = {v.name for v in f.adjoint.report().values if v.kind == "taped"}
    assert "half" in kept
    assert pyrev.check_grad(f, *arguments(midpoint))


def test_float32_keeps_what_float32_has() -> None:
    x, v = (a.astype(np.float32) for a in (X, X[::-1]))
    f = pyrev.differentiable(in_arrays, target="numba")
    found = pyrev.vjp(f, x.copy(), v.copy(), 0.1, 3)[1](x=np.ones_like(x))
    wide = pyrev.vjp(f, x.astype(np.float64), v.astype(np.float64), 0.1, 3)[1](
        x=np.ones(x.shape)
    )
    assert found.x.dtype == np.float32
    np.testing.assert_allclose(found.x, wide.x, rtol=2e-4)
