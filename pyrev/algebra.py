"""Smart constructors: products, sums and selections without needless ones and zeros.

They keep values exactly: only identities that hold for every float (1*x, x/1, -(-x),
x**1) are used, and constants are folded only where both sides are constants.
"""

from __future__ import annotations

from pyrev.ir import (
    Call,
    Const,
    Expr,
    Extent,
    For,
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


def mul(a: Expr, b: Expr) -> Expr:
    """``a * b``, with signs pulled out and factors of one dropped.

    >>> from pyrev.parse import parse_expr
    >>> from pyrev.show import expr_text
    >>> expr_text(mul(parse_expr("d"), parse_expr("-x / y")))
    '-(d * x / y)'
    """
    match a, b:
        case Const(value), _ if number(a) is not None and value == 1:
            return b
        case _, Const(value) if number(b) is not None and value == 1:
            return a
        case _, Const(value) if number(b) is not None and value == -1:
            return neg(a)
        case Const(value), _ if number(a) is not None and value == -1:
            return neg(b)
        case Call("neg", (x,)), _:
            return neg(mul(x, b))
        case _, Call("neg", (x,)):
            return neg(mul(a, x))
        case _, Call("/", (x, y)):
            return Call("/", (mul(a, x), y))
        case _, Call("*", (Const() as k, x)) if not isinstance(a, Const):
            return Call("*", (mul(k, a), x))
        case Const(), Const():
            p, q = number(a), number(b)
            if p is not None and q is not None:
                return Const(p * q)
        case _, Const() if number(b) is not None:
            return Call("*", (b, a))
    return Call("*", (a, b))


def neg(a: Expr) -> Expr:
    """``-a``, never two signs in a row."""
    match a:
        case Call("neg", (x,)):
            return x
        case Const() if (value := number(a)) is not None:
            return Const(-value)
    return Call("neg", (a,))


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


def iterations(f: For) -> Expr:
    """How many iterations a loop has; not positive if none."""
    match f.step:
        case Const(int(1)):
            return sub_int(f.hi, f.lo)
        case Const(int(k)) if k > 0:
            return Call("//", (sub_int(add_int(f.hi, k - 1), f.lo), f.step))
        case Const(int(k)):
            return Call("//", (sub_int(add_int(f.lo, -k - 1), f.hi), Const(-k)))
        case _:
            whole = Call("-", (f.hi, f.lo))
            return Call("neg", (Call("//", (Call("neg", (whole,)), f.step)),))


def fold(expr: Expr) -> Expr:
    """Fold what a constant exponent or a constant test makes trivial in a partial."""

    def node(e: Expr) -> Expr:
        match e:
            case Call("*", (a, b)):
                return mul(a, b)
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
