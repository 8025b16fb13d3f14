"""How much a nest does, as an expression of sizes: enough to share out, or too little.

To start a loop on all cores takes a few microseconds, and to compile one that does so a
second. A loop of a few thousand operations is done before.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import reduce

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
    While,
    blocks,
    exprs,
    mentioned,
    written,
)
from pyrev.ir.trip_counts import most_trips
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
    'max(n, 0) * (max(n, 0) * 2)'
    """
    inside = _of_block(loop.body, costs, (*outer, loop), unknown)
    trips = most_trips(loop, outer)
    if unknown is not None:
        made = written((*outer, loop))
        if trips is None or not made.isdisjoint(mentioned(trips)):
            trips = Const(unknown)
    if inside is None or trips is None:
        return None
    return Call("*", (trips, inside))


def _of_block(
    block: Block, costs: Costs, outer: tuple[For, ...], unknown: int | None
) -> Expr | None:
    own = 0
    total: list[Expr] = []
    for s in block:
        match s:
            case For():
                found = [operations(s, costs, outer, unknown)]
            case While():
                return None
            case Alloc():
                own += costs.allocation  # what fills it is counted where it does
                continue
            case If():
                own += cost_of(s.test)
                found = [_of_block(b, costs, outer, unknown) for b in blocks(s)]
            case _:
                own += 1 + sum(map(cost_of, exprs(s)))
                continue
        for one in found:
            if one is None:
                return None
            total.append(one)
    total = [one for one in (*total, Const(own)) if one != ZERO]
    return reduce(lambda a, b: Call("+", (a, b)), total) if total else ZERO


def product(sizes: Iterable[Expr]) -> Expr:
    """The product of sizes, as an expression."""
    total: Expr = ONE
    for size in sizes:
        total = size if total == ONE else Call("*", (total, size))
    return total
