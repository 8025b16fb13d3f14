"""Adjoints between float32 and float64 are kept in the wider of both.

A float32 adjoint of a float32 scalar would be zero or infinite in the middle of
derivatives that a float32 can hold.
"""

from __future__ import annotations

import math

import numpy as np
import pytest

import pyrev


def scaled(a, w, v, out):
    wide = np.zeros(a.shape[0])
    for i in range(a.shape[0]):
        t = a[i] * w[0]
        wide[i] = t
    for i in range(a.shape[0]):
        out[i] += wide[i] * v[0]


@pytest.mark.parametrize("target", ["python", "numba"])
@pytest.mark.parametrize(("up", "down"), [(1e20, 1e-50), (1e-20, 1e40)])
def test_what_float32_holds_in_the_end_is_not_lost_before(
    target: str, up: float, down: float
) -> None:
    a = np.linspace(0.5, 0.875, 4, dtype=np.float32)
    w, v, out = np.array([up], np.float32), np.array([down]), np.zeros(4)
    _, pullback = pyrev.vjp(pyrev.differentiable(scaled, target=target), a, w, v, out)
    found = pullback(out=np.ones(4)).a
    # Linear, and exact steps: the difference is the derivative but for float32.
    ends = np.zeros((2, 4))
    for end, step in zip(ends, (-0.125, 0.125), strict=True):
        scaled(a + np.float32(step), w, v, end)
    np.testing.assert_allclose(found, (ends[1] - ends[0]) / 0.25, rtol=1e-5)
    assert math.isfinite(found.sum()) and found.all()


def weighed(x, a, b, w, one, two, wide):
    for i in range(one.shape[0]):
        c = x[i]
        wide[i] = c * w[i] + x[i + 1]
        one[i] = c * a[i]
        two[i] = c * b[i]


@pytest.mark.parametrize("target", ["python", "numba"])
def test_narrow_terms_of_a_wide_sum_are_not_added_in_float32(target: str) -> None:
    x, w, wide = np.full(5, 0.5), np.full(4, -1.0), np.zeros(4)
    a, b = np.full(4, 1e-9, np.float32), np.ones(4, np.float32)
    one, two = np.zeros(4, np.float32), np.zeros(4, np.float32)
    f = pyrev.differentiable(weighed, target=target)
    _, pullback = pyrev.vjp(f, x, a, b, w, one, two, wide, wrt="x")
    found = pullback(one=np.ones_like(one), two=np.ones_like(two), wide=np.ones(4)).x
    # Linear, and exact steps: the difference is the derivative but for float32.
    expected = np.zeros(5)
    for k in range(5):
        for step in (-0.125, 0.125):
            moved = x.copy()
            moved[k] += step
            weighed(moved, a, b, w, one, two, wide)
            ends = [np.sum(o, dtype=np.float64) for o in (wide, two, one)]
            expected[k] += np.sign(step) * math.fsum(ends) / 0.25
    # Other elements' shares cancel but for the rounding of their sums.
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-14)


def of_a_number(p, a, b, one, two):
    for i in range(a.shape[0]):
        one[i] = p * a[i]
        two[i] = p * b[i]


@pytest.mark.parametrize("target", ["python", "numba"])
def test_the_adjoint_of_a_wide_number_sums_narrow_terms_as_wide(target: str) -> None:
    a, b = np.full(1000, 1e-9, np.float32), np.ones(1000, np.float32)
    b[1::2] = -1.0
    one, two = np.zeros_like(a), np.zeros_like(b)
    f = pyrev.differentiable(of_a_number, target=target)
    _, pullback = pyrev.vjp(f, 0.5, a, b, one, two, wrt="p")
    found = pullback(one=np.ones_like(one), two=np.ones_like(two)).p
    # Linear in `p`: the exact sum of what it is multiplied by, but for the rounding of
    # a sum in any order (Higham 2002, section 4.2): how many lanes it has depends on
    # the machine. A narrow sum would lose all of `a`, which gives 1e-6.
    terms = [*a.astype(np.float64), *b.astype(np.float64)]
    bound = len(terms) * np.finfo(np.float64).eps / 2 * math.fsum(map(abs, terms))
    assert found == pytest.approx(math.fsum(terms), abs=bound, rel=0.0)
