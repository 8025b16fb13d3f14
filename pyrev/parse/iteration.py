"""What a `for` over something other than a range runs over: arrays, pairs, numbers.

A sequence has a length and an element for each index; an element is a number, an array
or a tuple of elements, which the targets of the loop take apart.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import gast

from pyrev.ir.nodes import ONE, ZERO, Call, Check, Const, Expr, Extent, Load, Loc, Var
from pyrev.ir.trip_counts import range_end
from pyrev.parse import fence, views
from pyrev.parse.binding import bind_name
from pyrev.parse.creation import array_of_list
from pyrev.parse.functions import is_range
from pyrev.parse.names import object_of, program_name, standing_for
from pyrev.parse.operands import read_numbers
from pyrev.parse.reading import read_number, read_operand
from pyrev.parse.scopes import Scope
from pyrev.parse.targets import store
from pyrev.parse.values import Array, Operand, Tuple, Value
from pyrev.parse.walk import Walk
from pyrev.parse.whole_arrays import as_array, located, reusable


@dataclass(frozen=True, slots=True)
class _Sequence:
    length: Expr
    element: Callable[[Expr], Value]
    #: Is it an iterator of Python's, which has no end to begin from?
    once: bool = False


def iterable(
    w: Walk, node: gast.For, scope: Scope, counted: bool = False
) -> tuple[Expr, Callable[[Expr], None]] | None:
    """How often a `for` runs, and what gives its targets their values.

    Where it is `counted`, the first target is the index of the loop.
    """
    at = scope.source.loc(node.iter)
    found = read_sequence(w, node.iter, scope)
    if found is None:
        if not fence.has_told(node.iter):
            w.refuse(
                "P111",
                at,
                f"`{gast.unparse(node.iter).strip()}` is nothing to loop over",
                "loop over `range(...)`, an array, `enumerate` or `zip`",
            )
        return None

    def bind(place: Expr) -> None:
        element = found.element(place)
        if not counted:
            bind_targets(w, node.target, element, at, scope)
            return
        assert isinstance(element, Tuple)
        first, *targets = node.target.elts
        scope.bound[first.id] = place
        for target, part in zip(targets, element.elements[1:], strict=True):
            bind_targets(w, target, part, at, scope)

    return range_end(found.length), bind


def read_sequence(w: Walk, node: gast.AST, scope: Scope) -> _Sequence | None:
    """What an expression is to loop over, None if it is nothing."""
    at = scope.source.loc(node)
    if isinstance(node, gast.Call):
        function = object_of(w, node.func, scope)
        if is_range(function) and not node.keywords:
            return counting(w, node.args, scope)
        if function is reversed and len(node.args) == 1:
            return _backwards(read_sequence(w, node.args[0], scope))
        # Arrays of unequal lengths, of which `strict=True` would complain:
        lax = all(
            k.arg == "strict"
            and isinstance(k.value, gast.Constant)
            and k.value.value is False
            for k in node.keywords
        )
        if function is zip and node.args and lax:
            parts = [read_sequence(w, a, scope) for a in node.args]
            return _together([p for p in parts if p is not None], len(parts))
        if function is enumerate:
            return enumerated(w, node, scope)
    if isinstance(node, (gast.Tuple, gast.List)):
        return literal_sequence(w, node, scope)
    whole = as_array(w, read_operand(w, node, scope), at)
    if whole is None:
        return None
    rows = reusable(w, located(w, whole, at), scope, "values")
    w.storage.iterated += [rows.base] if rows.base is not None else []

    def element(place: Expr) -> Operand:
        row = views.part(rows, [place])
        return row if row.rank else views.collected(row.element)

    return _Sequence(rows.shape[0], element)


def counting(w: Walk, nodes: Sequence[gast.AST], scope: Scope) -> _Sequence | None:
    """``range(...)`` beside other sequences."""
    given = read_numbers(w, nodes, scope)
    step = given[2] if len(given) == 3 else ONE
    if not isinstance(step, Const) or not given or step.value == 0:
        return None
    start, stop = (ZERO, given[0]) if len(given) == 1 else (given[0], given[1])
    length = views.range_length(start, stop, int(step.value))

    def element(place: Expr) -> Expr:
        return views.add(start, views.scale(place, int(step.value)))

    return _Sequence(length, element)


def enumerated(w: Walk, node: gast.Call, scope: Scope) -> _Sequence | None:
    """``enumerate(sequence, start)``"""
    keywords = {k.arg: k.value for k in node.keywords}
    first = node.args[1] if len(node.args) == 2 else keywords.pop("start", None)
    if keywords or not 1 <= len(node.args) <= 2:
        return None
    inner = read_sequence(w, node.args[0], scope)
    if inner is None:
        return None
    start: Expr = ZERO if first is None else read_number(w, first, scope)
    if not isinstance(start, Const):
        start = w.emit.temp(start, "start")

    def element(place: Expr) -> Tuple:
        return Tuple((views.add(start, place), inner.element(place)))

    return _Sequence(inner.length, element, once=True)


def literal_sequence(w: Walk, node: gast.AST, scope: Scope) -> _Sequence | None:
    """``for w in (1.0, 4.0, 1.0)``: the numbers go into an array."""
    cells = [
        cell
        for row in node.elts
        for cell in (row.elts if isinstance(row, (gast.Tuple, gast.List)) else [row])
    ]
    kinds = {type(c.operand if isinstance(c, gast.UnaryOp) else c) for c in cells}
    numbers = {
        type((c.operand if isinstance(c, gast.UnaryOp) else c).value)
        for c in cells
        if kinds == {gast.Constant}
    }
    if len(numbers) != 1:
        # Of numbers of several types an array would make one.
        return None
    at = scope.source.loc(node)
    whole = array_of_list(w, node, at, scope)
    if whole is None:
        return None

    def element(place: Expr) -> Operand:
        row = views.part(whole, [place])
        return row if row.rank else row.element

    return _Sequence(whole.shape[0], element)


def bind_targets(
    w: Walk, target: gast.AST, element: Value, at: Loc, scope: Scope
) -> None:
    """Give the targets of a loop their values."""
    match target, element:
        case gast.Tuple() | gast.List(), Tuple() | Array():
            parts: Sequence[Value]
            if isinstance(element, Tuple):
                parts = element.elements
            else:
                parts = taken_apart(w, element, len(target.elts), at)
            if len(parts) == len(target.elts):
                for inner, part in zip(target.elts, parts, strict=True):
                    bind_targets(w, inner, part, at, scope)
                return
        case gast.Tuple() | gast.List(), _:
            pass
        case gast.Name(), Array():
            since = len(w.storage.allocated)
            bind_name(w, target, element, since, at, scope)
            return
        case _, Const() | Var() | Load() | Extent() | Call() | Array():
            if isinstance(target, gast.Name) and not isinstance(element, Array):
                variable = program_name(w, standing_for(w, target.id, scope))
                if variable is not None:
                    w.found.resembles(variable, element)
            store(w, target, element, at, scope)
            return
    w.refuse(
        "P112",
        scope.source.loc(target),
        "the targets do not fit what the loop runs over",
        "name each value: `for i, (x, y) in enumerate(zip(a, b))`",
    )


def taken_apart(w: Walk, whole: Array, count: int, at: Loc) -> list[Operand]:
    """The elements along the first axis, of which there must be `count`."""
    test = Call("==", (whole.shape[0], Const(count)), loc=at)
    message = f"{count} values are needed to unpack"
    w.emit.add(Check(test, "ValueError", message, loc=at))
    found: list[Operand] = []
    for k in range(count):
        row = views.part(whole, [Const(k, loc=at)])
        found.append(replace(row, loc=at) if row.rank else row.element)
    return found


def _backwards(inner: _Sequence | None) -> _Sequence | None:
    """``reversed(sequence)``"""
    if inner is None or inner.once:
        return None
    last = views.subtract(inner.length, ONE)
    return _Sequence(
        inner.length,
        lambda place: inner.element(views.subtract(last, place)),
        once=True,
    )


def _together(parts: Sequence[_Sequence], wanted: int) -> _Sequence | None:
    """``zip(...)``: as long as the shortest."""
    if len(parts) != wanted:
        return None
    length = parts[0].length
    for p in parts[1:]:
        if not views.equal(length, p.length):
            length = Call("min", (length, p.length), loc=length.loc)
    return _Sequence(
        length, lambda p: Tuple(tuple(s.element(p) for s in parts)), once=True
    )
