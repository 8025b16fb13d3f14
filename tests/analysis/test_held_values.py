"""Scalars with several assignments as subscripts, and arrays made on the way."""

from __future__ import annotations

import copy
import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pyrev
from pyrev.analysis.bounds import Bounds
from pyrev.parse import parse


def largest(x, y):
    best = 0
    for k in range(x.shape[0]):
        if x[k] > x[best]:
            best = k
    return y[best]


def last_that_leaves(x, y):
    last = x.shape[0] - 1
    for k in range(x.shape[0] - 1):
        if x[k] > 0.8:
            last = k
            break
    total = 0.0
    for k in range(last - 1, -1, -1):
        total += y[k] * y[k + 1 : last + 1].sum()
    return total + y[last]


def from_the_end(x, y):
    at = -1
    for k in range(x.shape[0]):
        if x[k] > 0.5:
            at = k - 2
    return y[at]


def moved_again(x, y):
    at = 0
    total = 0.0
    for k in range(x.shape[0]):
        if x[k] > 0.5:
            at = k
        total += y[at]
        at = k + 1
        if x[k] > 0.9:
            total += y[at]
    return total


def in_a_while(x, y):
    lo = 0
    hi = x.shape[0] - 1
    total = 0.0
    while lo < hi:
        middle = (lo + hi) // 2
        if x[middle] > 0.6:
            hi = middle
        else:
            lo = middle + 1
        total += y[lo]
    return total + y[hi]


def of_each_other(x, y):
    a = 0
    b = 0
    for k in range(x.shape[0]):
        if x[k] > 0.5:
            a = k
        b = a
        a = b + 1
    return y[b]


def by_a_range(x, y):
    stop = x.shape[0]
    if x.sum() > 2.0:
        stop = x.shape[0] + 1
    total = 0.0
    for k in range(stop):
        total += y[k]
    return total


def shorter_each_time(x, y):
    total = 0.0
    for k in range(x.shape[0]):
        rest = x[k:] * 2.0
        for j in range(rest.shape[0]):
            total += rest[j] * y[j + k]
    return total


def its_size_has_changed(x, y):
    n = x.shape[0]
    made = np.zeros(n)
    for k in range(2):
        if x.sum() > 1.0:
            n = n + 1
        made[n - 1] = y[k]
    return made.sum()


def made_by_a_number(x, y):
    n = 1
    total = 0.0
    for k in range(x.shape[0]):
        if x[k] > 0.5:
            n = k + 1
        made = np.zeros(n)
        if x[k] > 0.7:
            n = 2
        made[n - 1] = x[k]
        total += made.sum() * y[k]
    return total


def never_without_elements(x, y):
    total = 0.0
    for k in range(1, x.shape[0]):
        n = 0
        for i in range(k):
            n = i + 1
        made = np.zeros(n)
        made[0] = x[k]
        total += made.sum() * y[k]
    return total


EVERY = [
    *(largest, last_that_leaves, from_the_end, moved_again, in_a_while),
    *(of_each_other, by_a_range, shorter_each_time),
    *(its_size_has_changed, made_by_a_number, never_without_elements),
]


def outcome(f: Callable[..., Any], *args: Any) -> float | type[Exception]:
    try:
        return float(f(*copy.deepcopy(args)))
    except IndexError as error:
        return type(error)


@pytest.mark.parametrize("f", EVERY)
def test_it_is_right_or_raises(f: Callable[..., Any], rng: np.random.Generator) -> None:
    compiled = pyrev.differentiable(f, target="numba")
    for n, m in itertools.product(range(5), range(6)):
        for x in (rng.uniform(0.0, 1.0, n), np.zeros(n), np.ones(n)):
            y = rng.uniform(1.0, 2.0, m)
            found, right = outcome(compiled.primal, x, y), outcome(f, x, y)
            if isinstance(right, float):
                assert found == pytest.approx(right, rel=1e-13), (n, m)
            else:
                assert found is right, (n, m)


SHORT, LONG = np.ones(4), np.ones(7)


@pytest.mark.parametrize("f", [largest, last_that_leaves, shorter_each_time])
def test_data_is_not_looked_at_where_sizes_say_it(f: Callable[..., Any]) -> None:
    bounds = Bounds(parse(f).program)
    assert not bounds.in_doubt({"x": SHORT, "y": SHORT})
    assert bounds.in_doubt({"x": LONG, "y": SHORT}) or f is shorter_each_time
