"""Rows on which the threads of a block work together, on the stand-in of a GPU."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import pyrev
from pyrev.ir.reductions import extremes
from pyrev.parse import parse_block
from pyrev.schedule.costs import SHIPPED
from tests.targets.cuda import needs, ondevice, rows
from tests.targets.cuda.standin import to_device
from tests.targets.cuda.suite import compiled
from tests.tools.costs import differentiable

pytestmark = needs.compiler

#: Rows of any length are long enough, and any number of them keeps a device busy.
EAGER = replace(SHIPPED, gpu=replace(SHIPPED.gpu, team_iterations=1, busy_threads=1))
LENGTHS = (
    *(1, 33, 257),
    *(pytest.param(n, marks=pytest.mark.slow) for n in (2, 31, 32, 255, 256, 1025)),
)
Function = Callable[..., Any]


@pytest.fixture(autouse=True)
def cupy() -> Iterator[Any]:
    with ondevice.standing_in():
        yield sys.modules["cupy"]


def arrays(count: int, length: int, dtype: Any = np.float64) -> list[Any]:
    rng = np.random.default_rng(31 * count + length)
    return [rng.uniform(0.1, 1.0, (count, length)).astype(dtype) for _ in "xy"]


def outcome(f: Function, x: Any, y: Any) -> np.ndarray:
    """What `f` leaves in both arrays."""
    x, y = x.copy(), y.copy()
    f(x, y)
    return np.stack([np.asarray(a.get() if hasattr(a, "get") else a) for a in (x, y)])


@pytest.mark.parametrize("length", LENGTHS)
@pytest.mark.parametrize("plain", rows.TOGETHER, ids=lambda f: f.__name__)
def test_rows_are_what_they_are_in_cpython(plain: Function, length: int) -> None:
    f = differentiable(plain, EAGER, target="cuda")
    for count in (1, 3) if length > 1 else (0, 1, 3):
        x, y = arrays(count, length)
        if length > 1:
            assert "team(" in f.primal.source_for("cuda", x, y)
        found = outcome(f, to_device(x), to_device(y))
        np.testing.assert_allclose(found, outcome(plain, x, y), rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize("length", (2, pytest.param(300, marks=pytest.mark.slow)))
@pytest.mark.parametrize("plain", rows.TOGETHER, ids=lambda f: f.__name__)
def test_gradients_are_those_of_differences(plain: Function, length: int) -> None:
    f = differentiable(plain, EAGER, target="cuda")
    x, y = arrays(2, length)
    rng = np.random.default_rng(length)
    out = outcome(plain, x, y)
    written = [k for k, a in enumerate((x, y)) if not np.array_equal(out[k], a)]
    seeds, along = rng.standard_normal(out.shape), rng.standard_normal(out.shape)
    h = 1e-6
    ends = [outcome(plain, x + s * along[0], y + s * along[1]) for s in (h, -h)]
    wanted = sum(np.sum((ends[0] - ends[1])[k] * seeds[k]) for k in written) / (2 * h)
    _, back = pyrev.vjp(f, to_device(x), to_device(y))
    found = back(**{"xy"[k]: to_device(seeds[k]) for k in written})
    slope = np.sum(found.x.get() * along[0]) + np.sum(found.y.get() * along[1])
    np.testing.assert_allclose(slope, wanted, rtol=2e-6, atol=1e-6)


@pytest.mark.parametrize("plain", rows.ALONE, ids=lambda f: f.__name__)
def test_other_rows_have_a_thread_each(plain: Function) -> None:
    f = differentiable(plain, EAGER, target="cuda")
    x, y = arrays(3, 40)
    assert "team(" not in f.primal.source_for("cuda", x, y)
    found = outcome(f, to_device(x), to_device(y))
    np.testing.assert_allclose(found, outcome(plain, x, y), rtol=1e-12)


def test_short_rows_have_a_thread_each_by_the_costs_that_are_shipped() -> None:
    f = pyrev.differentiable(rows.softmax, target="cuda")
    for length, together in ((8, False), (64, False), (512, True)):
        given = arrays(40, length)
        assert ("team(" in f.primal.source_for("cuda", *given)) == together
    assert "team(" not in f.primal.source_for("cuda")  # nobody knows how long they are


@pytest.mark.parametrize("place", [0, 1, 700, 1023])
def test_what_is_no_number_is_passed_over_as_in_cpython(place: int) -> None:
    """From a number on, and stays if the row begins with it."""
    f = pyrev.differentiable(rows.unit_range, target="cuda")
    x, y = arrays(2, 1024)
    x[0, place] = np.nan
    found = outcome(f, to_device(x), to_device(y))
    np.testing.assert_array_equal(found, outcome(rows.unit_range, x, y))


@pytest.mark.slow
@pytest.mark.parametrize("plain", rows.TOGETHER, ids=lambda f: f.__name__)
def test_single_precision_is_taken_by_the_compiler(plain: Function) -> None:
    f = differentiable(plain, EAGER, target="cuda")
    given = arrays(4, 70, np.float32)
    text = f.primal.source_for("cuda", *given)
    compiled(text.split('"""')[1])
    found = outcome(f, *map(to_device, given))
    np.testing.assert_allclose(found, outcome(plain, *given), rtol=2e-4, atol=2e-4)


@pytest.mark.parametrize(
    "text, found",
    [
        ("for i in range(n):\n    s = max(s, a[i])", {"s": "max"}),
        ("for i in range(n):\n    s = max(a[i], s)", {}),
        ("for i in range(n):\n    s = max(s, a[i])\n    s = min(s, b[i])", {}),
        ("for i in range(n):\n    s = max(s, a[i])\n    b[i] = s", {}),
        ("for i in range(n):\n    s = max(s, a[i] + s)", {}),
        ("for i in range(n):\n    s = max(s, a[i])\n    s += 1.0", {}),
        (
            "for i in range(n):\n    s = max(s, a[i])\n    if s > b[i]:\n        c = 1",
            {},
        ),
    ],
)
def test_extremes_are_told_from_other_numbers(text: str, found: dict[str, str]) -> None:
    assert extremes(parse_block(text)) == found
