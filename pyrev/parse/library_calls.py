"""A call of a function of the library: which text stands for it, and with what."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import gast
import numpy as np

from pyrev.ir.nodes import Loc
from pyrev.parse.bindings import literal_integer, parameters
from pyrev.parse.helpers import default_value, helper_of
from pyrev.parse.library import Entry, entries_of
from pyrev.parse.names import object_of
from pyrev.parse.operands import read_operands
from pyrev.parse.rewriting.made_texts import name_of, placed
from pyrev.parse.scopes import NUMPY, Helper, Scope
from pyrev.parse.source import Standing
from pyrev.parse.values import Array, Operand
from pyrev.parse.walk import Walk
from pyrev.parse.whole_arrays import as_array, reusable

#: What no literal is.
_OPEN = object()


@dataclass(frozen=True, slots=True)
class Chosen:
    """The text for a call, as a helper, and what its parameters get."""

    helper: Helper
    values: dict[str, Operand]


def chosen_text(
    w: Walk,
    function: object,
    node: gast.Call,
    first: Sequence[gast.AST],
    scope: Scope,
) -> Chosen | None:
    """The text for a call of `function`, of which `first` are arguments in front of
    those in the text; None where no text is for such a call.
    """
    entries = entries_of(function)
    at = scope.source.loc(node)
    order = max((e.order for e in entries), key=len)  # some texts name more of them
    given = _by_name(order, [*first, *node.args], node.keywords)
    if given is None:
        return None
    if function is np.append:
        given = {n: _within_array(w, a, scope) for n, a in given.items()}
    literal = {n: _literal(a) for n, a in given.items()}
    fitting = [
        e
        for e in entries
        if e.takes({n: v for n, v in literal.items() if n not in e.ranks})
        and e.ranks.keys() - e.optional <= given.keys()
    ]
    read = {n for e in fitting for n in e.ranks}
    nodes = {n: a for n, a in given.items() if n in read}
    several = {n for e in fitting for n, rank in e.ranks.items() if rank}
    values = read_operands(
        w, [_as_array(a) if n in several else a for n, a in nodes.items()], scope
    )
    operands = dict(zip(nodes, values, strict=True))
    open_ones = {e.function: n for e in fitting if (n := _open(w, e, operands)) >= 0}
    found = [e for e in fitting if e.function in open_ones]
    if not found:
        return None
    best = min(found, key=lambda e: open_ones[e.function])
    return _called(w, best, operands, scope, at)


def _as_array(node: gast.AST) -> gast.AST:
    """An array of what is written out as a list or a tuple."""
    if not isinstance(node, (gast.List, gast.Tuple)) or not node.elts:
        return node
    listed = gast.copy_location(gast.List(node.elts, gast.Load()), node)
    func = placed(gast.Attribute(name_of(NUMPY), "array", gast.Load()), node)
    return gast.copy_location(gast.Call(func, [listed], []), node)


def _within_array(w: Walk, node: gast.AST, scope: Scope) -> gast.AST:
    """What an array is made of that is only copied."""
    match node:
        case gast.Call(func=func, args=[made], keywords=[]) if any(
            object_of(w, func, scope) is f for f in (np.array, np.asarray)
        ):
            return made
    return node


def _by_name(
    order: Iterable[str], args: Sequence[gast.AST], keywords: Sequence[gast.AST]
) -> dict[str, gast.AST] | None:
    """The arguments by the names of the parameters, in the order of evaluation; None if
    they do not fit these.
    """
    names = tuple(order)
    if len(args) > len(names):
        return None
    given = dict(zip(names, args, strict=False))
    for k in keywords:
        if k.arg not in names or k.arg in given:
            return None
        given[k.arg] = k.value
    return given


def _literal(node: gast.AST) -> object:
    """What is written out."""
    if isinstance(node, gast.Constant):
        return node.value
    found = literal_integer(node)
    return _OPEN if found is None else found


def _open(w: Walk, entry: Entry, operands: Mapping[str, Operand]) -> int:
    """How many numbers would have to be arrays for this text; -1 if it is none."""
    count = 0
    for name, value in operands.items():
        rank = entry.ranks.get(name)
        if isinstance(value, Array) and value.rank != rank:
            return -1
        if rank and not isinstance(value, Array):
            # A number as far as the text shows.
            if w.known.exact or not any(w.found.open_parts(value)):
                return -1
            count += 1
    return count


def _called(
    w: Walk, entry: Entry, operands: Mapping[str, Operand], scope: Scope, at: Loc
) -> Chosen | None:
    helper = helper_of(w, entry.function, at)
    if not isinstance(helper, Helper):
        return None
    own = helper.source
    standing = Standing(own.file, own.lines, own.node, at)
    own_names = {p.id for p in parameters(own.node)}
    values: dict[str, Operand] = {}
    for name, rank in entry.ranks.items():
        value = operands.get(name)
        if value is None:
            value = default_value(helper, name)
            assert value is not None
        elif rank:
            whole = as_array(w, value, at)
            if whole is None:
                # What it is made of is an array: the next walk knows.
                assert not isinstance(value, Array)
                w.found.unsettled = True
                whole = as_array(w, next(w.found.open_parts(value)), at)
            assert whole is not None
            value = reusable(w, whole, scope, name)
        values[name if name in own_names else f"{name}_"] = value
    return Chosen(replace(helper, source=standing), values)
