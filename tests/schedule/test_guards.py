"""One test above what a zero cotangent leaves undone: where that may be."""

from __future__ import annotations

import math
import re
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import pyrev
from pyrev.adjoint.spared import each_guarded
from pyrev.ir.nodes import If, walk
from pyrev.ir.text import program_text
from pyrev.parse import parse_text
from pyrev.schedule.guards import shared_guards

HEAD = "def f(a, b, x, y, d_out):\n    for i in range(x.shape[0]):\n"


def shared(body: str) -> str:
    """The body of the loop with one test for what has one guard."""
    lines = [f"        {line}\n" for line in body.strip().splitlines()]
    text = program_text(shared_guards(parse_text(HEAD + "".join(lines))))
    return "\n".join(line[8:] for line in text.splitlines()[2:])


TOGETHER = [
    # What stands before a guard and is for it alone goes along.
    (
        """d_v = d_out[i] * x[i]
a[i] += d_v if d_out[i] != 0.0 else 0.0
b[i] -= d_v / y[i] if d_out[i] != 0.0 else 0.0""",
        """if d_out[i] != 0.0:
    d_v = d_out[i] * x[i]
    a[i] += d_v
    b[i] -= d_v / y[i]""",
    ),
    # An element that is set to zero, or to what has the guard, is zero before.
    (
        """d = d_out[i] if x[i] > 0.5 else 0.0
a[i] += d * x[i] if d != 0.0 else 0.0
d_out[i] = d * y[i] if d != 0.0 else 0.0
b[i] -= d / y[i] if d != 0.0 else 0.0""",
        """d = d_out[i] if x[i] > 0.5 else 0.0
d_out[i] = 0.0
if d != 0.0:
    a[i] += d * x[i]
    d_out[i] += d * y[i]
    b[i] -= d / y[i]""",
    ),
    # What is zero with it needs no guard to be left out.
    (
        """d = 2.0 * d_out[i]
a[i] += d * x[i] if d != 0.0 else 0.0
b[i] += d / y[i] if d != 0.0 else 0.0
a[0] -= d""",
        """d = 2.0 * d_out[i]
if d != 0.0:
    a[i] += d * x[i]
    b[i] += d / y[i]
    a[0] -= d""",
    ),
    # The element that the cotangent was is zero, too.
    (
        """d = a[i]
a[i] = d / x[i] if d != 0.0 else 0.0
b[i] += -d / y[i] if d != 0.0 else 0.0""",
        """d = a[i]
if d != 0.0:
    a[i] = d / x[i]
    b[i] += -d / y[i]""",
    ),
    # One in another.
    (
        """d = d_out[i]
a[i] += d * x[i] if d != 0.0 else 0.0
e = d / y[i] if d != 0.0 else 0.0
b[i] += e * x[i] if e != 0.0 else 0.0
b[0] -= e / x[i] if e != 0.0 else 0.0""",
        """d = d_out[i]
if d != 0.0:
    a[i] += d * x[i]
    e = d / y[i]
    if e != 0.0:
        b[i] += e * x[i]
        b[0] -= e / x[i]""",
    ),
]

APART = [
    # The element is read where it would be zero already.
    """d = x[i] * 2.0
a[i] += d / x[i] if d != 0.0 else 0.0
d_out[i] = d_out[i] * d if d != 0.0 else 0.0
b[i] -= d / y[i] if d != 0.0 else 0.0""",
    # The element is read before it could be zero.
    """d = x[i]
a[i] += d * d_out[i] if d != 0.0 else 0.0
y[i] = d_out[i]
d_out[i] = d * y[i] if d != 0.0 else 0.0
y[i] = 1.0""",
    # One guard is shorter as it is.
    "d = d_out[i]\na[i] += d / x[i] if d != 0.0 else 0.0",
    # A store is no increment: there may be something else.
    """d = d_out[i]
a[i] = d / x[i] if d != 0.0 else 0.0
b[i] = d / y[i] if d != 0.0 else 0.0""",
    # What is added is not zero with it.
    """d = d_out[i]
a[i] += d / x[i] if d != 0.0 else 0.0
a[0] += y[i]
b[i] += d / y[i] if d != 0.0 else 0.0""",
    # Two cotangents.
    """d = d_out[i]
e = d_out[0]
a[i] += d / x[i] if d != 0.0 else 0.0
b[i] += e / y[i] if e != 0.0 else 0.0""",
    # It is another between them.
    """d = d_out[i]
a[i] += d / x[i] if d != 0.0 else 0.0
d = d_out[0]
b[i] += d / y[i] if d != 0.0 else 0.0""",
    # Its subscript is.
    """k = i
a[i] += d_out[k] / x[i] if d_out[k] != 0.0 else 0.0
k = 0
b[i] += d_out[k] / y[i] if d_out[k] != 0.0 else 0.0""",
    # Of the element that it was, the subscript is another, whose element is read.
    """k = i
d = a[k]
k = 0
b[i] += d / x[i] if d != 0.0 else 0.0
y[k] = a[k]
a[k] = d / y[i] if d != 0.0 else 0.0
b[k] += d / y[0] if d != 0.0 else 0.0""",
    # A scalar that is set between them is read behind them.
    """d = d_out[i]
a[i] += d / x[i] if d != 0.0 else 0.0
v = d * x[i]
b[i] += d / y[i] if d != 0.0 else 0.0
b[0] = v + x[0]""",
]


@pytest.mark.parametrize(("apart", "together"), TOGETHER)
def test_neighbours_with_one_guard_have_one_test(apart: str, together: str) -> None:
    assert shared(apart) == together


@pytest.mark.parametrize("body", APART)
def test_others_keep_their_guards(body: str) -> None:
    assert shared(body) == body


def test_the_array_of_the_cotangent_may_change_only_last() -> None:
    body = """a[i] += d_out[i] / x[i] if d_out[i] != 0.0 else 0.0
d_out[0] += d_out[i] * y[i]
b[i] += d_out[i] / y[i] if d_out[i] != 0.0 else 0.0
b[0] += d_out[i] / y[0] if d_out[i] != 0.0 else 0.0"""
    assert shared(body).startswith("a[i] += d_out[i] / x[i] if")


@pytest.mark.parametrize("together", [two for _, two in TOGETHER])
def test_a_derivative_is_read_with_guards_that_mean_the_same(together: str) -> None:
    lines = "".join(f"        {line}\n" for line in together.splitlines())
    text = HEAD + re.sub(r"\b([de])\b", r"d_\1", lines)
    program = replace(parse_text(text), derived=True)
    apart = each_guarded(program)
    assert not any(isinstance(s, If) for s in walk(apart.body))
    rng = np.random.default_rng(1)
    values = [rng.normal(size=6) for _ in range(5)]
    values[4][::2] = values[0][1] = 0.0
    results = []
    for one in (program, apart):
        space: dict[str, Any] = {}
        exec(program_text(one), space)
        results.append([v.copy() for v in values])
        space["f"](*results[-1])
    np.testing.assert_array_equal(*results)


def curved(x, y):
    """The cotangent is zero where the misfit is, and the curvature is not."""
    s = 0.0
    for i in range(x.shape[0] - 1):
        t = x[i] * x[i] * y[i] + x[i + 1] * x[i + 1] * x[i] * y[i + 1]
        if not math.isnan(t):
            s += (t - 2.0) ** 2
    return s


def test_second_derivatives_at_a_zero_cotangent_are_those_of_the_function() -> None:
    f = pyrev.differentiable(curved, target="python")
    assert "!= 0.0:" in f.adjoint.source
    x, y = np.array([1.0, 1.0, 1.0, 0.3]), np.array([1.0, 1.0, math.nan, 0.5])
    h = 2e-4
    found = pyrev.hessian(f, wrt="x")(x, y)
    for a in range(4):
        for b in range(4):
            u, v = h * np.eye(4)[a], h * np.eye(4)[b]
            corners: list[tuple[Any, int]] = [
                (u + v, 1),
                (u - v, -1),
                (v - u, -1),
                (-u - v, 1),
            ]
            slope = sum(k * curved(x + d, y) for d, k in corners) / (4 * h * h)
            assert found[a, b] == pytest.approx(slope, rel=1e-4, abs=1e-4)


def test_forward_over_reverse_says_the_same_there() -> None:
    f = pyrev.differentiable(curved, target="python")
    x, y = np.array([1.0, 1.0, 1.0, 0.3]), np.array([1.0, 1.0, math.nan, 0.5])
    full = pyrev.hessian(f, wrt="x")(x, y)
    for k in range(4):
        product = pyrev.hvp(f, x, y, tangents={"x": np.eye(4)[k]}, wrt="x").x
        np.testing.assert_allclose(product, full[k], rtol=1e-9, atol=1e-12)


def test_only_what_pyrev_wrote_is_read_so() -> None:
    text = """
def f(a, b, d_y, p):
    if d_y != 0.0:
        a[0] += d_y / p
        b[0] -= d_y * p
    if p != 0.0:
        a[0] += p * d_y
        b[0] += p * p
"""
    program = parse_text(text)
    assert each_guarded(program) == program
    opened = program_text(each_guarded(replace(program, derived=True)))
    assert "a[0] += d_y / p if d_y != 0.0 else 0.0" in opened
    assert "if p != 0.0:" in opened
