"""In ``for i, x in enumerate(a)`` the index of the loop is `i`, where it can be."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pyrev
from tests.tools.oracle import check


def weighted(x):
    total = 0.0
    for i, v in enumerate(x):
        total += v / (i + 1)
    return total


def read_behind(x):
    total = 0.0
    for i, v in enumerate(x):  # noqa: B007
        total += v * v
        if v > 1.0:
            break
    return total * (i + 1)


def changed(x):
    total = 0.0
    for i, v in enumerate(x):
        i = i + 1  # noqa: PLW2901
        total += v * v / i
    return total


def inside_one_another(x):
    total = 0.0
    for i, v in enumerate(x):
        for i, w in enumerate(x):  # noqa: B020, PLW2901
            total += v * w * i
    return total


def others(x, j):
    total = 0.0
    for i, v in enumerate(x):
        if i != j:
            total += v * v
    return total


def helper_with_the_same_name(x):
    total = 0.0
    for i, v in enumerate(x):
        total += v * others(x, i)
    return total


def pairs(x):
    total = 0.0
    for i, (a, b) in enumerate(zip(x, x[1:], strict=False)):
        total += a * b * i
    for i in range(2):
        total += x[i] * i
    return total


def from_one(x):
    total = 0.0
    for i, v in enumerate(x, 1):
        total += v * v / i
    return total


def swapping(x):
    a, b = x, x[::-1].copy()
    total = 0.0
    for i, v in enumerate(x):
        a, b = b, a
        total += a[i] * i * v
    return total


def index_of_both(x):
    total = 0.0
    for i, i in enumerate((3, 1, 2)):  # noqa: B020, PLW0128
        total += x[i] * i
    return total


def leaving_a_value(x):
    i = 7
    total = 0.0
    for i, v in enumerate(x[:0]):  # noqa: B007
        total += v
    return total + i * x[0]


FUNCTIONS = (weighted, read_behind, changed, inside_one_another, pairs, from_one)
FUNCTIONS += (helper_with_the_same_name, swapping, index_of_both, leaving_a_value)


@pytest.mark.parametrize("plain", FUNCTIONS, ids=lambda f: f.__name__)
def test_it_counts_as_python_does(plain: Callable[..., Any]) -> None:
    f = pyrev.differentiable(plain, target="python")
    rng = np.random.default_rng(2)
    check(f, plain, {"x": rng.uniform(0.4, 0.9, 5)}, [], rng)


@pytest.mark.parametrize("plain", [weighted, pairs, helper_with_the_same_name])
def test_the_loop_has_the_users_name(plain: Callable[..., Any]) -> None:
    text = pyrev.differentiable(plain, target="python").adjoint.source
    assert "for i in range(" in text
    assert " i = " not in text
