"""The law of scalar algebra: what `mul` makes is the product, up to one rounding.

Against exact rationals for finite numbers; with infinities, nan, signed zeros and
numbers at the ends of the range against the product as it was written.
"""

from __future__ import annotations

import itertools
import math
import random
from fractions import Fraction

import numpy as np
import pytest

from pyrev.ir.nodes import Call, Const, Expr, Var
from pyrev.ir.simplify import mul
from pyrev.ir.text import expr_text

TYPES = dict.fromkeys("dxyz", "float64")
LITERALS = (2, 0.5, -1, 1, 3, 0.1, -0.75, 57.29577951308232, 1e200, 1e-200, 2.0**-20)
SPECIAL = (0.0, -0.0, math.inf, -math.inf, math.nan, 5e-324, -1e-310, 1.7e308)


def factor(rng: random.Random, depth: int) -> Expr:
    """A product, quotient or negation of names and literals."""
    if not depth or rng.random() < 0.25:
        if rng.random() < 0.4:
            return Const(rng.choice(LITERALS))
        return Var(rng.choice("dxyz"))
    match rng.choice(["*", "*", "*", "/", "neg"]):
        case "neg":
            return Call("neg", (factor(rng, depth - 1),))
        case "/":
            return Call("/", (factor(rng, depth - 1), Var(rng.choice("xyz"))))
        case op:
            return Call(op, (factor(rng, depth - 1), factor(rng, depth - 1)))


def pairs(count: int) -> list[tuple[Expr, Expr]]:
    rng = random.Random(1)
    return [(factor(rng, 3), factor(rng, 3)) for _ in range(count)]


def exact(e: Expr, values: dict[str, Fraction]) -> Fraction:
    match e:
        case Const(value):
            return Fraction(value)
        case Var(name):
            return values[name]
        case Call("neg", (a,)):
            return -exact(a, values)
        case Call("*", (a, b)):
            return exact(a, values) * exact(b, values)
        case Call("/", (a, b)):
            return exact(a, values) / exact(b, values)
    raise AssertionError(expr_text(e))


def literals(e: Expr) -> int:
    match e:
        case Const():
            return 1
        case Call(_, args):
            return sum(map(literals, args))
    return 0


def test_the_product_of_exact_numbers_is_that_of_the_factors() -> None:
    values = {"d": Fraction(3, 7), "x": Fraction(-5, 2), "y": Fraction(11, 3)}
    values["z"] = Fraction(1, 9)
    folded = 0
    for a, b in pairs(2000):
        made = mul(a, b, TYPES)
        want = exact(a, values) * exact(b, values)
        # Each pair of literals that is multiplied is rounded once.
        times = literals(Call("*", (a, b))) - literals(made)
        folded += times > 0
        error = abs(exact(made, values) - want)
        assert error <= abs(want) * times * Fraction(1, 2**53), expr_text(made)
    assert folded > 100


def evaluated(e: Expr, values: dict[str, np.float64]) -> np.float64:
    with np.errstate(all="ignore"):
        return np.float64(eval(expr_text(e), {"np": np}, dict(values)))  # noqa: S307


@pytest.mark.slow
def test_infinities_nan_and_the_signs_of_zeros_are_those_of_the_factors() -> None:
    rng = random.Random(2)
    for a, b in pairs(400):
        made, plain = mul(a, b, TYPES), Call("*", (a, b))
        for some in rng.sample([*itertools.product(SPECIAL, repeat=4)], 12):
            values = dict(zip("dxyz", map(np.float64, some), strict=True))
            got, want = evaluated(made, values), evaluated(plain, values)
            if np.isnan(want) or np.isinf(want) or want == 0:
                if spread(plain, values) or spread(made, values):
                    continue  # a step on the way leaves the range, the product may not
                assert repr(got) == repr(want), (
                    expr_text(plain),
                    expr_text(made),
                    some,
                )


def spread(e: Expr, values: dict[str, np.float64]) -> bool:
    """Does a part of finite numbers other than zero overflow, or get to be zero?"""
    if not isinstance(e, Call):
        return False
    if any(spread(a, values) for a in e.args):
        return True
    parts = [evaluated(a, values) for a in e.args]
    found = evaluated(e, values)
    plain = all(np.isfinite(p) and p != 0 for p in parts)
    return plain and (not np.isfinite(found) or abs(found) < 1e-300)


@pytest.mark.parametrize(
    ("a", "b", "made"),
    [
        (Const(2), Call("*", (Const(0.5), Var("x"))), "x"),
        (Call("*", (Const(0.5), Var("d"))), Call("*", (Const(2), Var("x"))), "d * x"),
        (Const(-1), Call("/", (Call("neg", (Var("x"),)), Var("y"))), "x / y"),
        (
            Const(3),
            Call("*", (Call("*", (Const(2), Var("x"))), Var("y"))),
            "6 * x * y",
        ),
        (
            Const(1e200),
            Call("*", (Const(1e200), Var("x"))),
            "1e+200 * (1e+200 * x)",
        ),
    ],
)
def test_what_is_written(a: Expr, b: Expr, made: str) -> None:
    assert expr_text(mul(a, b, TYPES)) == made
