"""Where a block touches an array."""

from __future__ import annotations

from collections.abc import Iterator

from pyrev.ir import (
    Block,
    Expr,
    Load,
    exprs,
    walk,
    walk_expr,
)


def accesses(block: Block, array: str) -> Iterator[tuple[Expr, ...]]:
    """The subscripts with which `block` reads or writes `array`."""
    for stmt in walk(block):
        for top in exprs(stmt):
            for e in walk_expr(top):
                if isinstance(e, Load) and e.array == array:
                    yield e.index
