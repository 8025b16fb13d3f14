"""The text of tangents: what it says, and that it is right where it is shortened."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import pyrev


def quotients(x, a, b):
    return x / a / b


def many_quotients(x, a, b):
    return x / a / b / a / b


def repeated_factors(x, a, b):
    return 0.5 * (x - a) * (x - a) + 3.0 * x * b * x


def a_result(x, a, b):
    length = math.sqrt(x * x + a)
    return length * b


def a_result_in_the_place_of_an_argument(x, a, b):
    x = math.exp(x) / a
    x = math.exp(-x)
    return x + b


def a_difference(x, a, b):
    return 1.0 - (x - a) * -2.0 - b


def a_test_as_a_factor(x, a, b):
    return (x if x > a else 2.0 * x) ** 3 * b


def a_power_of_a_quotient(x, a, b):
    return b / (x / a) ** 2


def a_power_of_arguments(x, a, b):
    return (x - a * x) ** 2 + b


def a_mean(x, a, b):
    total = 0.0
    for i in range(x.shape[0]):
        total += a * x[i] / x.shape[0]
    return total + b


def roots_of_what_is_there(x, a, b):
    total = 0.0
    for i in range(x.shape[0]):
        total += math.sqrt(x[i] * x[i + 1]) / a if i + 1 < x.shape[0] else b
    return total


FUNCTIONS = [
    quotients,
    many_quotients,
    repeated_factors,
    a_result,
    a_result_in_the_place_of_an_argument,
    a_difference,
    a_test_as_a_factor,
    a_power_of_a_quotient,
    a_power_of_arguments,
    a_mean,
    roots_of_what_is_there,
]


def text(f: Any) -> str:
    source: str = pyrev.differentiable(f, target="python").tangent.source
    return source


@pytest.mark.parametrize("f", FUNCTIONS)
def test_a_tangent_is_the_slope(f: Any) -> None:
    given = [0.7, 1.3, 0.9]
    along = [0.3, -0.2, 0.5]
    if "x[i]" in text(f):
        given[0] = np.array([0.7, 0.4, 1.1])
        along[0] = np.array([0.3, 0.1, -0.4])
    _, moved = pyrev.jvp(
        pyrev.differentiable(f, target="python"),
        *given,
        tangents=dict(zip("xab", along, strict=True)),
    )
    ahead, back = (
        f(*(v + h * p for v, p in zip(given, along, strict=True)))
        for h in (1e-6, -1e-6)
    )
    assert moved["return"] == pytest.approx((ahead - back) / 2e-6, rel=1e-8)


@pytest.mark.parametrize(
    ("f", "line"),
    [
        (
            quotients,
            "dot_v = (dot_x / a if dot_x != 0.0 else 0.0)"
            " - (dot_a * x / a / a if dot_a != 0.0 else 0.0)",
        ),
        (
            repeated_factors,
            "(dot_x - dot_a) * (x - a) + (6.0 * dot_x * x * b + 3.0 * dot_b * x * x),",
        ),
        (a_result, "dot_v = 2 * dot_x * x + dot_a"),
        (a_result, "dot_length = 0.5 * dot_v / length if dot_v != 0.0 else 0.0"),
        (a_result_in_the_place_of_an_argument, "dot_x = -(dot_x * np.exp(-x))"),
        (
            a_difference,
            "return 1.0 - (x - a) * -2.0 - b, 2.0 * (dot_x - dot_a) - dot_b",
        ),
        (a_test_as_a_factor, "dot_v = dot_x if x > a else 2.0 * dot_x"),
        (
            a_power_of_a_quotient,
            "dot_v_2 = 2 * dot_v * (x / a) if dot_v != 0.0 else 0.0",
        ),
        (
            a_power_of_arguments,
            "return (x - a * x) ** 2 + b,"
            " 2 * (dot_x - (dot_a * x + dot_x * a)) * (x - a * x) + dot_b",
        ),
        (a_mean, "total = dot_total = 0.0"),
        (
            a_mean,
            "dot_total += (dot_a * x[i] + dot_x[i] * a) / x.shape[0]",
        ),
    ],
)
def test_a_tangent_says(f: Any, line: str) -> None:
    assert line in [said.strip() for said in text(f).splitlines()]


def test_what_does_not_move_is_zero_beside_an_infinite_value() -> None:
    f = pyrev.differentiable(a_power_of_a_quotient, target="python")
    value, moved = pyrev.jvp(f, 1.0, 0.0, 1.0, tangents={"b": 1.0})
    assert (value, moved["return"]) == (0.0, 0.0)


@pytest.mark.parametrize("f", [quotients, roots_of_what_is_there])
def test_what_does_not_move_is_zero_at_a_singular_point(f: Any) -> None:
    x = np.zeros(3) if f is roots_of_what_is_there else 0.0
    f = pyrev.differentiable(f, target="python")
    for a in (0.0, 1.0):
        _, moved = pyrev.jvp(f, x, a, 1.0, tangents={"x": 0.0 * x})
        assert moved["return"] == 0.0


def test_a_line_that_stands_below_is_not_quoted() -> None:
    assert "#" not in text(a_mean).split("def ")[1]
    quoted = [line for line in text(a_result).splitlines() if "length =" in line]
    assert quoted[0].endswith(": length = math.sqrt(x * x + a)")


def test_each_term_of_nested_quotients_is_tested_once() -> None:
    assert text(quotients).count("!= 0.0") == 4
    assert text(many_quotients).count("!= 0.0") == 8
