"""Strips: a loop is a loop over strips of eight iterations, and one over a strip.

It shows what a loop transformation takes: this file, and the line `STRIP_MINE` in a
list of passes.
"""

from __future__ import annotations

from dataclasses import replace

from pyrev.driver.passes import Pass, Setting
from pyrev.ir.nodes import (
    ONE,
    Block,
    Call,
    Const,
    For,
    Program,
    Stmt,
    Var,
    blocks,
    fresh,
    names,
    with_blocks,
    written,
)

WIDTH = Const(8)


def strip_mined(block: Block, taken: set[str]) -> Block:
    """Strip-mine every loop that counts up by one and whose range stays what it is.

    Law: every value, for the iterations are the same in the same order. A loop with a
    proof is left alone, since the proof is of its iterations; so are one that runs
    backwards, whose strips would have to, and one with checkpoints.

    >>> from pyrev.ir.text import block_text
    >>> from pyrev.parse import parse_block
    >>> program = parse_block("for i in range(n): a[i] = b[i]")
    >>> print(block_text(strip_mined(program, {"i", "n", "a", "b"})), end="")
    for strip in range(0, n, 8):
        for i in range(strip, min(n, strip + 8)):
            a[i] = b[i]
    """

    def visit(s: Stmt) -> Stmt:
        s = with_blocks(s, tuple(tuple(map(visit, b)) for b in blocks(s)))
        if not isinstance(s, For) or s.parallel or s.reverse or s.step != ONE:
            return s
        if s.slots is not None or names(s.hi) & {*written(s.body)}:
            return s
        strip = Var(fresh("strip", taken))
        end = Call("min", (s.hi, Call("+", (strip, WIDTH))))
        inner = replace(s, lo=strip, hi=end)
        return For(strip.name, s.lo, s.hi, WIDTH, (inner,), loc=s.loc)

    return tuple(map(visit, block))


def _run(program: Program, setting: Setting) -> Program:
    return replace(program, body=strip_mined(program.body, setting.names(program)))


STRIP_MINE = Pass(
    "strip-mine",
    _run,
    "loops are in the order in which they run",
    "every value, added in the same order",
)
