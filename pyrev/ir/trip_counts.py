"""How often a loop runs, in each form that is asked for; nothing else says it.

range_length   of a range: an expression, not positive where there is nothing in it
trip_count     of a loop, never negative: what sizes and products are made of
iterations     the same in compiled code
linear_trips   a linear form, in which what both ends of a range share goes away
most_trips     at most, in any iteration of the loops around it
fixed_trip     the number itself, where the loop's text tells
runs           whether at all

`upper` bounds any integer over the iterations of loops around, `iteration` is the
number of the present one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pyrev.ir.affine import Linear, from_linear, linear
from pyrev.ir.nodes import (
    NOWHERE,
    ONE,
    ZERO,
    Call,
    Const,
    Expr,
    Extent,
    For,
    Load,
    Loc,
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


def range_length(lo: Expr, hi: Expr, step: Expr, loc: Loc = NOWHERE) -> Expr:
    """How many numbers ``range(lo, hi, step)`` has; not positive where it has none.

    `loc` is the place of the user's range: a step that is not known may be zero.

    >>> from pyrev.ir.text import expr_text
    >>> from pyrev.parse import parse_expr
    >>> ends = parse_expr("a"), parse_expr("b")
    >>> [expr_text(range_length(*ends, Const(k))) for k in (1, 3, -1, -3)]
    ['b - a', '(b - a + 2) // 3', 'a - b', '(a - b + 2) // 3']
    >>> expr_text(range_length(*ends, parse_expr("s")))
    '-((a - b) // s)'
    """
    match step:
        case Const(int(k)):
            length = sub_int(hi, lo) if k > 0 else sub_int(lo, hi)
            if abs(k) == 1:
                return length
            return Call("//", (add_int(length, abs(k) - 1), Const(abs(k))), loc=loc)
    return Call("neg", (Call("//", (sub_int(lo, hi), step), loc=loc),), loc=loc)


def trip_count(loop: Loop) -> Expr:
    """How often `loop` runs, or could run if nothing ends it early; never negative."""
    if loop.lo == ZERO and loop.step == ONE and isinstance(loop.hi, Extent):
        return loop.hi
    return not_negative(range_length(loop.lo, loop.hi, loop.step))


def iterations(loop: For, *, clamped: bool = False) -> Expr:
    """The same of a loop in compiled code, in the words that the texts there have.

    Where it never runs, not positive, or zero if `clamped`. The rounding is added to
    the end of the range before its start is taken away.
    """
    match loop.step:
        case Const(int(1)):
            count = sub_int(loop.hi, loop.lo)
        case Const(int(k)) if k > 0:
            far = add_int(loop.hi, k - 1)
            count = Call("//", (sub_int(far, loop.lo), loop.step))
        case Const(int(k)):
            far = add_int(loop.lo, -k - 1)
            count = Call("//", (sub_int(far, loop.hi), Const(-k)))
        case _:
            count = range_length(loop.lo, loop.hi, loop.step)
    if not clamped or isinstance(count, Extent):
        return count
    if isinstance(count, Const):
        return not_negative(count)
    return Call("max", (ZERO, count))


def not_negative(count: Expr) -> Expr:
    """`count`, and zero where it is negative."""
    match count:
        case Const(int(k)):
            return Const(max(k, 0))
    return Call("max", (count, ZERO), loc=count.loc)


def runs(loop: For) -> Expr:
    """The test whether a loop runs at all."""
    match loop.step:
        case Const(value):
            return Call("<" if value > 0 else ">", (loop.lo, loop.hi))
    return Call("<", (ZERO, iterations(loop, clamped=True)))


def range_end(count: Expr) -> Expr:
    """Where a range of `count` numbers from 0 ends: a negative count will do there."""
    match count:
        case Call("max", (any_, Const(0))):
            return any_
    return count


def trip_count_of(loop: Loop) -> Expr:
    """How often a loop runs, as far as a reader can tell."""
    return Var(loop.count) if isinstance(loop, While) else trip_count(loop)


def fixed_trip(loop: For) -> int | None:
    """How often a loop runs, if its bounds tell without the sizes."""
    match loop.lo, loop.hi, loop.step:
        case Const(int(lo)), Const(int(hi)), Const(int(step)):
            return len(range(lo, hi, step))
    return None


def linear_trips(loop: For) -> Linear:
    """How often a loop runs, as a linear form; not positive if never.

    What is the same at both ends of the range goes away: ``range(i, i + 3)`` runs
    three times.
    """
    return linear(range_length(loop.lo, loop.hi, loop.step))


def known_trips(loop: For) -> int | None:
    """The same where it is a number; None where it is not."""
    trips = linear_trips(loop)
    return None if trips.terms else trips.constant


def most_trips(loop: For, outer: Sequence[For]) -> Expr | None:
    """The most that `loop` runs in any iteration of the loops around it; None if data
    decides that.
    """
    count = from_linear(linear_trips(loop))
    bound = upper(count, {f.index: f for f in outer})
    if bound is None:
        return None
    bound = from_linear(linear(bound))
    return bound if isinstance(bound, Extent) else not_negative(bound)


def upper(
    expr: Expr, outer: Mapping[str, Loop], *, briefly: bool = False
) -> Expr | None:
    """An upper bound of an integer expression over all iterations of `outer` loops.

    `briefly`: of several bounds the one that takes the fewest words.
    """
    return _bound(expr, outer, True, briefly)


def _bound(
    expr: Expr, outer: Mapping[str, Loop], high: bool, briefly: bool
) -> Expr | None:
    def go(e: Expr, h: bool = high) -> Expr | None:
        return _bound(e, outer, h, briefly)

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
        case Call("min" | "max" as op, args) if briefly and high == (op == "min"):
            known = [x for arg in args if (x := go(arg)) is not None]
            return min(known, key=lambda b: len([*walk_expr(b)]), default=None)
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
