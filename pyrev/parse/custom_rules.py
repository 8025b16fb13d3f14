"""A helper with a rule of its own: what the rule gives, and that it is linear."""

from __future__ import annotations

from collections.abc import Iterable, Sequence, Set

from pyrev.ir.nodes import (
    Add,
    Alloc,
    Assign,
    Block,
    Call,
    Const,
    Expr,
    Load,
    Loc,
    Stmt,
    Var,
    blocks,
    exprs,
    map_block,
    map_expr,
    names,
    walk,
    with_blocks,
    written,
)
from pyrev.ir.simplify import number

#: What a cotangent is that is zero, told by identity: a user's 0.0 is none.
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


def without(
    block: Block, results: Sequence[Expr], gone: Iterable[str]
) -> tuple[Block, tuple[Expr, ...]]:
    """A rule where the cotangents `gone` are zero: what they take part in goes.

    It is linear in them, and a factor of theirs that is infinite makes no nan of zero.

    >>> from pyrev.parse import parse_block, parse_expr
    >>> from pyrev.ir.text import expr_text
    >>> block = parse_block("t = -dq; s = dp")
    >>> _, (found,) = without(block, [parse_expr("t / x + (s * x - dq)")], ["dq"])
    >>> expr_text(found)
    's * x'
    """
    values: dict[str, list[Expr]] = {}
    for s in walk(block):
        if isinstance(s, (Assign, Add)) and isinstance(s.target, Var):
            values.setdefault(s.target.name, []).append(s.value)
    known = {*gone, *values}

    def drop(e: Expr) -> Expr:
        return NOTHING if isinstance(e, Var) and e.name in known else _dropped(e)

    while more := {
        n
        for n in known & values.keys()
        if any(map_expr(e, drop) is not NOTHING for e in values[n])
    }:
        known -= more
    kept = tuple(s for t in block for s in _kept(t, known))
    return map_block(kept, drop), tuple(map_expr(e, drop) for e in results)


def _dropped(e: Expr) -> Expr:
    """An operation less the operands that are `NOTHING`, itself if that is its law."""
    match e:
        case Call("*" | "/" | "neg" | "float" | "float32" | "float64", args):
            return NOTHING if any(a is NOTHING for a in args) else e
        case Call("where", (_, a, b)) if a is NOTHING and b is NOTHING:
            return NOTHING
        case Call("+", (a, b)) if a is NOTHING or b is NOTHING:
            return b if a is NOTHING else a
        case Call("-", (a, b)) if b is NOTHING:
            return a
        case Call("-", (a, b)) if a is NOTHING:
            return Call("neg", (b,), loc=e.loc)
    return e


def _kept(stmt: Stmt, gone: Set[str]) -> Block:
    """A statement less the assignments to the scalars in `gone`."""
    if isinstance(stmt, (Assign, Add)) and isinstance(stmt.target, Var):
        return () if stmt.target.name in gone else (stmt,)
    inner = tuple(tuple(s for t in b for s in _kept(t, gone)) for b in blocks(stmt))
    return (with_blocks(stmt, inner) if inner else stmt,)
