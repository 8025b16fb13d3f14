"""Who writes to what: a call that does may stand once in a text that is made of the
user's, and where the user has it.
"""

from __future__ import annotations

from functools import partial
from types import FunctionType

import gast
import numpy as np

from pyrev.parse.bindings import local_names, nodes_of, parameters
from pyrev.parse.grounds import lookup as stands_for
from pyrev.parse.rewriting.helper_texts import definition_of, looked
from pyrev.parse.rewriting.made_texts import (
    Lookup,
    object_named,
    read_in,
    root_of,
    stored_in,
)
from pyrev.parse.source import plain
from pyrev.parse.streams import may_draw


def may_write(node: gast.AST, names: set[str], lookup: Lookup) -> bool:
    """May a definition, or what it calls, write to what these names stand for, or to
    parts of it, perhaps under other names?
    """
    local = local_names(node)
    own = _with_other_names(node, names)
    alone = {id(n.value) for n in nodes_of(node) if isinstance(n, gast.Expr)}
    for n in nodes_of(node):
        match n:
            case gast.Subscript(ctx=gast.Store()) | gast.Attribute(ctx=gast.Store()):
                if root_of(n) in {*own, ""}:
                    return True
            case gast.AugAssign(target=gast.Name(id=name)) if name in own:
                return True
            case gast.Call():
                if own & read_in(n) and call_writes(n, local, lookup, id(n) in alone):
                    return True
    return False


def _with_other_names(node: gast.AST, names: set[str]) -> set[str]:
    own = set(names)
    while True:
        before = len(own)
        for n in nodes_of(node):
            match n:
                case gast.Assign(targets=targets, value=value):
                    if own & read_in(value):
                        own |= stored_in(n) | {root_of(t) for t in targets} - {""}
                case gast.For(target=target, iter=over) if own & read_in(over):
                    own |= stored_in(target)
                case gast.comprehension(target=target, iter=over):
                    if own & read_in(over):
                        own |= stored_in(target)
        if len(own) == before:
            return own


def call_writes(
    call: gast.Call, local: frozenset[str], lookup: Lookup, alone: bool
) -> bool:
    """May a call write to what it is given? What is no text gives something new, where
    it does not stand `alone` in a statement.
    """
    match call.func:
        case gast.Name(id=name) if name in local:
            return True
    found = object_named(call.func, local, lookup)
    function = None if is_numpy(found) else plain(found)
    if function is not None:
        return writes(function)
    if found is None and isinstance(call.func, gast.Attribute):
        if call.func.attr not in _OF_ARRAYS:
            return True  # a method of whatever it is
    if any(k.arg in ("out", None) for k in call.keywords):
        return True
    return alone or writes_by_position(found, call)


def writes(function: FunctionType) -> bool:
    """May a function write to something that it is given?"""
    node = definition_of(function)
    if node is None:
        return True

    def look() -> bool:
        given = {p.id for p in parameters(node)} | {*function.__code__.co_freevars}
        return may_write(node, given, partial(stands_for, function))

    return looked(function, "writes", look, False)


#: The methods of arrays, of lists and dictionaries, and of what draws random numbers.
_KNOWN = (np.ndarray, list, dict, np.random.Generator, np.random.RandomState)
_OF_ARRAYS = frozenset(n for cls in _KNOWN for n in dir(cls))


def call_draws(call: gast.Call, local: frozenset[str], lookup: Lookup) -> bool:
    """May a call draw random numbers, itself or by what it calls?"""
    found = object_named(call.func, local, lookup)
    own = plain(found)
    return may_draw(call.func, found) or (own is not None and draws(own))


def draws(function: FunctionType) -> bool:
    """May a function draw random numbers?"""
    node = definition_of(function)
    if node is None:
        return True

    def look() -> bool:
        local, lookup = local_names(node), partial(stands_for, function)
        calls = [n for n in nodes_of(node) if isinstance(n, gast.Call)]
        return any(call_draws(c, local, lookup) for c in calls)

    return looked(function, "draws", look, False)


#: NumPy's functions that write to what they are given by position.
_WRITING = frozenset(
    ["copyto", "put", "place", "putmask", "fill_diagonal", "put_along_axis", "at"]
    + ["shuffle"]
)


def is_numpy(found: object) -> bool:
    """Is this one of NumPy's functions?"""
    module = str(getattr(found, "__module__", "")).split(".")[0]
    return module == "numpy" or isinstance(found, np.ufunc)


def writes_by_position(found: object, call: gast.Call) -> bool:
    """Does a call of one of NumPy's functions write to an argument, `out=` apart?"""
    if isinstance(found, np.ufunc) and len(call.args) > found.nin:
        return True
    return getattr(found, "__name__", "") in _WRITING
