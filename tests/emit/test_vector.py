"""The functions for vector instructions beside NumPy's in double precision."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import mpmath
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
    assert f"{PRIMITIVES[name].vector}_float32" in f.primal.source_for(
        "numba", SAMPLE, SAMPLE
    )
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
    plain: Callable[[Any], Any] = getattr(vector, f"{name}_float32")
    with np.errstate(all="ignore"):
        got = np.array([plain(x) for x in (*SPECIAL, *SAMPLE[::997])], np.float32)
        exact = FUNCTIONS[name](np.array([*SPECIAL, *SAMPLE[::997]], np.float64))
    assert off(got, exact).max() <= 1.5


#: Doubles of all exponents and signs, and where these functions change.
DOUBLES = np.array(
    [
        *(0.0, -0.0, np.inf, -np.inf, np.nan, 709.782712893384, 709.7827128933841),
        *(-708.4, -745.13, -745.14, -746.5, 710.5, 0.625, 0.6250000001, 19.99, 20.01),
        *(5e-324, -5e-324, 1e-310, 1e308, -1e308),
    ]
)


def doubles(count: int) -> Any:
    rng = np.random.default_rng(count)
    bits = rng.integers(0, 2**64, count, dtype=np.uint64).view(np.float64)
    return np.concatenate(
        [DOUBLES, bits, rng.normal(size=count) * 4, rng.uniform(-746, 710, count)]
    )


@pytest.mark.parametrize("name", FUNCTIONS)
def test_doubles_are_right_to_two_units(name: str) -> None:
    f = pyrev.differentiable({"exp": exp_of_all, "tanh": tanh_of_all}[name])
    x = doubles(4000)
    out = np.empty_like(x)
    assert f"{name}_float64" in f.primal.source_for("numba", x, out)
    f(x, out)
    with np.errstate(all="ignore"):
        library = FUNCTIONS[name](x)
    plain = np.isfinite(x) & np.isfinite(library)
    for got, value, known in zip(out, x, library, strict=True):
        if not (np.isfinite(value) and np.isfinite(known)):
            assert got == known or (np.isnan(got) and np.isnan(known)), value
    with mpmath.workprec(160):
        exact = getattr(mpmath, name)
        for got, value, known in zip(out[plain], x[plain], library[plain], strict=True):
            unit = mpmath.mpf(max(np.spacing(abs(known)), 5e-324))
            assert abs(mpmath.mpf(float(got)) - exact(float(value))) <= 2 * unit, value


@pytest.mark.parametrize("name", FUNCTIONS)
def test_the_text_for_doubles_says_the_same_in_cpython(name: str) -> None:
    plain: Callable[[Any], Any] = getattr(vector, f"{name}_float64")
    f = pyrev.differentiable({"exp": exp_of_all, "tanh": tanh_of_all}[name])
    x = doubles(40)
    out = np.empty_like(x)
    f(x, out)
    with np.errstate(all="ignore"):
        got = np.array([plain(v) for v in x])
    assert np.array_equal(got, out, equal_nan=True)


def test_zeros_keep_their_sign() -> None:
    f = pyrev.differentiable(tanh_of_all)
    x = np.array([0.0, -0.0])
    out = np.empty(2)
    f(x, out)
    assert np.signbit(out).tolist() == [False, True]
