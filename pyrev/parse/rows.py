"""Lists and tuples that are assigned to parts of arrays: ``out[i] = [a, b, c]``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import gast

from pyrev.ir.nodes import ONE, Const, Load, Loc, Var
from pyrev.parse import views
from pyrev.parse.calls import read_call
from pyrev.parse.creation import array_of_list, array_of_values
from pyrev.parse.operands import read_operands
from pyrev.parse.reading import only_value, read_operand
from pyrev.parse.scopes import Scope
from pyrev.parse.stacked import all_of, stack
from pyrev.parse.targets import read_target
from pyrev.parse.values import Array, Operand, Tuple
from pyrev.parse.walk import Walk
from pyrev.parse.whole_arrays import as_array, assign_elements, check_length


@dataclass(frozen=True, slots=True)
class Row:
    """Several values, side by side."""

    values: tuple[Operand, ...]


def read_row(w: Walk, node: gast.AST, at: Loc, scope: Scope) -> Operand | Row:
    """What is assigned: several values for a list, a tuple or a helper that returns
    such, else one.
    """
    match node:
        case gast.List(elts=[_, *_] as elements) | gast.Tuple(elts=[_, *_] as elements):
            if all(isinstance(e, (gast.List, gast.Tuple)) for e in elements):
                made = array_of_list(w, node, at, scope)
                return Const(0) if made is None else made
            return _row(w, read_operands(w, elements, scope))
        case gast.Call():
            value = read_call(w, node, scope)
            if isinstance(value, Tuple):
                return _row(w, [only_value(w, e, at) for e in value.elements])
            return only_value(w, value, scope.source.loc(node))
    return read_operand(w, node, scope)


def _row(w: Walk, values: Sequence[Operand]) -> Row:
    """The values as they are now, for all targets."""
    return Row(
        tuple(
            v if isinstance(v, (Array, Const, Var)) else w.emit.temp(v, "value")
            for v in values
        )
    )


def store_row(w: Walk, target: gast.AST, row: Row, at: Loc, scope: Scope) -> None:
    """Assign several values to a part of an array: numbers one by one, arrays one
    above the other.
    """
    numbers = [v for v in row.values if not isinstance(v, Array)]
    if len(numbers) < len(row.values):
        wholes = [a for v in row.values if (a := as_array(w, v, at)) is not None]
        ranks = {a.rank for a in wholes}
        if len(wholes) < len(row.values) or len(ranks) > 1:
            refuse_row(w, at)
            return
        made = stack(w, wholes, 0, at)
        place = read_target(w, target, scope)
        if not isinstance(place, Array):
            return
        if any(a.view and a.base == place.base for a in wholes):
            w.refuse(
                "P201",
                at,
                "parts of an array are assigned to it one after the other, and a part"
                " may have changed by its turn",
                "assign copies: `a[:2] = [a[1].copy(), a[0].copy()]`",
            )
            return
        assign_elements(w, place, made, at)
        return
    place = read_target(w, target, scope)
    if isinstance(place, Load):
        place = as_array(w, place, at)
    if not isinstance(place, Array):
        return
    if place.mask is not None or place.scattered:
        dtype = views.dtype_of(views.union(map(views.kinds, numbers)))
        made = array_of_values(w, numbers, [Const(len(numbers))], dtype, at)
        assign_elements(w, place, made, at)
        return
    if len(numbers) > 1:
        check_length(w, place.shape[-1], Const(len(numbers), loc=at), at)
    elif place.shape[-1] != ONE:
        assign_elements(w, place, numbers[0], at)
        return
    for k, value in enumerate(numbers):
        items = all_of(place)
        items[-1] = Const(k, loc=at)
        assign_elements(w, views.part(place, items), value, at)


def refuse_row(w: Walk, at: Loc) -> None:
    """Values that do not fit side by side into what they are assigned to."""
    w.refuse(
        "P201",
        at,
        "numbers and arrays, or arrays of different ranks, stand side by side",
        "assign them one by one",
    )
