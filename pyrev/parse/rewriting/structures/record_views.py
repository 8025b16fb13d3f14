"""Records of an array under names of their own, which are views of it.

The name stands for the arrays of the fields and for the place in them::

    node = nodes[i]                      node_at = i
    node["n"] += 1               ->      nodes_n[node_at] += 1

    for node in nodes:                   for node_at in range(nodes_n.shape[0]):
        s += node["m"]                       s += nodes_m[node_at]

What is written to the array is read under the name, and the other way round. Where
nobody writes to an array of records a name of one of them may as well stand for its
values (`structures`).
"""

from __future__ import annotations

import copy
from collections.abc import Mapping
from dataclasses import dataclass

import gast

from pyrev.ir.nodes import fresh
from pyrev.parse.rewriting.made_texts import (
    Lookup,
    name_of,
    object_named,
    placed,
)
from pyrev.parse.rewriting.structures.nodes import element
from pyrev.parse.rewriting.structures.shapes import AT, Key, Names, Shape
from pyrev.parse.scopes import RECORD


def view_of(records: Shape) -> Shape | None:
    """The shape of a view of one of these; None of records in records."""
    if any(field is not None for _, field in records.fields):
        return None
    return Shape("view", ((AT, None), *records.fields))


def names_of_view(name: str, arrays: Names, taken: set[str]) -> Names:
    """The names of what a view stands for: a place of its own, and these arrays."""
    return {**arrays, (AT,): fresh(f"{name}_at", taken)}


def arrays_of(values: Mapping[tuple[Key, ...], gast.AST] | None) -> Names:
    """The names of the arrays of the fields of what is a view, by its values."""
    return {p: v.id for p, v in (values or {}).items() if p != (AT,)}


def place_in(at: gast.AST, arrays: Names, index: gast.AST) -> gast.AST:
    """The place of a record as a number, which is inside of the array."""
    fields = [name_of(own, at) for path, own in arrays.items() if path != (AT,)]
    return gast.copy_location(gast.Call(name_of(RECORD, at), [*fields, index], []), at)


def single(at: gast.AST, index: gast.AST) -> gast.AST:
    """An index that is to be a number: what several of them would give is a copy."""
    if isinstance(index, gast.Constant):
        return index
    return gast.copy_location(gast.Call(name_of(RECORD, at), [index], []), at)


@dataclass(frozen=True, slots=True)
class Turn:
    """A loop over records: what it goes over, the name for each, and for its number."""

    over: gast.AST
    name: str
    number: gast.AST | None
    stop: gast.AST | None

    @property
    def one(self) -> gast.AST:
        """One of the records, as an expression."""
        return element(self.over, self.over, name_of("@", self.over))


def turn_of(loop: gast.AST, local: frozenset[str], lookup: Lookup) -> Turn | None:
    """What a loop over records, the first of them or enumerated ones goes over; None if
    the text is none of one.
    """
    if not isinstance(loop, gast.For) or "range" in local:
        return None
    if lookup("range") is not range:
        return None
    over, target, number = loop.iter, loop.target, None
    match over, target:
        case (
            gast.Call(func=func, args=[inner], keywords=[]),
            gast.Tuple(elts=[gast.Name() as number, gast.Name() as target]),
        ):
            if object_named(func, local, lookup) is not enumerate:
                return None
            over = inner
    stop = None
    match over:
        case gast.Subscript(
            value=base, slice=gast.Slice(lower=None, upper=upper, step=None)
        ):
            over, stop = base, upper
    if not isinstance(target, gast.Name):
        return None
    return Turn(over, target.id, number, stop)


def turned(loop: gast.For, turn: Turn, arrays: Names) -> gast.For:
    """The loop over the places of these records."""
    own = next(own for path, own in arrays.items() if path != (AT,))
    whole = name_of(own, loop.iter)
    if turn.stop is not None:
        whole = element(loop.iter, whole, gast.Slice(None, turn.stop, None))
    shape = gast.Attribute(whole, "shape", gast.Load())
    count = gast.Subscript(shape, gast.Constant(0, None), gast.Load())
    made = copy.copy(loop)
    made.target = name_of(arrays[(AT,)], loop.target, gast.Store())
    made.iter = gast.Call(name_of("range"), [count], [])
    placed(made.iter, loop.iter)
    if turn.number is not None:
        number = gast.Assign([turn.number], name_of(arrays[(AT,)], loop.target), None)
        made.body = [gast.copy_location(number, loop.target), *loop.body]
    return made


def has_records(shape: Shape | None) -> bool:
    """Is there an array of records in a structure?"""
    if shape is None:
        return False
    return shape.kind in ("records", "view") or any(
        has_records(field) for _, field in shape.fields
    )


def holds_record(shape: Shape | None) -> bool:
    """Is there a record in a structure, in an array or alone?"""
    if shape is None or shape.kind == "record":
        return shape is not None
    return has_records(shape) or any(holds_record(field) for _, field in shape.fields)


def same_arrays(one: Mapping[tuple[Key, ...], str], other: Names) -> bool:
    """Do two views stand for the same arrays?"""
    return {p: n for p, n in one.items() if p != (AT,)} == {
        p: n for p, n in other.items() if p != (AT,)
    }
