"""Scalars that become elements of rows: one element for each iteration that runs beside
others.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping

from pyrev.ir.nodes import (
    Add,
    Assign,
    Block,
    Call,
    Expr,
    Load,
    Stmt,
    Var,
    all_names,
    assigned_scalars,
    blocks,
    map_expr,
    map_stmt_exprs,
    with_blocks,
)

#: Does a statement stay where it is, around the runs of those that do not?
Alone = Callable[[Stmt], bool]

#: The function that makes of an element what a scalar was, "" if it is that already:
#: a number of Python's own adapts to the arrays beside it, an element does not.
Own = Callable[[str], str]


def in_rows(block: Block, elements: Mapping[str, Load], own: Own) -> Block:
    """`block` with each scalar of `elements` replaced by its element.

    >>> from pyrev.parse import parse_block
    >>> from pyrev.ir.text import block_text
    >>> row = Load("t_row", (Var("i"),))
    >>> block = parse_block("t = t * a[i]\\nb[i] = t")
    >>> print(block_text(in_rows(block, {"t": row}, lambda name: "float")))
    t_row[i] = float(t_row[i]) * a[i]
    b[i] = float(t_row[i])
    """

    def read(e: Expr) -> Expr:
        if isinstance(e, Var) and e.name in elements:
            row = elements[e.name]
            return Call(own(e.name), (row,)) if own(e.name) else row
        return e

    def statement(s: Stmt) -> Stmt:
        inner = tuple(tuple(map(statement, b)) for b in blocks(s))
        if isinstance(s, (Assign, Add)) and isinstance(s.target, Var):
            target = elements.get(s.target.name, s.target)
            value = map_expr(s.value, read)
            made = Add if isinstance(s, Add) else Assign
            return made(target, value, loc=s.loc, id=s.id, note=s.note)
        bare = with_blocks(s, tuple(() for _ in inner))
        return with_blocks(map_stmt_exprs(bare, read), inner)

    return tuple(map(statement, block))


def runs(block: Block, alone: Alone) -> list[Block]:
    """The runs of statements that get a loop each: those between what stands alone."""
    found: list[Block] = [()]
    for s in block:
        if alone(s):
            found += [run for b in blocks(s) for run in runs(b, alone)]
            found.append(())
        else:
            found[-1] = (*found[-1], s)
    return [run for run in found if run]


def crossing(block: Block, alone: Alone) -> list[str]:
    """The scalars of `block` that are used in more than one of its runs, in order."""
    used = Counter(n for run in runs(block, alone) for n in all_names(run))
    return [n for n in assigned_scalars(block) if used[n] > 1]


def around_runs(
    block: Block,
    alone: Alone,
    loop: Callable[[Block], Block],
    kept: Callable[[Stmt], Stmt] = lambda s: s,
) -> Block:
    """`block` with a loop around each run, and what stands alone as `kept` says."""
    result: list[Stmt] = []
    waiting: list[Stmt] = []

    def flush() -> None:
        if waiting:
            result.extend(loop(tuple(waiting)))
            waiting.clear()

    for s in block:
        if not alone(s):
            waiting.append(s)
            continue
        flush()
        inner = tuple(around_runs(b, alone, loop, kept) for b in blocks(s))
        result.append(with_blocks(kept(s), inner))
    flush()
    return tuple(result)
