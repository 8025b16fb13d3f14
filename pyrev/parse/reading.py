"""What is wanted of an expression: a number, its truth, or an operand.

Which function reads which kind of node is in tables of the walk (`Readers`), since a
call inside an expression may lead to statements.
"""

from __future__ import annotations

import gast

from pyrev.ir.nodes import ZERO, Expr, Loc, Var
from pyrev.parse import fence
from pyrev.parse.bindings import what
from pyrev.parse.scopes import Scope
from pyrev.parse.values import Array, Nothing, Operand, Refused, Tuple, Value
from pyrev.parse.walk import Walk


def read_operand(w: Walk, node: gast.AST, scope: Scope) -> Operand:
    """Read an expression that gives a number or an array."""
    reader = w.readers.expressions.get(type(node), refuse_expression)
    return only_value(w, reader(w, node, scope), scope.source.loc(node))


def read_number(w: Walk, node: gast.AST, scope: Scope) -> Expr:
    """Read an expression that gives a number."""
    return only_number(w, read_operand(w, node, scope), node, scope)


def read_truth(w: Walk, node: gast.AST, scope: Scope) -> Expr:
    """Read an expression of which only the truth counts."""
    reader = w.readers.truths.get(type(node), read_operand)
    operand = only_value(w, reader(w, node, scope), scope.source.loc(node))
    value = only_number(w, operand, node, scope)
    w.found.sums |= {e.name for e in w.found.open_parts(value) if isinstance(e, Var)}
    return value


def only_number(w: Walk, value: Operand, node: gast.AST, scope: Scope) -> Expr:
    """What an expression gives where a number is needed."""
    if not isinstance(value, Array):
        return value
    w.refuse(
        "P201",
        scope.source.loc(node),
        f"`{gast.unparse(node).strip()}` is an array, and a number is needed here",
        "take an element of it, or reduce it, as `np.sum` does",
    )
    return ZERO


def only_value(w: Walk, value: Value, at: Loc) -> Operand:
    """What a call gives where one value is needed."""
    match value:
        case Tuple(elements):
            w.refuse(
                "P108",
                at,
                f"this call gives {len(elements)} values, not one",
                "assign them to names first: `a, b = f(x)`",
            )
            return ZERO
        case Nothing() | Refused():
            assert w.findings.found
            return ZERO
    return value


def refuse_expression(w: Walk, node: gast.AST, scope: Scope) -> Expr:
    """What is no expression of the language."""
    if not fence.has_told(node):
        at = scope.source.loc(node)
        w.refuse("P106", at, what(node), "use numbers, arrays and their elements")
    return ZERO
