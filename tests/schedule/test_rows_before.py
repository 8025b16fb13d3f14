"""What a nest reads of rows that it does not write is one copy of these rows."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pyrev
from tests.corpora.everything import on_targets
from tests.tools.oracle import check


def three_rows(u, c, steps):
    for _t in range(steps):
        for i in range(1, u.shape[1] - 1):
            u[2, i] = 2.0 * u[1, i] - u[0, i] + c[i] * (u[1, i - 1] * u[1, i + 1])
        for i in range(u.shape[1]):
            u[0, i] = u[1, i]
            u[1, i] = u[2, i]


def two_rows_are_read(u, c, steps):
    for _t in range(steps):
        for i in range(1, u.shape[1] - 1):
            u[2, i] = u[0, i - 1] * u[1, i] * c[i] + u[0, i] * u[1, i - 1]
        for i in range(u.shape[1]):
            u[0, i] = u[1, i]
            u[1, i] = u[2, i]


def under_a_test(u, c, steps):
    for t in range(steps):
        if t % 2 == 0:
            for i in range(1, u.shape[1]):
                u[2, i] = u[1, i] * u[1, i - 1] * c[i]
        for i in range(u.shape[1]):
            u[1, i] = 0.7 * u[2, i] + u[0, i]


def once(u, c, steps):
    for i in range(1, u.shape[1]):
        u[2, i] = u[1, i] * u[1, i - 1] * c[i]
    for i in range(u.shape[1]):
        u[1, i] = u[2, i] * c[0] * steps


def planes(u, c, steps):
    v = np.ones((2, u.shape[0], u.shape[1]))
    for _t in range(steps):
        for j in range(1, u.shape[0]):
            for i in range(1, u.shape[1]):
                v[1, j, i] = v[0, j - 1, i] * v[0, j, i - 1] * c[i] * u[j, i]
        for j in range(u.shape[0]):
            for i in range(u.shape[1]):
                v[0, j, i] = 0.5 * v[1, j, i] + u[j, i]
    for j in range(u.shape[0]):
        for i in range(u.shape[1]):
            u[j, i] = v[1, j, i]


def the_last_row_by_its_other_number(u, c, steps):
    for _t in range(steps):
        for i in range(1, u.shape[1]):
            u[-1, i] = u[2, i] * u[2, i - 1] * c[i]
        u[0, 0] += u[2, -1]


def a_row_by_a_variable(u, c, steps):
    k = 2
    for _t in range(steps):
        for i in range(1, u.shape[1]):
            u[k - 3, i] = u[k, i] * u[k, i - 1] * c[i]
        u[0, 0] += u[2, -1]


def the_row_that_it_reads(u, c, steps):
    for _t in range(steps):
        for i in range(1, u.shape[1]):
            u[1, i] = u[1, i] * u[1, i - 1] * c[i]


def rows_in_turn(u, c, steps):
    for t in range(steps):
        for i in range(1, u.shape[1]):
            u[(t + 1) % 2, i] = u[t % 2, i] * u[t % 2, i - 1] * c[i]


def another_row_later_in_the_nest(u, c, steps):
    for _t in range(steps):
        for i in range(1, u.shape[1]):
            u[2, i] = u[1, i] * u[1, i - 1] * c[i]
            u[1, i - 1] = u[2, i] * c[0]


COPIED = [three_rows, two_rows_are_read, under_a_test, once, planes]
NOT_COPIED = [
    the_last_row_by_its_other_number,
    a_row_by_a_variable,
    the_row_that_it_reads,
    rows_in_turn,
    another_row_later_in_the_nest,
]


@pytest.mark.parametrize("n", [1, 2, 6])
@pytest.mark.parametrize(("plain", "target"), on_targets(COPIED + NOT_COPIED, 3))
def test_its_gradient_is_right(plain: Callable[..., Any], target: str, n: int) -> None:
    rng = np.random.default_rng(n)
    given = {
        "u": rng.uniform(0.5, 1.5, (3, n)),
        "c": rng.uniform(0.5, 1.5, n),
        "steps": 3,
    }
    f = pyrev.differentiable(plain, target=target)
    check(f, plain, given, ["u"], rng)


@pytest.mark.parametrize("plain", COPIED, ids=lambda f: f.__name__)
def test_rows_are_copied(plain: Callable[..., Any]) -> None:
    text = pyrev.differentiable(plain).adjoint.source
    assert "_tape" not in text, text
    rows = [
        x
        for x in text.splitlines()
        if re.match(r" *u_before.* = u\w*\[\d\](\.copy\(\))?$", x)
    ]
    assert rows or plain is planes, text


def test_a_plane_of_a_local_array_is_copied() -> None:
    text = pyrev.differentiable(planes).adjoint.source
    assert "v_before[_t] = v[0]" in text, text


@pytest.mark.parametrize("plain", NOT_COPIED, ids=lambda f: f.__name__)
def test_rows_that_may_be_written_are_not(plain: Callable[..., Any]) -> None:
    text = pyrev.differentiable(plain).adjoint.source
    assert "u_before" not in text, text


@pytest.mark.parametrize("target", ["python", "numba"])
def test_rows_that_are_not_there_are_not_read(target: str) -> None:
    f = pyrev.differentiable(three_rows, target=target)
    u = np.ones((1, 0))  # no row number 1, which no iteration reads
    _, pullback = pyrev.vjp(f, u, np.ones(0), 2)
    assert pullback(u=u)["u"].shape == (1, 0)


def test_the_copy_asks_for_its_rows() -> None:
    text = pyrev.differentiable(three_rows).adjoint.source
    assert "if 1 < u.shape[0]:" in text, text
    assert "if 0 <" not in pyrev.differentiable(planes).adjoint.source


def narrow(u, c, steps):
    for _t in range(steps):
        for i in range(1, u.shape[1] - 1):
            u[2, i] = u[1, i - 1] * u[1, i + 1] * c[i]
        for i in range(u.shape[1]):
            u[0, i] = 0.5 * u[0, i] * c[i]


@pytest.mark.parametrize("target", ["python", "numba"])
def test_a_nest_that_does_not_run_needs_no_rows(target: str) -> None:
    f = pyrev.differentiable(narrow, target=target)
    given = {"u": np.ones((1, 2)), "c": np.full(2, 0.7), "steps": 2}
    check(f, narrow, given, ["u"], np.random.default_rng(1))
