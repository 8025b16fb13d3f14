"""What a generator picks from what is there: `choice`, `permutation`, `shuffle`.

NumPy draws places, whatever stands there: they are drawn as integers, and subscripts
say the rest, along which derivatives pass::

    y = rng.permutation(x)         y[i] = x[whole_draws[drawn + i]]
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import gast

from pyrev.ir.nodes import ZERO, Call, Expr, Loc
from pyrev.parse.bindings import is_none
from pyrev.parse.creation import array_of_list
from pyrev.parse.draws import (
    ask,
    begin_drawing,
    buffer_of,
    drawn_by,
    integer_form,
    taken,
)
from pyrev.parse.operands import held_before
from pyrev.parse.reading import read_operand
from pyrev.parse.scopes import Scope
from pyrev.parse.streams import Draw, Site
from pyrev.parse.subscripts import measured
from pyrev.parse.values import Array, Nothing, Operand, Refused, axis
from pyrev.parse.whole_arrays import as_array, assign_elements, make

if TYPE_CHECKING:
    from pyrev.parse.walk import Walk

_PARAMETERS = {
    "choice": ("a", "size", "replace", "p"),
    "permutation": ("x",),
    "shuffle": ("x",),
}
_HELPS = {
    "choice": "write `choice(a)`, with `size=`, `replace=False` or `p=` where wanted",
    "permutation": "write `permutation(n)` or `permutation(x)`",
    "shuffle": "write `shuffle(x)` of an array: `x = np.array(...)` of a list",
}


def read_pick(
    w: Walk, draw: Draw, node: gast.Call, scope: Scope
) -> Operand | Nothing | Refused:
    """What a call of one of these methods gives."""
    at = scope.source.loc(node)
    begin_drawing(w)
    given = _arguments(node, draw.method)
    if given is None:
        return _refuse(w, draw, at)
    match draw.method:
        case "choice":
            return _choice(w, draw, given, at, scope)
        case "shuffle":
            return _shuffle(w, draw, given["x"], at, scope)
    source = _source(w, given["x"], scope)
    if source is None:
        return Refused()
    if not isinstance(source, Array):
        return _order(w, draw, source, at, scope)
    return _in_order(w, source, _order(w, draw, source.shape[0], at, scope), at)


def _choice(
    w: Walk, draw: Draw, given: dict[str, gast.AST], at: Loc, scope: Scope
) -> Operand | Refused:
    """Places that are drawn, or what stands there in a vector."""
    anew = getattr(given.get("replace", gast.Constant(True, None)), "value", None)
    source, weights = _source(w, given["a"], scope), None
    if "p" in given and source is not None:
        with w.emit.aside() as emitted:
            likely = _source(w, given["p"], scope)
            weights = None if likely is None else as_array(w, likely, at)
        (source,) = held_before(w, [source], emitted)
        w.emit.extend(emitted)
        if weights is None:
            source = None
    if source is None:
        return Refused() if w.findings.found else _refuse(w, draw, at)
    own = source if isinstance(source, Array) else None
    flat = all(a is None or a.rank == 1 for a in (own, weights))
    if not isinstance(anew, bool) or not flat:
        return _refuse(w, draw, at)
    site = Site(
        draw.stream.name,
        "choice",
        buffer_of(w, "int64", scope),
        ("a",),
        () if anew else (("replace", False),),
        vector="" if weights is None else "p",
        places=own is not None,
    )
    size = given.get("size")
    size = None if is_none(size) else size
    first = source.shape[0] if isinstance(source, Array) else source
    form = integer_form("integers" if own else "choice", size is None, at)
    found = drawn_by(w, site, [w.emit.keep(first, "a")], size, scope, at, form, weights)
    if isinstance(found, Refused) or own is None:
        return found
    if isinstance(found, Array):
        return _in_order(w, own, found, at)
    return w.emit.temp(_stored(w, own, at).at((found,)), "chosen")


def _order(w: Walk, draw: Draw, number: Expr, at: Loc, scope: Scope) -> Array:
    """``permutation(n)``: no places if the number is none."""
    site = Site(draw.stream.name, "permutation", buffer_of(w, "int64", scope), ("x",))
    number = w.emit.keep(number, "number")
    ask(w, site, [number], number, at)
    length = w.emit.keep(Call("max", (number, ZERO), loc=at), "length")
    return Array((length,), taken(w, site, length, axis(0), at), False, loc=at)


def _in_order(w: Walk, source: Array, places: Array, at: Loc) -> Array:
    """The elements, or the rows, that stand at places."""
    source = _stored(w, source, at)
    behind = [axis(places.rank + k) for k in range(source.rank - 1)]
    shape = (*places.shape, *source.shape[1:])
    return Array(shape, source.at((places.element, *behind)), False, loc=at)


def _shuffle(
    w: Walk, draw: Draw, node: gast.AST, at: Loc, scope: Scope
) -> Nothing | Refused:
    """The elements of a vector, or the rows of an array, change their places."""
    whole = measured(w, node, scope)
    if whole is None:
        return _refuse(w, draw, at)
    if not whole.view or whole.base is None:
        because = "`shuffle` changes an array in place, and this one has no name"
        w.refuse("P108", at, because, "give it one, or write `permutation(x)`")
        return Refused()
    number, *rest = whole.shape
    for length in rest:  # NumPy draws nothing for rows without elements
        number = Call("where", (Call(">", (length, ZERO)), number, ZERO), loc=at)
    order = _order(w, draw, number, at, scope)
    if rest:
        whole = replace(whole, shape=(*order.shape, *rest))
    else:
        order = replace(order, shape=whole.shape)
    value = make(w, _in_order(w, whole, order, at), "shuffled", at)
    assign_elements(w, whole, value, at)
    return Nothing()


def _source(w: Walk, node: gast.AST, scope: Scope) -> Operand | None:
    """What is picked from: an array, a list that is written out, or a number."""
    if isinstance(node, (gast.List, gast.Tuple)):
        return array_of_list(w, node, scope.source.loc(node), scope)
    return read_operand(w, node, scope)


def _stored(w: Walk, source: Array, at: Loc) -> Array:
    """An array that can be read at any place, as long as it is."""
    if source.name is None or source.name in w.storage.lengths:
        return make(w, source, "source", at)
    return source


def _refuse(w: Walk, draw: Draw, at: Loc) -> Refused:
    because = f"`{draw.method}` does not take these arguments here"
    w.refuse("P108", at, because, _HELPS[draw.method])
    return Refused()


def _arguments(node: gast.Call, name: str) -> dict[str, gast.AST] | None:
    """The arguments by name; None if they do not fit."""
    names = _PARAMETERS[name]
    starred = any(isinstance(a, gast.Starred) for a in node.args)
    if starred or len(node.args) > len(names):
        return None
    given = dict(zip(names, node.args, strict=False))
    for k in node.keywords:
        if k.arg not in names or k.arg in given:
            return None
        given[k.arg] = k.value
    if "p" in given and is_none(given["p"]):
        del given["p"]
    return given if names[0] in given else None
