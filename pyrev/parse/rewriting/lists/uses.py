"""Where a list is what an array is: its elements are read, one by one or by NumPy.

To add two lists, to multiply one, to compare them or to take a slice gives other lists.
"""

from __future__ import annotations

import builtins
import copy
from collections.abc import Iterator
from functools import partial
from types import FunctionType

import gast
import numpy as np

from pyrev.parse.bindings import children, local_names, nodes_of, parameters
from pyrev.parse.grounds import lookup as stands_for
from pyrev.parse.rewriting.helper_texts import definition_of, looked
from pyrev.parse.rewriting.made_texts import Lookup, object_named
from pyrev.parse.rewriting.structures.shapes import Shape
from pyrev.parse.source import plain
from pyrev.parse.streams import only_picks

#: The attribute of a call that holds the definition of what it calls, where that is
#: another one than its text (`by_field`).
DEFINITION = "pyrev_definition"
#: That of what lists begin with that hold the fields of the same tuples, alike for
#: these, and of the statement that says what room they need.
SIBLINGS, ROOM = "pyrev_siblings", "pyrev_room"
#: The shape of a list of numbers that is returned.
LIST = Shape("list", ((0, None),))

_READERS = (len, sum, min, max, enumerate, zip, reversed, range)


def is_named(e: gast.AST | None, name: str) -> bool:
    """Is it this name?"""
    return isinstance(e, gast.Name) and bool(e.id == name)


def takes_elements(function: object, number: int, call: gast.Call) -> bool:
    """Does a function only read the elements of its argument of this number?"""
    made = getattr(call, DEFINITION, None)
    if made is not None:
        return _takes_elements(made.node, plain(function), number)
    if any(function is f for f in _READERS) or only_picks(call.func, function):
        return True
    module = str(getattr(function, "__module__", "")).split(".")[0]
    if module == "numpy" or isinstance(function, np.ufunc):
        return True
    own, node = plain(function), definition_of(function)
    return own is not None and node is not None and _takes_elements(node, own, number)


def _takes_elements(node: gast.AST, own: FunctionType | None, number: int) -> bool:
    """Does this definition of a function, of one that is defined inside if there is
    none, only read the elements of a parameter?
    """
    names = [p.id for p in parameters(node)]
    if number >= len(names):
        return False
    look: Lookup = _unknown if own is None else partial(stands_for, own)
    reads = partial(reads_elements, node, names[number], look)
    return looked(own or node, "elements", reads, False, number)


def _unknown(name: str) -> object:
    """What stands behind the names around a function that is defined inside."""
    return getattr(builtins, name, None)


def reads_elements(node: gast.AST, name: str, lookup: Lookup) -> bool:
    """Are only elements read of what a name stands for in a definition?"""
    local = local_names(node)

    def fits(e: gast.AST, around: gast.AST) -> bool:
        match around:
            case gast.Subscript(value=value, slice=index) if value is e:
                return not isinstance(index, (gast.Slice, gast.Tuple))
            case gast.Call(func=func, args=args) if any(a is e for a in args):
                function = object_named(func, local, lookup)
                place = next(k for k, a in enumerate(args) if a is e)
                return takes_elements(function, place, around)
            case gast.For(iter=it):
                return it is e
        return False

    def visit(around: gast.AST) -> bool:
        for child in children(around):
            if is_named(child, name):
                if isinstance(child.ctx, gast.Load) and not fits(child, around):
                    return False
            elif not visit(child):
                return False
        return True

    return visit(node)


def loops_over_fields(
    loop: gast.For, name: str, node: gast.AST, lookup: Lookup
) -> bool:
    """Are only fields read of what a loop over a list of tuples gives? To add two
    tuples, to compare them or to return one is another thing than with rows of arrays.
    """
    local = local_names(node)

    def rows(it: gast.AST, target: gast.AST) -> Iterator[gast.AST]:
        if not any(is_named(n, name) for n in nodes_of(it)):
            return
        match it:
            case gast.Call(func=func, args=args):
                found = object_named(func, local, lookup)
                parts = target.elts if isinstance(target, gast.Tuple) else []
                if found is enumerate and len(parts) == 2:
                    yield from rows(args[0], parts[1])
                    return
                if found is reversed:
                    yield from rows(args[0], target)
                    return
                if found is zip and len(parts) == len(args):
                    for a, t in zip(args, parts, strict=True):
                        yield from rows(a, t)
                    return
                if found is range:
                    return
        yield target

    names = [t.id for t in rows(loop.iter, loop.target) if isinstance(t, gast.Name)]
    return all(_reads_fields(node, n, lookup) for n in names)


def _reads_fields(node: gast.AST, name: str, lookup: Lookup) -> bool:
    """Is a tuple only unpacked, besides reads of its elements?"""
    bare = copy.deepcopy(node)
    for s in nodes_of(bare):
        if isinstance(s, gast.Assign) and is_named(s.value, name):
            if isinstance(s.targets[0], (gast.Tuple, gast.List)):
                s.value = gast.Constant(0, None)
    return reads_elements(bare, name, lookup)
