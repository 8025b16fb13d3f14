"""Rows side by side: what becomes rows of their own, what is left, and every value."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pyrev
from pyrev.ir.nodes import Const, Expr, all_names
from pyrev.ir.text import program_text
from pyrev.parse import parse_text
from pyrev.schedule.costs import SHIPPED
from pyrev.schedule.rows.interleaved import with_own_rows
from tests.tools.costs import FORMS, differentiable

FORM = FORMS["rows side by side"]

TEXT = """
def f(x, y, w):
    for k in range(n):
        for i in range(3):
            for b in range(m):
                x[2 * b + i] += y[k, b] * w[k]
"""


def long(count: Expr, least: int) -> bool | None:
    """Loops are as long as their numbers say, else long, and no row is too long."""
    if isinstance(count, Const):
        return int(count.value) >= least
    return least < 1000


def own_rows(text: str) -> str:
    program = parse_text(text.replace("(x, y, w)", "(x, y, w, n, m, at)"))
    types = dict.fromkeys(("x", "y", "w"), "float64")
    types |= dict.fromkeys(("n", "m", "at"), "int64")
    taken = {*all_names(program.body), *(p.name for p in program.params)}
    return program_text(with_own_rows(program, types, taken, long, SHIPPED.cpu))


def test_where_nothing_is_added_the_elements_need_not_exist() -> None:
    text = own_rows(TEXT)
    assert "x_rows = np.zeros((3, max(m, 0)))" in text
    assert "if 0 < n:" in text


LEFT = {
    "neighbours": ("2 * b + i", "b + i"),
    "elements that are read": ("* w[k]", "* w[k] * x[0]"),
    "another loop's bounds": ("range(m)", "range(k)"),
    "shifts of any number": ("range(3)", "range(m)"),
    "data in a subscript": ("2 * b + i", "2 * b + at[i]"),
    "every row once": ("for k in range(n)", "for k in range(1)"),
    "a row that runs by steps": ("range(m)", "range(0, m, 2)"),
    "what is set": ("+=", "="),
    "a test inside": (
        "                x[2",
        "                if y[k, b] > 0.0:\n                    x[2",
    ),
    "what is measured by what changes": ("[2 * b + i]", "[2 * b + i * k]"),
}


@pytest.mark.parametrize("case", LEFT)
def test_what_is_left_alone(case: str) -> None:
    before, after = LEFT[case]
    text = TEXT.replace(before, after)
    assert text != TEXT
    assert "_rows" not in own_rows(text)


def strided(x: Any, w: Any, out: Any) -> None:
    for y in range(out.shape[0]):
        for k in range(w.shape[0]):
            for i in range(w.shape[1]):
                for b in range(out.shape[2]):
                    out[y, k, b] += x[y, 2 * b + i] * w[k, i]


@pytest.mark.parametrize(("kernels", "taps", "n"), [(4, 3, 9), (4, 2, 5), (2, 4, 0)])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_gradients_are_those_of_differences(
    kernels: int, taps: int, n: int, dtype: type
) -> None:
    rng = np.random.default_rng(taps)
    x = rng.normal(size=(3, 2 * n + taps)).astype(dtype)
    w = rng.normal(size=(kernels, taps)).astype(dtype)
    out = np.zeros((3, kernels, n), dtype)
    f = differentiable(strided, FORM.costs, target="numba")
    _, pullback = pyrev.vjp(f, x, w, out)
    back = rng.normal(size=out.shape).astype(dtype)
    found = pullback(out=back).x
    # It is linear in x: the transpose, element by element, in CPython.
    expected = np.zeros(x.shape)
    for y in range(3):
        for k in range(kernels):
            for i in range(taps):
                for b in range(n):
                    expected[y, 2 * b + i] += float(back[y, k, b]) * float(w[k, i])
    assert np.allclose(found, expected, rtol=1e-5 if dtype is np.float32 else 1e-13)


def test_an_array_that_is_too_short_is_an_error() -> None:
    f = differentiable(strided, FORM.costs, target="numba")
    w, out = np.ones((4, 3)), np.zeros((2, 4, 5))
    with pytest.raises(IndexError):
        pyrev.vjp(f, np.ones((2, 10)), w, out)
    # Nothing is read where there are no kernels.
    nothing = np.zeros((2, 0, 5))
    _, pullback = pyrev.vjp(f, np.ones((2, 1)), np.ones((0, 3)), nothing)
    assert not pullback(out=nothing.copy()).x.any()
