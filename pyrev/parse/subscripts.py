"""What stands in brackets and before them: elements, views, masks, extents."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from types import EllipsisType

import gast

from pyrev.ir.nodes import (
    ZERO,
    Call,
    Check,
    Const,
    Expr,
    Extent,
    Load,
    Loc,
    Var,
    walk_expr,
)
from pyrev.ir.primitives import LOGICAL
from pyrev.parse import fence, views
from pyrev.parse.bindings import literal_integer
from pyrev.parse.names import (
    find,
    is_array,
    object_of,
    program_name,
    rank_of,
    referred,
    standing_for,
)
from pyrev.parse.operands import held_before, read_numbers, read_operands
from pyrev.parse.reading import (
    only_value,
    read_number,
    read_operand,
    refuse_expression,
)
from pyrev.parse.rewriting.lists.sharing import GIVEN
from pyrev.parse.rewriting.made_texts import root_of
from pyrev.parse.scopes import Scope, parameter_ids
from pyrev.parse.selections import Subscript, compressed, gathered, is_mask
from pyrev.parse.shapes import RankFact
from pyrev.parse.values import Array, Operand, Tuple, axis, placed, whole_array
from pyrev.parse.views import Item
from pyrev.parse.walk import Walk
from pyrev.parse.whole_arrays import as_array, ask_axes, check_length, located
from pyrev.parse.without_axes import note_without_axes

#: The ends of a slice, and its step.
Bounds = tuple[Operand | None, Operand | None, int | Expr]
#: One subscript: an index, the parts of a slice, None or Ellipsis.
Given = Operand | Bounds | EllipsisType | None


def read_subscript(
    w: Walk, node: gast.Subscript, scope: Scope, store: bool = False
) -> Operand:
    """``a[i, 1:]``: an element, a view, or an extent; a target, if it is to `store`."""
    at = scope.source.loc(node)
    check_given(w, node, at, scope)
    if (length := _length(w, node, scope)) is not None:
        return length
    levels: list[list[gast.AST]] = []
    base: gast.AST = node
    while isinstance(base, gast.Subscript):
        index = base.slice
        parts = index.elts if isinstance(index, gast.Tuple) else [index]
        levels.insert(0, list(parts))
        base = base.value
    value = subscripted_value(w, base, scope)
    if isinstance(value, Tuple):
        value = _one_of(w, value, levels.pop(0), at)
    if value is None:
        return ZERO
    nodes = [
        n
        for parts in levels
        for part in parts
        for n in ((part.lower, part.upper) if isinstance(part, gast.Slice) else (part,))
        if n is not None and not is_new_axis(w, n, scope)
    ]
    with w.emit.aside() as emitted:
        given = iter(read_operands(w, nodes, scope))
    (value,) = held_before(w, [value], emitted)
    w.emit.extend(emitted)
    for parts in levels:
        last = parts is levels[-1]
        if store and last and isinstance(value, Array) and not value.view:
            w.refuse(
                "P112",
                at,
                "this writes to a copy, which nobody reads",
                "give the copy a name, or write to the array itself",
            )
            return ZERO
        items: list[Given] = []
        for part in parts:
            match part:
                case gast.Slice(lower=lower, upper=upper):
                    low = None if lower is None else next(given)
                    high = None if upper is None else next(given)
                    items.append((low, high, slice_step(w, part.step, scope)))
                case gast.Constant(value=word) if word is Ellipsis:
                    items.append(Ellipsis)
                case _ if is_new_axis(w, part, scope):
                    items.append(None)
                case _:
                    items.append(next(given))
        if any([note_mask(w, item, value, at) for item in items]):
            # What stands for the elements until the next walk.
            return subscripted_array(w, value, 1, at) or ZERO
        if store and last and len(items) == 1:
            masked = masked_target(w, value, items[0], at)
            if masked is not None:
                return masked
        ends = [e for item in items if isinstance(item, tuple) for e in item[:2]]
        if any(isinstance(e, Array) for e in ends):
            w.refuse("P211", at, "an array is the end of a slice", "use a number")
            return ZERO
        if any(isinstance(item, Array) for item in items):
            selected = selection(w, value, items, at, store and last)
            if selected is None:
                w.refuse("P211", at, *_SELECTED)
                return ZERO
            value = selected
            continue
        value = apply_subscripts(w, value, items, at)
        if Ellipsis in items:
            note_without_axes(w, node, value, scope)
    return value


_SELECTED = (
    "an array is the index here, and which elements are meant is not understood",
    "write the loop over its elements: `x[k[i]]`, or `if` for a mask",
)


def check_given(w: Walk, node: gast.Subscript, at: Loc, scope: Scope) -> None:
    """Of a list of no arrays NumPy makes an array of one axis."""
    bound = scope.bound.get(root_of(node)) if hasattr(node, GIVEN) else None
    if not isinstance(bound, Array) or bound.base not in w.env.rows:
        return
    while isinstance(node.value, gast.Subscript):
        node = node.value  # of a slice of the list
    (count,) = read_operands(w, [node.slice.upper], scope)
    assert not isinstance(count, Array)
    message = "a list of no arrays is taken for an array, and how many axes it has"
    message += " is not known"
    test = Call("<", (ZERO, count), loc=at)
    w.emit.add(Check(test, "ValueError", message, loc=at))


def note_mask(w: Walk, item: Given, value: Operand, at: Loc) -> bool:
    """A truth value is no index: what is compared here, a number so far, is an array
    and gives a mask. Does the next walk know more?
    """
    if isinstance(item, Var):
        item = w.emit.scalars.get(item.name, item)  # `good = x > 0`, then `x[good]`
    if w.known.exact or not isinstance(item, Call) or item.op not in LOGICAL:
        return False
    outermost = w.env.outermost
    given = parameter_ids(outermost) if outermost is not None else ()
    parts = [e.name for e in walk_expr(item) if isinstance(e, Var)]
    compared = [n for n in parts if n in given]
    if not compared:
        return False
    match value:
        case Var(own) | Array(name=str(own)) if own in compared:
            compared = [own]
    w.found.unsettled = True
    w.found.facts.append(RankFact(compared[0], 1, at, least=True))
    return True


def selection(
    w: Walk, value: Operand, items: Sequence[Given], at: Loc, store: bool
) -> Array | None:
    """``a[k]`` or ``a[mask]`` with arrays of integers or truth values; None if it is
    not known what is meant.
    """
    masks = [e for e in items if isinstance(e, Array) and is_mask(w, e.element)]
    count = sum(e is not None and e is not Ellipsis for e in items)
    if masks:
        (mask,) = masks[:1]
        whole = subscripted_array(w, value, mask.rank, at)
        if len(items) > 1 or store or whole is None or whole.rank < mask.rank:
            return None
        return compressed(w, whole, mask, at)
    whole = subscripted_array(w, value, count, at)
    if whole is None:
        return None
    if whole.rank < count:
        apply_subscripts(w, value, [ZERO] * count, at)  # which asks for more axes
        return whole if w.found.unsettled else None
    chosen: list[Subscript] = []
    k = 0
    for item in _expanded(items, whole.rank - count):
        match item:
            case None:
                chosen.append(None)
                continue
            case (lower, upper, step):
                assert not isinstance(lower, Array)
                assert not isinstance(upper, Array)
                chosen.append(views.sliced(lower, upper, step, whole.shape[k]))
            case Array() | Const() | Var() | Load() | Extent() | Call():
                chosen.append(item)
        k += 1
    # Truth values of a parameter would be a mask: a call says what they are.
    w.found.lenient |= not w.known.exact
    return gathered(w, whole, chosen, at, store)


def _expanded(items: Sequence[Given], more: int) -> list[Given]:
    """Subscripts with a slice for each axis that an ellipsis stands for."""
    full = list(items)
    if any(e is Ellipsis for e in full):
        k = next(k for k, e in enumerate(full) if e is Ellipsis)
        full[k : k + 1] = [(None, None, 1)] * more
    return full


def is_new_axis(w: Walk, node: gast.AST, scope: Scope) -> bool:
    """Is this subscript no index: `None`, or an ellipsis?"""
    match node:
        case gast.Constant(value=value):
            return value is None or value is Ellipsis
        case gast.Attribute():
            return object_of(w, node, scope) is None
    return False


def subscripted_value(w: Walk, base: gast.AST, scope: Scope) -> Operand | Tuple | None:
    """What stands before the brackets: an array, or what a call of a helper gives."""
    at = scope.source.loc(base)
    array = referred(w, base, scope)
    if array is not None:
        return placed(array, at)
    if isinstance(base, gast.Name):
        found = find(w, base.id, scope)
        if isinstance(found, Scope):
            return standing_for(w, base.id, found)
    elif not fence.has_told(base):
        known = len(w.findings.found)
        reader = w.readers.expressions.get(type(base), refuse_expression)
        value = reader(w, base, scope)
        if isinstance(value, (Array, Load, Tuple)):
            return value
        if len(w.findings.found) > known:
            return None
    if not fence.has_told(base):
        w.refuse(
            "P203",
            at,
            f"`{gast.unparse(base).strip()}` is not an array",
            "leave the subscripts out",
        )
    return None


def slice_step(w: Walk, node: gast.AST | None, scope: Scope) -> int | Expr:
    """The step of a slice; one that is not written out is checked to be positive."""
    if node is None or (isinstance(node, gast.Constant) and node.value is None):
        return 1
    value = read_number(w, node, scope)
    if isinstance(value, Const) and type(value.value) is int and value.value:
        return value.value
    at = scope.source.loc(node)
    if isinstance(value, Const):
        w.refuse("P207", at, "this is no step of a slice", _STEP)
        return 1
    message = "the step of a slice that is not written out has to be positive here"
    test = Call("<", (ZERO, value), loc=at)
    w.emit.add(Check(test, "ValueError", message, loc=at))
    return value


_STEP = "write an integer other than zero"


def _length(w: Walk, node: gast.Subscript, scope: Scope) -> Expr | None:
    """``a.shape[k]``, ``((n,) + a.shape)[k]``; None for others."""
    match node.value:
        case gast.Attribute(value=array, attr="shape"):
            return read_extent(w, array, node, scope)
        case gast.BinOp() as whole:
            parts, place = lengths(w, whole, scope), literal_integer(node.slice)
            if parts and place is not None and -len(parts) <= place < len(parts):
                return replace(parts[place], loc=scope.source.loc(node))
    return None


def _one_of(w: Walk, value: Tuple, index: Sequence[gast.AST], at: Loc) -> Operand:
    """``f(x)[1]``: one of the values that a call gives."""
    place = literal_integer(index[0]) if len(index) == 1 else None
    count = len(value.elements)
    if not value.whole or place is None or not -count <= place < count:
        return only_value(w, value, at)
    return only_value(w, value.elements[place], at)


def lengths(
    w: Walk, e: gast.AST, scope: Scope, axes: int = 1, joined: bool = False
) -> list[Expr] | None:
    """The numbers in a shape, which has so many `axes` at least, a part of one, a
    tuple, or one behind the other; None for others. A part that is `joined` to another
    may be empty.
    """
    match e:
        case gast.Attribute(value=base, attr="shape"):
            whole = measured(w, base, scope, axes)
            return None if whole is None else list(whole.shape)
        case gast.Subscript(
            value=inner, slice=gast.Slice(lower=lower, upper=upper, step=None)
        ):
            ends = [None if k is None else literal_integer(k) for k in (lower, upper)]
            given = [k is not None for k in (lower, upper)]
            # No shape is empty: there is an axis behind the first, before the last.
            first, last = ends[0] or 0, -(ends[1] or 0)
            least = max(first, last, 0) + 1
            if joined:
                w.found.lenient = True  # a call may give fewer axes
                least -= w.known.exact and least > 1
            found = lengths(w, inner, scope, least)
            if found is None or any(
                known and end is None for known, end in zip(given, ends, strict=True)
            ):
                return None
            return found[slice(*ends)]
        case gast.Tuple(elts=elts):
            return list(read_numbers(w, elts, scope))
        case gast.BinOp(left=left, op=gast.Add(), right=right):
            both = [lengths(w, side, scope, joined=True) for side in (left, right)]
            if both[0] is not None and both[1] is not None:
                return [*both[0], *both[1]]
    return None


def read_extent(
    w: Walk, base: gast.AST, node: gast.Subscript, scope: Scope
) -> Expr | None:
    """``a.shape[k]``; None if that is no array."""
    at = scope.source.loc(node)
    if referred(w, base, scope) is None and isinstance(base, gast.Name):
        return None
    axis = read_number(w, node.slice, scope)
    if not isinstance(axis, Const) or type(axis.value) is not int:
        w.refuse(
            "P209",
            at,
            "which axis is meant is not known in the text",
            "write the axis as a number: `a.shape[0]`",
        )
        return ZERO
    k = axis.value
    whole = measured(w, base, scope, k + 1 if k >= 0 else -k)
    if whole is None:
        return None
    if not -whole.rank <= k < whole.rank:
        w.refuse(
            "P202",
            at,
            f"this array is of rank {whole.rank}",
            "count the axes from zero",
        )
        return ZERO
    return replace(whole.shape[k], loc=at)


def measured(w: Walk, node: gast.AST, scope: Scope, axes: int = 1) -> Array | None:
    """The array that is measured: by name, or any expression that gives one."""
    at = scope.source.loc(node)
    if isinstance(node, (gast.Name, gast.Attribute)):
        found = referred(w, node, scope)
        array = program_name(w, found)
        if isinstance(found, Array) and array is None:
            return found
        if array is not None:
            w.found.facts.append(RankFact(array, axes, at, least=True))
            whole = whole_array(array, max(rank_of(w, array), axes), at)
            lengths = w.storage.lengths.get(array)
            return whole if lengths is None else replace(whole, shape=lengths)
        if isinstance(node, gast.Name):
            owner = find(w, node.id, scope)
            lent = owner.bound.get(node.id) if isinstance(owner, Scope) else None
            return as_array(w, lent, at) if isinstance(lent, Load) else None
    return as_array(w, read_operand(w, node, scope), at)


def measure(w: Walk, attribute: str, whole: Array, at: Loc) -> Operand:
    """What an array says of itself: `ndim`, `size`, or its transpose `T`."""
    if attribute == "T":
        return located(w, views.transposed(whole), at)
    if attribute == "ndim":
        return Const(whole.rank, loc=at)
    first, *rest = whole.shape
    for extent in rest:
        first = Call("*", (first, extent), loc=at)
    return first


def apply_subscripts(
    w: Walk, value: Operand, items: Sequence[Given], at: Loc
) -> Operand:
    """`value` with one pair of brackets behind it.

    An item is an index, a triple ``(lower, upper, step)``, None or Ellipsis.
    """
    count = sum(item is not None and item is not Ellipsis for item in items)
    whole = subscripted_array(w, value, count, at)
    if whole is None:
        return ZERO
    if whole.rank < count:
        if whole.base is None:
            w.refuse(
                "P202",
                at,
                f"{count} subscripts for an array of rank {whole.rank}",
                "subscript each axis once",
            )
        else:
            ask_axes(w, whole, count - whole.rank, at, least=False)
        return ZERO
    made: list[Item] = []
    k = 0
    for item in _expanded(items, whole.rank - count):
        match item:
            case None:
                made.append(None)
                continue
            case (lower, upper, step):
                assert not isinstance(lower, Array)
                assert not isinstance(upper, Array)
                made.append(views.sliced(lower, upper, step, whole.shape[k]))
            case Const() | Var() | Load() | Extent() | Call():
                made.append(axis_position(w, whole, k, item))
        k += 1
    result = views.part(whole, made)
    if result.rank:
        return located(w, result, at)
    element = result.element
    if whole.name is None:
        element = views.collected(element)
    return replace(element, loc=at)


def masked_target(w: Walk, value: Operand, mask: Given, at: Loc) -> Array | None:
    """``a[mask]`` as a target; None if the subscript is no mask."""
    if not isinstance(mask, Array) or not is_mask(w, mask.element):
        return None
    whole = subscripted_array(w, value, mask.rank, at)
    if whole is None or not whole.view or whole.rank < mask.rank:
        return None
    for mine, theirs in zip(whole.shape, mask.shape, strict=False):
        check_length(w, mine, theirs, at, "IndexError")
    return located(w, replace(whole, mask=mask.element), at)


def subscripted_array(w: Walk, value: Operand, count: int, at: Loc) -> Array | None:
    """What is subscripted, with as many axes as it is known to have."""
    match value:
        case Var(name) | Array(name=str(name)):
            rank = rank_of(w, name) if is_array(w, name) else 0
            w.found.facts.append(RankFact(name, max(count, 1), at, least=True))
            return whole_array(name, max(rank, count, 1), at)
        case Load(array, index):
            rank = len(index) + max(count, 1)
            w.found.facts.append(RankFact(array, rank, at, least=True))
            return views.part(whole_array(array, rank, at), index)
        case Array():
            return value
    w.refuse("P203", at, "a number is subscripted here", "leave the subscripts out")
    return None


def axis_position(w: Walk, whole: Array, k: int, index: Expr) -> Expr:
    """An index as a position on axis `k`; beyond a slice it is checked here."""
    length = whole.shape[k]
    base = whole.element
    direct = isinstance(base, Load) and any(
        e == axis(k) and length == Extent(base.array, m)
        for m, e in enumerate(base.index)
    )
    if whole.base in w.storage.lengths:
        direct = False  # there may be elements beyond the present length
    if direct:
        # Bounds of the array itself are checked where it is read.
        return index
    at = index.loc
    if isinstance(index, Const) and type(index.value) is int:
        if index.value >= 0:
            inside: Expr = Call("<", (index, length), loc=at)
        else:
            back = Const(-index.value, loc=at)
            inside = Call("<=", (back, length), loc=at)
            index = views.subtract(length, back)
        check_inside(w, inside, at)
        return index
    low = Call("<=", (Call("neg", (length,), loc=at), index), loc=at)
    high = Call("<", (index, length), loc=at)
    check_inside(w, Call("and", (low, high), loc=at), at)
    negative = Call("<", (index, ZERO), loc=at)
    from_end = views.add(length, index)
    return Call("where", (negative, from_end, index), loc=at)


def check_inside(w: Walk, test: Expr, at: Loc) -> None:
    """An index must be inside the part of an array that it is of."""
    message = "the index is outside the slice"
    w.emit.add(Check(test, "IndexError", message, loc=at))


def read_record_place(w: Walk, node: gast.Call, scope: Scope) -> Expr:
    """The index of a record as a number. Where it is kept for later the record is
    looked up, as CPython does: the index has to be an integer inside of the array.
    """
    at = scope.source.loc(node)
    *arrays, index = node.args
    value = read_operand(w, index, scope)
    if isinstance(value, Array):
        w.refuse(
            "P211",
            at,
            "an array chooses several records, which would be copies",
            "loop over its elements, and take one record at a time",
        )
        return ZERO
    if not arrays:
        return value
    fields = [subscripted_value(w, a, scope) for a in arrays]
    found = [
        apply_subscripts(w, f, [value], at)
        for f in fields
        if f is not None and not isinstance(f, Tuple)
    ]
    for element in found:
        if isinstance(element, Load):
            w.emit.temp(element, "record")
            return value
    w.refuse(
        "P211",
        at,
        "a record gets a name here, and none of its fields is a number",
        "read its fields in the place: `records[i]['x'][k]`",
    )
    return ZERO
