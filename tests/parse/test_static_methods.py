# mypy: disallow-untyped-defs=False, disallow-untyped-calls=False
"""Static methods, and numbers and arrays that classes hold."""

from __future__ import annotations

from enum import IntEnum
from typing import Any

import numpy as np
import pytest

import pyrev
from tests.tools.oracle import check

X = np.array([0.3, 0.7, 1.1])


class Gas:
    rate = 1.5
    weights = np.array([1.0, 2.0, 3.0])
    count = 2
    __hidden = 3.0

    @staticmethod
    def pressure(t):
        return 0.6 * np.exp(t * Gas.rate)

    @staticmethod
    def power(t, k=2.0):
        return Gas.pressure(t) ** k + Gas.weights[1]

    @staticmethod
    def hidden(t):
        return t * Gas.__hidden

    @classmethod
    def of_the_class(cls, t):
        return t * cls.rate

    @property
    def half(self):
        return 0.5


class Steam(Gas):
    rate = 2.5

    class Inner:
        @staticmethod
        def scaled(t):
            return t * Steam.rate


class Level(IntEnum):
    low = 1


def of_arrays(x):
    return np.sum(Gas.pressure(x)) * Gas.rate


def with_defaults(x):
    s = 0.0
    for i in range(len(x)):
        s += Gas.power(x[i]) * Gas.count + Gas.power(x[i], k=3.0) * Gas.weights[i]
    return s


def _twice(g, v):
    return g(v) * 2.0


def handed_on(x):
    return _twice(Gas.power, x[0]) + _twice(g=Steam.pressure, v=x[1])


def of_inner_classes(x):
    return Steam.Inner.scaled(x[0]) * x[1] * Steam.rate


@pytest.mark.parametrize("target", ["python", "numba"])
@pytest.mark.parametrize(
    "plain", [of_arrays, with_defaults, handed_on, of_inner_classes]
)
def test_static_methods_are_functions(plain: Any, target: str) -> None:
    f = pyrev.differentiable(plain, target=target)
    check(f, plain, {"x": X.copy()}, (), np.random.default_rng(1))


def test_what_a_class_holds_is_looked_at_again(monkeypatch: Any) -> None:
    f = pyrev.differentiable(of_arrays)
    pyrev.grad(f)(X)
    monkeypatch.setattr(Gas, "rate", 0.5)
    want = 0.6 * 0.5 * 0.5 * np.exp(0.5 * X)
    np.testing.assert_allclose(pyrev.grad(f)(X).x, want)
    monkeypatch.setattr(Gas, "pressure", staticmethod(lambda t: t * t))
    np.testing.assert_allclose(pyrev.grad(f)(X).x, X)


def a_class_method(x):
    return Gas.of_the_class(x[0])


def a_property(x):
    return Gas.half * x[0]


def a_name_with_underscores(x):
    return Gas.hidden(x[0])


def an_object(x):
    return Gas(x[0])


def an_enumeration(x):
    return x[Level.low]


@pytest.mark.parametrize(
    "plain",
    [a_class_method, a_property, a_name_with_underscores, an_object],
)
def test_other_parts_of_classes_are_refused(plain: Any) -> None:
    with pytest.raises(pyrev.UnsupportedError):
        pyrev.differentiable(plain).adjoint.source  # noqa: B018


def test_a_member_of_an_enumeration_of_integers_is_one() -> None:
    x = np.array([0.5, 2.0, 3.0])
    f = pyrev.differentiable(an_enumeration)
    assert f(x) == an_enumeration(x)
    expected = np.arange(3) == Level.low
    np.testing.assert_array_equal(pyrev.grad(f, wrt="x")(x), expected)
