"""How much a nest does, as an expression of sizes: enough to share out, or too little.

To start a loop on all cores takes a few microseconds, and to compile one that does so a
second. A loop of a few thousand operations is done before.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import reduce
from math import prod

from pyrev.ir.affine import from_linear, integer, largest, linear
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
    written,
)
from pyrev.ir.trip_counts import linear_trips, most_trips, upper
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
        count = from_linear(linear_trips(one))
        bound = upper(count, {f.index: f for f in around}, briefly=True)
        if inside is None or bound is None:
            return None
        trips = from_linear(linear(bound))
        factors = [*_factors(trips), *_factors(inside)]
        numbers = [k for f in factors if (k := integer(f)) is not None]
        rest = [f for f in factors if integer(f) is None]
        return product((Const(prod(numbers)), *rest))

    return of_loop(loop, ())


def _factors(e: Expr) -> Iterator[Expr]:
    match e:
        case Call("*", (a, b)):
            yield from _factors(a)
            yield from _factors(b)
        case _:
            yield e


def _joined(block: Block) -> Block:
    """A block in which the parts of a loop are one, that does what the last does."""
    joined: list[Stmt] = []
    for s in block:
        match joined[-1:], s:
            case [For() as part], For() if s.index == part.index and s.lo in (
                part.hi,
                largest((part.lo, part.hi)),
            ):
                joined[-1] = replace(s, lo=part.lo)
            case _:
                joined.append(s)
    return tuple(joined)


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
    total = [one for one in (*total, Const(own)) if one != ZERO]
    return reduce(lambda a, b: Call("+", (a, b)), total) if total else ZERO


def product(sizes: Iterable[Expr]) -> Expr:
    """The product of sizes, as an expression."""
    total: Expr = ONE
    for size in sizes:
        total = size if total == ONE else Call("*", (total, size))
    return total
