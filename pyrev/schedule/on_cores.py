"""Parallel loops that cannot be Numba's: they run on one core.

The body of a parallel loop becomes a function of its own, which its threads call.
"""

from __future__ import annotations

from dataclasses import replace

from pyrev.ir.liveness import exposed
from pyrev.ir.nodes import (
    Block,
    For,
    If,
    Stmt,
    While,
    assigned_scalars,
    blocks,
    with_blocks,
)


def own_scalars(block: Block, after: Block) -> Block:
    """The block, its loops parallel only where their scalars are their own.

    The body of a parallel loop becomes a function: what it does to a scalar that is
    read in the next iteration, or in `after`, would be lost.
    """
    out: list[Stmt] = []
    for k, s in enumerate(block):
        rest = block[k + 1 :] + after
        match s:
            case While(body=body):
                s = replace(s, body=own_scalars(body, (s, *rest)))
            case For(body=body):
                s = replace(s, body=own_scalars(body, (s, *rest)))
                if any(
                    exposed(body, n)[0] or exposed(rest, n)[0]
                    for n in assigned_scalars(body)
                ):
                    s = replace(s, parallel=None)
            case If(_, then, orelse):
                inner = own_scalars(then, rest), own_scalars(orelse, rest)
                s = replace(s, then=inner[0], orelse=inner[1])
        out.append(s)
    return tuple(out)


def on_one_core(block: Block) -> Block:
    """The block without parallel loops: not every threading layer can nest them."""
    return tuple(
        with_blocks(
            replace(s, parallel=None) if isinstance(s, For) else s,
            tuple(map(on_one_core, blocks(s))),
        )
        for s in block
    )


def parallel(s: Stmt) -> bool:
    """Is it a loop that threads share out?"""
    return isinstance(s, For) and bool(s.parallel)
