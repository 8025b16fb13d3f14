"""Names for dtypes and for classes of numbers, and casts to the class of a number."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pyrev
from tests.tools.oracle import check

X = np.array([0.3, 0.7, 0.2, 0.9])


def a_name_for_a_dtype(x):
    dt = x.dtype
    out = np.zeros(len(x), dtype=dt)
    for i in range(len(x)):
        out[i] = x[i] * x[i]
    return out


def of_an_argument_that_is_bound_again(x, c=1.5):
    x = np.asarray(x)
    dt = np.result_type(x, c)
    out = np.empty_like(x, dtype=dt)
    for i in range(len(x)):
        out[i] = c * x[i] ** 2
    return out


def of_a_number(x, c=1.5):
    dt = np.asarray(c + x[0] + 1).dtype
    out = np.zeros((2, len(x)), dtype=dt)
    for i in range(len(x)):
        out[0, i] = c * x[i]
        out[1, i] = x[i] ** 2
    return out


def of_an_expression(x, c=1.5):
    out = np.zeros(len(x), dtype=np.asarray(c + x).dtype)
    for i in range(len(x)):
        out[i] = x[i] * x[i] * c
    return out


def the_class_of_a_number(x, b):
    T = type(b)
    half, two = T(0.5), T(2)
    return x * half / two + type(b)(3) * x[0] * b


def the_class_of_elements(x):
    real = x.dtype.type
    s = real(0)
    for i in range(len(x)):
        s += real(0.5) * x[i] * x[i]
    return s


NARROW = X.astype(np.float32)


def _room(n, dtype=np.float64):
    return np.zeros(n, dtype)


DOUBLE = np.float64


def a_dtype_with_a_default(x, dtype=np.float64, n=3):
    out = np.zeros(n, dtype=dtype)
    more = _room(n)
    other = _room(dtype=DOUBLE, n=n)
    for i in range(n):
        out[i] = x[i] ** 2
        more[i] = x[i] * out[i]
        other[i] = more[i] + 1.0
    return out + more * other


def a_dtype_as_an_argument(x, dtype):
    y = x.astype(dtype)
    k = np.zeros(2, np.dtype(np.int64))
    w = np.ones(2, dtype=np.dtype("float64"))
    return y * y + x * (k[0] + w[1])


def a_name_for_a_class(x):
    kind = np.float32
    counts = int
    out = np.zeros(2, kind)
    k = np.ones(2, dtype=counts)
    out[0] = 0.5
    return x * (out[0] + k[1])


def a_new_array_of_a_class(x, b):
    kind = type(b)
    out = np.empty(len(x), kind)
    for i in range(len(x)):
        out[i] = x[i] * b
    return np.sum(out * out)


def of_its_class(z):
    kind = type(z)
    return -kind(0.5) * (z * z + kind(np.log(2 * np.pi)))


def the_class_in_a_helper(x):
    s = 0.0
    y = x * 2.0
    for i in range(len(x)):
        s += of_its_class(x[i]) * of_its_class(y[i])
    return s


def the_class_of_a_number_that_changes(x, b):
    T = type(b)
    half = T(1) / b
    y = (x - b) * half
    b *= np.exp(half)
    for i in range(len(y)):
        if y[i] > half:
            y[i] = y[i] ** 2 - np.log(b)
        else:
            y[i] = T(2) * y[i] * b
    return y


def _scaled(x, loc: float, b: float):
    inverse = type(b)(1) / b
    return (x - loc) * inverse


def a_helper_of_numbers_that_are_annotated(x, loc: float, b: float):
    y = _scaled(x, loc, b)
    for i in range(len(y)):
        if y[i] > 0:
            y[i] = y[i] ** 2
    return y


CALLS: list[tuple[Callable[..., Any], dict[str, Any]]] = [
    (a_name_for_a_dtype, {"x": X}),
    (a_name_for_a_dtype, {"x": NARROW}),
    (of_an_argument_that_is_bound_again, {"x": X}),
    (of_an_argument_that_is_bound_again, {"x": NARROW, "c": 2}),
    (of_a_number, {"x": X}),
    (of_a_number, {"x": NARROW}),
    (of_a_number, {"x": NARROW, "c": np.float64(2.0)}),
    (of_an_expression, {"x": NARROW}),
    (of_an_expression, {"x": X, "c": 2}),
    (the_class_of_a_number, {"x": X, "b": 0.7}),
    (the_class_of_a_number, {"x": X, "b": np.float64(0.7)}),
    (the_class_of_a_number, {"x": NARROW, "b": 0.7}),
    (the_class_of_elements, {"x": X}),
    (a_name_for_a_class, {"x": X}),
    (a_name_for_a_class, {"x": NARROW}),
    (a_dtype_with_a_default, {"x": X}),
    (a_dtype_with_a_default, {"x": X, "dtype": np.dtype("float64")}),
    (a_dtype_with_a_default, {"x": NARROW, "dtype": np.float32}),
    (a_dtype_as_an_argument, {"x": X, "dtype": np.float64}),
    (a_dtype_as_an_argument, {"x": X, "dtype": float}),
    (a_dtype_as_an_argument, {"x": NARROW, "dtype": np.float32}),
    (a_new_array_of_a_class, {"x": X, "b": 0.7}),
    (a_new_array_of_a_class, {"x": X, "b": np.float32(0.7)}),
    (a_new_array_of_a_class, {"x": NARROW, "b": 0.7}),
    (the_class_in_a_helper, {"x": X}),
    (the_class_of_a_number_that_changes, {"x": X, "b": 0.7}),
    (the_class_of_a_number_that_changes, {"x": X, "b": np.float64(0.7)}),
    (a_helper_of_numbers_that_are_annotated, {"x": X, "loc": 0.5, "b": 0.7}),
]


@pytest.mark.parametrize(
    "target", ["python", pytest.param("numba", marks=pytest.mark.slow)]
)
@pytest.mark.parametrize("number", range(len(CALLS)))
def test_dtypes_and_derivatives(number: int, target: str) -> None:
    plain, given = CALLS[number]
    given = {k: v.copy() if isinstance(v, np.ndarray) else v for k, v in given.items()}
    f = pyrev.differentiable(plain, target=target)
    check(f, plain, given, [], np.random.default_rng(number))


GIVES_ARRAYS = (the_class_of_a_number, the_class_of_a_number_that_changes)


@pytest.mark.parametrize(
    ("plain", "given"),
    [
        (the_class_of_a_number, (X, 2)),
        (the_class_of_a_number, (NARROW, np.float64(0.7))),
        (the_class_of_a_number, (X, np.float32(0.7))),
        (the_class_of_elements, (NARROW,)),
        (the_class_in_a_helper, (NARROW,)),
        (the_class_of_a_number_that_changes, (X, np.float32(0.7))),
    ],
)
def test_other_classes_are_refused(plain: Any, given: tuple[Any, ...]) -> None:
    f = pyrev.differentiable(plain, target="numba")
    with pytest.raises(pyrev.UnsupportedError):
        f.adjoint(*given, *([X] if plain in GIVES_ARRAYS else [1.0]))


def a_dtype_that_a_name_hides(x):
    np = x  # noqa: F841
    dt = x.dtype
    return dt


def a_dtype_on_one_path(x, c):
    if c > 0:
        dt = x.dtype
    else:
        dt = np.float32
    return np.zeros(3, dtype=dt)


@pytest.mark.parametrize("plain", [a_dtype_that_a_name_hides, a_dtype_on_one_path])
def test_what_a_dtype_is_must_be_known(plain: Any) -> None:
    with pytest.raises(pyrev.UnsupportedError):
        pyrev.differentiable(plain).adjoint.source  # noqa: B018
