"""Integers that branch have one name, and mean what they meant."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import pytest

import pyrev
from tests.tools import oracle


def tails(x: Any, w: Any) -> Any:
    out = np.zeros(x.shape[0])
    for k in range(x.shape[0]):
        out[k] = np.mean(x[k - 2 :]) * w[k]
    return out


def moved(x: Any, w: Any) -> Any:
    """The slice of each turn begins elsewhere: its name is given in each turn."""
    n = x.shape[0]
    total, k = 0.0, -2
    for j in range(n):
        total += np.sum(x[k:]) * w[j]
        k = 1 if k < 0 else -3 + j
        total += np.sum(x[k:] * x[k:])
    return total


def one_of_two(x: Any, w: Any, first: Any) -> Any:
    """Known on one path only, and negative there."""
    total = 0.0
    if first:
        m = w.shape[0] - x.shape[0]
        total += np.sum(x[m - 1 :] ** 2)
    else:
        m = 1
        total += np.sum(x[:m]) * w[m]
    return total + np.sum(x[-m:])


def both_ends(x: Any, w: Any, lo: Any, hi: Any) -> Any:
    y = x[lo:hi]
    return np.sum(y * y) + np.var(x[lo:]) * np.sum(w[:hi])


CASES = [
    (tails, ()),
    (moved, ()),
    (one_of_two, (True,)),
    (one_of_two, (False,)),
    *((both_ends, (lo, hi)) for lo in (-3, 0, 2) for hi in (-1, 4, 9)),
]


@pytest.mark.parametrize("target", ["python", "numba"])
@pytest.mark.parametrize("case", range(len(CASES)))
def test_values_and_derivatives_are_the_functions_own(case: int, target: str) -> None:
    f, more = CASES[case]
    rng = np.random.default_rng(case)
    names = f.__code__.co_varnames[: f.__code__.co_argcount]
    values = (rng.normal(size=6), rng.normal(size=6), *more)
    args = dict(zip(names, values, strict=True))
    d = pyrev.differentiable(f, target=target)
    np.testing.assert_allclose(
        d.primal(**copy.deepcopy(args)), f(**copy.deepcopy(args)), rtol=1e-13
    )
    oracle.check(d, f, args, (), rng)


def test_a_slices_beginning_is_written_once() -> None:
    text = pyrev.differentiable(tails).primal.source
    assert "start = " in text
    assert text.count("k - 2 < 0") == 1
    assert "x[i + start]" in text


def test_what_changes_in_a_loop_is_not_taken_out_of_it() -> None:
    text = pyrev.differentiable(moved).primal.source
    assert "for j" in text
    head = text[: text.index("for j")]
    assert "start" not in head
    assert "count" not in head
