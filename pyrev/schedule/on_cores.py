"""Parallel loops that cannot be Numba's: they run on one core."""

from __future__ import annotations

from dataclasses import replace

from pyrev.ir.nodes import (
    Block,
    For,
    Stmt,
    blocks,
    with_blocks,
)


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
