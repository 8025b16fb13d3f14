"""Smart constructors: products, sums and selections without needless ones and zeros.

They keep values exactly: only identities that hold for every float (1*x, x/1, -(-x),
x**1) are used, of floats alone where integers of some width would go around, and
constants are folded where both sides are constants. But for one: ``a * (b * x)`` is
``(a * b) * x`` for literals whose product neither overflows nor underflows where one of
the two alone does not, which is equal up to one rounding.
"""

from __future__ import annotations

from collections.abc import Mapping

from pyrev.ir.dtypes import Floats, is_float, known_dtype, wraps
from pyrev.ir.nodes import (
    Call,
    Const,
    Expr,
    Extent,
    Load,
    Saved,
    Var,
    map_expr,
    walk_expr,
)

ZERO_F = Const(0.0)


def number(expr: Expr) -> int | float | None:
    """The value of a numeric constant, else None."""
    if isinstance(expr, Const) and not isinstance(expr.value, bool):
        return expr.value
    return None


def mul(a: Expr, b: Expr, types: Mapping[str, str]) -> Expr:
    """``a * b``, with signs pulled out and factors of one dropped.

    Neither leaves an integer that may go around; `types` are the dtypes of all names.

    >>> from pyrev.parse import parse_expr
    >>> from pyrev.ir.text import expr_text
    >>> d, product = parse_expr("d"), parse_expr("-x / y")
    >>> expr_text(mul(d, product, dict.fromkeys("dxy", "float64")))
    '-(d * x) / y'
    >>> expr_text(mul(d, product, {"d": "float64", "x": "uint8", "y": "float64"}))
    'd * (-x / y)'
    """
    ka, kb = number(a), number(b)
    if ka is not None and kb is not None:
        return Const(ka * kb)
    if kb is not None:
        a, b, ka, kb = b, a, kb, None
    if ka is not None and wraps(b, types):
        return Call("*", (Const(float(ka)), b))
    if ka == 1:
        return b
    match a, b:
        case Const(), _ if (made := _rescaled(ka, b, types)) is not None:
            return made
        case Const(-1 | -1.0), Call("/", (Call("neg", (x,)), y)) if not wraps(x, types):
            return Call("/", (x, y))
        case Const(-1), _ if is_float(known_dtype(b, types) or ""):
            return neg(b)  # of a truth value NumPy has none
        case Call("neg", (x,)), _ if not wraps(x, types):
            return neg(mul(x, b, types))
        case Call("/", (Call("neg", (x,)), y)), _ if not wraps(x, types):
            return neg(mul(Call("/", (x, y)), b, types))
        case _, Call("neg", (x,)) if not wraps(x, types):
            return neg(mul(a, x, types))
        case _, Call("/", (x, y)) if not wraps(x, types):
            return Call("/", (mul(a, x, types), y))
        case _, Call("*", (Const() as k, x)) if number(a) is None:
            if not wraps(x, types) and not wraps(a, types):
                return Call("*", (mul(k, a, types), x))
    return Call("*", (a, b))


def _scaled(a: int | float | None, b: int | float | None) -> int | float | None:
    """The product of two literals, if both are of the size of what is scaled."""
    if a is None or b is None:
        return None
    near = all(2.0**-20 <= abs(k) <= 2.0**20 for k in (a, b))
    return a * b if near else None


def _rescaled(
    k: int | float | None, product: Expr, types: Mapping[str, str]
) -> Expr | None:
    """``k * product`` with one literal: ``6 * x * y`` for three times ``2 * x * y``.

    None if the product begins with none, or one of another size.
    """
    match product:
        case Call("*", (Const() as c, x)) if not wraps(x, types):
            factor = _scaled(k, number(c))
            return None if factor is None else mul(Const(factor), x, types)
        case Call("*", (a, b)) if not wraps(b, types):
            first = _rescaled(k, a, types)
            return None if first is None else Call("*", (first, b))
    return None


def neg(a: Expr) -> Expr:
    """``-a``, never two signs in a row."""
    match a:
        case Call("neg", (x,)):
            return x
        case Const() if (value := number(a)) is not None:
            return Const(-value)
    return Call("neg", (a,))


def unsigned(a: Expr) -> Expr:
    """What is zero where `a` is, without its sign."""
    match a:
        case Call("neg", (x,)):
            return unsigned(x)
    return a


def add(a: Expr, b: Expr) -> Expr:
    """``a + b`` without integer zeros."""
    if number(a) == 0:
        return b
    if number(b) == 0:
        return a
    return Call("+", (a, b))


def add_int(a: Expr, k: int) -> Expr:
    """``a + k`` for an integer expression, constants folded."""
    match a:
        case Const(value) if isinstance(value, int):
            return Const(value + k)
        case Call("+", (x, Const(c))) if isinstance(c, int):
            return add_int(x, c + k)
        case Call("-", (x, Const(c))) if isinstance(c, int):
            return add_int(x, k - c)
    if k == 0:
        return a
    return Call("+", (a, Const(k))) if k > 0 else Call("-", (a, Const(-k)))


def sub_int(a: Expr, b: Expr) -> Expr:
    """``a - b`` for integer expressions, constants folded."""
    if isinstance(b, Const) and isinstance(b.value, int):
        return add_int(a, -b.value)
    return Call("-", (a, b))


def fold(expr: Expr) -> Expr:
    """Fold what a constant exponent or a constant test makes trivial in a partial.

    The names of a partial are floats.
    """
    types = Floats()

    def node(e: Expr) -> Expr:
        match e:
            case Call("*", (a, b)):
                # A quotient is a scale that the rule chose: ``a * a / b`` overflows.
                return e if isinstance(b, Call) and b.op == "/" else mul(a, b, types)
            case Call("neg", (a,)):
                return neg(a)
            case Call("-", (Const(), Const())) | Call("+", (Const(), Const())):
                p, q = number(e.args[0]), number(e.args[1])
                if p is not None and q is not None:
                    return Const(p - q if e.op == "-" else p + q)
            case Call("**", (a, Const(k))) if k == 1 and not isinstance(k, bool):
                return a
            case Call("==", (Const(), Const())):
                return Const(number(e.args[0]) == number(e.args[1]))
            case Call("abs", (Const(),)) if (value := number(e.args[0])) is not None:
                return Const(abs(value))
            case Call("and", (a, Const(bool(t)))) | Call("and", (Const(bool(t)), a)):
                return a if t else Const(False)
            case Call("where", (Const(t), a, b)):
                return a if t else b
        return e

    return map_expr(expr, node)


def divides(expr: Expr) -> bool:
    """May evaluating `expr` divide an integer by zero?"""
    return any(
        isinstance(e, Call)
        and e.op in ("//", "%")
        and not (isinstance(e.args[1], Const) and e.args[1].value)
        for e in walk_expr(expr)
    )


def is_leaf(expr: Expr) -> bool:
    """Cheap enough to be written twice: a constant, a name, one element, an extent."""
    match expr:
        case Const() | Var() | Extent() | Load():
            return True
        case Saved(_, inner):
            return is_leaf(inner)
        case Call("neg", (x,)):
            return is_leaf(x)
    return False
