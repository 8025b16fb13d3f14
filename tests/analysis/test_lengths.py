"""What is as long as what was counted, and what only looks so."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pyrev
from pyrev.analysis.bounds.variants import Variants
from pyrev.parse import parse


def selected_twice(x, y, t):
    m = x > t
    a, b = x[m], x[m]
    s = y[0]
    for i in range(len(a)):
        s += a[i] * b[i]
    return s


def counted_and_filled(x, y, t):
    n = 0
    for i in range(x.shape[0]):
        if x[i] > t:
            n += 1
    out = np.zeros(n)
    k = 0
    for i in range(x.shape[0]):
        if x[i] > t:
            out[k] = x[i] * x[i]
            k += 1
    s = 0.0
    for i in range(n):
        s += out[i]
    return s


def under_two_tests(x, y, t):
    n = 0
    for i in range(x.shape[0]):
        if x[i] > t:
            for j in range(y.shape[0]):
                if y[j] < x[i]:
                    n = n + 1
    out = np.zeros((n, 2))
    k = 0
    for p in range(x.shape[0]):
        if x[p] > t:
            for q in range(y.shape[0]):
                if y[q] < x[p]:
                    out[k, 0] = x[p]
                    out[k, 1] = y[q]
                    k = k + 1
    return np.sum(out[:, 0] * out[:, 1])


def in_each_turn(x, y, t):
    s = 0.0
    for i in range(y.shape[0]):
        kept = x[x > y[i]]
        back = np.empty(len(kept))
        for j in range(len(kept)):
            back[j] = kept[j] * t
        s += np.sum(back)
    return s


INSIDE = [selected_twice, counted_and_filled, under_two_tests, in_each_turn]


def filled_after_a_change(x, y, t):
    n = 0
    for i in range(x.shape[0]):
        if x[i] > t:
            n += 1
    out = np.zeros(n)
    x[0] += 1.0
    k = 0
    for i in range(x.shape[0]):
        if x[i] > t:
            out[k] = x[i] * y[i]
            k += 1
    return np.sum(out)


def filled_by_a_lower_bar(x, y, t):
    n = 0
    for i in range(x.shape[0]):
        if x[i] > t:
            n += 1
    out = np.zeros(n)
    t = t - 0.25
    k = 0
    for i in range(x.shape[0]):
        if x[i] > t:
            out[k] = x[i] * y[i]
            k += 1
    return np.sum(out)


def filled_from_one(x, y, t):
    n = 0
    for i in range(x.shape[0]):
        if x[i] > t:
            n += 1
    out = np.zeros(n)
    k = 1
    for i in range(x.shape[0]):
        if x[i] > t:
            out[k] = x[i] * y[i]
            k += 1
    return np.sum(out)


def filled_behind_the_count(x, y, t):
    n = 0
    for i in range(x.shape[0]):
        if x[i] > t:
            n += 1
    out = np.zeros(n)
    k = 0
    for i in range(x.shape[0]):
        if x[i] > t:
            k += 1
            out[k] = x[i] * y[i]
    return np.sum(out)


def filled_where_the_test_is_changed(x, y, t):
    n = 0
    for i in range(x.shape[0]):
        if x[i] > t:
            n += 1
    out = np.zeros(n)
    k = 0
    for i in range(x.shape[0]):
        if x[i] > t:
            out[k] = y[i]
            k += 1
            if i + 1 < x.shape[0]:
                x[i + 1] += 0.25
    return np.sum(out)


def counted_again_meanwhile(x, y, t):
    n = 0
    for i in range(x.shape[0]):
        if x[i] > t:
            n += 1
    n = n // 2
    out = np.zeros(n)
    k = 0
    for i in range(x.shape[0]):
        if x[i] > t:
            out[k] = x[i] * y[i]
            k += 1
    return np.sum(out)


def carried_on_in_each_turn(x, y, t):
    k = 0
    s = 0.0
    for _ in range(2):
        n = 0
        for i in range(x.shape[0]):
            if x[i] > t:
                n += 1
        out = np.zeros(n)
        for i in range(x.shape[0]):
            if x[i] > t:
                out[k] = x[i] * y[i]
                k += 1
        s += np.sum(out)
    return s


def run_over_another(x, y, t):
    a, b = x[x > t], y[y > t]
    s = 0.0
    for i in range(len(a)):
        s += a[i] * b[i]
    return s


OUTSIDE = [
    filled_after_a_change,
    filled_by_a_lower_bar,
    filled_from_one,
    filled_behind_the_count,
    filled_where_the_test_is_changed,
    counted_again_meanwhile,
    carried_on_in_each_turn,
    run_over_another,
]


@pytest.mark.parametrize("plain", INSIDE, ids=lambda f: f.__name__)
def test_no_data_is_looked_at_where_lengths_say_enough(plain: Any) -> None:
    assert Variants(parse(plain).program).findings.inspected == ()


def rounded(x, y, t):
    """A test that is computed twice need not come out the same."""
    n = 0
    for i in range(x.shape[0]):
        if x[i] * y[i] + 0.1 > t:
            n += 1
    out = np.zeros(n)
    k = 0
    for i in range(x.shape[0]):
        if x[i] * y[i] + 0.1 > t:
            out[k] = x[i]
            k += 1
    return np.sum(out)


@pytest.mark.parametrize("plain", [*OUTSIDE, rounded], ids=lambda f: f.__name__)
def test_data_is_looked_at_where_lengths_may_differ(plain: Any) -> None:
    assert Variants(parse(plain).program).findings.inspected


EVERY = [*INSIDE, *OUTSIDE, rounded]


def outcome(call: Callable[..., Any], rng: np.random.Generator) -> Any:
    n = int(rng.integers(1, 7))
    x, y = rng.uniform(0.0, 1.0, n), rng.uniform(0.0, 1.0, n)
    try:
        with np.errstate(all="ignore"):
            return call(x, y, float(rng.uniform(0.0, 1.0)))
    except (IndexError, ValueError) as error:
        return type(error)


@pytest.mark.parametrize(
    "target", ["python", pytest.param("numba", marks=pytest.mark.slow)]
)
@pytest.mark.parametrize(
    "plain", [*INSIDE, *OUTSIDE, rounded], ids=lambda f: f.__name__
)
def test_they_do_what_cpython_does(plain: Any, target: str) -> None:
    f = pyrev.differentiable(plain, target=target)
    seen = set()
    for seed in range(60):
        expected = outcome(plain, np.random.default_rng(seed))
        found = outcome(f.primal, np.random.default_rng(seed))
        if isinstance(expected, type):
            assert found is expected
        else:
            assert found == pytest.approx(expected, nan_ok=True)
        seen.add(expected if isinstance(expected, type) else float)
    assert float in seen
    assert (IndexError in seen) == (plain in OUTSIDE)
