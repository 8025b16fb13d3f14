"""Tuples whose elements are read by a number of the run: a list of them stands beside.

Python text in, Python text out, before structures are taken apart::

    def f(x, weights):                     def f(x, weights):
        for i in range(len(weights)):          weights_all = [weights[0], weights[1]]
            x = weights[i] @ x       ->        for i in range(len(weights)):
        return x                                   x = weights_all[i] @ x
                                               return x
"""

from __future__ import annotations

import copy
from collections.abc import Mapping

import gast
import numpy as np

from pyrev.ir.nodes import fresh
from pyrev.parse.bindings import (
    bindings,
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
    number_of,
    object_named,
    placed,
    written_in,
)
from pyrev.parse.rewriting.structures.shapes import Shape


def with_lists_beside(
    node: gast.AST, lookup: Lookup, shapes: Mapping[str, Shape]
) -> gast.AST:
    """The definition `node` with a list beside each of its parameters that is a tuple
    of numbers or of arrays by its shape, and whose elements it reads by a number that
    is not written out; itself if there is none. NumPy's array of the tuple is one of
    the list.

    Those whose elements are written to stay, and those that are bound again.

    >>> text = '''
    ... def f(x, t):
    ...     return x[0] * t[int(x[1])] + t[0]
    ... '''
    >>> definition = gast.parse(text).body[0]
    >>> shape = Shape("tuple", ((0, None), (1, None)))
    >>> print(gast.unparse(with_lists_beside(definition, {}.get, {"t": shape})).strip())
    def f(x, t):
        t_all = [t[0], t[1]]
        return x[0] * t_all[int(x[1])] + t[0]
    """
    if not isinstance(getattr(node, "body", None), list):
        return node
    local = local_names(node)
    names: dict[str, str] = {}
    taken, written = {*identifiers(node)}, written_in(node)
    for name, shape in shapes.items():
        plain = shape.kind == "tuple" and all(f is None for _, f in shape.fields)
        if plain and shape.fields and bindings(node).count(name) == 1:
            if reads_by_number(node, name) and name not in written:
                names[name] = fresh(f"{name}_all", taken)
    if not names:
        return node

    def beside(part: gast.AST) -> gast.AST:
        match part:
            case gast.Subscript(value=gast.Name(id=name), slice=index) if (
                name in names and _is_counted(index)
            ):
                made = copy.copy(part)
                made.value = name_of(names[name], part.value)
                made.slice = beside(index)
                return made
            case gast.Call(func=func, args=[gast.Name(id=name) as given, *more]) if (
                name in names
                and object_named(func, local, lookup) in (np.array, np.asarray)
            ):
                made = copy.copy(part)
                made.args = [_elements(name, shapes[name], given), *more]
                return made
        return mapped(part, beside)

    made = beside(node)
    first = made.body[0]
    after = isinstance(first, gast.Expr) and isinstance(first.value, gast.Constant)
    at = made.body[min(after, len(made.body) - 1)]
    head = [
        placed(
            assign([name_of(own, None, gast.Store())], _elements(name, shape, at)), at
        )
        for name, own in names.items()
        if own in identifiers(made) and (shape := shapes[name])
    ]
    made.body = [*made.body[:after], *head, *made.body[after:]]
    return made


def _elements(name: str, shape: Shape, at: gast.AST) -> gast.AST:
    """The display of the elements of a tuple."""
    every = [
        gast.Subscript(name_of(name), number_of(k), gast.Load())
        for k in range(len(shape.fields))
    ]
    return placed(gast.List(every, gast.Load()), at)


def _is_counted(index: gast.AST) -> bool:
    """Is a subscript a number that is not written out?"""
    if isinstance(index, (gast.Slice, gast.Tuple, gast.Constant)):
        return False
    return literal_integer(index) is None


def reads_by_number(node: gast.AST, name: str) -> bool:
    """Is an element read by a number of the run, or the whole as NumPy's array?"""
    for n in nodes_of(node):
        match n:
            case gast.Subscript(value=gast.Name(id=own), slice=index):
                if own == name and _is_counted(index):
                    return True
            case gast.Call(
                func=gast.Attribute(attr="array" | "asarray"),
                args=[gast.Name(id=own), *_],
            ):
                if own == name:
                    return True
    return False
