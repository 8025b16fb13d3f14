# mypy: disallow-untyped-defs=False, disallow-untyped-calls=False
"""Lists of lists of numbers, which are one list with where each begins."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pyrev
from tests.tools.oracle import check

X = np.array([0.3, 0.7, 1.1, 0.2, 0.9])


def neighbours(x, h):
    n = len(x)
    rows = []
    for i in range(n):
        found = []
        for j in range(n):
            if abs(x[i] - x[j]) < h:
                found.append(j)
        rows.append(found)
    s = 0.0
    for i in range(n):
        for j in rows[i]:
            s += x[i] * x[j] ** 2
        if len(rows[i]) > 1:
            s += x[rows[i][-1]] * len(rows[i])
    return s + len(rows) * x[0]


def comprehensions_appended(x, h):
    rows = []
    for i in range(len(x)):
        rows.append([x[j] * x[i] for j in range(len(x)) if x[j] > h])
    s = 0.0
    for i in range(len(x)):
        for k, v in enumerate(rows[i]):
            s += v * k
        s += sum(rows[-1]) + max(rows[0])
    return s


def changed_after_it_was_appended(x, h):
    rows = []
    for i in range(len(x)):
        found = [i]
        rows.append(found)
        found.append(0)
    s = 0.0
    for j in rows[1]:
        s += x[j]
    return s


def returned(x, h):
    rows = []
    for i in range(len(x)):
        found = [x[i]]
        rows.append(found)
    return rows


@pytest.mark.parametrize("target", ["python", "numba"])
@pytest.mark.parametrize("f", [neighbours, comprehensions_appended])
def test_a_list_of_lists(
    f: Callable[..., Any], target: str, rng: np.random.Generator
) -> None:
    check(pyrev.differentiable(f, target=target), f, {"x": X, "h": 0.45}, [], rng)


@pytest.mark.parametrize("f", [changed_after_it_was_appended, returned])
def test_other_lists_of_lists_are_refused(f: Callable[..., Any]) -> None:
    with pytest.raises(pyrev.UnsupportedError, match="a list"):
        pyrev.differentiable(f, target="python")(X, 0.45)
