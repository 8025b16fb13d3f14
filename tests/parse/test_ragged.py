# mypy: disallow-untyped-defs=False, disallow-untyped-calls=False
"""Lists of arrays of several lengths."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pyrev
from tests.corpora.everything import written_in
from tests.tools.oracle import check

X = np.array([0.3, 0.7, 1.1, 0.25, 0.9, 0.45, 0.62])
GIVEN = {"x": X, "c": 0.44}


def neighbours(x, c):
    near = []
    for i in range(x.shape[0]):
        near.append(np.flatnonzero(np.abs(x - x[i]) < c))
    s = 0.0
    for i in range(len(near)):
        for k in near[i]:
            s += x[i] * x[k] / len(near[i])
    return s


def greater_ones(x, c):
    near = [np.flatnonzero(x > v) for v in x]
    s = 0.0
    for i in range(x.shape[0]):
        for k in near[i]:
            s += x[k] * i
    return s + len(near)


def windows(x):
    win = []
    for i in range(1, x.shape[0]):
        win.append(x[:i])
    s = 0.0
    for i in range(len(win)):
        s += win[i][-1] * win[i][0]
        for v in win[i]:
            s += v * v
    return s + win[-1][2]


def rows_of_matrices(x):
    a = np.outer(x, x)
    rows = []
    for i in range(1, 4):
        rows.append(a[:i])
    s = 0.0
    for i in range(3):
        for r in rows[i]:
            s += r[0] * r[1]
    return s


def ints_and_floats(x):
    rows = []
    rows.append(np.arange(2))
    rows.append(x[:3])
    s = 0.0
    for i in range(2):
        for v in rows[i]:
            s += v / 2 + v // 1
    return s


def longest_rising_chain(x, c):
    preds = []
    for j in range(x.shape[0]):
        p = np.flatnonzero(x[:j] < x[j])
        preds.append(p)
    best = np.zeros(x.shape[0])
    for j in range(x.shape[0]):
        b = 0.0
        for k in preds[j]:
            b = max(b, best[k])
        best[j] = b + x[j]
    return best.max()


def in_a_helper_that_is_called_in_a_loop(x):
    s = 0.0
    for t in range(2):
        s += _squares(x, t)
    return s


def _squares(x, t):
    rows = []
    for i in range(1 + t, 5):
        rows.append(x[t:i])
    s = 0.0
    for i in range(len(rows)):
        for v in rows[i]:
            s += v * v * i
    return s


def of_several_shapes(x):
    xs = []
    for k in range(4):
        xs.append(np.ones(k + 1) * x[0])
    return xs[-1][0]


ALL = written_in(globals())


@pytest.mark.parametrize(
    "target", ["python", pytest.param("numba", marks=pytest.mark.slow)]
)
@pytest.mark.parametrize("plain", ALL, ids=lambda f: f.__name__)
def test_arrays_of_several_lengths_are_in_lists(plain: Any, target: str) -> None:
    f = pyrev.differentiable(plain, target=target)
    names = plain.__code__.co_varnames[: plain.__code__.co_argcount]
    given = {n: GIVEN[n] for n in names}
    check(f, plain, given, (), np.random.default_rng(1))


def written_to_under_another_name(x):
    rows = []
    u = np.zeros(3)
    for i in range(3):
        v = u[: i + 1]
        rows.append(v)
        u[0] = x[i]
    return rows[0][0] + rows[2][1]


def an_argument_that_is_written_to(x):
    rows = []
    for i in range(3):
        rows.append(x[i:])
    x[2] = 5.0
    return rows[0][2] * rows[1][0]


def a_name_for_one_of_them(x):
    rows = []
    for i in range(1, 4):
        rows.append(x[:i] * 1.0)
    r = rows[1]
    return r[0]


@pytest.mark.parametrize(
    "plain",
    [
        *(written_to_under_another_name, an_argument_that_is_written_to),
        a_name_for_one_of_them,
    ],
    ids=lambda f: f.__name__,
)
def test_arrays_that_lists_would_share_are_refused(plain: Any) -> None:
    with pytest.raises(pyrev.UnsupportedError):
        pyrev.differentiable(plain)(X.copy())


def one_of_its_elements(x, i, k):
    rows = []
    for n in range(1, 4):
        rows.append(x[:n] * 2.0)
    return rows[i][k] + len(rows[i])


@pytest.mark.parametrize("target", ["python", "numba"])
def test_an_element_behind_the_end_of_an_array_raises(target: str) -> None:
    f = pyrev.differentiable(one_of_its_elements, target=target)
    for i, k in ((0, 0), (1, -1), (2, 2), (-1, -3)):
        assert f(X, i, k) == one_of_its_elements(X, i, k)
    for i, k in ((0, 1), (1, -3), (3, 0), (-4, 0)):
        with pytest.raises(IndexError):
            f(X, i, k)
