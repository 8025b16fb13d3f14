"""Which counts are no zero where a statement runs: it may divide by them."""

from __future__ import annotations

from collections.abc import Mapping

from pyrev.ir.affine import linear
from pyrev.ir.nodes import (
    Block,
    Call,
    Const,
    Expr,
    Extent,
    For,
    If,
    Var,
    While,
    mentioned,
    written,
)


def nonzero(block: Block) -> dict[int, frozenset[Expr]]:
    """By the identity of each statement: the counts that are no zero where it runs.

    An iteration of ``for x in range(n)`` shows that `n` is none, and one of
    ``range(1, min(n - 1, m))`` shows it for both: with a zero there would be none.
    """
    found: dict[int, frozenset[Expr]] = {}

    def go(block: Block, known: frozenset[Expr], least: dict[str, int]) -> None:
        for s in block:
            found[id(s)] = known & found.get(id(s), known)
            match s:
                case If(_, then, orelse):
                    go(then, known, least)
                    go(orelse, known, least)
                case While(_, body):
                    changed = written((s,))
                    go(body, _still(known, changed), _without(least, changed))
                case For(index, lo, _, step, body):
                    changed = written((s,))
                    inside = _without(least, changed)
                    up = isinstance(step, Const) and step.value > 0
                    first = _at_least(lo, least) if up else None
                    here = known
                    if first is not None:
                        here |= _above(s.hi, first)
                        inside[index] = first
                    go(body, _still(here, changed), inside)

    go(block, frozenset(), {})
    return found


def _still(known: frozenset[Expr], changed: frozenset[str]) -> frozenset[Expr]:
    return frozenset(e for e in known if changed.isdisjoint(mentioned(e)))


def _without(least: Mapping[str, int], changed: frozenset[str]) -> dict[str, int]:
    return {n: k for n, k in least.items() if n not in changed}


def _at_least(e: Expr, least: Mapping[str, int]) -> int | None:
    """What `e` is not below, by what the indices around it are not below."""
    match e:
        case Call(("max" | "min") as op, args):
            parts = [_at_least(a, least) for a in args]
            there = [k for k in parts if k is not None]
            if op == "max":
                return max(there, default=None)
            return min(there) if len(there) == len(parts) else None
    form = linear(e)
    total = form.constant
    for term, factor in form.terms:
        match term:
            case Extent():
                low: int | None = 0
            case Var(n):
                low = least.get(n)
            case _:
                low = None
        if low is None or factor < 0:
            return None
        total += factor * low
    return total


def _above(hi: Expr, first: int) -> frozenset[Expr]:
    """What is no zero where ``first < hi``."""
    if isinstance(hi, Call) and hi.op == "min":
        return frozenset[Expr]().union(*(_above(a, first) for a in hi.args))
    form = linear(hi)
    if len(form.terms) == 1:
        ((term, factor),) = form.terms
        if factor == 1 and first >= form.constant and isinstance(term, (Var, Extent)):
            return frozenset((term,))
    return frozenset()
