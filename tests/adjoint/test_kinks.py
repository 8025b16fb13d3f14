from __future__ import annotations

import math

import numpy as np
import pytest

import pyrev

INF, NAN = math.inf, math.nan


def python_max(a, b):
    return max(a, b)


def python_min(a, b):
    return min(a, b)


def numpy_maximum(a, b):
    return np.maximum(a, b)


def numpy_minimum(a, b):
    return np.minimum(a, b)


def numpy_fmax(a, b):
    return np.fmax(a, b)


def numpy_fmin(a, b):
    return np.fmin(a, b)


def absolute(a, b):
    return abs(a) + 0 * b


def steps(a, b):
    return np.floor(a) + np.sign(a) + round(b) + a // b + int(a) + np.ceil(b)


def modulo(a, b):
    return a % b


def power(a, b):
    return a**b


def hypotenuse(a, b):
    return np.hypot(a, b)


def norm(a, b):
    return np.linalg.norm(np.array([a, b]))


def angle(a, b):
    return np.arctan2(a, b)


def root_of_untaken_branch(a, b):
    return np.log(a) if a > 0 else 3 * a + b


def square_root_times_zero(a, b):
    return np.sqrt(a) * b


def quotient_times_zero(a, b):
    return (1.0 / a) * b


@pytest.mark.parametrize("target", ["python", "numba"])
@pytest.mark.parametrize(
    ("f", "point", "expected"),
    [
        (python_max, (1.0, 1.0), (1, 0)),
        (python_max, (1.0, NAN), (1, 0)),
        (python_min, (1.0, 1.0), (1, 0)),
        (numpy_maximum, (1.0, 1.0), (1, 0)),
        (numpy_maximum, (1.0, NAN), (0, 1)),
        (numpy_maximum, (NAN, 1.0), (1, 0)),
        (numpy_minimum, (2.0, 2.0), (1, 0)),
        (numpy_fmax, (1.0, 1.0), (1, 0)),
        (numpy_fmax, (NAN, 1.0), (0, 1)),
        (numpy_fmin, (1.0, 1.0), (1, 0)),
        (absolute, (0.0, 1.0), (0, 0)),
        (steps, (1.5, 2.25), (0, 0)),
        (modulo, (-7.5, 2.0), (1, 4)),
        (power, (0.0, 2.0), (0, 0)),
        (power, (3.0, 0.0), (0, math.log(3))),
        (hypotenuse, (0.0, 0.0), (0, 0)),
        (norm, (0.0, 0.0), (0, 0)),
        (norm, (0.0, -2.0), (0, -1)),
        (angle, (0.0, 0.0), (0, 0)),
        (root_of_untaken_branch, (0.0, 1.0), (3, 1)),
        (square_root_times_zero, (0.0, 0.0), (0, 0)),
        (quotient_times_zero, (0.0, 0.0), (0, INF)),
    ],
)
def test_the_documented_side_is_taken(f, point, expected, target) -> None:
    g = pyrev.differentiable(f, target=target)
    with np.errstate(all="ignore"):
        if f is quotient_times_zero:
            point = tuple(map(np.float64, point))
        gradient = pyrev.grad(g)(*map(np.float64, point))
    assert (gradient["a"], gradient["b"]) == pytest.approx(expected, nan_ok=True)


def either(a, b):
    return (a and b * b) + (b or a)


@pytest.mark.parametrize("target", ["python", "numba"])
@pytest.mark.parametrize(
    ("point", "expected"),
    [((2.0, 3.0), (0.0, 7.0)), ((0.0, 3.0), (1.0, 1.0)), ((2.0, 0.0), (1.0, 0.0))],
)
def test_and_and_or_of_numbers_pass_the_derivative_of_the_operand_they_are(
    point, expected, target
) -> None:
    gradient = pyrev.grad(pyrev.differentiable(either, target=target))(*point)
    assert (gradient["a"], gradient["b"]) == pytest.approx(expected)


def mean_or_zero(x, y):
    s = 0.0
    for i in range(y.shape[0]):
        t = y[i] / x.shape[0]
        if x.shape[0] > 0:
            s += t
        s += y[i]
    return s


def kept_apart(x, p):
    return p, p / x.shape[0]


@pytest.mark.filterwarnings("ignore:divide by zero")
@pytest.mark.parametrize("target", ["python", "numba"])
def test_a_division_by_the_extent_of_an_empty_array_counts_where_it_is_used(target):
    empty, y = np.zeros(0), np.array([1.0, 2.0])
    made = pyrev.differentiable(mean_or_zero, target=target)
    assert pyrev.grad(made)(empty, y).y.tolist() == [1.0, 1.0]
    assert pyrev.grad(made)(np.ones(4), y).y.tolist() == [1.25, 1.25]
    made = pyrev.differentiable(kept_apart, target=target)
    _, pullback = pyrev.vjp(made, empty, np.float64(2.0))
    assert pullback((1.0, None)).p == 1.0
    assert pullback((1.0, 1.0)).p == np.inf


def test_a_division_by_an_extent_known_not_to_be_zero_has_no_guard() -> None:
    def scaled(x, out):
        for i in range(x.shape[0]):
            out[i] = x[i] / x.shape[0]
        if out.shape[0] > 0:
            out[0] = x[0] / out.shape[0]

    text = pyrev.differentiable(scaled).adjoint.source
    assert "!= 0.0" not in text
