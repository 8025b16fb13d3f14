from __future__ import annotations

import itertools
import operator
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from pyrev.ir.dtypes import WEAK_FLOAT, WEAK_INT, expr_dtype, infer
from pyrev.ir.nodes import Call, Var
from pyrev.parse import parse, parse_expr

STRONG = [f"{k}int{n}" for k in ("", "u") for n in (8, 16, 32, 64)]
KINDS = [*STRONG, "float32", "float64", WEAK_INT, WEAK_FLOAT]
OPERATORS = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
    "//": operator.floordiv,
    "%": operator.mod,
    "**": operator.pow,
}


def value(kind: str) -> Any:
    if kind == WEAK_INT:
        return 1
    return 1.0 if kind == WEAK_FLOAT else np.dtype(kind).type(1)


def kind_of(result: Any) -> str:
    if type(result) is int:
        return WEAK_INT
    return WEAK_FLOAT if type(result) is float else str(result.dtype)


@pytest.mark.parametrize("op", OPERATORS)
def test_promotion_is_numpys(op: str) -> None:
    for a, b in itertools.product(KINDS, KINDS):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            expected = kind_of(OPERATORS[op](value(a), value(b)))
        got = expr_dtype(Call(op, (Var("x"), Var("y"))), {"x": a, "y": b})
        assert got == expected, (a, op, b)


@pytest.mark.parametrize(
    ("text", "dtype"),
    [
        ("a[i] * 2.0", "float32"),
        ("a[i] * i", "float32"),
        ("a[i] * k[i]", "float64"),
        ("a[i] + b[i]", "float64"),
        ("i / 2", WEAK_FLOAT),
        ("i // 2 + a.shape[0]", WEAK_INT),
        ("k[i] / 2", "float64"),
        ("np.sin(a[i])", "float32"),
        ("np.sin(i)", WEAK_FLOAT),
        ("int(a[i])", WEAK_INT),
        ("a[i] < 2", "bool"),
        ("a[i] if i else 0", "float32"),
        ("max(a[i], 0.0)", "float32"),
        ("i ** -1", WEAK_FLOAT),
        ("i ** 2", WEAK_INT),
        ("float(a[i])", WEAK_FLOAT),
        ("np.float64(a[i])", "float64"),
        ("(a[i] > 0) * a[i]", "float32"),
    ],
)
def test_an_expression_has_the_dtype_numpy_gives_it(text: str, dtype: str) -> None:
    env = {"a": "float32", "b": "float64", "k": "int64", "i": WEAK_INT}
    assert expr_dtype(parse_expr(text), env) == dtype


def accumulates(a, k, n):  # type: ignore[no-untyped-def]
    s = 0.0
    t = 0
    c = 1
    local = np.zeros_like(a)
    for i in range(n):
        s += a[i] * 2.0
        t = t + a[i] * k[i]
        local[i] = s / c
        c += i
    return s, t, c, local


def test_a_scalar_takes_the_dtype_of_what_is_added_to_it() -> None:
    function: Callable[..., Any] = accumulates
    env = infer(parse(function).program, {"a": "float32", "k": "int64", "n": WEAK_INT})
    assert env["s"] == "float32"
    assert env["t"] == "float64"
    assert env["c"] == WEAK_INT
    assert env["local"] == "float32"
    a, k = np.ones(3, np.float32), np.ones(3, np.int64)
    s, t, c, local = function(a, k, 3)
    assert (s.dtype, t.dtype, type(c), local.dtype) == (
        "float32",
        "float64",
        int,
        a.dtype,
    )
