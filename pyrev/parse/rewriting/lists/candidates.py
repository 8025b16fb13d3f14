"""Which names of a definition are lists that have to be arrays: see `lists`."""

from __future__ import annotations

import copy
from collections import Counter

import gast

from pyrev.parse.bindings import (
    bindings,
    literal_integer,
    local_names,
    nodes_of,
    parameters,
)
from pyrev.parse.rewriting.comprehensions import start_of
from pyrev.parse.rewriting.lists.uses import reads_elements
from pyrev.parse.rewriting.made_texts import Lookup
from pyrev.parse.rewriting.structures.nodes import own_returns
from pyrev.parse.rewriting.structures.shapes import SHAPE


def candidates(node: gast.AST, lookup: Lookup) -> list[str]:
    """The names of lists that grow, or that are written to."""
    local = local_names(node)
    found: dict[str, None] = {}
    grown = {
        n.func.value.id
        for n in nodes_of(node)
        if isinstance(n, gast.Call)
        and isinstance(n.func, gast.Attribute)
        and n.func.attr in ("append", "pop", "reverse")
        and isinstance(n.func.value, gast.Name)
    }
    changed = stored(node)
    looped = {
        n.iter.id
        for n in nodes_of(node)
        if isinstance(n, gast.For) and isinstance(n.iter, gast.Name)
    }
    returned = {
        e.id
        for r in own_returns(node)
        for e in _results(r.value)
        if isinstance(e, gast.Name)
    }
    chosen = grown | changed | _indexed(node) | returned | _copied(node)
    for n in nodes_of(node):
        match n:
            case gast.Assign(targets=[gast.Name(id=name)], value=value):
                start = start_of(value, local, lookup)
                repeated = start is not None and start.times is not None
                if start is None:
                    continue
                # Loops over numbers of unlike dtypes have a copy for each of them.
                alike = name in looped and (
                    all(map(_is_float, start.elements))
                    or all(literal_integer(e) is not None for e in start.elements)
                )
                if name in chosen or repeated or alike:
                    found[name] = None
    own = {p.id for p in parameters(node)}
    times = Counter(bindings(node))
    return [n for n in found if n not in own and times[n] == 1]


def _results(e: gast.AST | None) -> list[gast.AST | None]:
    """The values that are returned, those in lists of tuples included."""
    if not isinstance(e, gast.Tuple):
        return [e]
    apart = [
        x.elts if isinstance(x, gast.Tuple) and hasattr(x, SHAPE) else [x]
        for x in e.elts
    ]
    return [x for part in apart for x in part]


def stored(node: gast.AST) -> set[str]:
    """The names of which elements are written."""
    return {
        n.value.id
        for n in nodes_of(node)
        if isinstance(n, gast.Subscript)
        and isinstance(n.ctx, gast.Store)
        and isinstance(n.value, gast.Name)
    }


def _copied(node: gast.AST) -> set[str]:
    """The names of lists that are copied as a whole, by ``out[:]``."""
    found = set()
    for n in nodes_of(node):
        match n:
            case gast.Assign(
                value=gast.Subscript(
                    value=gast.Name(id=name),
                    slice=gast.Slice(lower=None, upper=None, step=None),
                )
            ):
                found.add(name)
    return found


def _indexed(node: gast.AST) -> set[str]:
    """The names of which elements are read whose number is only known at run time."""
    return {
        n.value.id
        for n in nodes_of(node)
        if isinstance(n, gast.Subscript)
        and isinstance(n.value, gast.Name)
        and not isinstance(n.slice, (gast.Slice, gast.Tuple))
        and literal_integer(n.slice) is None
    }


def _is_float(e: gast.AST) -> bool:
    """Is it a float that no name has a say in, and more than a literal?"""
    parts = nodes_of(e)
    called = [n.func for n in parts if isinstance(n, gast.Call)]
    modules = {id(n) for f in called for n in nodes_of(f)}
    free = any(isinstance(n, gast.Name) and id(n) not in modules for n in parts)
    divided = any(
        isinstance(n, gast.BinOp) and isinstance(n.op, gast.Div) for n in parts
    )
    return not free and divided


def tuples_as_lists(node: gast.AST, lookup: Lookup) -> gast.AST:
    """The definition with lists for the tuples of which only elements are read, by
    numbers that are only known at run time.
    """
    times = Counter(bindings(node))

    def fits(s: gast.AST, indexed: set[str]) -> bool:
        match s:
            case gast.Assign(
                targets=[gast.Name(id=name)], value=gast.Tuple(elts=elts)
            ) if name in indexed and times[name] == 1:
                nested = (gast.Starred, gast.List, gast.Tuple)
                plain = not any(isinstance(e, nested) for e in elts)
                return plain and reads_elements(node, name, lookup)
        return False

    if not any(isinstance(n, gast.Tuple) for n in nodes_of(node)):
        return node
    indexed = _indexed(node)
    if not any(fits(s, indexed) for s in nodes_of(node)):
        return node
    node = copy.deepcopy(node)
    for s in nodes_of(node):
        if fits(s, indexed):
            made = gast.List(s.value.elts, gast.Load())
            s.value = gast.copy_location(made, s.value)
    return node
