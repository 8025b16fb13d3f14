"""Is this program well formed? Run after every pass that builds or rewrites one.

Scope (nothing is read that no statement before it can have made), rank (an array has as
many subscripts as axes), a parallel loop's scalars are its iterations' own, and in a
finished program no `Saved`, no `Restart`.
"""

from __future__ import annotations

from pyrev.ir.diagnostics import InternalError
from pyrev.ir.liveness import exposed
from pyrev.ir.nodes import (
    Add,
    Alloc,
    Assign,
    Block,
    Check,
    Expr,
    Extent,
    For,
    Grow,
    If,
    Load,
    Program,
    Restart,
    Return,
    Saved,
    Tell,
    Var,
    While,
    assigned_scalars,
    blocks,
    exprs,
    walk,
    walk_expr,
)
from pyrev.ir.text import program_text


def check(program: Program) -> None:
    """Raise `InternalError`, with the program attached, if it is not well formed."""
    ranks = {p.name: p.rank for p in program.params}
    for stmt in walk(program.body):
        if isinstance(stmt, Alloc):
            ranks[stmt.array] = len(stmt.shape)
    known = {p.name for p in program.params}
    problem = _block(program.body, known, ranks) or _handed_on(program.body, ())
    if problem is not None:
        error = InternalError(
            f"pyrev generated a program that is not well formed: {problem}"
        )
        error.add_note(program_text(program))
        raise error


def _block(block: Block, known: set[str], ranks: dict[str, int]) -> str | None:
    """The first problem of a block; names that it defines are added to `known`."""
    for stmt in block:
        reads = list(exprs(stmt))
        if isinstance(stmt, While) and stmt.index:
            known.add(stmt.index)
        match stmt:
            case Assign(Var(), value):
                reads = [value]
            case Restart():
                return "a restart is left over"
            case Alloc() if unknown := [n for n in stmt.sources if n not in known]:
                return f"`{unknown[0]}` is copied before it exists"
        for expr in reads:
            if (problem := _expr(expr, known, ranks)) is not None:
                return problem
        match stmt:
            case Assign(Var(name), _):
                known.add(name)
            case Alloc(array):
                known.add(array)
            case For(index):
                known.add(index)
            case Grow() | While() | If() | Add() | Assign() | Check() | Tell():
                pass
            case Return():
                pass
        for inner in blocks(stmt):
            if (problem := _block(inner, known, ranks)) is not None:
                return problem
    return None


def _expr(expr: Expr, known: set[str], ranks: dict[str, int]) -> str | None:
    for e in walk_expr(expr):
        match e:
            case Var(name) if name not in known:
                return f"`{name}` is read before it exists"
            case Load(array, index):
                if array not in known:
                    return f"`{array}` is read before it exists"
                if ranks.get(array, len(index)) != len(index):
                    return f"`{array}` has {ranks[array]} axes, not {len(index)}"
            case Extent(array) if array not in known:
                return f"`{array}` is measured before it exists"
            case Saved():
                return "a saved value is left over"
    return None


def _handed_on(block: Block, after: Block) -> str | None:
    """A scalar that an iteration of a parallel loop hands on, to another or to `after`.

    The body becomes a function of its own, whose scalars are lost when it returns.
    """
    for k, stmt in enumerate(block):
        if not blocks(stmt):
            continue
        rest = block[k + 1 :] + after
        if isinstance(stmt, For) and stmt.parallel:
            for name in assigned_scalars(stmt.body):
                if exposed(stmt.body, name)[0] or exposed(rest, name)[0]:
                    return f"the parallel loop over {stmt.index} hands on `{name}`"
        again = (stmt,) if isinstance(stmt, (For, While)) else ()
        for inner in blocks(stmt):
            if (problem := _handed_on(inner, again + rest)) is not None:
                return problem
    return None
