"""A helper with a rule of its own: what the rule gives, and that it is linear."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from pyrev.algebra import number
from pyrev.ir import (
    Add,
    Alloc,
    Assign,
    Block,
    Call,
    Const,
    Expr,
    Load,
    Loc,
    Var,
    exprs,
    names,
    walk,
    written,
)

NOTHING = Const(0.0)


def not_linear(block: Block, results: Sequence[Expr], seed: str) -> Loc | None:
    """Where a rule is not linear in its cotangent `seed`; None if it is.

    `block` is the rule's body. Linear: a sum of terms with one factor from the
    cotangent each, on every path, where nothing else depends on the cotangent.
    """
    moved = {seed}
    size = 0
    while size < len(moved):
        size = len(moved)
        for s in walk(block):
            if isinstance(s, (Assign, Add)) and names(s.value) & moved:
                moved.add(s.target_name)
            if isinstance(s, Alloc) and s.fill is not None and names(s.fill) & moved:
                moved.add(s.array)
    for s in walk(block):
        match s:
            case Assign(Var(name), value) | Add(Var(name), value) if name in moved:
                if not _linear(value, moved):
                    return s.loc
            case Assign(Load()) | Add(Load()) | Alloc():
                if any(names(e) & moved for e in exprs(s)):
                    return s.loc
            case _:
                if any(names(e) & moved for e in exprs(s)):
                    return s.loc
    for value in results:
        if not _linear(value, moved):
            return value.loc
    return None


def reaches(sources: Sequence[Var], block: Block, results: Sequence[Expr]) -> bool:
    """Does one of `sources` flow into `results`, by way of `block` or at once?"""
    marked = {v.name for v in sources}
    size = 0
    while size < len(marked):
        size = len(marked)
        for s in walk(block):
            own = frozenset().union(*(names(e) for e in exprs(s)))
            if own & marked:  # a test or a subscript counts as well
                marked |= written((s,))
    return any(names(e) & marked for e in results)


def _linear(value: Expr, moved: set[str]) -> bool:
    """Is `value` zero wherever what is `moved` is, and linear in it?"""
    match value:
        case Const():
            return number(value) == 0
        case Var(name):
            return name in moved
        case Call("+" | "-", args):
            return all(_linear(a, moved) for a in args)
        case Call("neg" | "float" | "float32" | "float64", (x,)):
            return _linear(x, moved)
        case Call("*", (a, b)):
            fixed = [not names(e) & moved for e in (a, b)]
            return fixed[0] and _linear(b, moved) or fixed[1] and _linear(a, moved)
        case Call("/", (a, b)):
            return not names(b) & moved and _linear(a, moved)
        case Call("where", (test, a, b)):
            return not names(test) & moved and all(_linear(e, moved) for e in (a, b))
    return False


def at_one(seed: str) -> Callable[[Expr], Expr]:
    """What `map_expr` sets the cotangent `seed` to one with.

    What `NOTHING` takes part in goes. Factors of one stay until dtypes are known: they
    are what makes floats of integers.

    >>> from pyrev.ir import map_expr
    >>> from pyrev.parse import parse_expr
    >>> from pyrev.show import expr_text
    >>> expr_text(map_expr(parse_expr("2 * (d * x) + d / y"), at_one("d")))
    '2 * (1.0 * x) + 1.0 / y'
    """

    def visit(e: Expr) -> Expr:
        match e:
            case Var(name) if name == seed:
                return Const(1.0)
            case Call("*" | "/" | "neg", args) if any(a is NOTHING for a in args):
                return NOTHING
            case Call("+", (a, b)) if a is NOTHING or b is NOTHING:
                return b if a is NOTHING else a
            case Call("-", (a, b)) if b is NOTHING:
                return a
        return e

    return visit
