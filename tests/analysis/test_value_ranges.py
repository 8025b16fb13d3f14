"""Between what values lie, and the guards that this makes needless."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pyrev
from pyrev.analysis.value_ranges import ValueRanges
from pyrev.ir.dtypes import infer
from pyrev.parse import parse_expr, parse_text
from tests.tools.oracle import check

TEXT = """
def f(x, k):
    total = 0.0
    sums = np.zeros(x.shape[0])
    below = 1.0
    for i in range(x.shape[0]):
        square = x[i] * x[i]
        soft = np.sqrt(square + 1e-6)
        share = 1.0 / (1.0 + np.exp(-x[i]))
        inside = max(-0.9, min(0.9, x[i]))
        sums[i] += square
        total += soft
        below -= soft
        either = square if x[i] > 0.0 else 2.0
        count = i + 1
        k = k + 1.0
    for j in range(9, 2, -1):
        last = j
    return total
"""

RANGES = {
    "square": (0.0, np.inf),
    "soft": (1e-3, np.inf),
    "share": (0.0, np.inf),
    "inside": (-0.9, 0.9),
    "total": (0.0, np.inf),
    "sums[i]": (0.0, np.inf),
    "below": (-np.inf, 1.0),
    "either": (0.0, np.inf),
    "count": (1.0, np.inf),
    "last": (3.0, 9.0),
    "k": (-np.inf, np.inf),
    "x[i]": (-np.inf, np.inf),
    "square - soft": (-np.inf, np.inf),
    "2.0 * square + 0.5": (0.5, np.inf),
    "-soft": (-np.inf, -1e-3),
    "inside**3": (-(0.9**3), 0.9**3),
    "inside * -2.0": (-1.8, 1.8),
    "soft**-1.0": (0.0, np.inf),
    "0.0 * x[i]": (0.0, 0.0),
    "x[i] * x[j] * x[i]": (-np.inf, np.inf),
    "x[i] * x[j] * x[i] * x[j]": (0.0, np.inf),
}


@pytest.mark.parametrize("text", RANGES)
def test_a_value_lies_between(text: str) -> None:
    program = parse_text(TEXT)
    low, high = ValueRanges(program, infer(program)).of(parse_expr(text))
    assert (low, high) == pytest.approx(RANGES[text])


def test_integers_that_go_around_have_no_range() -> None:
    program = parse_text(
        "def f(c):\n    for i in range(c.shape[0]):\n        s = c[i]\n"
    )
    ranges = ValueRanges(program, infer(program) | {"c": "int8"})
    assert ranges.of(parse_expr("c[i] * c[i]")) == (-np.inf, np.inf)


def rational(a, x):
    s = 0.0
    for i in range(x.shape[0]):
        s += a[i] / (1.0 + x[i] * x[i])
    return s


def softened(a, x):
    s = 0.0
    for i in range(x.shape[0]):
        s += a[i] * np.sqrt(x[i] * x[i] + 1e-6)
    return s


def logistic(a, x):
    s = 0.0
    for i in range(x.shape[0]):
        s += a[i] / (1.0 + np.exp(-x[i]))
    return s


def clamped(a, x):
    s = 0.0
    for i in range(x.shape[0]):
        s += a[i] * np.arccos(max(-0.99, min(0.99, x[i])))
    return s


def counted(a, x):
    s = 0.0
    for i, v in enumerate(x):
        s += a[i] * v / (i + 1)
    return s


def regularised(a, x):
    s = 0.0
    for i in range(x.shape[0]):
        r = abs(x[i]) + 0.5
        s += a[i] * np.log(r) + r**0.5
    return s


AWAY = (rational, softened, logistic, clamped, counted, regularised)


@pytest.mark.parametrize("plain", AWAY, ids=lambda f: f.__name__)
def test_no_guard_stands_where_none_is_needed(plain: Callable[..., Any]) -> None:
    f = pyrev.differentiable(plain, target="python")
    assert "!= 0.0" not in f.adjoint.source
    rng = np.random.default_rng(5)
    check(f, plain, {"a": rng.normal(size=6), "x": rng.normal(size=6)}, [], rng)
    wild = np.array([0.0, -0.0, 1e150, -1e150, 1e-200, 0.5])
    wild = np.clip(wild, -700.0, 700.0) if plain is logistic else wild
    with np.errstate(over="ignore"):
        _, pull = pyrev.vjp(f, np.ones(6), wild)
        found = pull(0.0)
    assert all(np.all(g == 0.0) for g in found.values()), dict(found.items())


def rooted(a, x):
    s = 0.0
    for i in range(x.shape[0]):
        s += a[i] * np.sqrt(x[i] * x[i])
    return s


def tiny(a, x):
    s = 0.0
    for i in range(x.shape[0]):
        s += a[i] / (x[i] * x[i] + 1e-40)
    return s


def over_a_difference(a, x):
    s = 0.0
    for i in range(x.shape[0]):
        s += a[i] / (1.0 - x[i] * x[i])
    return s


def of_integers(a, codes):
    s = 0.0
    for i in range(codes.shape[0]):
        s += a[i] / (1 + codes[i] * codes[i])
    return s


@pytest.mark.parametrize("plain", [rooted, tiny, over_a_difference, of_integers])
def test_a_zero_cotangent_gives_zero_where_a_partial_is_infinite(
    plain: Callable[..., Any],
) -> None:
    f = pyrev.differentiable(plain, target="python")
    x: Any = {
        "rooted": np.zeros(2),
        "tiny": np.zeros(2, np.float32),
        "over_a_difference": np.ones(2),
        # 255 goes around in eight bits: 1 + 15 * 17 is zero.
        "of_integers": np.array([113, 15], np.uint8),
    }[plain.__name__]
    a = np.ones(2, x.dtype if x.dtype == np.float32 else np.float64)
    with np.errstate(all="ignore"):
        _, pull = pyrev.vjp(f, a, x)
        found = pull(0.0)
    assert all(np.all(g == 0.0) for g in found.values()), dict(found.items())
