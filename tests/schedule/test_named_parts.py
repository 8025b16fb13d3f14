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


def torus(u: Any, a: Any) -> Any:
    out = np.zeros_like(u)
    for y in range(u.shape[0]):
        for x in range(u.shape[1]):
            around = u[(y - 1) % u.shape[0], x] + u[(y + 2) % u.shape[0], x]
            around += u[y, (x - 2) % u.shape[1]] * u[y, (x + 1) % u.shape[1]]
            out[y, x] = a[y, x] * around
    return out


def other_counts(u: Any, a: Any) -> Any:
    """The loops do not show that there is something to divide by."""
    out = np.zeros_like(u)
    for y in range(u.shape[0]):
        for x in range(u.shape[1]):
            out[y, x] = u[y, x] * a[(y + 1) % a.shape[0], (y - 1) % a.shape[1]]
    return out


def test_the_border_of_a_torus_is_found_before_a_row() -> None:
    u, a = np.zeros((3, 4)), np.zeros((3, 4))
    text = pyrev.differentiable(torus, target="numba").primal.source_for("numba", u, a)
    assert text.count("wrapped = (y - 1) % u.shape[0]") == 1
    assert text.count("(y - 1) %") == 1
    assert "!= 0" not in text
    readable = pyrev.differentiable(torus).primal.source_for("python", u, a)
    assert "wrapped" not in readable


@pytest.mark.parametrize("n", [0, 1, 2, 3, 9])
@pytest.mark.parametrize("m", [0, 1, 2, 3, 19])
def test_a_torus_of_any_size(n: int, m: int) -> None:
    rng = np.random.default_rng(10 * n + m)
    u, a = rng.normal(size=(n, m)), rng.normal(size=(n, m))
    d = pyrev.differentiable(torus, target="numba")
    np.testing.assert_array_equal(d.primal(u, a), torus(u, a))
    if n and m:
        oracle.check(d, torus, {"u": u, "a": a}, (), rng)


@pytest.mark.parametrize("shape", [(0, 3), (3, 0), (0, 0), (2, 2)])
@pytest.mark.parametrize("rows", [(0, 3), (3, 0), (2, 5)])
def test_nothing_is_divided_by_an_empty_axis(
    shape: tuple[int, int], rows: tuple[int, int]
) -> None:
    u, a = np.ones(rows), np.ones(shape)
    d = pyrev.differentiable(other_counts, target="numba")
    try:
        expected = other_counts(u, a)
    except ZeroDivisionError as error:
        with pytest.raises(ZeroDivisionError, match=str(error).split(" ")[0]):
            d.primal(u, a)
    else:
        np.testing.assert_array_equal(d.primal(u, a), expected)
