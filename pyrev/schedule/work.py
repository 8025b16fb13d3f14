"""How much a nest does, as an expression of sizes: enough to share out, or too little.

To start a loop on all cores takes a few microseconds, and to compile one that does so a
second. A loop of a few thousand operations is done before.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import reduce

from pyrev.ir.affine import from_linear, integer, linear, parts_of
from pyrev.ir.nodes import (
    ONE,
    ZERO,
    Alloc,
    Block,
    Call,
    Const,
    Expr,
    For,
    If,
    Stmt,
    While,
    blocks,
    exprs,
    mentioned,
    walk_expr,
    written,
)
from pyrev.ir.trip_counts import most_trips, range_length, upper
from pyrev.schedule.costs import Costs
from pyrev.schedule.scalars import cost_of

# Are there at least so many of something, by the first call's sizes? None: unknown.
Choose = Callable[[Expr, int], bool | None]


def operations(
    loop: For,
    costs: Costs,
    outer: Sequence[For] = (),
    unknown: int | None = None,
) -> Expr | None:
    """An upper bound of the operations in `loop`; None if data decides how many.

    With `unknown` an estimate: so often a loop inside runs of which data decides that.

    >>> from pyrev.parse import parse_block
    >>> from pyrev.ir.text import expr_text
    >>> from pyrev.schedule.costs import SHIPPED
    >>> (nest,) = parse_block('''
    ... for i in range(n):
    ...     for j in range(i + 1):
    ...         a[i] += b[j] * c
    ... ''')
    >>> expr_text(operations(nest, SHIPPED))
    'max(n, 0) * (2 * max(n, 0))'
    """

    def of_loop(one: For, around: tuple[For, ...]) -> Expr | None:
        inside = _of_block(one.body, costs, (*around, one), of_loop)
        trips = most_trips(one, around)
        if unknown is not None:
            made = written((*around, one))
            if trips is None or not made.isdisjoint(mentioned(trips)):
                trips = Const(unknown)
        if inside is None or trips is None:
            return None
        return Call("*", (trips, inside))

    return of_loop(loop, tuple(outer))


def operations_briefly(loop: For, costs: Costs) -> Expr | None:
    """About as many, in an expression that is short enough to stand in code.

    The parts of a loop that was split are one again, of several bounds of a range the
    shortest counts, and where a range is empty the number says nothing.

    >>> from pyrev.parse import parse_block
    >>> from pyrev.ir.text import expr_text
    >>> from pyrev.schedule.costs import SHIPPED
    >>> (nest,) = parse_block('''
    ... for u in range(n):
    ...     for j in range(max(0, u - n + k), min(k, u + 1)):
    ...         for x in range(0, m // 4 * 4, 4):
    ...             a[u] += c * b[u - j, x] + c * b[u - j, x + 1]
    ...         for x in range(m // 4 * 4, m):
    ...             a[u] += c * b[u - j, x]
    ... ''')
    >>> expr_text(operations_briefly(nest, SHIPPED))
    '2 * n * k * m'
    """

    def of_loop(one: For, around: tuple[For, ...]) -> Expr | None:
        inside = _of_block(_joined(one.body), costs, (*around, one), of_loop)
        trips = _trips_briefly(one, {f.index: f for f in around})
        if inside is None or trips is None:
            return None
        times, factors = _factors(inside)
        most, more = _factors(trips)
        return product((Const(most * times), *more, *factors))

    return of_loop(loop, ())


def _trips_briefly(loop: For, outer: Mapping[str, For]) -> Expr | None:
    """How often `loop` runs, by the one of its bounds that says it in fewest words."""
    bounds: list[Expr] = []
    for lo in parts_of("max", loop.lo):
        for hi in parts_of("min", loop.hi):
            count = from_linear(linear(range_length(lo, hi, loop.step)))
            if (bound := upper(count, outer, briefly=True)) is not None:
                bounds.append(from_linear(linear(bound)))
    return min(bounds, key=_words, default=None)


def _words(e: Expr) -> tuple[int, bool]:
    """How much there is to read; a number is less than a name."""
    return len([*walk_expr(e)]), not isinstance(e, Const)


def _joined(block: Block) -> Block:
    """A block in which the parts of a loop are one, that does what the last does."""
    joined: list[Stmt] = []
    for s in block:
        match joined[-1:], s:
            case [For(lo=lo, hi=hi) as part], For() if s.index == part.index and {
                *parts_of("max", s.lo)
            } & {*parts_of("min", hi), hi}:
                joined[-1] = replace(s, lo=lo)
            case _:
                joined.append(s)
    return tuple(joined)


def _factors(e: Expr) -> tuple[int, list[Expr]]:
    """The number that is a factor of `e`, and the other factors."""
    match e:
        case Call("*", (a, b)):
            (k, more), (times, others) = _factors(a), _factors(b)
            return k * times, [*more, *others]
    number = integer(e)
    return (1, [e]) if number is None else (number, [])


def _of_block(
    block: Block,
    costs: Costs,
    outer: tuple[For, ...],
    of_loop: Callable[[For, tuple[For, ...]], Expr | None],
) -> Expr | None:
    own = 0
    total: list[Expr] = []
    for s in block:
        match s:
            case For():
                found = [of_loop(s, outer)]
            case While():
                return None
            case Alloc():
                own += costs.allocation  # what fills it is counted where it does
                continue
            case If():
                own += cost_of(s.test)
                found = [_of_block(b, costs, outer, of_loop) for b in blocks(s)]
            case _:
                own += 1 + sum(map(cost_of, exprs(s)))
                continue
        for one in found:
            if one is None:
                return None
            total.append(one)
    times: dict[tuple[Expr, ...], int] = {}
    for one in (*total, Const(own)):
        number, others = _factors(one)
        times[tuple(others)] = times.get(tuple(others), 0) + number
    total = [product((Const(k), *others)) for others, k in times.items() if k]
    return reduce(lambda a, b: Call("+", (a, b)), total) if total else ZERO


def product(sizes: Iterable[Expr]) -> Expr:
    """The product of sizes, as an expression."""
    total: Expr = ONE
    for size in sizes:
        total = size if total == ONE else Call("*", (total, size))
    return total
