"""Strips: a loop is a loop over strips of eight iterations, and one over a strip.

It shows what a loop transformation takes: this file, and the line `STRIP_MINE` in a
list of passes. `tests/driver/test_passes.py` runs its example like all others.
"""

from __future__ import annotations

from dataclasses import replace

from pyrev.driver.passes import Pass
from pyrev.driver.setting import Setting
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
    """`block` with such strips; the names that are made are added to `taken`."""

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


def strips(program: Program, setting: Setting) -> Program:
    """Strip-mining: a loop over strips of eight iterations, and one over each strip.

    Sizes: a[20], b[20].

    Before::

        def f(a, b):
            for i in range(a.shape[0]):
                a[i] = b[i]

    After::

        def f(a, b):
            for strip in range(0, a.shape[0], 8):
                for i in range(strip, min(a.shape[0], strip + 8)):
                    a[i] = b[i]

    Law: The same bits: the iterations are the same in the same order.
    Not handled: a loop with a proof, for the proof is of its iterations; one that runs
    backwards, whose strips would have to, too; one by steps, one with checkpoints, and
    one whose body writes what its range is made of.
    """
    return replace(program, body=strip_mined(program.body, setting.names(program)))


STRIP_MINE = Pass(
    "strip-mine",
    strips,
    "loops are in the order in which they run",
    "every value, added in the same order",
)
