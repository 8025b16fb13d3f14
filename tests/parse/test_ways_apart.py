# mypy: disallow-untyped-defs=False, disallow-untyped-calls=False
"""Names that are a view on one path and a new array on the other."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pyrev
from tests.tools.oracle import check

RNG = np.random.default_rng(0)
W = RNG.normal(size=(4, 3))
G = RNG.normal(size=3)
PARENT = np.array([-1, 0, 0, 2])


def read_behind_the_write(parent, w, g):
    acc = np.zeros((len(parent), 3))
    s = 0.0
    for i in range(len(parent)):
        p = parent[i]
        if p < 0:
            a = -g
        else:
            a = acc[p]
        acc[i] = w[i] * (a + g)
        s += a @ acc[i]
    return s


def the_very_row_is_written(parent, w, g):
    acc = np.ones((len(parent), 3))
    s = 0.0
    for i in range(len(parent)):
        p = parent[i]
        a = g * 2.0 if p < 0 else acc[i]
        acc[i] = w[i] * (a + g)
        s += a @ g
    return s


def written_by_its_other_name(parent, w, g):
    s = 0.0
    for i in range(len(parent)):
        if parent[i] < 0:
            a = g.copy()
        else:
            a = w[parent[i]]
        a[0] = 2.0
        s += w[i] @ a
    return s


def a_chain(parent, w, g):
    acc = w * 1.0
    s = 0.0
    for i in range(len(parent)):
        p = parent[i]
        if p < 0:
            a = np.zeros(3)
        elif p == 0:
            a = acc[p]
        else:
            a = acc[i] * 2.0
        acc[0] = acc[0] * w[i]
        acc[i, 1] += g[0]
        s += a @ acc[i]
    return s


def two_in_a_row(parent, w, g):
    acc = w * 1.0
    s = 0.0
    for i in range(len(parent)):
        p = parent[i]
        if p < 0:
            a = -g
        else:
            a = acc[p]
        if p < 1:
            b = acc[i]
        else:
            b = g * w[i]
        acc[i] = a + 0.5 * b
        acc[0] = acc[0] + b
        s += a @ b
    return s + np.sum(acc)


def left_early(parent, w, g):
    acc = w * 1.0
    s = 0.0
    for i in range(len(parent)):
        p = parent[i]
        if p == 2:
            break
        if p < 0:
            a = g * 1.5
        elif p == 7:
            continue
        else:
            a = acc[p]
        acc[p] = acc[p] * w[i]
        s += a @ g
        if s > 100.0:
            return s * 2.0
    return s + acc[0, 0]


def _swept(acc, parent, w, g):
    s = 0.0
    for i in range(len(parent)):
        p = parent[i]
        if p < 0:
            a = g + 1.0
        else:
            a = acc[p]
        acc[i] += a * w[i]
        acc[0] *= 0.9
        s += np.sum(a * a)
    return s


def in_a_helper(parent, w, g):
    acc = np.ones((len(parent), 3))
    s = _swept(acc, parent, w, g)
    s += _swept(acc, parent, w, g * 0.5)
    return s + np.sum(acc)


def without_a_loop(parent, w, g):
    if parent[0] < 0:
        a = w[1]
    else:
        a = g * 1.0
    w[1] = w[2] * g
    w[1, 0] += a[1]
    return a @ g


WAYS = [
    *(read_behind_the_write, the_very_row_is_written, written_by_its_other_name),
    *(a_chain, two_in_a_row, left_early, in_a_helper, without_a_loop),
]


WRITES = (written_by_its_other_name, without_a_loop)


CASES = [(w, "python") for w in WAYS] + [(w, "numba") for w in WAYS[1::3]]


@pytest.mark.parametrize(("plain", "target"), CASES)
def test_a_view_on_one_path_and_a_new_array_on_the_other(
    plain: Any, target: str
) -> None:
    f = pyrev.differentiable(plain, target=target)
    for parent in (PARENT, np.array([0, 1, -1, 2])):
        given = {"parent": parent, "w": W.copy(), "g": G.copy()}
        written = ["w"] if plain in WRITES else []
        check(f, plain, given, written, np.random.default_rng(1))


def written_where_the_run_says_what_it_is(x, c):
    y = x if c > 0.5 else x.copy()
    y[0] = y[0] * 2.0
    return np.sum(x * y)


@pytest.mark.parametrize("target", ["python", "numba"])
def test_the_caller_s_array_is_written_on_one_path(target: str) -> None:
    plain = written_where_the_run_says_what_it_is
    f = pyrev.differentiable(plain, target=target)
    for c in (1.1, 0.4):
        check(f, plain, {"x": G.copy(), "c": c}, ("x",), np.random.default_rng(1))


def kept_for_the_next_turn(parent, w, g):
    acc = w * 1.0
    a = g * 1.0
    s = 0.0
    for i in range(len(parent)):
        if parent[i] >= 0:
            a = acc[parent[i]]
        acc[i] = acc[i] * g
        s += a @ g
    return s


def read_behind_the_loop(parent, w, g):
    acc = w * 1.0
    a = g * 1.0
    for i in range(len(parent)):
        if parent[i] < 0:
            a = g * 2.0
        else:
            a = acc[parent[i]]
        acc[0] = acc[0] * w[i]
    return a @ g


@pytest.mark.parametrize("plain", [kept_for_the_next_turn, read_behind_the_loop])
def test_what_is_read_in_the_next_turn_is_refused(plain: Any) -> None:
    with pytest.raises(pyrev.UnsupportedError, match="P206"):
        pyrev.differentiable(plain)(PARENT, W.copy(), G.copy())


def test_what_follows_stands_in_each_way() -> None:
    text = pyrev.differentiable(read_behind_the_write).primal.source
    assert text.count("    s += total") == 2
