"""Operands in Python's order, and the statements that they need.

A helper's call becomes statements in front of the statement that calls, so every place
that evaluates several operands keeps their order.
"""

from __future__ import annotations

from collections.abc import Sequence

import gast

from pyrev.ir.nodes import Expr, Stmt, names, written
from pyrev.parse.reading import read_number, read_operand
from pyrev.parse.scopes import Scope
from pyrev.parse.values import Array, Operand
from pyrev.parse.walk import Walk
from pyrev.parse.whole_arrays import make


def read_operands(w: Walk, nodes: Sequence[gast.AST], scope: Scope) -> list[Operand]:
    """Operands from left to right, and the statements that they need.

    An inlined call may write what an earlier operand reads: that operand is then
    evaluated into a temporary in front of the call.
    """
    values: list[Operand] = []
    for node in nodes:
        with w.emit.aside() as emitted:
            value = read_operand(w, node, scope)
        values = held_before(w, values, emitted)
        w.emit.extend(emitted)
        values.append(value)
    return values


def read_numbers(w: Walk, nodes: Sequence[gast.AST], scope: Scope) -> list[Expr]:
    """The same, of numbers."""
    values: list[Expr] = []
    for node in nodes:
        with w.emit.aside() as emitted:
            value = read_number(w, node, scope)
        values = [held_number(w, v, emitted) for v in values]
        w.emit.extend(emitted)
        values.append(value)
    return values


def held_before(
    w: Walk, values: Sequence[Operand], emitted: Sequence[Stmt]
) -> list[Operand]:
    """The values as they are in front of statements that go behind them."""
    if not emitted:
        return list(values)
    changed = written(tuple(emitted))
    found: list[Operand] = []
    for value in values:
        if not isinstance(value, Array):
            found.append(held_number(w, value, emitted))
        elif not value.view and changed & value.reads():
            found.append(make(w, value, "value", value.loc))
        else:
            found.append(value)
    return found


def held_number(w: Walk, value: Expr, emitted: Sequence[Stmt]) -> Expr:
    """A number as it is in front of statements that go behind it."""
    changed = written(tuple(emitted)) if emitted else frozenset()
    return w.emit.temp(value, "value") if changed & names(value) else value
