"""What the host knows without asking the device: sizes, and numbers that follow."""

from __future__ import annotations

from collections.abc import Iterator, Set

from pyrev.ir.nodes import (
    Add,
    Assign,
    Block,
    Expr,
    For,
    If,
    Load,
    Program,
    Var,
    While,
    assigned_scalars,
    loop_indices,
    walk_expr,
)


def host_numbers(program: Program) -> frozenset[str]:
    """The scalars that sizes and numbers decide, whatever the arrays hold.

    The greatest fixed point: all scalars at first, then without those that are set from
    an element, from a scalar that is not known, or under a test or in a loop of such.
    """
    found = {p.name for p in program.params if not p.rank}
    found |= loop_indices(program.body) | set(assigned_scalars(program.body))

    def unsure(block: Block, by_data: bool) -> Iterator[str]:
        for s in block:
            match s:
                case Assign(Var(n), value) | Add(Var(n), value):
                    if by_data or not host_knows(value, found):
                        yield n
                case For(index, lo, hi, step):
                    data = by_data or not all(
                        host_knows(e, found) for e in (lo, hi, step)
                    )
                    if data:
                        yield index
                    yield from unsure(s.body, data)
                case While():
                    yield from unsure(s.body, True)
                    if s.index:
                        yield s.index
                case If(test, then, orelse):
                    data = by_data or not host_knows(test, found)
                    yield from unsure((*then, *orelse), data)

    while True:
        gone = set(unsure(program.body, False)) & found
        if not gone:
            return frozenset(found)
        found -= gone


def host_knows(e: Expr, numbers: Set[str]) -> bool:
    """Is `e` made of sizes and of these numbers?"""
    return all(
        not isinstance(part, Load)
        and (not isinstance(part, Var) or part.name in numbers)
        for part in walk_expr(e)
    )
