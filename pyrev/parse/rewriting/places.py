"""Names of what ``np.where(mask)`` gives: a name for the places along each axis.

Python text in, Python text out, before anything is lowered::

    found = np.where(x > 0.5)              found_0 = np.where(x > 0.5)[0]
    for k in found[0]:               ->    for k in found_0:
        s += x[k]                              s += x[k]
"""

from __future__ import annotations

import copy

import gast
import numpy as np

from pyrev.ir.nodes import fresh
from pyrev.parse.bindings import (
    bound_alone,
    children,
    identifiers,
    literal_integer,
    local_names,
    mapped,
    nodes_of,
)
from pyrev.parse.rewriting.made_texts import (
    Lookup,
    assign,
    name_of,
    object_named,
    placed,
)


def with_named_places(node: gast.AST, lookup: Lookup) -> gast.AST:
    """The definition `node` with a name for each array that ``np.where(mask)`` and
    ``np.nonzero(mask)`` give, in place of one for all; itself if there are none.

    Such a name is bound to nothing else, and is a subscript, or has one that is written
    out, wherever it is read. Those that are subscripts alone stay.

    >>> text = '''
    ... def f(x):
    ...     found = np.where(x > 0.5)
    ...     return x[found].sum() + len(found[0])
    ... '''
    >>> definition = gast.parse(text).body[0]
    >>> print(gast.unparse(with_named_places(definition, {"np": np}.get)).strip())
    def f(x):
        found_0 = np.where(x > 0.5)[0]
        return x[found_0].sum() + len(found_0)
    """
    local = local_names(node)

    def gives_places(value: gast.AST) -> bool:
        match value:
            case gast.Call(func=func, args=[_], keywords=[]):
                return object_named(func, local, lookup) in (np.where, np.nonzero)
        return False

    axes = {name: _axes(node, name) for name in bound_alone(node, gives_places)}
    taken = {*identifiers(node)}
    names = {
        name: [fresh(f"{name}_{k}", taken) for k in range(count)]
        for name, count in axes.items()
        if count
    }
    return _named(node, names) if names else node


def _axes(around: gast.AST, name: str) -> int:
    """How many of the arrays are read apart, up to the last; 0 if the name is read in
    another way, or never apart.
    """
    found = [_use(n, e) for n in nodes_of(around) for e in children(n) if _is(e, name)]
    return 0 if None in found else max((k for k in found if k is not None), default=0)


def _is(e: gast.AST, name: str) -> bool:
    return (
        isinstance(e, gast.Name) and e.id == name and not isinstance(e.ctx, gast.Store)
    )


def _use(around: gast.AST, name: gast.AST) -> int | None:
    match around:
        case gast.Subscript(value=value, slice=index) if value is name:
            k = literal_integer(index)
            return None if k is None or k < 0 else k + 1
        case gast.Subscript(slice=index) if index is name:
            return 0
    return None


def _named(node: gast.AST, names: dict[str, list[str]]) -> gast.AST:
    match node:
        case gast.Assign(targets=[gast.Name(id=name)], value=value) if name in names:
            targets = [name_of(n, None, gast.Store()) for n in names[name]]
            value = _named(value, names)
            if len(targets) == 1:
                first = gast.Constant(0, None)
                value = gast.Subscript(value, first, gast.Load())
                return placed(assign(targets, value), node)
            return placed(assign([gast.Tuple(targets, gast.Store())], value), node)
        case gast.Subscript(value=gast.Name(id=name), slice=index) if name in names:
            return name_of(names[name][literal_integer(index) or 0], node)
        case gast.Subscript(value=value, slice=gast.Name(id=name)) if name in names:
            made = copy.copy(node)
            made.value = _named(value, names)
            places = [name_of(n, node) for n in names[name]]
            one = len(places) == 1
            made.slice = places[0] if one else gast.Tuple(places, gast.Load())
            return placed(made, node)
    return mapped(node, lambda part: _named(part, names))
