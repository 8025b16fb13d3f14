"""Every rewrite of an expression, for every dtype, against NumPy's own arithmetic.

Integers of some width are arithmetic modulo that width: signs and factors that may be
moved through floats may not be moved through them. Here each text that the rewrites
make is evaluated beside the one that the user wrote, at the ends of each dtype.
"""

# mypy: disallow-untyped-defs=False, disallow-untyped-calls=False
from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from pyrev.adjoint.elimination import partial_of, product_of, sum_of
from pyrev.adjoint.rules import RULES
from pyrev.analysis.narrow_integers import widened
from pyrev.ir.dtypes import DTYPES, infer
from pyrev.ir.nodes import Const, Program, Return, Var
from pyrev.ir.simplify import add, mul, neg
from pyrev.ir.text import expr_text, program_text
from pyrev.parse import parse_expr, parse_text

#: Beside an int64 NumPy makes floats of it: a call with one is refused.
UNKNOWN = {"uint64"}
EVERY = sorted(DTYPES | UNKNOWN)
KNOWN = sorted(DTYPES)

FACTORS = [
    "k",
    "-k",
    "-(-k)",
    "2 * k",
    "k * 2",
    "-(2 * k)",
    "2 * -k",
    "2 * (3 * k)",
    "-(k - 7)",
    "-(k + m)",
    "k * -m",
    "-k * m",
    "k - -m",
    "k + -m",
    "7 - (k - m)",
    "-k / 2",
    "2 * k / 3",
    "-k / -m",
    "2.5 * k",
    "-(k * 2.5)",
    "1 * k",
    "1.0 * k",
    "k * k",
    "k ** 2",
    "abs(k)",
    "-abs(k)",
    "k // 2 * 2",
    "-k // 3",
    "k % 5 - 7",
    "-(k % 5)",
    "k << 1",
    "-(k >> 1)",
    "~k + 1",
    "min(k, m) - max(k, m)",
    "-(k if k > 3 else m)",
    "3",
]
STATEMENTS = [
    "t += {}",
    "t -= {}",
    "t = t + {}",
    "t = t - {}",
    "t += -({})",
    "t -= -({})",
    "t = t - -({})",
    "t = -({}) + t",
]


def _values(dtype: str) -> list[Any]:
    kind = np.dtype(dtype).type
    if dtype == "bool":
        return [kind(False), kind(True)]
    if dtype.startswith("float"):
        return [kind(v) for v in (0.0, 1.0, -1.0, 127.0, 0.3, -2.5e10)]
    ends = np.iinfo(dtype)
    some = (0, 1, -1, 7, 100, 127, 128, 200, ends.min, ends.min + 1, ends.max)
    return [kind(v) for v in dict.fromkeys(some) if ends.min <= v <= ends.max]


def _pairs(dtype: str) -> Iterator[dict[str, Any]]:
    values = _values(dtype)
    for n, k in enumerate(values):
        yield {"k": k, "m": values[(n * 3 + 1) % len(values)], "np": np}


def _evaluated(text: str, names: dict[str, Any]) -> Any:
    """What NumPy says; None where it raises."""
    with np.errstate(all="ignore"):
        try:
            return eval(text, {}, names)
        except (TypeError, ArithmeticError, ValueError):
            return None


def _same(found: Any, expected: Any, digits: float = 1e-14) -> bool:
    return bool(np.isclose(found, expected, rtol=digits, atol=0.0, equal_nan=True))


def _read(text: str, types: dict[str, str]) -> Any:
    """The expression as derivatives get it: as it is behind `widened`."""
    program = parse_text(f"def f(k, m):\n    return {text}")
    params = tuple(replace(p, dtype=types[p.name]) for p in program.params)
    last = widened(replace(program, params=params), types).body[-1]
    assert isinstance(last, Return)
    return last.values[0]


@pytest.mark.slow
@pytest.mark.parametrize("dtype", EVERY)
@pytest.mark.parametrize("wide", ["float32", "float64"])
def test_a_product_is_what_numpy_says(dtype: str, wide: str) -> None:
    types = {"k": dtype, "m": dtype, "d": wide}
    d = np.dtype(wide).type(1.5)
    seen = 0
    for factor in FACTORS:
        if dtype == "bool" and len(re.findall(r"\b[km]\b", factor)) > 1:
            continue  # NumPy's truth values do not count, and are refused
        for e in (parse_expr(factor), _read(factor, types)):
            made = {
                f"d * ({factor})": mul(Var("d"), e, types),
                f"({factor}) * d": mul(e, Var("d"), types),
                f"-(d * ({factor}))": neg(mul(Var("d"), e, types)),
                f"-1.0 * ({factor})": mul(Const(-1.0), e, types),
                f"2.0 * ({factor})": mul(Const(2), e, types),
                f"1.0 * ({factor}) * 3.0": mul(
                    Const(3.0), mul(Const(1.0), e, types), types
                ),
                f"d + d * ({factor})": add(Var("d"), mul(Var("d"), e, types)),
            }
            if dtype != "bool":  # which has no sign
                made[f"-(1.0 * ({factor}))"] = neg(mul(Const(1.0), e, types))
            for text, rewritten in made.items():
                for names in _pairs(dtype):
                    names["d"] = d
                    expected = _evaluated(text, names)
                    if expected is None:
                        continue
                    found = _evaluated(expr_text(rewritten), names)
                    digits = 1e-6 if "float32" in (dtype, wide) else 1e-14
                    assert _same(found, expected, digits), (text, names)
                    seen += 1
    assert seen > 50


@pytest.mark.slow
@pytest.mark.parametrize("dtype", KNOWN)
@pytest.mark.parametrize("wide", ["float32", "float64", "int64", "int16", "uint8"])
def test_an_increment_is_what_numpy_says(dtype: str, wide: str) -> None:
    seen = 0
    start = EVERY.index(dtype)
    for n, factor in enumerate(FACTORS):
        statement = STATEMENTS[(start + n) % 8]
        line = re.sub(r"\b[km]\b", r"\g<0>[0]", statement.format(factor))
        text = f"def f(t, k, m):\n    {line}\n    return t\n"
        program = parse_text(text)
        types = {"t": wide, "k": dtype, "m": dtype}
        params = tuple(replace(p, dtype=types[p.name]) for p in program.params)
        program = replace(program, params=params)
        made = program_text(widened(program, infer(program)))
        own: dict[str, Any] = {}
        other: dict[str, Any] = {"np": np}
        exec(text, own)
        exec(made, other)
        for names in _pairs(dtype):
            given = (_values(wide)[-1], [names["k"]], [names["m"]])
            with np.errstate(all="ignore"):
                try:
                    expected = own["f"](*given)
                except (TypeError, ArithmeticError, ValueError):
                    continue
                assert _same(other["f"](*given), expected), (made, given)
            seen += 1
    assert seen > 20


@pytest.mark.parametrize("dtype", EVERY)
def test_partials_are_multiplied_and_added_as_floats(dtype: str) -> None:
    types = {"x": "float64", "k": dtype, "m": dtype}
    k, m = (partial_of("*", (Var("x"), Var(n)), 0, types) for n in "km")
    for names in _pairs(dtype):
        p, q = float(names["k"]), float(names["m"])
        product = eval(expr_text(product_of(k, m, types)), {}, names)
        assert _same(product, p * q, 1e-6)
        total = eval(expr_text(sum_of(k, m)), {}, names)
        assert np.isclose(total, p + q, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("dtype", EVERY)
@pytest.mark.parametrize("op", ["**", "atan2", "hypot", "/", "%", "fmod", "*"])
def test_a_partial_computes_in_floats_beside_an_integer(op: str, dtype: str) -> None:
    """The integer in either place, the float that moves in the other."""
    for place in (0, 1):
        args = (Var("k"), Var("x")) if place == 0 else (Var("x"), Var("k"))
        types = {"k": dtype, "x": "float64"}
        slope = partial_of(op, args, 1 - place, types)
        rule = RULES[op].partials[1 - place]
        for value in _values(dtype):
            if (op, dtype) == ("**", "int64") and value == np.iinfo(dtype).min:
                continue  # its power is none that a gradient is for: docs/kinks.md
            for x in (0.75, 2.5):
                names = {"np": np, "x": np.float64(x), "k": value}
                pair = [value, x] if place == 0 else [x, value]
                plain = dict(zip("ab", map(np.float64, pair), strict=True))
                whole = expr_text(parse_expr("a / b" if op == "/" else "a ** b"))
                plain["y"] = _evaluated(whole, dict(plain))
                expected = _evaluated(expr_text(rule), plain | {"np": np})
                found = _evaluated(expr_text(slope), names)
                if np.isfinite(expected):
                    assert _same(found, expected, 1e-6), (op, place, value, x)


def test_an_unsigned_sign_is_written_as_a_difference() -> None:
    program: Program = parse_text("def f(x, k):\n    return x + -k\n")
    params = tuple(
        replace(p, dtype="uint8") if p.name == "k" else p for p in program.params
    )
    program = replace(program, params=params)
    made = program_text(widened(program, infer(program)))
    assert "return x + (0 - k)" in made
