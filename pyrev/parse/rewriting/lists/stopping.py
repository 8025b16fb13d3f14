"""Loops that an exception ends, in what runs ahead to count: see `room`.

There nothing is raised, as arguments would not be what they are by then; but a loop
that nothing else ends has to end::

    while err > tol:                      while err > tol:
        k += 1                                k += 1
        if k > most:                  ->      if k > most:
            raise RuntimeError(...)               stopped = True
                                                  break
"""

from __future__ import annotations

import copy
from collections.abc import Sequence

import gast

from pyrev.parse.rewriting.made_texts import assign, name_of, stored_in


class Stopping:
    """Statements without what raises in a ``while``: they set the name `stopped`."""

    def __init__(self, stopped: str) -> None:
        self.stopped = stopped

    def done(self, stmts: Sequence[gast.AST]) -> tuple[list[gast.AST], list[gast.AST]]:
        """The statements, and what has to come before them."""
        out = self._block(stmts, False, False)
        return out, [self._set(False)] if any(map(self._stops, out)) else []

    def _block(
        self, stmts: Sequence[gast.AST], in_while: bool, in_loop: bool
    ) -> list[gast.AST]:
        out: list[gast.AST] = []
        for k, s in enumerate(stmts):
            match s:
                case gast.Raise() if in_while:
                    return [*out, *self._stop(in_loop)]
                case gast.Assert(test=test) if in_while:
                    fails = gast.UnaryOp(gast.Not(), test)
                    out.append(gast.If(fails, self._stop(in_loop), []))
                case gast.For() | gast.While() | gast.If():
                    loop = not isinstance(s, gast.If)
                    inside = in_while or isinstance(s, gast.While)
                    made = copy.copy(s)
                    made.body = self._block(s.body, inside, in_loop or loop)
                    made.orelse = self._block(s.orelse, in_while, in_loop)
                    out.append(made)
                    if not self._stops(made):
                        continue
                    if not in_loop:
                        rest = self._block(stmts[k + 1 :], in_while, False)
                        goes_on = gast.UnaryOp(gast.Not(), name_of(self.stopped))
                        return [*out, gast.If(goes_on, rest, [])] if rest else out
                    if loop:
                        out.append(gast.If(name_of(self.stopped), [gast.Break()], []))
                case _:
                    out.append(s)
        return out

    def _stops(self, s: gast.AST) -> bool:
        return self.stopped in stored_in(s)

    def _stop(self, in_loop: bool) -> list[gast.AST]:
        return [self._set(True), *([gast.Break()] if in_loop else [])]

    def _set(self, value: bool) -> gast.AST:
        name = name_of(self.stopped, ctx=gast.Store())
        return assign([name], gast.Constant(value, None))
