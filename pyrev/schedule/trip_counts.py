"""How often a loop runs, and which iteration of it is the present one, as expressions.

`trip_count` is exact, `upper` a bound over the iterations of loops around: what a tape
needs that is made before they begin.
"""

from __future__ import annotations

from pyrev.ir.nodes import (
    ONE,
    ZERO,
    Call,
    Const,
    Expr,
    Extent,
    Load,
    Loop,
    Var,
    While,
    walk_expr,
)
from pyrev.ir.ranges import index_range
from pyrev.ir.simplify import add_int, sub_int


def iteration(index: str, lo: Expr, step: Expr) -> Expr:
    """The number of the present iteration, from 0 in the order of the loop's range."""
    distance = sub_int(Var(index), lo) if lo != ZERO else Var(index)
    if step == ONE:
        return distance
    if step == Const(-1):
        return sub_int(lo, Var(index))
    return Call("//", (distance, step))


def trip_count_of(loop: Loop) -> Expr:
    """How often a loop runs, as far as a reader can tell."""
    return Var(loop.count) if isinstance(loop, While) else trip_count(loop)


def trip_count(loop: Loop) -> Expr:
    """How often `loop` runs, or could run if nothing ends it early; never negative."""
    lo, hi, step = loop.lo, loop.hi, loop.step
    if lo == ZERO and step == ONE and isinstance(hi, Extent):
        return hi
    if not (isinstance(step, Const) and isinstance(step.value, int)):
        count: Expr = Call(
            "+", (Call("//", (Call("-", (sub_int(hi, lo), ONE)), step)), ONE)
        )
    elif step.value > 0:
        length = sub_int(hi, lo) if lo != ZERO else hi
        count = length
        if step.value > 1:
            count = Call("//", (add_int(length, step.value - 1), step))
    else:
        length = sub_int(lo, hi)
        count = length
        if step.value < -1:
            width = -step.value
            count = Call("//", (add_int(length, width - 1), Const(width)))
    match count:
        case Const(int(k)):
            return Const(max(k, 0))
    return Call("max", (count, ZERO))


def upper(expr: Expr, outer: dict[str, Loop]) -> Expr | None:
    """An upper bound of an integer expression over all iterations of `outer` loops."""
    return _bound(expr, outer, True)


def _bound(expr: Expr, outer: dict[str, Loop], high: bool) -> Expr | None:
    def go(e: Expr, h: bool = high) -> Expr | None:
        return _bound(e, outer, h)

    match expr:
        case Const() | Extent():
            return expr
        case Var(name) if name in outer:
            found = index_range(outer[name])
            if found is None:
                return None
            return go(found.high if high else found.low)
        case Var():
            return expr
        case Call("+", (a, b)):
            return _both("+", go(a), go(b))
        case Call("-", (a, b)):
            return _both("-", go(a), go(b, not high))
        case Call("neg", (a,)):
            x = go(a, not high)
            return None if x is None else Call("neg", (x,))
        case Call("*", (Const(k), a)) | Call("*", (a, Const(k))) if isinstance(k, int):
            return _both("*", go(a, high if k >= 0 else not high), Const(k))
        case Call("//", (a, Const(k))) if isinstance(k, int) and k > 0:
            return _both("//", go(a), Const(k))
        case Call("min" | "max" as op, (a, b)):
            return _both(op, go(a), go(b))
    mentioned = {e.name for e in walk_expr(expr) if isinstance(e, Var)}
    loads = any(isinstance(e, Load) for e in walk_expr(expr))
    return expr if not loads and not mentioned & set(outer) else None


def _both(op: str, a: Expr | None, b: Expr | None) -> Expr | None:
    if a is None or b is None:
        return None
    if op == "-":
        return sub_int(a, b)
    if op == "+" and isinstance(b, Const) and isinstance(b.value, int):
        return add_int(a, b.value)
    return Call(op, (a, b))
