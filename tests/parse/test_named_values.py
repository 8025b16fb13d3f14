# mypy: disallow-untyped-defs=False, disallow-untyped-calls=False
"""Values that are named inside an expression."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pyrev
from tests.tools.oracle import check

X = np.array([0.3, 0.7, 0.2, 1.9, 0.5])


def until_large(x):
    i = 0
    s = 0.0
    while (v := x[i]) < 1.0:
        s += v * v
        i += 1
    return s * v


def until_small_with_continue(x):
    i = 0
    s = 0.0
    while (i := i + 1) < len(x):
        if x[i] > 1.0:
            continue
        s += x[i] ** 2
    return s


def a_branch(x):
    s = 0.0
    for v in x:
        if (d := v - 0.4) > 0.0:
            s += d * d
        elif (e := v * v) > 0.05:
            s += e
    return s


def behind_a_name(x):
    t = x[1]
    s = t * (u := x[0] + x[2])
    return s + u


def an_argument(x):
    if np.sqrt(r := x[0] * x[1]) < 1.0:
        return r
    return x[0]


def in_a_returned_value(x):
    return (a := x[0] * 2.0) * a


def _halved(v):
    return w if (w := 0.5 * v) > 0.2 else w * w


def in_a_helper(x):
    s = 0.0
    for v in x:
        s += _halved(v)
    return s


def behind_another_test(x):
    i = 0
    s = 0.0
    while i < len(x) and (v := x[i]) < 1.0:
        s += v * v
        i += 1
    if i > 0 and (d := x[i - 1]) > 0.0 and d < 3.0:
        s += d
    return s


RIGHT = [
    behind_another_test,
    until_large,
    until_small_with_continue,
    a_branch,
    behind_a_name,
    an_argument,
    in_a_returned_value,
    in_a_helper,
]


@pytest.mark.parametrize("target", ["python", "numba"])
@pytest.mark.parametrize("plain", RIGHT, ids=lambda f: f.__name__)
def test_it_is_a_statement_before(
    plain: Callable[..., Any], target: str, rng: np.random.Generator
) -> None:
    check(pyrev.differentiable(plain, target=target), plain, {"x": X.copy()}, [], rng)


def only_sometimes(x):
    if x[0] > 0.0 or (d := x[1]) > 0.0:
        return x[1]
    return d


def read_as_the_owner(x):
    return x.dot(x := x * 2.0)


def read_before(x):
    d = x[0]
    return d * (d := x[1])


def behind_a_call(x):
    y = x.copy()
    return np.sum(y) * (d := y[1]) + d


@pytest.mark.parametrize(
    "plain", [only_sometimes, read_as_the_owner, read_before, behind_a_call]
)
def test_what_would_be_computed_otherwise_is_refused(plain: Callable[..., Any]) -> None:
    with pytest.raises(pyrev.UnsupportedError, match="named inside an expression"):
        assert pyrev.differentiable(plain, target="python").adjoint.source
