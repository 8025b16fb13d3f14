"""Assignments: of one value, of several at once, in place."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import gast

from pyrev.ir.nodes import (
    Assign,
    Call,
    Const,
    Expr,
    Load,
    Loc,
    Stmt,
    Var,
    names,
    written,
)
from pyrev.parse.binding import bind_name
from pyrev.parse.bindings import bindings, literal_integer
from pyrev.parse.calls import read_call
from pyrev.parse.draws import bind_stream, makes_stream
from pyrev.parse.exchanges import rotate_names
from pyrev.parse.expression import BINARY, assigned
from pyrev.parse.iteration import bind_targets, taken_apart
from pyrev.parse.listed import begin_list, put_element
from pyrev.parse.masked import under_mask
from pyrev.parse.names import program_name, standing_for
from pyrev.parse.operands import held_before, read_operands
from pyrev.parse.points_to import shares
from pyrev.parse.products import matrix_product
from pyrev.parse.reading import read_number, read_operand
from pyrev.parse.rewriting.control import RETURNED
from pyrev.parse.rows import Row, read_row, store_row
from pyrev.parse.scopes import Helper, Scope
from pyrev.parse.source import Source
from pyrev.parse.subscripts import measured
from pyrev.parse.targets import read_target, refuse_target, store
from pyrev.parse.values import Array, Nothing, Operand, Refused, Tuple, Value
from pyrev.parse.walk import Walk
from pyrev.parse.whole_arrays import assign_elements, elementwise, reusable


def assign(
    w: Walk, targets: Sequence[gast.AST], value: gast.AST, at: Loc, scope: Scope
) -> None:
    """``a = b[i] = value``: one value for every target."""
    first = targets[0]
    match first, value:
        case gast.Name(id=name), gast.Lambda() if len(targets) == 1:
            define(w, name, value, at, scope)
            return
        case gast.Tuple() | gast.List(), _ if len(targets) == 1:
            unpack(w, first.elts, value, at, scope)
            return
        case gast.Name(id=name), gast.Call() if len(targets) == 1 and (
            makes_stream(w, value, scope)
        ):
            bind_stream(w, name, value, scope)
            return
    if begin_list(w, first, value, at, scope):
        return
    single = len(targets) == 1 and isinstance(first, gast.Name)
    since = len(w.storage.allocated)
    bare = under_mask(w, first, value, scope) if len(targets) == 1 else None
    if bare is not None:
        store(w, first, read_operand(w, bare, scope), at, scope, masked=True)
        return
    result = read_row(w, value, at, scope)
    if not isinstance(result, Row) and put_element(w, first, result, at, scope):
        return
    if isinstance(result, Row):
        for target in targets:
            if isinstance(target, gast.Subscript):
                store_row(w, target, result, at, scope)
            else:
                read_number(w, value, scope)  # which refuses it
        return
    if isinstance(result, Array):
        if len(targets) > 1:
            result = reusable(w, result, scope, "value")
        for target in targets:
            if isinstance(target, gast.Name):
                bind_name(w, target, result, since, at, scope)
                bound = scope.bound.get(target.id)
                result = bound if isinstance(bound, Array) else result
                since = len(w.storage.allocated)
            elif isinstance(target, (gast.Tuple, gast.List)):
                refuse_target(w, target, scope)
            else:
                store(w, target, result, at, scope)
        return
    variable = program_name(w, standing_for(w, first.id, scope)) if single else None
    if variable is not None:
        read = isinstance(result, (Var, Load))
        if read or not any(w.found.open_parts(result)):
            if not (read and hasattr(first, RETURNED)):
                w.found.resembles(variable, result)
        elif w.known.ranks.get(variable) and not is_bound(first.id, scope):
            # It is used as an array: so is what it is computed from.
            spread_rank(w, variable, result)
    if len(targets) > 1 and not isinstance(result, Const):
        result = w.emit.temp(result, "value")
    for target in targets:
        if isinstance(target, (gast.Tuple, gast.List)):
            refuse_target(w, target, scope)
        else:
            store(w, target, result, at, scope)


def define(w: Walk, name: str, node: gast.AST, at: Loc, scope: Scope) -> None:
    """A nested definition, or a lambda that is given a name."""
    if bindings(scope.source.node).count(name) > 1:
        w.refuse(
            "P206",
            at,
            f"`{name}` is bound more than once",
            "give each function a name of its own",
        )
        w.env.refused.add(name)
    inner = Source(scope.source.file, scope.source.lines, node)
    scope.helpers[name] = Helper(name, inner, None, scope)


def is_bound(name: str, scope: Scope) -> bool:
    """Has the name stood for a number or an array before?"""
    return name in scope.numbers or name in scope.paths


def spread_rank(w: Walk, name: str, value: Expr) -> None:
    """`name` is an array: one that `value` is computed from has its axes too."""
    parts = list(w.found.open_parts(value))
    reads = [e for e in parts if isinstance(e, Load)]
    if reads:
        first = reads[0]
        w.found.rows.append((name, first.array, len(first.index), 32))
        return
    for e in parts:
        if isinstance(e, Var):
            w.found.alike.append((name, e.name))


def unpack(
    w: Walk, targets: Sequence[gast.AST], value: gast.AST, at: Loc, scope: Scope
) -> None:
    """``a, b[i] = c, d``: all values are there before the first target is assigned."""
    since = len(w.storage.allocated)
    given = _several(w, value, len(targets), at, scope)
    if given is None:
        return
    values = [v for v in given if not isinstance(v, (Tuple, Nothing, Refused))]
    if len(values) != len(targets):
        if any(isinstance(t, gast.Starred) for t in targets):
            return
        because = f"{len(values)} values for {len(targets)} names"
        w.refuse("P112", at, because, "make the two sides equally long")
        return
    returned = any(hasattr(t, RETURNED) for t in targets)
    names_ = all(isinstance(n, gast.Name) for n in (*targets, *_elements(value)))
    if names_ and not returned:
        # Names that change places are arrays if one of them is.
        for places in _exchanged(targets, _elements(value)):
            several = (program_name(w, values[k]) for k in places)
            stored = [s for s in several if s is not None]
            w.found.alike += [(stored[0], name) for name in stored[1:]]
    if rotate_names(w, targets, values, scope):
        return
    values = [
        reusable(w, v, scope, "value") if isinstance(v, Array) else v for v in values
    ]
    order = binding_order(targets, values, scope)
    targets, values = [targets[k] for k in order], [values[k] for k in order]
    for k, target in enumerate(targets):
        one = values[k]
        if isinstance(one, Array) and isinstance(target, gast.Name):
            with w.emit.aside() as emitted:
                bind_name(w, target, one, since, at, scope)
            # The name's array may have taken over the elements of this one.
            keep_later(w, values, k, emitted)
        elif isinstance(one, Array):
            with w.emit.aside() as emitted:
                if isinstance(target, (gast.Tuple, gast.List)):
                    bind_targets(w, target, one, at, scope)
                else:
                    store(w, target, one, at, scope)
            keep_later(w, values, k, emitted)
        else:
            _unpack_number(w, target, values, k, at, scope)


def _exchanged(
    targets: Sequence[gast.AST], values: Sequence[gast.AST]
) -> list[list[int]]:
    """The places in ``a, b, s = b, a, c`` by the names that get what others had: in
    ``s, y = c, x`` each is for itself. What is taken out of one value is alike.
    """
    if len(targets) != len(values):
        return [[*range(len(targets))]]
    groups: list[tuple[set[str], list[int]]] = []
    for k, (target, value) in enumerate(zip(targets, values, strict=True)):
        own, places = {target.id, value.id}, [k]
        for group in [g for g in groups if g[0] & own]:
            groups.remove(group)
            own, places = own | group[0], group[1] + places
        groups.append((own, places))
    return [sorted(places) for _, places in groups]


def _several(
    w: Walk, value: gast.AST, count: int, at: Loc, scope: Scope
) -> Sequence[Value] | None:
    """The `count` values that are assigned to several targets, None if refused."""
    match value:
        case gast.Tuple(elts=elements) | gast.List(elts=elements):
            return read_operands(w, elements, scope)
        case gast.Attribute(value=base, attr="shape") if (
            whole := measured(w, base, scope, count)
        ) is not None:
            return whole.shape
        case gast.Subscript(
            value=gast.Attribute(value=base, attr="shape"),
            slice=gast.Slice(lower=lower, upper=upper, step=None),
        ) if (part := _part_of_shape(w, base, lower, upper, count, scope)) is not None:
            return part
        case gast.Call():
            match read_call(w, value, scope):
                case Nothing() | Refused():
                    return None
                case Tuple(elements):
                    return elements
                case Array() as whole if count > 1:
                    return taken_apart(w, whole, count, at)
                case result:
                    return (result,)
    operand = read_operand(w, value, scope)
    if isinstance(operand, Array):
        return taken_apart(w, operand, count, at)
    w.refuse(
        "P112",
        scope.source.loc(value),
        "this is not a tuple whose length is known",
        "assign the elements one by one",
    )
    return None


def _part_of_shape(
    w: Walk,
    base: gast.AST,
    lower: gast.AST | None,
    upper: gast.AST | None,
    count: int,
    scope: Scope,
) -> Sequence[Expr] | None:
    """`count` extents from ``a.shape[2:]``, ``a.shape[:2]`` or ``a.shape[-2:]``."""
    first, last = literal_integer(lower), literal_integer(upper)
    if first is None and lower is not None or last is None and upper is not None:
        return None
    begin, end = first or 0, last or 0
    least = max(count + max(begin, 0) + max(-end, 0), end, -begin)
    whole = measured(w, base, scope, least)
    return None if whole is None else whole.shape[first:last]


def _unpack_number(
    w: Walk,
    target: gast.AST,
    values: list[Operand],
    k: int,
    at: Loc,
    scope: Scope,
) -> None:
    """Assign value `k`, a number; later values are those from before it."""
    with w.emit.aside() as emitted:
        place = read_target(w, target, scope)
    values[:] = held_before(w, values, emitted)
    w.emit.extend(emitted)
    one = values[k]
    assert not isinstance(one, Array)
    if place is None:
        return
    if isinstance(place, Array):
        with w.emit.aside() as emitted:
            assign_elements(w, place, one, at)
        keep_later(w, values, k, emitted)
        return
    if isinstance(place, Var):
        w.found.resembles(place.name, one)
    name = place.name if isinstance(place, Var) else place.array
    for j, later in enumerate(values[k + 1 :], k + 1):
        if not isinstance(later, Array) and name in names(later):
            values[j] = w.emit.temp(later, name)
    w.emit.add(Assign(place, one, loc=at))


def binding_order(
    targets: Sequence[gast.AST], values: Sequence[Operand], scope: Scope
) -> list[int]:
    """In which order names get their values: last those whose arrays others get.

    In a loop the array of a name may take over the elements of a new one.
    """
    left = list(range(len(targets)))
    names_ = [t.id for t in targets if isinstance(t, gast.Name)]
    if len({*names_}) < len(targets):
        return left

    def is_free(k: int) -> bool:
        bound = scope.bound.get(names_[k])
        base = bound.base if isinstance(bound, Array) else None
        return base is None or not any(
            shares(values[j], {base}) for j in left if j != k
        )

    order: list[int] = []
    while left:
        free = next((k for k in left if is_free(k)), left[0])
        order.append(free)
        left.remove(free)
    return order


def keep_later(w: Walk, values: list[Operand], k: int, emitted: Sequence[Stmt]) -> None:
    """`emitted` assigns value `k`; later values are those from before it."""
    values[k + 1 :] = held_before(w, values[k + 1 :], emitted)
    w.emit.extend(emitted)


def read_augmented(w: Walk, node: gast.AugAssign, scope: Scope) -> None:
    """``place += value``: Python reads the place before it evaluates the value."""
    at = scope.source.loc(node)
    # Python reads the target before it evaluates the value.
    place = read_target(w, node.target, scope, augmented=True)
    mark = w.emit.mark
    bare = under_mask(w, node.target, node.value, scope)
    value = read_operand(w, node.value if bare is None else bare, scope)
    if place is None:
        return
    if isinstance(place, Array):
        copied = place.mask is not None or place.scattered
        selects = place.reads() | (names(place.mask) if place.mask else frozenset())
        if copied and written(w.emit.since(mark)) & selects:
            w.refuse(
                "P206",
                at,
                "the value is computed by a call that writes what is selected here",
                "select in a statement of its own first, and add what the call returns",
            )
            return
        if isinstance(node.op, gast.MatMult):
            value = matrix_product(w, place, value, at)
            assign_elements(w, place, value, at)
            return
        word = BINARY[type(node.op)]
        assign_elements(w, place, value, at, word, masked=bare is not None)
        return
    if isinstance(value, Array) or isinstance(node.op, gast.MatMult):
        augment_number(w, node, place, value, at, scope)
        return
    if written(w.emit.since(mark)) & names(place):
        late = w.emit.take(mark)
        if isinstance(place, Load):
            index = tuple(w.emit.keep(e, "index") for e in place.index)
            place = replace(place, index=index)
        old: Expr = w.emit.temp(place, "old")
        w.emit.extend(late)
    else:
        old = place
    result = Call(BINARY[type(node.op)], (old, value), loc=at)
    w.emit.add(assigned(place, result, at))


def augment_number(
    w: Walk,
    node: gast.AugAssign,
    place: Var | Load,
    value: Operand,
    at: Loc,
    scope: Scope,
) -> None:
    """``s += array`` where `s` is a number: `s` becomes an array."""
    if isinstance(node.op, gast.MatMult) or not isinstance(node.target, gast.Name):
        w.refuse(
            "P201",
            at,
            "an array is added to a number",
            "assign to a slice, or reduce the array first",
        )
        return
    word = BINARY[type(node.op)]
    result = elementwise(w, [place, value], lambda e: Call(word, tuple(e), loc=at), at)
    assert isinstance(result, Array)
    bind_name(w, node.target, result, len(w.storage.allocated), at, scope)


def _elements(node: gast.AST) -> list[gast.AST]:
    """What stands on one side of an assignment, one by one."""
    return list(node.elts) if isinstance(node, (gast.Tuple, gast.List)) else [node]
