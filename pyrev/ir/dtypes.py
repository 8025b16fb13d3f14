"""Which dtype every name of a program has, by the promotion rules of NumPy 2.

Beside NumPy's own kinds there are two weak ones, `weak int` and `weak float`: Python
numbers, which adapt to what they meet. ``s = 0.0; s += a[i]`` with a float32 array
makes `s` a float32, ``a[i] * 2.0`` stays one, an element of an int64 array beside it
makes a float64. A name has one dtype: the join of all that is assigned to it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache, reduce
from typing import assert_never

import numpy as np

from pyrev.ir.nodes import (
    Add,
    Alloc,
    Assign,
    Block,
    Call,
    Check,
    Const,
    Dtype,
    Expr,
    Extent,
    For,
    Grow,
    If,
    Load,
    Program,
    Promoted,
    Restart,
    Return,
    Saved,
    Tell,
    Var,
    While,
    blocks,
    like,
    parts_of,
    walk,
    with_blocks,
)
from pyrev.ir.primitives import PRIMITIVES

#: What arrays may hold. Beside an int64 NumPy makes floats of a uint64, where compiled
#: code would not: they are refused.
DTYPES = frozenset(
    "bool int8 int16 int32 int64 uint8 uint16 uint32 float32 float64".split()
)
WEAK_INT = "weak int"
WEAK_FLOAT = "weak float"

#: Which dtype an operation gives: asked for every call of a program, again and again.
_RESULTS = {op: p.result for op, p in PRIMITIVES.items()}


def concrete(dtype: str) -> str:
    """The NumPy dtype that stores a value of this kind.

    >>> concrete("weak float"), concrete("float32")
    ('float64', 'float32')
    """
    return {WEAK_INT: "int64", WEAK_FLOAT: "float64"}.get(dtype, dtype)


def is_float(dtype: str) -> bool:
    """Is it a floating-point kind, weak or not?"""
    return dtype in (WEAK_FLOAT, "float32", "float64")


#: Integers of fewer bits than those that count.
NARROW = frozenset({"int8", "int16", "int32", "uint8", "uint16", "uint32"})


@cache
def promote(a: str, b: str) -> str:
    """The dtype of an arithmetic result, of `a` and `b` met.

    >>> promote("float32", "weak float"), promote("float32", "int64")
    ('float32', 'float64')
    >>> promote("weak int", "weak float"), promote("int8", "weak float")
    ('weak float', 'float64')
    """
    if a == b:
        return a
    weak = [k for k in (a, b) if k in (WEAK_INT, WEAK_FLOAT)]
    strong = [k for k in (a, b) if k not in (WEAK_INT, WEAK_FLOAT)]
    match weak, strong:
        case [], [x, y]:
            return np.promote_types(x, y).name
        case [kind], ["bool"]:
            return kind
        case [kind], [x]:
            # A Python float lifts integers to the default float, never above it.
            return x if kind == WEAK_INT or is_float(x) else "float64"
        case _:
            return WEAK_FLOAT


def with_own_dtypes(program: Program) -> Program:
    """The program with no dtype taken from a local array, which may go away, but of
    its copies.
    """
    made: dict[str, Dtype] = {}
    for s in walk(program.body):
        if isinstance(s, Alloc):
            made.setdefault(s.array, s.dtype)
    local = made.keys() - {p.name for p in program.params}

    def origin(dtype: Dtype, seen: frozenset[str]) -> list[Var | str]:
        found: list[Var | str] = []
        for part in parts_of(dtype):
            if isinstance(part, Var) and part.name in local - seen:
                found += origin(made[part.name], seen | {part.name})
            else:
                found.append(part)
        return list(dict.fromkeys(found))

    def own(s: Alloc) -> Alloc:
        if s.source is not None and s.dtype == like(s.source):
            return s  # which is read anyway
        parts = tuple(origin(s.dtype, frozenset()))
        if parts == parts_of(s.dtype):
            return s
        match parts:
            case (str() as only,) if only not in (WEAK_INT, WEAK_FLOAT):
                return replace(s, dtype=only)
        return replace(s, dtype=Promoted(parts))

    def visit(block: Block) -> Block:
        return tuple(
            own(s)
            if isinstance(s, Alloc)
            else with_blocks(s, tuple(map(visit, blocks(s))))
            for s in block
        )

    return replace(program, body=visit(program.body))


def kind(part: Var | str, env: Mapping[str, str]) -> str | None:
    """The dtype of one of `parts_of`; None if it is a name without one yet."""
    return env.get(part.name) if isinstance(part, Var) else part


def _floating(dtype: str) -> str:
    """What division and the math functions make of a dtype."""
    if is_float(dtype):
        return dtype
    return WEAK_FLOAT if dtype in (WEAK_INT, "bool") else "float64"


def _number(dtype: str) -> str:
    """A truth value in arithmetic is a Python int."""
    return WEAK_INT if dtype == "bool" else dtype


def expr_dtype(expr: Expr, env: Mapping[str, str]) -> str:
    """The dtype of an expression; `env` holds the dtypes of scalars and arrays.

    >>> from pyrev.parse import parse_expr
    >>> env = {"a": "float32", "k": "int64", "i": "weak int"}
    >>> [expr_dtype(parse_expr(e), env) for e in ("a[i] * 2.0", "a[i] * k", "i / 2")]
    ['float32', 'float64', 'weak float']
    """
    dtype = known_dtype(expr, env)
    if dtype is None:
        raise KeyError(f"no dtype for a name in {expr}")
    return dtype


def known_dtype(expr: Expr, env: Mapping[str, str]) -> str | None:
    """The same; None where the dtype depends on a name that has none yet."""
    # By how often they occur: every pass over a program asks for every expression.
    if isinstance(expr, Call):
        return call_dtype(expr.op, [known_dtype(a, env) for a in expr.args], expr.args)
    if isinstance(expr, Var):
        return env.get(expr.name)
    if isinstance(expr, Load):
        return env.get(expr.array)
    if isinstance(expr, Const):
        if isinstance(expr.value, bool):
            return "bool"
        return WEAK_INT if isinstance(expr.value, int) else WEAK_FLOAT
    if isinstance(expr, Extent):
        return WEAK_INT
    if isinstance(expr, Saved):
        return known_dtype(expr.expr, env)
    assert_never(expr)


def call_dtype(
    op: str, kinds: Sequence[str | None], args: tuple[Expr, ...]
) -> str | None:
    """The dtype of ``op(args)`` for arguments of these kinds; None if it is open."""
    result = _RESULTS.get(op, "float")
    match result:
        case "truth":
            return "bool"
        case "own":
            return op
        case "int":
            return WEAK_INT
        case "real":
            return WEAK_FLOAT
        case "first":
            return kinds[0]
        case "choice":
            kinds = kinds[1:]
    known = [k for k in kinds if k is not None]
    if not known:
        return None
    joined = reduce(promote, known)
    if result in ("joined", "choice"):
        return joined
    if result == "number":
        return _number(joined)
    if result == "power":
        power = args[1]
        if isinstance(power, Const) and power.value < 0 or is_float(joined):
            return _floating(joined)
        return _number(joined)
    return _floating(joined)


def wraps(expr: Expr, types: Mapping[str, str]) -> bool:
    """May `expr` be arithmetic modulo its width?

    So are integers of NumPy's, of any width: ``d * -k`` is not ``-(d * k)`` for an
    unsigned `k`, nor ``d * (2 * k)`` the same as ``2 * d * k`` for one of 8 bits. What
    has no dtype in `types` may be one.
    """
    dtype = known_dtype(expr, types)
    return dtype is None or not (is_float(dtype) or dtype == WEAK_INT)


def as_float(value: Expr, types: Mapping[str, str], beside: Expr) -> Expr:
    """`value`, made a float if it may be an integer that goes around.

    It is a float32 only where what it meets is `beside` one: with a Python float, which
    is as precise as a float64, it would make a float32.
    """
    if not wraps(value, types):
        return value
    kind = known_dtype(value, types) or "int64"
    single = known_dtype(beside, types) == "float32"
    wide = promote(kind, "float32") if single else "float64"
    return Call(wide, (value,), loc=value.loc)


def as_wide(value: Expr, dtype: str, types: Mapping[str, str]) -> Expr:
    """A term of a sum of this dtype: a narrower one is made as wide first.

    ``s = 0.0`` takes the dtype of what is added to it, were that the derivative of a
    float64 or not.
    """
    if dtype == "float64" and known_dtype(value, types) == "float32":
        return Call("float64", (value,), loc=value.loc)
    return value


def infer(program: Program, dtypes: Mapping[str, str] | None = None) -> dict[str, str]:
    """The dtype of every parameter, scalar, loop index and array of a program.

    `dtypes` overrides what the parameters declare; a Python number may be given as
    `weak int` or `weak float`.
    """
    env = _Kinds({p.name: p.dtype for p in program.params})
    env.update(dtypes or {})
    fixed = {p.name for p in program.params if p.rank}
    while True:
        before, env.open = dict(env), False
        for s in walk(program.body):
            match s:
                case For(index):
                    _join(env, index, WEAK_INT)
                case While():
                    if s.index:
                        _join(env, s.index, WEAK_INT)
                case Assign(Var(name), value):
                    _join(env, name, known_dtype(value, env))
                case Add(Var(name), value):
                    kinds = [env.get(name), known_dtype(value, env)]
                    _join(env, name, call_dtype("+", kinds, ()))
                case Alloc(array, _, _, dtype) if array not in fixed:
                    kinds = [kind(t, env) for t in parts_of(dtype)]
                    known = [k for k in kinds if k is not None]
                    if len(known) == len(kinds):
                        made = concrete(reduce(promote, known))
                        env.open = env.open or env.setdefault(array, made) != made
                        env[array] = made
                case Assign() | Add() | Alloc() | Grow() | If() | Check():
                    pass
                case Tell() | Restart() | Return():
                    pass
                case _:
                    assert_never(s)
        if not env.open or env == before:
            return dict(env)


class Floats(dict[str, str]):
    """The dtypes of a program, and of its derivative: all new names in it are floats.

    >>> expr_dtype(Var("d_x"), Floats({"x": "uint8"}))
    'float64'
    """

    def get(self, name: str, default: str | None = None) -> str | None:  # type: ignore[override]
        return super().get(name, "float64")


class _Kinds(dict[str, str]):
    """The dtypes found so far.

    `open` says that something was read before it had its last one: only then does
    another walk over the program find more.
    """

    open = False

    def get(self, name: str, default: str | None = None) -> str | None:  # type: ignore[override]
        found = super().get(name)
        self.open = self.open or found is None
        return found


def _join(env: _Kinds, name: str, dtype: str | None) -> None:
    if dtype is None:
        return
    if name not in env:
        env[name] = dtype
    elif (joined := promote(env[name], dtype)) != env[name]:
        env[name] = joined
        env.open = True
