"""What a reading of a text rests on in the objects around it, and whether it still is.

A name that is free in a function stands for what its cell, its module or the builtins
hold at a call. A reading looks there once. What it found is noted with the place, and a
later call compares by identity: a helper that was replaced, a module, a constant of
`math`, a dtype. Of each function whose text was read, its code and its defaults are
noted: they may be replaced while the function stays the same object. Numbers and arrays
are left out, for they are read at every call.
"""

from __future__ import annotations

import builtins
import inspect
import weakref
from collections.abc import Callable
from dataclasses import dataclass, field
from types import CellType, CodeType, FunctionType
from typing import Any

import numpy as np


class Missing:
    """What a name that stands for nothing resolves to."""


MISSING = Missing()

#: How a namespace is asked: by name, with what to give where the name is not.
Ask = Callable[[str, object], object]


def lookup(f: FunctionType, name: str) -> object:
    """What a free name of `f` stands for now: closure, then module, then builtins; or
    what a class has under it, if it is such a name (`name_in_class`).
    """
    if name in _IN_CLASSES:
        return _in_class_named(name)
    if name in _BEHIND:
        found, steps = lookup(f, _BEHIND[name][0]), _BEHIND[name][1]
        for is_item, key in steps:
            found = _item(found, key) if is_item else getattr(found, str(key), MISSING)
        return found
    if name in f.__code__.co_freevars:
        return _content(cell_of(f, name))
    if name in f.__globals__:
        return f.__globals__[name]
    return getattr(builtins, name, MISSING)


#: Classes and their attributes, by the names that these have in texts that are made.
_IN_CLASSES: dict[str, tuple[weakref.ref[type], str]] = {}


def name_in_class(cls: type, attr: str) -> str:
    """The name that stands for an attribute of a class in texts that are made: no name
    of a user's, which has no dot.
    """
    count = 1
    while True:
        own = cls.__name__ if count == 1 else f"{cls.__name__}_{count}"
        name = f"{own}.{attr}"
        known = _IN_CLASSES.get(name)
        of = None if known is None else known[0]()
        if of is cls:
            return name
        if of is None:  # nobody has it, or its class is gone
            _IN_CLASSES[name] = weakref.ref(cls), attr
            return name
        count += 1


#: Names from outside and what leads to fields of what they stand for, by the names that
#: these have in texts that are made.
_BEHIND: dict[str, tuple[str, tuple[tuple[bool, str | int], ...]]] = {}


def name_behind(name: str, steps: tuple[tuple[bool, str | int], ...]) -> str:
    """The name that stands for a field of a structure from outside in texts that are
    made: no name of a user's. Of the steps to it those by subscript are marked.
    """
    keys = (f"[{key!r}]" if is_item else f".{key}" for is_item, key in steps)
    made = name + "".join(keys)
    _BEHIND[made] = name, steps
    return made


def place_behind(f: FunctionType, name: str) -> tuple[object, str | int] | None:
    """The object that such a name's field is in, and the key; None for other names."""
    if name not in _BEHIND:
        return None
    base, steps = _BEHIND[name]
    around = name_behind(base, steps[:-1]) if len(steps) > 1 else base
    return lookup(f, around), steps[-1][1]


def base_name(name: str) -> str:
    """The name from outside, of what such a name stands for a field of, or itself."""
    return _BEHIND[name][0] if name in _BEHIND else name


def _item(of: object, key: object) -> object:
    try:
        found: object = of[key]  # type: ignore[index]
    except (LookupError, TypeError):
        return MISSING
    return found


def _in_class_named(name: str) -> object:
    cls, attr = _IN_CLASSES[name]
    of = cls()
    return MISSING if of is None else in_class(of, attr)[1]


def in_class(cls: type, attr: str) -> tuple[str, object]:
    """How objects of a class have an attribute that is not their own ("method",
    "static", "property", or "" for a value), and the function or the value behind it.

    Of a class that Numba compiled, what was compiled.
    """
    compiled = getattr(getattr(cls, "_numba_type_", None), "class_type", None)
    if compiled is not None:
        if attr in compiled.jit_methods:
            return "method", compiled.jit_methods[attr]
        if attr in compiled.jit_props:
            return "property", compiled.jit_props[attr].get("get", MISSING)
        if attr in getattr(compiled, "jit_static_methods", ()):
            return "static", compiled.jit_static_methods[attr]
        return "", MISSING
    found = inspect.getattr_static(cls, attr, MISSING)
    if isinstance(found, staticmethod):
        return "static", found.__func__
    if isinstance(found, property):
        return "property", found.fget
    if isinstance(found, FunctionType) or hasattr(found, "py_func"):
        return "method", found
    if getattr(found, "python", None) is not None:  # a differentiable function
        return "method", found
    return "", found


def cell_of(f: FunctionType, name: str) -> CellType:
    """The cell that holds a variable of a function around `f`."""
    assert f.__closure__ is not None
    return f.__closure__[f.__code__.co_freevars.index(name)]


def is_value(value: object) -> bool:
    """Is it a number or an array, which a program takes as a hidden argument?"""
    if isinstance(value, np.ndarray):
        return value.ndim > 0
    return isinstance(value, (bool, int, float, np.number, np.bool_))


_Function = tuple[FunctionType, CodeType, Any, Any]
_Name = tuple[Ask, str, object]
_Cell = tuple[CellType, object]
_Held = tuple[tuple[_Function, ...], tuple[_Name, ...], tuple[_Cell, ...]]


@dataclass(slots=True)
class Grounds:
    """What was found in cells, namespaces and functions; `hold` compares."""

    cells: dict[int, _Cell] = field(default_factory=dict)
    names: dict[tuple[int, str], _Name] = field(default_factory=dict)
    functions: dict[int, _Function] = field(default_factory=dict)
    #: Objects behind the bound methods in `names`, whose identities the keys are.
    _spaces: list[object] = field(default_factory=list)
    #: The same as `hold` goes through it.
    _held: _Held | None = None

    def lookup(self, f: FunctionType, name: str) -> object:
        """`lookup`, noted."""
        if name in _BEHIND:
            return self._behind(f, name)
        found = lookup(f, name)
        if name in _IN_CLASSES:
            self._note(_IN_CLASSES, _asking_class, name, found)
            if isinstance(found, FunctionType):
                self.function(found)
            return found
        if is_value(found):
            return found
        if name in f.__code__.co_freevars:
            cell = cell_of(f, name)
            self.cells.setdefault(id(cell), (cell, found))
        elif name in f.__globals__:
            self._name(f.__globals__, name, found)
        else:
            self._name(f.__globals__, name, MISSING)
            self._name(vars(builtins), name, found)
        if isinstance(found, FunctionType):
            self.function(found)
        return found

    def _behind(self, f: FunctionType, name: str) -> object:
        """A field of a structure from outside, and what leads to it, noted."""
        base, steps = _BEHIND[name]
        found = self.lookup(f, base)
        for is_item, key in steps:
            if is_item:
                of, found = found, _item(found, key)
                if not is_value(found):
                    self._note(of, _asking_item(of, key), f"[{key!r}]", found)
            else:
                found = self.attribute(found, str(key))
        if isinstance(found, FunctionType):
            self.function(found)
        return found

    def attribute(self, of: object, name: str, fixed: bool = False) -> object:
        """An attribute of an object, noted; also a number if it is `fixed`."""
        found = getattr(of, name, MISSING)
        if not is_value(found) or fixed:
            space = getattr(of, "__dict__", {})
            if space.get(name, MISSING) is found and found is not MISSING:
                self._name(space, name, found)
            else:
                self._note(of, _asking(of), name, found)
            if isinstance(found, FunctionType):
                self.function(found)
        return found

    def function(self, f: FunctionType) -> None:
        """Note the code and the defaults of a function."""
        if id(f) in self.functions:
            return
        named = f.__kwdefaults__
        self.functions[id(f)] = f, f.__code__, f.__defaults__, named
        if named is not None:  # which may be changed in place
            positional = f.__code__.co_argcount
            last = positional + f.__code__.co_kwonlyargcount
            for name in f.__code__.co_varnames[positional:last]:
                self._name(named, name, named.get(name, MISSING))

    def _name(self, space: dict[str, Any], name: str, found: object) -> None:
        self._note(space, space.get, name, found)

    def _note(self, space: object, ask: Ask, name: str, found: object) -> None:
        key = (id(space), name)
        if key not in self.names:
            self.names[key] = ask, name, found
            self._spaces.append(space)

    def add(self, other: Grounds) -> None:
        """Rest on what another reading of the same function rests on, too."""
        self.cells = {**other.cells, **self.cells}
        self.names = {**other.names, **self.names}
        self.functions = {**other.functions, **self.functions}
        self._spaces += other._spaces
        self._held = None

    def hold(self) -> bool:
        """Is everything still what was found?"""
        held = self._held
        if held is None:
            held = self._held = (
                tuple(self.functions.values()),
                tuple(self.names.values()),
                tuple(self.cells.values()),
            )
        functions, names, cells = held
        for f, code, defaults, named in functions:
            if (
                f.__code__ is not code
                or f.__defaults__ is not defaults
                or f.__kwdefaults__ is not named
            ):
                return False
        for ask, name, found in names:
            if ask(name, MISSING) is not found:
                return False
        for cell, found in cells:
            if _content(cell) is not found:
                return False
        return True


def _content(cell: CellType) -> object:
    try:
        return cell.cell_contents
    except ValueError:
        return MISSING


def _asking_item(of: object, key: object) -> Ask:
    return lambda name, default: _item(of, key)


def _asking_class(name: str, default: object) -> object:
    return _in_class_named(name) if name in _IN_CLASSES else default


def _asking(of: object) -> Ask:
    return lambda name, default: getattr(of, name, default)
