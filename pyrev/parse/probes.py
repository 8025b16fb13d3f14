"""What a probe means for a program: where it is, and which adjoints are told."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from pyrev.ir.nodes import (
    Block,
    Call,
    Expr,
    Program,
    Stmt,
    Tell,
    exprs,
    map_block,
    walk,
    walk_expr,
)


def without_probes(program: Program) -> Program:
    """`program` with what its probes pass on in their place.

    >>> from pyrev.parse import parse_text
    >>> f = parse_text("def f(x):\\n    return x * x")
    >>> without_probes(f) == f
    True
    """
    return replace(program, body=map_block(program.body, _bare), callbacks=())


def _bare(e: Expr) -> Expr:
    match e:
        case Call("probe", (x, _)):
            return x
    return e


def has_probes(block: Block) -> bool:
    """Does a block of a primal probe anything?"""
    return any(True for _ in probing(block))


def probing(block: Block) -> Iterator[Stmt]:
    """The statements of a primal that probe something."""
    for s in walk(block):
        for top in exprs(s):
            if any(isinstance(e, Call) and e.op == "probe" for e in walk_expr(top)):
                yield s


def told(program: Program) -> tuple[Tell, ...]:
    """Where an adjoint calls the user back."""
    return tuple(s for s in walk(program.body) if isinstance(s, Tell))
