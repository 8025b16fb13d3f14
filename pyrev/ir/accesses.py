"""Which elements of an array a block reads or writes, copies of all included."""

from __future__ import annotations

from collections.abc import Iterator

from pyrev.ir.nodes import Alloc, Block, Expr, Load, Var, exprs, walk, walk_expr


def accesses(block: Block, array: str) -> Iterator[tuple[Expr, ...]]:
    """The subscripts with which `block` reads or writes `array`.

    A copy of all of it has ``?`` for each of them.
    """
    for stmt in walk(block):
        if isinstance(stmt, Alloc):
            yield from (e.index for e in whole_reads(stmt) if e.array == array)
        for top in exprs(stmt):
            for e in walk_expr(top):
                if isinstance(e, Load) and e.array == array:
                    yield e.index


def anywhere(copy: Alloc) -> tuple[Expr, ...]:
    """The subscripts with which a copy reads the array that it is of: any."""
    return tuple(Var(f"?{k}") for k in range(len(copy.shape)))


def whole_reads(made: Alloc) -> tuple[Load, ...]:
    """What a new array reads of those that it is made of, with any subscripts."""
    if made.opaque is None:
        return tuple(Load(array, anywhere(made)) for array in made.sources)
    pairs = made.opaque.whole
    return tuple(Load(a, tuple(Var(f"?{k}") for k in range(n))) for a, n in pairs)
