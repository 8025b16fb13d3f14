"""The functions for vector instructions beside NumPy's in double precision."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pyrev
from pyrev.emit import vector
from pyrev.ir.primitives import PRIMITIVES

FUNCTIONS = {"exp": np.exp, "tanh": np.tanh}
#: Every 4099th float32: all exponents and signs, infinities and NaN among them.
SAMPLE = np.arange(0, 2**32, 4099, dtype=np.uint64).astype(np.uint32).view(np.float32)
SPECIAL = np.array(
    [
        0.0,
        -0.0,
        np.inf,
        -np.inf,
        np.nan,
        88.72283,
        88.7229,
        -87.4,
        -103.97,
        -104.1,
        0.625,
    ],
    np.float32,
)


def exp_of_all(x, out):
    for i in range(x.shape[0]):
        out[i] = math.exp(x[i])


def tanh_of_all(x, out):
    for i in range(x.shape[0]):
        out[i] = math.tanh(x[i])


def off(got: Any, exact: Any) -> Any:
    """Distances in units in the last place; 0 where both are the same special value."""
    with np.errstate(over="ignore"):
        nearest = exact.astype(np.float32)
    unit = np.maximum(np.spacing(np.abs(nearest)).astype(np.float64), 2.0**-149)
    with np.errstate(invalid="ignore"):
        distance = np.abs(got.astype(np.float64) - exact) / unit
    same = (got == nearest) | (np.isnan(got) & np.isnan(nearest))
    return np.where(same & ~np.isfinite(distance), 0.0, distance)


@pytest.mark.slow
@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_compiled_loop_is_right_over_all_floats(name: str) -> None:
    f = pyrev.differentiable({"exp": exp_of_all, "tanh": tanh_of_all}[name])
    assert PRIMITIVES[name].vector in f.primal.source_for("numba", SAMPLE, SAMPLE)
    for x in (SAMPLE, SPECIAL):
        out = np.empty_like(x)
        f(x, out)
        with np.errstate(all="ignore"):
            exact = FUNCTIONS[name](x.astype(np.float64))
        zero = x == 0.0
        assert (np.signbit(out[zero]) == np.signbit(exact[zero])).all()
        worst = int(np.argmax(off(out, exact)))
        assert off(out, exact)[worst] <= 1.5, (x[worst], out[worst], exact[worst])


@pytest.mark.parametrize("name", FUNCTIONS)
def test_the_text_says_the_same_in_cpython(name: str) -> None:
    plain: Callable[[Any], Any] = getattr(vector, PRIMITIVES[name].vector)
    with np.errstate(all="ignore"):
        got = np.array([plain(x) for x in (*SPECIAL, *SAMPLE[::997])], np.float32)
        exact = FUNCTIONS[name](np.array([*SPECIAL, *SAMPLE[::997]], np.float64))
    assert off(got, exact).max() <= 1.5


def test_double_precision_is_left_to_the_library() -> None:
    f = pyrev.differentiable(exp_of_all)
    x = np.zeros(3)
    assert "float32" not in f.primal.source_for("numba", x, x)
