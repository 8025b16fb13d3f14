# mypy: disallow-untyped-defs=False, disallow-untyped-calls=False
"""Functions that return numbers on some paths, and None on others."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pyrev

X = np.array([np.nan, 0.7, 1.1])
Y = np.array([0.3, 0.7, 1.1])


def first_number(x, c):
    for i in range(len(x)):
        if not np.isnan(x[i]):
            return x[i] * c**2


def a_pair(x, c):
    if x[0] > c:
        return
    for i in range(len(x)):
        if x[i] > c:
            return x[i] ** 2, c * x[i]
    return None


def of_a_helper(x, c):
    if c > 2.0:
        return None
    y = first_number(x, c)
    if y is None:
        return None
    return y * y


def what_a_helper_gives(x, c):
    if c > 2.0:
        return None
    return first_number(x, c)


def one_expression(x, c):
    return x[1] * c * x[2] if c > 0 else None


def that_writes(x, out, c):
    out[:] = x[1] * c
    if c > 2.0:
        return
    return out[0] * c


def numbers(result: Any) -> np.ndarray:
    return np.atleast_1d(np.array(result, float))


CASES: list[tuple[Any, tuple[Any, ...], tuple[Any, ...]]] = [
    (first_number, (X, 0.5), (np.full(3, np.nan), 0.5)),
    (a_pair, (Y, 0.5), (Y, 0.1)),
    (a_pair, (Y, 0.8), (Y, 2.0)),
    (of_a_helper, (X, 0.5), (X, 2.5)),
    (of_a_helper, (X, 0.5), (np.full(3, np.nan), 0.5)),
    (what_a_helper_gives, (X, 0.5), (X, 2.5)),
    (what_a_helper_gives, (X, 0.5), (np.full(3, np.nan), 0.5)),
    (one_expression, (Y, 0.5), (Y, -0.5)),
]


@pytest.mark.parametrize("target", ["python", "numba"])
@pytest.mark.parametrize("number", range(len(CASES)))
def test_there_is_a_derivative_where_there_is_a_number(
    number: int, target: str
) -> None:
    plain, there, none = CASES[number]
    f = pyrev.differentiable(plain, target=target)
    assert plain(*none) is None
    assert f(*none) is None
    value, pullback = pyrev.vjp(f, *none)
    assert value is None
    assert pullback(1.0 if plain is not a_pair else (1.0, 1.0))["c"] == 0.0
    value, tangents = pyrev.jvp(f, *none, tangents={"c": 1.0})
    assert value is None
    assert tangents["return"] is None

    x, c = there
    wanted = numbers(plain(x, c))
    np.testing.assert_allclose(numbers(f(x, c)), wanted)
    value, pullback = pyrev.vjp(f, x, c)
    np.testing.assert_allclose(numbers(value), wanted)
    step = 1e-6
    slope = (numbers(plain(x, c + step)) - numbers(plain(x, c - step))) / (2 * step)
    _, tangents = pyrev.jvp(f, x, c, tangents={"c": 1.0})
    np.testing.assert_allclose(numbers(tangents["return"]), slope, rtol=1e-6)
    seeds = np.arange(1.0, 1.0 + len(wanted))
    given = tuple(seeds) if plain is a_pair else seeds[0]
    found = pullback(given)
    np.testing.assert_allclose(found["c"], seeds @ slope, rtol=1e-6)
    along = np.zeros(3)
    along[1] = step
    moved = numbers(plain(x + along, c)) - numbers(plain(x - along, c))
    np.testing.assert_allclose(found["x"][1], seeds @ moved / (2 * step), rtol=1e-6)


@pytest.mark.parametrize("target", ["python", "numba"])
def test_what_is_written_besides(target: str) -> None:
    f = pyrev.differentiable(that_writes, target=target)
    out = np.zeros(3)
    value, pullback = pyrev.vjp(f, Y, out, 2.5)
    assert value is None
    np.testing.assert_allclose(out, 0.7 * 2.5)
    assert pullback(out=np.ones(3))["c"] == pytest.approx(3 * 0.7)
    value, pullback = pyrev.vjp(f, Y, out, 1.5)
    assert value == pytest.approx(0.7 * 1.5**2)
    assert pullback(1.0)["c"] == pytest.approx(2 * 0.7 * 1.5)


def test_one_number_is_needed_for_a_gradient() -> None:
    f = pyrev.differentiable(first_number)
    with pytest.raises(pyrev.ArgumentError, match="returns None on some paths"):
        pyrev.value_and_grad(f)(X, 0.5)
