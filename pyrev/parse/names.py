"""What a name stands for: a local, a helper, a global or closure value, an array.

A global or closure value becomes a hidden parameter (`Capture`), read at every call.
"""

from __future__ import annotations

import math
import re
from enum import Enum, IntEnum
from types import FunctionType, ModuleType

import gast
import numpy as np

from pyrev.ir.nodes import NOWHERE, Loc, Var
from pyrev.parse.grounds import (
    MISSING,
    Missing,
    base_name,
    cell_of,
    is_value,
    lookup,
)
from pyrev.parse.rewriting.made_texts import ROOTS
from pyrev.parse.rooms import ask_room, check_filled, refuse_rebinding
from pyrev.parse.scopes import (
    RECORD,
    RESERVED,
    Capture,
    Scope,
    home,
    module_name,
    parameter_ids,
    record_place,
)
from pyrev.parse.shapes import RankFact
from pyrev.parse.source import plain
from pyrev.parse.streams import Draw, Stream
from pyrev.parse.unset import ask_unset_room
from pyrev.parse.values import Array, Operand, placed, stored_in, whole_array
from pyrev.parse.walk import Walk


def standing_for(w: Walk, name: str, scope: Scope) -> Operand:
    """What a local name stands for; its first mention gives it its IR name."""
    if name not in scope.bound:
        own = w.emit.fresh(name) if scope.inlined or name in RESERVED else name
        place = w.found.users[own] = scope.site, name
        if scope.inlined:
            w.known.ranks[own] = w.known.inner.get(place, 0)
        scope.bound[name] = stored_as(w, own, NOWHERE)
    return scope.bound[name]


def scalar_for(w: Walk, name: str, scope: Scope) -> Var:
    """The variable of the program for the numbers that a local name stands for."""
    own = program_name(w, standing_for(w, name, scope))
    return Var(w.emit.fresh(name) if own is None else own)


def stored_as(w: Walk, name: str, at: Loc) -> Var | Array:
    """What is stored under a name of the program: an array, if the last walk knew,
    or a number.
    """
    if is_array(w, name):
        return whole_array(name, rank_of(w, name), at)
    return Var(name, loc=at)


def program_name(w: Walk, value: Operand | None) -> str | None:
    """The scalar or the array of the program that this value is, all of it."""
    match value:
        case Array(name=str(name)) if not is_array(w, name):
            return None  # a number that is taken for an array, if not by name yet
    return stored_in(value)


def seen_at(w: Walk, value: Operand, at: Loc) -> Operand:
    """What a name stands for, where it is read.

    What the last walk knew to be an array this one must find out again.
    """
    name = program_name(w, value)
    if (
        isinstance(value, Array)
        and name is not None
        and name not in w.storage.allocated
    ):
        w.found.facts.append(RankFact(name, 1, at, least=True))
    return placed(value, at)


def rank_of(w: Walk, array: str) -> int:
    """How many axes an array has, as far as the last walk knows."""
    made = w.storage.axes(array)
    return made or max(w.known.ranks.get(array, 1), 1)


def is_array(w: Walk, name: str) -> bool:
    """Is this an array of the program, as far as the last walk knows?"""
    return w.known.ranks.get(name, 0) > 0 or name in w.storage.allocated


def note_use(w: Walk, name: str, scope: Scope, at: Loc) -> None:
    """Note a use of a name, which may have its array from a loop or a branch."""
    if name in scope.unset and name not in scope.paths:
        ask_unset_room(w, name, scope)
    if not isinstance(scope.bound.get(name), Array) or name in scope.numbers:
        return
    path = scope.paths.get(name, ())
    if w.emit.path[: len(path)] == path and name not in scope.retired:
        check_filled(w, scope.bound[name])
        return
    if name in scope.retired or not ask_room(w, name, path, scope):
        refuse_rebinding(w, name, at, "`{}` stands for one array or another in")


def find(w: Walk, name: str, scope: Scope, noted: bool = True) -> object:
    """What a name stands for: the `Scope` that binds it, a `Helper`, or a value.

    Where nothing rests on what it is, it need not be `noted`.
    """
    if name in ROOTS:
        return ROOTS[name]
    if name == RECORD:
        return record_place
    place: Scope | None = scope
    while place is not None:
        if name in place.helpers:
            return place.helpers[name]
        if name in place.local:
            return place
        if place.python is not None:
            look = w.env.grounds.lookup if noted else lookup
            return look(place.python, name)
        if place.outer is None:
            break
        place = place.outer
    return _LOOSE.get(name, MISSING) if w.known.loose else MISSING


def object_of(w: Walk, node: gast.AST, scope: Scope) -> object:
    """The Python object that a name or a module's attribute stands for.

    A type of Numba's is the class of NumPy's that makes the same number when called.
    """
    found = _object_of(w, node, scope)
    cls = type(found)
    if cls.__module__ == _NUMBA_TYPES and cls.__name__ in _NUMBA_NUMBERS:
        return np.dtype(str(found)).type
    return found


_NUMBA_TYPES = "numba.core.types.scalars"
_NUMBA_NUMBERS = ("Boolean", "Integer", "Float")


def _object_of(w: Walk, node: gast.AST, scope: Scope) -> object:
    match node:
        case gast.Name(id=name):
            found = find(w, name, scope)
            return MISSING if isinstance(found, Scope) else found
        case gast.Attribute(value=base, attr=attr):
            module = object_of(w, base, scope)
            if isinstance(module, Stream):
                return Draw(module, attr)
            if isinstance(module, ModuleType):
                constants = module_name(module) in ("math", "numpy")
                return w.env.grounds.attribute(module, attr, fixed=constants)
            if isinstance(module, Enum):
                return module.value if attr == "value" else MISSING
            if isinstance(module, type):
                return _of_class(w, module, attr)
    return MISSING


def _of_class(w: Walk, cls: type, attr: str) -> object:
    """A static method, a number or an array of a class of the user's."""
    if cls.__module__ in ("builtins", "numpy"):
        return MISSING
    found = w.env.grounds.attribute(cls, attr)
    if is_value(found) or isinstance(found, type):
        return int(found) if isinstance(found, IntEnum) else found
    if isinstance(found, Enum) and is_value(found.value):
        return found
    function = plain(found)
    if function is None:
        return MISSING
    # Names with two underscores in front are others in a class than in its text.
    code = function.__code__
    names = (*code.co_names, *code.co_varnames, *code.co_freevars)
    prefixes = tuple(f"_{c.__name__.lstrip('_')}__" for c in cls.__mro__)
    return MISSING if any(n.startswith(prefixes) for n in names) else found


def referred(w: Walk, node: gast.AST, scope: Scope) -> Var | Array | None:
    """The array that a bare name (or a module's attribute) stands for.

    A `Var` may turn out to be one.
    """
    at = scope.source.loc(node)
    found: object = None
    match node:
        case gast.Name(id=name):
            found = find(w, name, scope)
            if isinstance(found, Scope):
                note_use(w, name, found, at)
                bound = standing_for(w, name, found)
                return bound if isinstance(bound, (Var, Array)) else None
            if isinstance(found, Missing) and w.known.loose:
                return stored_as(w, str(name), at)
        case gast.Attribute():
            found = object_of(w, node, scope)
    if isinstance(found, np.ndarray) and found.dtype.kind not in "biufc":
        text = gast.unparse(node).strip()
        because = f"`{text}` is an array of {found.dtype}, from outside of the function"
        helps = "pass it as an argument" if found.dtype.names else "use numbers"
        w.refuse("P106", at, because, helps)
        return whole_array(w.emit.fresh("outside"), found.ndim, at)
    if isinstance(found, np.ndarray) and found.ndim > 0:
        name = capture(w, holder_of(scope), path_of(node), found)
        return stored_as(w, name, at)
    return None


def path_of(node: gast.AST) -> tuple[str, ...]:
    """The name from outside that a text has, and the attributes behind it."""
    match node:
        case gast.Attribute(value=base, attr=attr):
            return (*path_of(base), str(attr))
    return (str(node.id),)


def holder_of(scope: Scope) -> FunctionType:
    """The function whose global and closure values the text names."""
    holder = home(scope)
    assert holder is not None
    return holder


def capture(w: Walk, holder: FunctionType, path: tuple[str, ...], value: object) -> str:
    """The hidden parameter for a global or closure value."""
    key = _key(holder, path)
    if key not in w.found.captures:
        own = "_".join(re.findall(r"\w+", path[-1]))  # of a field, too
        w.found.captures[key] = Capture(own_name(w, own), holder, path)
        if isinstance(value, np.ndarray):
            name = w.found.captures[key].name
            w.found.facts.append(RankFact(name, value.ndim, NOWHERE, least=True))
    return w.found.captures[key].name


def callback_number(w: Walk, holder: FunctionType, path: tuple[str, ...]) -> int:
    """The number of a function that a probe calls."""
    key = _key(holder, path)
    if key not in w.found.callbacks:
        w.found.callbacks[key] = Capture(own_name(w, path[-1]), holder, path)
    return list(w.found.callbacks).index(key)


def own_name(w: Walk, name: str) -> str:
    """The user's own name, unless a local or another module's global has it."""
    if name in RESERVED or name in w.emit.occupied:
        name = w.emit.fresh(name)
    w.emit.taken.add(name)
    w.emit.occupied.add(name)
    return name


def _key(holder: FunctionType, path: tuple[str, ...]) -> tuple[object, ...]:
    """What tells one captured value from another."""
    base = base_name(path[0])
    if base in holder.__code__.co_freevars:
        return (id(cell_of(holder, base)), *path)
    return (id(holder.__globals__), *path)


# What free names of bare statements stand for; all others are variables.
_LOOSE: dict[str, object] = {
    **{
        f.__name__: f
        for f in (range, reversed, len, min, max, abs, int, float, bool, round, pow)
    },
    "np": np,
    "numpy": np,
    "math": math,
}


def array_name(w: Walk, name: str, scope: Scope) -> str:
    """What a new array is called in the program."""
    known = scope.bound.get(name)
    stored = program_name(w, known)
    if known is None or (
        stored is not None
        and name not in scope.paths
        and name not in parameter_ids(scope)
        and stored not in w.storage.allocated
    ):
        own = scalar_for(w, name, scope).name
        if own not in {*w.storage.allocated, *w.found.spelling.values()}:
            return own
    return w.emit.fresh(name)
