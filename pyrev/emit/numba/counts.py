"""How often a loop runs, as Numba needs it said."""

from __future__ import annotations

from pyrev.ir.nodes import ZERO, Call, Const, Expr, Extent, For
from pyrev.ir.simplify import iterations


def count(f: For) -> Expr:
    """How many iterations a loop has, and none if the bounds say fewer."""
    gap = iterations(f)
    if isinstance(gap, Const):
        return Const(max(0, int(gap.value)))
    return gap if isinstance(gap, Extent) else Call("max", (ZERO, gap))


def nonempty(f: For) -> Expr:
    """The test whether a loop runs at all."""
    match f.step:
        case Const(value) if value > 0:
            return Call("<", (f.lo, f.hi))
        case Const():
            return Call(">", (f.lo, f.hi))
        case _:
            return Call("<", (ZERO, count(f)))
