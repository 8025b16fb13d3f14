"""What is assigned to: a name, an element, a part of an array."""

from __future__ import annotations

import gast

from pyrev.ir.nodes import Assign, Call, Extent, Load, Loc, Var
from pyrev.parse import fence
from pyrev.parse.joins import gives_arrays, is_deeper
from pyrev.parse.names import note_use, program_name, seen_at, standing_for
from pyrev.parse.operands import held_before
from pyrev.parse.points_to import note_write
from pyrev.parse.rewriting.control import RETURNED
from pyrev.parse.rooms import refuse_rebinding
from pyrev.parse.scopes import Scope, parameter_ids
from pyrev.parse.shapes import RankFact
from pyrev.parse.subscripts import read_subscript
from pyrev.parse.values import Array, Operand
from pyrev.parse.walk import Walk
from pyrev.parse.whole_arrays import assign_elements


def read_target(
    w: Walk, node: gast.AST, scope: Scope, augmented: bool = False
) -> Var | Load | Array | None:
    """What is assigned to: a number by name, an element, or a part of an array."""
    at = scope.source.loc(node)
    match node:
        case gast.Name(id=name):
            if name in scope.helpers:
                w.refuse(
                    "P206",
                    at,
                    f"`{name}` is a function here",
                    "give the number another name",
                )
                return None
            if hasattr(node, RETURNED) and gives_arrays(w, name, scope):
                because = "one path returns an array, and another a number"
                helps = "return one array on every path: the paths may fill it"
                w.refuse("P110", at, because, helps)
                return None
            bound = seen_at(w, standing_for(w, name, scope), at)
            if isinstance(bound, Array) and augmented:
                note_use(w, name, scope, at)
                note_write(w, bound.base or "", at, place=bound)
                return bound
            place = Var(program_name(w, bound) or "", loc=at)
            if isinstance(bound, Array) and (
                bound.name is None
                or bound.name in w.storage.allocated
                or name in parameter_ids(scope)
            ):
                if is_deeper(w, name, scope):
                    refuse_rebinding(w, name, at, "`{}` is an array before")
                    return None
                place = Var(w.emit.fresh(name), loc=at)
                scope.bound[name] = place
            if name not in scope.numbers:
                scope.numbers.add(name)
                scope.paths[name] = w.emit.path
            return place
        case gast.Subscript():
            load = read_subscript(w, node, scope, store=True)
            if isinstance(load, Array):
                if load.view:
                    return load
                refuse_target(w, node, scope)
                return None
            if isinstance(load, (Extent, Call)):
                refuse_target(w, node, scope)
            if not isinstance(load, Load):
                assert w.findings.found or w.found.unsettled
                return None
            note_write(w, load.array, at, place=load)
            return load
    refuse_target(w, node, scope)
    return None


def refuse_target(w: Walk, node: gast.AST, scope: Scope) -> None:
    """What nothing can be assigned to."""
    if fence.has_told(node):
        return
    w.refuse(
        "P112",
        scope.source.loc(node),
        f"`{gast.unparse(node).strip()}` is neither a name nor an array element",
        "assign to a name or to an element such as `a[i]`",
    )


def store(
    w: Walk,
    target: gast.AST,
    value: Operand,
    at: Loc,
    scope: Scope,
    masked: bool = False,
) -> None:
    """Assign a value to a target; Python evaluates the value first.

    One that is `masked` has the shape of the array, and not only what a mask selects.
    """
    with w.emit.aside() as emitted:
        place = read_target(w, target, scope)
    # Python evaluates the value before the subscripts of the target.
    (value,) = held_before(w, [value], emitted)
    w.emit.extend(emitted)
    if isinstance(place, Array):
        assign_elements(w, place, value, at, masked=masked)
    elif place is None:
        return
    elif isinstance(value, Array):
        made = isinstance(place, Load) and place.array in w.storage.allocated
        if isinstance(place, Load) and not w.known.exact and not made:
            # The next walk has an array of rows there.
            axes = len(place.index) + value.rank
            w.found.facts.append(RankFact(place.array, axes, at, least=True))
        w.refuse(
            "P201",
            at,
            "an array is stored in one element",
            "assign to a slice, or store a number",
        )
    else:
        w.emit.add(Assign(place, value, loc=at))
