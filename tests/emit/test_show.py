from __future__ import annotations

import ast
import math

import numpy as np
import pytest

import pyrev
from pyrev.ir.nodes import (
    NOWHERE,
    ONE,
    ZERO,
    Add,
    Alloc,
    Assign,
    Call,
    Const,
    Expr,
    Extent,
    For,
    If,
    Load,
    Param,
    Program,
    Restart,
    Return,
    Saved,
    Var,
    like,
)
from pyrev.ir.special import SPECIAL
from pyrev.ir.text import (
    BINARY,
    COMPARE,
    FUNCTIONS,
    block_text,
    expr_text,
    program_text,
)
from pyrev.parse import parse_expr

X, Y, Z = Var("x"), Var("y"), Var("z")


def op(name: str, *args: Expr) -> Call:
    return Call(name, args)


@pytest.mark.parametrize(
    ("expr", "text"),
    [
        (op("-", X, op("-", Y, Z)), "x - (y - z)"),
        (op("+", X, op("neg", op("*", Y, Z))), "x - y * z"),
        (op("-", X, op("neg", Y)), "x + y"),
        (op("+", X, Const(-1)), "x - 1"),
        (op("-", X, Const(-2.5)), "x + 2.5"),
        (op("**", op("neg", X), op("neg", Y)), "(-x) ** -y"),
        (op("neg", op("**", X, Y)), "-x ** y"),
        (op("*", Const(-2), X), "-2 * x"),
        (Const(-0.0), "-0.0"),
        (Const(float("inf")), "np.inf"),
        (Const(float("-inf")), "-np.inf"),
        (Const(float("nan")), "np.nan"),
        (Const(True), "True"),
        (Const(1e-30), "1e-30"),
        (
            op("where", op("<", X, Y), X, op("where", Z, X, Y)),
            "x if x < y else x if z else y",
        ),
        (op("+", op("where", X, Y, Z), X), "(y if x else z) + x"),
        (op("min", op("min", X, Y), Z), "min(x, y, z)"),
        (op("min", X, op("min", Y, Z)), "min(x, min(y, z))"),
        (op("and", op("and", X, Y), op("or", X, Z)), "x and y and (x or z)"),
        (op("not", op("==", X, Y)), "not x == y"),
        (op("asin", X), "np.arcsin(x)"),
        (op("erf", X), "math.erf(x)"),
        (op("float32", X), "np.float32(x)"),
        (op("int", op("floor", X)), "int(np.floor(x))"),
        (Load("a", (op("+", X, Y), ZERO)), "a[x + y, 0]"),
        (Extent("a", 1), "a.shape[1]"),
        (Saved(3, Load("a", (X,))), "saved(3, a[x])"),
    ],
)
def test_an_expression_looks_as_written_by_hand(expr: Expr, text: str) -> None:
    assert expr_text(expr) == text


# `stop_gradient` is pyrev's; the others are defined in the texts that call them.
@pytest.mark.parametrize(
    "name", sorted({*FUNCTIONS, *BINARY, *COMPARE} - {"along", "by_rule"})
)
def test_every_operation_has_a_spelling_that_runs(name: str) -> None:
    two = {"min", "max", "minimum", "maximum", "fmin", "fmax", "atan2", "hypot"}
    two |= {"copysign", "fmod", "polygamma", *BINARY, *COMPARE}
    args = (X, Y) if name in two else (X,)
    whole = name in ("&", "|", "^", "<<", ">>", "%")
    values = {"x": 1, "y": 2} if whole else {"x": 0.5, "y": 2.0}
    if name == "acosh":
        values = {"x": 1.5}
    known = {"np": np, "math": math, "stop_gradient": pyrev.stop_gradient}
    known |= SPECIAL
    result = eval(expr_text(Call(name, args)), {**known, **values})
    assert np.isfinite(result)


@pytest.mark.parametrize(
    "text",
    [
        "a[i, j] * 2.0 - b[i] / (x + 1)",
        "-x ** 2 + (-x) ** 2",
        "x if x < 3 and not y >= 2 else min(x, y, 1)",
        "np.exp(-x * x) / np.sqrt(2.0)",
        "i // 2 % 3 - a.shape[0]",
    ],
)
def test_text_and_expression_are_the_same_thing(text: str) -> None:
    assert expr_text(parse_expr(text)) == text


def test_signs_and_products_shorten_an_assignment() -> None:
    a = Load("a", (X,))
    block = (
        Add(a, op("neg", op("*", Y, Z))),
        Add(a, Const(-2.0)),
        Assign(a, op("*", a, Y)),
        Assign(a, op("/", a, op("+", Y, Z))),
        Assign(a, op("*", Y, a)),
        Assign(X, op("+", X, Y)),
    )
    assert block_text(block).splitlines() == [
        "a[x] -= y * z",
        "a[x] -= 2.0",
        "a[x] *= y",
        "a[x] /= y + z",
        "a[x] = y * a[x]",
        "x = x + y",
    ]


@pytest.mark.parametrize(
    ("loop", "text"),
    [
        (For("i", ZERO, X, ONE, ()), "range(x)"),
        (For("i", ONE, X, ONE, ()), "range(1, x)"),
        (For("i", ZERO, X, Const(2), ()), "range(0, x, 2)"),
        (For("i", X, Const(-1), Const(-1), ()), "range(x, -1, -1)"),
        (For("i", ZERO, X, ONE, (), reverse=True), "reversed(range(x))"),
    ],
)
def test_a_range_has_only_the_arguments_it_needs(loop: For, text: str) -> None:
    assert block_text((loop,), 1) == f"    for i in {text}:\n        pass"


def test_a_new_array_is_made_by_the_shortest_call() -> None:
    shape = (Extent("a", 0), Extent("a", 1))
    two = (X, op("+", Y, ONE))
    made = [
        (Alloc("b", shape, Const(0.0), like("a")), "np.zeros_like(a)"),
        (Alloc("b", shape, Const(1.0), like("a")), "np.ones_like(a)"),
        (Alloc("b", shape, None, like("a")), "np.empty_like(a)"),
        (Alloc("b", shape, Const(-0.0), like("a")), "np.full_like(a, -0.0)"),
        (Alloc("b", shape, Const(0.0), "float64"), "np.zeros(a.shape)"),
        (Alloc("b", shape, None, "float32"), "np.empty(a.shape, dtype=np.float32)"),
        (
            Alloc("b", shape[:1], Const(0.0), like("a")),
            "np.zeros(a.shape[0], dtype=a.dtype)",
        ),
        (Alloc("b", two, Const(0.0), "float64"), "np.zeros((x, y + 1))"),
        (Alloc("b", two, X, "float64"), "np.full((x, y + 1), x, dtype=np.float64)"),
        (Alloc("b", (X,), Const(True), "bool"), "np.ones(x, dtype=np.bool_)"),
        (
            Alloc("b", (X,), Const(0.0), like("x")),
            "np.zeros(x, dtype=np.result_type(x))",
        ),
        (Alloc("b", shape, None, like("a"), source="a"), "a.copy()"),
        (Alloc("b", shape, None, "float64", source="a"), "a.astype(np.float64)"),
    ]
    for alloc, text in made:
        params = (Param("a", 2, "float64"), Param("x", 0, "int64"))
        program = Program("f", params, (alloc,))
        assert program_text(program).splitlines()[1] == f"    b = {text}"


def test_a_program_is_a_function() -> None:
    body = (
        Alloc("b", (Extent("a", 0),), Const(0.0), like("a")),
        For(
            "i",
            ZERO,
            Extent("a", 0),
            ONE,
            (If(op("<", Load("a", (Var("i"),)), Const(0.0)), (Add(X, ONE),)),),
            note="serial",
        ),
        Return((Var("b"), X), single=False),
    )
    program = Program("f", (Param("a", 1, "float64"), Param("x", 0, "float64")), body)
    text = program_text(program)
    assert text.splitlines() == [
        "def f(a, x):",
        "    b = np.zeros_like(a)",
        "    for i in range(a.shape[0]):  # serial",
        "        if a[i] < 0.0:",
        "            x += 1",
        "    return b, x",
    ]
    ast.parse(text)


@pytest.mark.parametrize(
    ("stmt", "text"),
    [
        (Return((X,), single=True), "return x"),
        (Return((X,), single=False), "return (x,)"),
        (Return((), single=False), "return"),
        (Restart(4), "restart(4)"),
    ],
)
def test_the_other_statements(stmt: Return | Restart, text: str) -> None:
    assert stmt.loc == NOWHERE
    assert block_text((stmt,)) == text
