"""Where a list is what an array is: its elements are read, one by one or by NumPy.

To add two lists, to multiply one, to compare them or to take a slice gives other lists.
"""

from __future__ import annotations

from functools import partial

import gast
import numpy as np

from pyrev.parse.bindings import children, local_names
from pyrev.parse.grounds import lookup as stands_for
from pyrev.parse.rewriting.helper_texts import definition_of, looking_at
from pyrev.parse.rewriting.made_texts import Lookup, object_named
from pyrev.parse.rewriting.structures.shapes import Shape
from pyrev.parse.source import parameters_of, plain

#: The shape of a list of numbers that is returned.
LIST = Shape("list", ((0, None),))

_READERS = (len, sum, min, max, enumerate, zip, reversed, range)


def is_named(e: gast.AST | None, name: str) -> bool:
    """Is it this name?"""
    return isinstance(e, gast.Name) and bool(e.id == name)


def takes_elements(function: object, number: int) -> bool:
    """Does a function only read the elements of its argument of this number?"""
    if any(function is f for f in _READERS):
        return True
    module = str(getattr(function, "__module__", "")).split(".")[0]
    if module == "numpy" or isinstance(function, np.ufunc):
        return True
    own, node = plain(function), definition_of(function)
    if own is None or node is None or number >= len(parameters_of(own)):
        return False
    name = parameters_of(own)[number]
    with looking_at(own, "elements") as first:
        return first and reads_elements(node, name, partial(stands_for, own))


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
                return takes_elements(function, place)
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
