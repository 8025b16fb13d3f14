"""Increments in the innermost loop: those of one element as one sum."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from pyrev.ir.affine import from_linear, linear, plus, slope
from pyrev.ir.dtypes import expr_dtype
from pyrev.ir.nodes import (
    Add,
    Assign,
    Block,
    Call,
    Const,
    Expr,
    For,
    If,
    Load,
    Stmt,
    Var,
    fresh,
    map_stmt_exprs,
    names,
    walk_expr,
    with_value,
)


def summed(block: Sequence[Stmt], types: Mapping[str, str]) -> Block:
    """Increments of one element, one after the other, as one statement."""
    out: list[Stmt] = []
    for stmt in block:
        whole = None
        if out and isinstance(stmt, Add):
            whole = with_terms(out[-1], stmt.target, (stmt.value,), types)
        if whole is None:
            out.append(stmt)
        else:
            out[-1] = whole
    return tuple(out)


def with_terms(
    first: Stmt, target: Expr, terms: Sequence[Expr], types: Mapping[str, str]
) -> Assign | None:
    """`first` and what adds `terms` to the element `target` behind it, as one.

    None where `first` sets another element, a term reads the array, or a sum would be
    rounded in another dtype.
    """
    if not isinstance(first, (Assign, Add)) or first.target != target:
        return None
    t = first.target
    if not terms or not isinstance(t, Load):
        return None
    if any(t.array in names(e) for e in (*t.index, *terms)):
        return None
    if any(expr_dtype(e, types) != types[t.array] for e in (first.value, *terms)):
        return None
    value = first.value
    if isinstance(first, Add):
        value = Call("+", (t, value))
    for w in terms:
        value = Call("+", (value, w))
    return Assign(t, value, loc=first.loc, note=first.note)


def jammed(loop: For, types: Mapping[str, str], taken: set[str], most: int) -> Block:
    """A short loop of rows as one loop over the row, with `most` terms at most.

    Where each term falls on another element (`a[x + i]`), the row runs over the
    elements that get all terms; the few at its ends keep the loops. Every element
    gets its terms in the order in which it got them.
    """
    match loop:
        case For(
            tap,
            Const(int(first)),
            Const(int(end)),
            Const(1),
            (For(_, _, _, Const(1), (Add(Load()) as add,)) as row,),
        ) if 1 <= end - first <= most and _steady(row, add, tap):
            pass
        case _:
            return (loop,)
    taps = range(first, end)
    order = tuple(reversed(taps) if loop.reverse else taps)
    if _sums_apart(row, add, tap):
        return (replace(row, body=tuple(_term(add, {tap: Const(k)}) for k in order)),)
    shift = _shift(loop, row, add)
    if shift is None:
        return (loop,)
    place = Var(fresh("at", taken)) if shift else Var(row.index)

    def moved(k: Expr) -> Stmt:
        """The term of one tap, by the element on which it falls."""
        there = linear(place).plus(linear(k), -shift)
        return _term(add, {row.index: from_linear(there, (place.name,)), tap: k})

    terms = summed([moved(Const(k)) for k in order], types)
    if not shift:
        return (replace(row, body=terms),)
    lo, hi = linear(row.lo), linear(row.hi)
    near, far = sorted((shift * first, shift * (end - 1)))
    begin, stop = plus(row.lo, far), plus(row.hi, near)
    array = add.target_name
    note = f"the elements of {array} that get all of its {len(taps)} terms"
    middle = replace(
        row, index=place.name, lo=begin, hi=stop, body=terms, note=note, apart=True
    )
    if len(taps) == 1:
        return (replace(middle, note=""),)
    edge = replace(row, index=place.name, body=(moved(Var(tap)),))
    moves = linear(Var(tap))
    left = replace(edge, lo=from_linear(lo.plus(moves, shift)), hi=begin)
    right = replace(edge, lo=stop, hi=from_linear(hi.plus(moves, shift)))
    parts = (
        replace(loop, body=(left,), note=f"the first few of {array}"),
        middle,
        replace(loop, body=(right,), note=f"the last few of {array}"),
    )
    gap = hi.plus(lo, -1)
    if not gap.terms:
        return parts if gap.constant >= far - near else (loop,)
    enough = Call(">=", (from_linear(gap), Const(far - near)))
    return (If(enough, parts, (loop,), loc=loop.loc),)


def _steady(row: For, add: Add, tap: str) -> bool:
    """Are bounds and subscripts made of what the loops do not change?"""
    assert isinstance(add.target, Load)
    array = add.target.array
    bounds = names(row.lo) | names(row.hi) | names(row.step)
    return not (
        bounds & {tap, row.index, array}
        or array in names(add.value)
        or any(isinstance(e, Load) for k in add.target.index for e in walk_expr(k))
    )


def _sums_apart(row: For, add: Add, tap: str) -> bool:
    """Does a loop add to one element, another for each `tap`: a sum for each?"""
    assert isinstance(add.target, Load)
    at = add.target.index
    return (
        sum(tap in names(k) for k in at) == 1
        and Var(tap) in at
        and not any(row.index in names(k) for k in at)
        and not row.parallel
    )


def _shift(loop: For, row: For, add: Add) -> int | None:
    """How far a tap moves the element of a row, None where that can not be told."""
    assert isinstance(add.target, Load)
    *leading, last = add.target.index
    if (
        loop.parallel
        or row.parallel
        or loop.reverse != row.reverse
        or slope(last, row.index) != 1
        or any(names(e) & {loop.index, row.index} for e in leading)
    ):
        return None
    return slope(last, loop.index)


def _term(add: Stmt, values: Mapping[str, Expr]) -> Stmt:
    """The statement for these values of names, the numbers in subscripts added up."""

    def tidied(e: Expr) -> Expr:
        if isinstance(e, Load):
            return replace(e, index=tuple(from_linear(linear(k)) for k in e.index))
        return e

    block: Block = (add,)
    for name, value in values.items():
        block = with_value(block, name, value)
    (one,) = block
    return map_stmt_exprs(one, tidied)
