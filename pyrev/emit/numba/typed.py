"""Expressions with every conversion written out: Numba's promotion is not NumPy's."""

from __future__ import annotations

import ast

from pyrev.emit.numba.module import Module
from pyrev.ir.affine import integer
from pyrev.ir.dtypes import (
    NARROW,
    WEAK_FLOAT,
    WEAK_INT,
    concrete,
    expr_dtype,
    is_float,
    promote,
)
from pyrev.ir.nodes import ZERO, Call, Const, Expr, Extent, Load, Var, walk_expr
from pyrev.ir.primitives import PRIMITIVES, UNKNOWN
from pyrev.ir.special import SPECIAL
from pyrev.ir.text import call, constant, expr_tree


def printed(m: Module, e: Expr) -> ast.expr:
    """An expression of the program as Python that computes what NumPy would."""
    return expr_tree(typed(m, e)[0])


def typed(m: Module, e: Expr) -> tuple[Expr, str]:
    """The expression with every conversion written out, and its dtype.

    Numba's own promotion differs from NumPy's: a float32 beside a Python number, or
    beside an integer, would become a float64.
    """
    if isinstance(e, Var) and e.name in m.ranks:
        return e, m.types[e.name]
    dtype = expr_dtype(e, m.types)
    match e:
        case Const() | Var() | Extent():
            return e, dtype
        case Load(array, index):
            return Load(array, tuple(position(m, i) for i in index)), dtype
        case Call(op, args):
            return operation(m, op, args, dtype), dtype
        case _:
            raise AssertionError("a saved value is left over")


def position(m: Module, index: Expr) -> Expr:
    """A subscript: one that may be negative is converted, which says so to those who
    read it, and to what compiles it (`runtime.subscripts`).
    """
    value, dtype = typed(m, index)
    number = integer(index)
    if (
        dtype.startswith("uint") or m.subscripts.natural(index)
        if number is None
        else number >= 0
    ):
        match value:
            case Call("int64", (Var() as plain,)):
                return plain
        return value
    return Call("int64", (value,))


def operation(m: Module, op: str, args: tuple[Expr, ...], dtype: str) -> Expr:
    """An operation whose operands meet in the dtype that NumPy has for it."""
    pairs = [typed(m, a) for a in args]
    kinds = [k for _, k in pairs]
    plain = tuple(a for a, _ in pairs)
    if op in ("stop_gradient", "probe", "by_rule"):
        return plain[0]
    if op == "float":
        return Call("float64", plain)
    if op == "~" and dtype == "bool":
        return Call("not", plain)
    if op == "where":
        test, a, b = pairs
        want = concrete(dtype)
        return Call(op, (test[0], cast(*a, want), cast(*b, want)))
    if op in ("<", "<=", ">", ">=", "==", "!="):
        return Call(op, _meet(pairs, promote(*kinds)))
    if op == "**":
        return power(m, pairs, dtype)
    if op in ("and", "or") and all(k == "bool" for k in kinds):
        return Call(op, plain)
    if op in ("not", "int", "bool", "round", "isnan", "isinf", "isfinite"):
        return Call(op, plain)
    if op in NARROW or op in ("int64", "uint64", "float32", "float64"):
        return Call(op, plain)
    if m.wraps and concrete(dtype) == "int64":
        if m.subscripts.may_wrap(op, args):
            bits = (Call("uint64", (Call("int64", (a,)),)) for a, _ in pairs)
            return Call("int64", (Call(op, tuple(bits)),))
    # `analysis.integer_ranges` looks at counts made of sizes and numbers.
    if op in ("<<", ">>") and not m.subscripts.is_affine(args[1]):
        return _shifted(op, plain, dtype)
    if op == "sign" and dtype.startswith("uint"):
        # Numba's own gives the value back.
        return Call(dtype, (Call(">", (plain[0], ZERO)),))
    known = PRIMITIVES.get(op, UNKNOWN)
    if is_float(dtype) and known.vector and m.loops:
        op = f"{known.vector}_{concrete(dtype)}"
        m.held.add(op)
    out = Call(op, _meet(pairs, dtype))
    if known.numba in SPECIAL:
        m.held.add(known.numba)
        return Call("float32", (out,)) if dtype == "float32" else out
    return Call(dtype, (out,)) if dtype in NARROW else out


def power(m: Module, pairs: list[tuple[Expr, str]], dtype: str) -> Expr:
    """``a ** b``, in the dtype that NumPy has for it."""
    (base, kind), (exponent, other) = pairs
    match exponent:
        case Const(int(n)) if is_float(dtype):
            base = cast(base, kind, concrete(dtype))
            if n >= 0:
                return Call("**", (base, exponent))
            # Numba's own `x ** -n` raises at zero.
            one = cast(Const(1.0), WEAK_FLOAT, concrete(dtype))
            return Call("/", (one, Call("**", (base, Const(-n)))))
    if is_float(dtype):
        want = concrete(dtype)
        base = cast(base, kind, want)
        if want == "float64" and _is_short_count(exponent, other):
            # Multiplied by itself, which takes a tenth of the time of `pow`.
            above = Call("**", (base, exponent))
            below = Call("**", (base, Call("neg", (exponent,))))
            inverse = Call("/", (cast(Const(1.0), WEAK_FLOAT, want), below))
            return Call("where", (Call(">=", (exponent, ZERO)), above, inverse))
        return Call("**", (base, cast(exponent, other, want)))
    out = Call("**", (base, exponent))
    return Call(dtype, (out,)) if dtype in NARROW else out


def _is_short_count(exponent: Expr, kind: str) -> bool:
    """Is this an integer that may be computed again and again?"""
    if kind not in (WEAK_INT, "int64"):
        return False
    parts = [*walk_expr(exponent)]
    return len(parts) <= 8 and all(
        isinstance(p, (Var, Const, Extent))
        or (isinstance(p, Call) and p.op in ("+", "-", "*", "neg"))
        for p in parts
    )


def zero(dtype: str) -> ast.expr:
    """The zero of a dtype."""
    kind = concrete(dtype)
    if kind == "float64":
        return ast.Constant(0.0)
    if kind == "bool":
        return ast.Constant(False)
    return ast.Constant(0) if kind == "int64" else call(f"np.{kind}", constant(0))


def cast(e: Expr, have: str, want: str) -> Expr:
    """`e`, of kind `have`, as a value of the NumPy dtype `want`."""
    if have == want or concrete(have) == want:
        return e
    match e:
        case Const(bool()):
            return Call(want, (e,))
        case Const(value) if want == "float64":
            return Const(float(value), loc=e.loc)
        case Const(int(value)) if want == "float32":
            return Call(want, (Const(float(value), loc=e.loc),))
    return Call("bool" if want == "bool" else want, (e,))


_ALL = Const(-1)  # every bit


def _meet(pairs: list[tuple[Expr, str]], dtype: str) -> tuple[Expr, ...]:
    """The operands of an operation whose result has this dtype."""
    want = concrete(dtype)
    if want == "float32":
        return tuple(cast(a, k, want) for a, k in pairs)
    if want == "float64":
        # An integer beside a float64 is converted anyway.
        mixed = not any(concrete(k) == want for _, k in pairs)
        return tuple(cast(a, k, want) if mixed or k == "bool" else a for a, k in pairs)
    return tuple(cast(a, k, want) if k == "bool" else a for a, k in pairs)


def _shifted(op: str, operands: tuple[Expr, ...], dtype: str) -> Expr:
    """A shift by any number of bits, as NumPy has it: all of them are shifted out."""
    value, count = operands
    bits = Const(int(concrete(dtype).lstrip("uint")))
    inside = Call("and", (Call("<=", (ZERO, count)), Call("<", (count, bits))))
    gone = ZERO if op == "<<" else Call("where", (Call("<", (value, ZERO)), _ALL, ZERO))
    out = Call("where", (inside, Call(op, operands), gone))
    return Call(concrete(dtype), (out,))
