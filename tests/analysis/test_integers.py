"""Integers of few bits, and those near the end of 64: as NumPy's are, or refused."""

# mypy: disallow-untyped-defs=False, disallow-untyped-calls=False
from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pyrev

SHORT = ["int8", "uint8", "int16", "uint16", "int32", "uint32"]
X = np.linspace(0.5, 0.9, 40)


def total(x, n):
    s = 0.0
    for i in range(n):
        s += x[i] * x[i]
    return s


def lagged(x, k):
    n = x.shape[0]
    out = np.zeros(n)
    for i in range(k, n):
        out[i - k] = x[i] * x[i - k]
    return out


def compared(x, k):
    out = np.zeros(x.shape[0])
    for i in range(x.shape[0]):
        out[i] = x[min(i, 7)]
        if i + k > 9:
            out[i] += x[i]
    return out


def from_behind(x, k):
    out = np.zeros(x.shape[0])
    for i in range(x.shape[0] - 1, -1, -1):
        if k - 1 < i:
            out[i] += x[i] * x[i - 1]
    return out


def sized(x, k):
    a = np.zeros(k + 2)
    for i in range(k + 2):
        a[i] += x[i] * i
    return a


def rows_of_data(x, ptr, n):
    out = np.zeros(n)
    for i in range(n):
        s = 1.0
        for j in range(ptr[i], ptr[i + 1]):
            s = s * x[j] + np.sin(s)
        out[i] = s
    return out


COUNTED: dict[Callable[..., Any], int] = {
    total: 37,
    lagged: 5,
    compared: 6,
    from_behind: 3,
    sized: 11,
}


@pytest.mark.parametrize("dtype", SHORT)
@pytest.mark.parametrize("f", COUNTED, ids=lambda f: f.__name__)
def test_a_short_integer_counts_as_python_counts(
    f: Callable[..., Any], dtype: str
) -> None:
    k = np.dtype(dtype).type(COUNTED[f])
    made = pyrev.differentiable(f, target="python")
    np.testing.assert_allclose(made(X, k), f(X, k), rtol=1e-13)
    assert pyrev.check_grad(made, X, k)


@pytest.mark.slow
@pytest.mark.parametrize("dtype", ["uint8", "int16"])
@pytest.mark.parametrize("f", COUNTED, ids=lambda f: f.__name__)
def test_a_short_integer_counts_so_in_compiled_code(
    f: Callable[..., Any], dtype: str
) -> None:
    k = np.dtype(dtype).type(COUNTED[f])
    made = pyrev.differentiable(f, target="numba")
    np.testing.assert_allclose(made(X, k), f(X, k), rtol=1e-13)
    assert pyrev.check_grad(made, X, k)


@pytest.mark.slow
@pytest.mark.parametrize("dtype", ["uint8", "uint32", "int32"])
def test_rows_may_begin_at_an_unsigned_zero(dtype: str) -> None:
    ptr = np.array([0, 3, 7, 12], dtype)
    made = pyrev.differentiable(rows_of_data, target="numba")
    assert pyrev.check_grad(made, X[:12], ptr, 3)


def test_short_products_of_many_iterations_do_not_go_around() -> None:
    x = np.linspace(0.5, 0.9, 4000)
    made = pyrev.differentiable(total, target="numba")
    for n in (np.int8(100), np.uint8(200), np.int16(2000), np.uint16(4000)):
        assert made(x, n) == pytest.approx(total(x, n), rel=1e-12)


@pytest.mark.parametrize("dtype", ["uint8", "int16", "uint32"])
def test_slices_of_so_few_bits_are_refused(dtype: str) -> None:
    def cut(x, k):
        return (x[k:] ** 2).sum()

    k = np.dtype(dtype).type(5)
    with pytest.raises(pyrev.ArgumentError, match=r"write int\("):
        pyrev.differentiable(cut)(X, k)
    assert pyrev.differentiable(cut)(X, np.int32(5)) == pytest.approx(cut(X, 5))


def powers(x, k):
    s = 0.0
    for i in range(x.shape[0]):
        s += x[i] ** k[i]
    return s


@pytest.mark.parametrize("target", ["python", "numba"])
def test_an_exponent_of_few_bits_is_lowered_in_floats(target: str) -> None:
    k = np.array([-128, -127, 127, 0, 1, -1], np.int8)
    x = np.linspace(0.9, 1.1, 6)
    made = pyrev.differentiable(powers, target=target)  # type: ignore[call-overload]
    h = 1e-6
    slopes = [
        (powers(x[i : i + 1] + h, k[i:]) - powers(x[i : i + 1] - h, k[i:])) / (2 * h)
        for i in range(6)
    ]
    np.testing.assert_allclose(pyrev.grad(made)(x, k).x, slopes, rtol=1e-6)


def operations(k, m, out):
    for i in range(k.shape[0]):
        out[i, 0] = k[i] ** 2
        out[i, 1] = np.sign(k[i])
        out[i, 2] = k[i] << m[i]
        out[i, 3] = k[i] >> m[i]
        count = m[i]
        out[i, 4] = (k[i] << count) & 63
        out[i, 5] = k[i] * k[i] + k[i]


def power(x, n):
    return x**n


def scaled_power(x, n):
    y = x * n
    return y * x**n + y


def lowered(x, n):
    y = 0.1
    y -= n
    return x * y + x


@pytest.mark.parametrize("target", ["python", "numba"])
@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16", "uint16"])
@pytest.mark.parametrize("f", [power, scaled_power, lowered])
def test_a_python_float_beside_few_bits_is_as_precise_as_a_float64(
    f: Callable[..., Any], dtype: str, target: str
) -> None:
    d = pyrev.differentiable(f, target=target)
    for x, n in ((1.1, 3), (10.0, 60), (0.125, 117)):
        k = np.dtype(dtype).type(n)
        h = 1e-200 * x  # a complex step is as precise as the values
        expected = np.imag(f(complex(x, h), n)) / h
        assert pyrev.grad(d)(x, k).x == pytest.approx(expected, rel=1e-13)
        slope = pyrev.jvp(d, x, k, tangents={"x": 1.0})[1]["return"]
        assert slope == pytest.approx(expected, rel=1e-13)


@pytest.mark.slow
@pytest.mark.parametrize("dtype", [*SHORT, "int64"])
def test_operations_on_integers_are_those_of_numpy(dtype: str) -> None:
    low = 0 if dtype[0] == "u" else -7
    k = np.array([3, 0, 100, low, 77, 1], dtype)
    m = np.array([0, 1, 7, 64, 31, 70], dtype)
    found, expected = np.zeros((6, 6)), np.zeros((6, 6))
    with np.errstate(all="ignore"):
        operations(k, m, expected)
    pyrev.differentiable(operations, target="numba")(k, m, found)
    np.testing.assert_array_equal(found, expected)


def test_integers_of_64_bits_without_a_sign_are_refused() -> None:
    def scaled(x, k):
        return x[0] * k[0]

    with pytest.raises(pyrev.ArgumentError, match=r"k.astype\(np.int64\)"):
        pyrev.differentiable(scaled)(X, np.array([1], np.uint64))


def beyond(x, m):
    out = np.zeros(x.shape[0])
    for i in range(x.shape[0]):
        if i > m:
            out[i] = x[i] * 2.0
        else:
            out[i] = x[i] * 3.0
    return out


@pytest.mark.parametrize("target", ["python", "numba"])
def test_a_test_against_the_largest_integer_is_refused(target: str) -> None:
    made = pyrev.differentiable(beyond, target=target)  # type: ignore[call-overload]
    with pytest.raises(pyrev.ArgumentError, match="`m` may pass 64 bits"):
        made(X, sys.maxsize)
    np.testing.assert_array_equal(made(X, 2**40), beyond(X, 2**40))


def beyond_data(x, ks):
    m = ks[0]
    t = 0.0
    for i in range(x.shape[0]):
        if i > m:
            t += x[i] * x[i]
    return t


def test_the_largest_integer_may_come_from_an_array() -> None:
    made = pyrev.differentiable(beyond_data, target="numba")
    assert made(X, np.array([sys.maxsize])) == 0.0
    assert made(X, np.array([3])) == pytest.approx(beyond_data(X, np.array([3])))


def test_an_increment_may_change_which_element_the_next_one_means() -> None:
    def twice(a, b):
        a[a[0]] += b[0]
        a[a[0]] += b[1]

    found, expected = np.zeros(5, int), np.zeros(5, int)
    twice(expected, np.array([1, 1]))
    pyrev.differentiable(twice, target="numba")(found, np.array([1, 1]))
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("target", ["python", "numba"])
def test_a_sum_that_begins_with_zero_is_never_minus_zero(target: str) -> None:
    def signed(x, b):
        s = 0.0
        s += b
        return np.copysign(x, s)

    made = pyrev.differentiable(signed, target=target)  # type: ignore[call-overload]
    assert made(2.0, -0.0) == 2.0
    assert pyrev.grad(made, wrt="x")(2.0, -0.0) == 1.0


def moved_signs(x, k, m, out):
    s = 0.0
    n = k[0]
    for i in range(x.shape[0]):
        t = x[i] * k[i]
        out[0, i] = x[i] * -k[i]
        out[1, i] = x[i] * (2 * k[i])
        out[2, i] = -(k[i] - 7) * x[i]
        out[3, i] = t * m[i] * -(k[i] + m[i])
        out[4, i] = x[i] - -k[i] * x[i]
        s -= k[i]
        s += -m[i]
        out[5, i] = s * x[i]
        n -= k[i] + 2
        n += -k[i]
        n -= 3
        out[6, i] = x[i] * n
        out[7, i] += (k[i] << 3) * x[i] - -m[i]
        out[8, i] = np.arctan2(k[i] * 3, x[i])


@pytest.mark.slow
@pytest.mark.parametrize(
    ("one", "other", "target"),
    [
        ("uint8", "int16", "python"),
        ("int8", "uint8", "python"),
        ("uint32", "int32", "python"),
        ("int64", "uint16", "python"),
        ("uint8", "int16", "numba"),
        ("int32", "int8", "numba"),
    ],
)
@pytest.mark.filterwarnings("ignore:overflow")
def test_what_goes_around_in_a_factor_does_so_in_its_derivative(
    one: str, other: str, target: str
) -> None:
    ends = [np.iinfo(d) for d in (one, other)]
    k = np.array([3, 100, ends[0].min, ends[0].max, 0, 1], one)
    m = np.array([100, ends[1].max, 1, ends[1].min, 7, 0], other)
    x = np.linspace(0.5, 1.5, 6)
    low, high, own = np.zeros((9, 6)), np.zeros((9, 6)), np.zeros((9, 6))
    h = 2.0**-20
    with np.errstate(all="ignore"):
        moved_signs(x - h, k, m, low)
        moved_signs(x + h, k, m, high)
        moved_signs(x, k, m, own)
    expected = (high - low) / (2 * h)
    made = pyrev.differentiable(moved_signs, target=target)
    out = np.zeros((9, 6))
    _, pullback = pyrev.vjp(made, x, k, m, out, wrt="x")
    np.testing.assert_allclose(out, own, rtol=1e-13)
    scale = np.abs(expected) + np.abs(own) * 1e-3 + 1e-3
    tangents = pyrev.jvp(made, x, k, m, np.zeros((9, 6)), tangents={"x": np.ones(6)})[1]
    assert np.all(np.abs(tangents.out - expected) < 1e-6 * scale)
    for row in range(9):
        seed = np.zeros((9, 6))
        seed[row] = 1.0
        assert np.all(np.abs(pullback(out=seed).x - expected[row]) < 1e-6 * scale[row])


def chosen_width(x, k, out):
    for i in range(x.shape[0]):
        out[i] = x[i] * -(3 if x[i] > 0.7 else k[i])


def bounded_width(x, k, out):
    for i in range(x.shape[0]):
        out[i] = x[i] * (min(k[i], 7) + 1) + max(k[i], 0) % 3


def test_a_width_that_the_path_decides_is_refused() -> None:
    k = np.array([3, 200, 7], np.uint8)
    with pytest.raises(pyrev.ArgumentError, match="int64 or uint8, as the path"):
        pyrev.differentiable(chosen_width)(X[:3], k, np.zeros(3))
    # Where neither width is left both are right.
    k = np.array([3, 200, -(2**31)], np.int32)
    out, expected = np.zeros(3), np.zeros(3)
    bounded_width(X[:3], k, expected)
    pyrev.differentiable(bounded_width, target="python")(X[:3], k, out)
    np.testing.assert_array_equal(out, expected)
