"""Names for dtypes, classes of numbers and the limits of integers: what they stand for
stands in their place.

Python text in, Python text out, before anything is lowered::

    dt = x.dtype                         out = np.zeros(n, dtype=x.dtype)
    T = type(scale)               ->     half = type(scale)(0.5)
    out = np.zeros(n, dtype=dt)
    half = T(0.5)

The dtype of what a name stands for is that of the array or the number, whose elements
may change, and it does not.
"""

from __future__ import annotations

import copy
from collections import Counter
from types import ModuleType

import gast
import numpy as np

from pyrev.ir.nodes import fresh
from pyrev.parse.bindings import mapped, nodes_of
from pyrev.parse.functions import is_dtype
from pyrev.parse.rewriting.made_texts import Lookup, assign, name_of, placed

#: NumPy's functions that give a dtype, and those that give an array for anything.
_TYPES = ("result_type", "promote_types", "dtype")
_ARRAYS = ("asarray", "array", "ascontiguousarray")


def without_dtype_names(node: gast.AST, lookup: Lookup) -> gast.AST:
    """The definition `node` without names for dtypes and classes of numbers that are
    bound once, where it begins; itself if there are none.

    >>> import gast
    >>> text = '''
    ... def f(x, scale):
    ...     dt = x.dtype
    ...     out = np.zeros(len(x), dtype=dt)
    ...     out[:] = scale * x
    ...     return out
    ... '''
    >>> definition = gast.parse(text).body[0]
    >>> print(gast.unparse(without_dtype_names(definition, {"np": np}.get)).strip())
    def f(x, scale):
        out = np.zeros(len(x), dtype=x.dtype)
        out[:] = scale * x
        return out
    """
    body = getattr(node, "body", None)
    if not isinstance(body, list):
        return node
    bound = _bound(node)
    meant: dict[str, gast.AST] = {}
    kept: list[gast.AST] = []
    taken = {n.id for n in nodes_of(node) if isinstance(n, gast.Name)}
    for k, s in enumerate(body):
        match s:
            case gast.Assign(targets=[gast.Name(id=name)], value=value) if bound[
                name
            ] == 1 and _is_dtype(value, bound, lookup):
                if any(_read(value) & _bound(later).keys() for later in body[k:]):
                    value, keeping = _of_now(value, taken)
                    kept += keeping or [s]
                    if not keeping:
                        continue
                meant[name] = _with(value, meant)
            case _:
                kept.append(_with(s, meant) if meant else s)
    if not meant:
        return node
    made = copy.copy(node)
    made.body = kept
    return made


def _of_now(e: gast.AST, taken: set[str]) -> tuple[gast.AST, list[gast.AST]]:
    """The class of a number whose name is bound again later, as that of another name
    for it, and the statement that binds this; no statement if it is something else.
    """
    match e:
        case gast.Call(func=func, args=[gast.Name(id=name)], keywords=[]) if isinstance(
            func, gast.Name
        ):
            given = fresh(f"{name}_given", taken)
            target = name_of(given, ctx=gast.Store())
            keeping = placed(assign([target], e.args[0]), e)
            return placed(gast.Call(func, [name_of(given)], []), e), [keeping]
    return e, []


def _bound(node: gast.AST) -> Counter[str]:
    """How often a definition or a statement binds each name, functions in it too."""
    found: Counter[str] = Counter()
    for n in nodes_of(node):
        match n:
            case gast.Name(id=name, ctx=gast.Store() | gast.Param()):
                found[name] += 1
            case gast.FunctionDef(name=name) | gast.ClassDef(name=name):
                found[name] += n is not node
    return found


def _read(e: gast.AST) -> set[str]:
    return {n.id for n in nodes_of(e) if isinstance(n, gast.Name)}


def _is_dtype(e: gast.AST, bound: Counter[str], lookup: Lookup) -> bool:
    """Is this the dtype of something, the class of a number, or a limit of integers?"""
    match e:
        case gast.Attribute(value=gast.Name(id=name)) if not bound[name]:
            if isinstance(lookup(name), ModuleType):
                return is_dtype(getattr(lookup(name), e.attr, None))
        case gast.Name(id=name) if not bound[name]:
            return is_dtype(lookup(name))
    match e:
        case gast.Attribute(
            value=gast.Call(func=func, args=[of], keywords=[]), attr="min" | "max"
        ):
            if _numpy_name(func, bound, lookup) != "iinfo":
                return False
            return _is_dtype(of, bound, lookup)
        case gast.Attribute(value=of, attr="type"):
            return isinstance(of, gast.Attribute) and _is_dtype(of, bound, lookup)
        case gast.Attribute(value=gast.Name(id=name), attr="dtype"):
            return bound[name] > 0
        case gast.Attribute(value=gast.Call(func=func), attr="dtype"):
            return _numpy_name(func, bound, lookup) in _ARRAYS
        case gast.Call(func=gast.Name(id="type"), args=[gast.Name()], keywords=[]):
            return not bound["type"] and lookup("type") is type
        case gast.Call(func=func, keywords=[]):
            return _numpy_name(func, bound, lookup) in _TYPES
    return False


def _numpy_name(func: gast.AST, bound: Counter[str], lookup: Lookup) -> str | None:
    match func:
        case gast.Attribute(value=gast.Name(id=name), attr=attr) if not bound[name]:
            return str(attr) if lookup(name) is np else None
    return None


def _with(node: gast.AST, meant: dict[str, gast.AST]) -> gast.AST:
    if isinstance(node, gast.Name) and isinstance(node.ctx, gast.Load):
        found = meant.get(node.id)
        return node if found is None else gast.copy_location(copy.copy(found), node)
    return mapped(node, lambda part: _with(part, meant))
