"""What names stand for while a function is read, and the functions that it calls."""

from __future__ import annotations

import keyword
from dataclasses import dataclass, field, replace
from enum import IntEnum
from types import FunctionType, ModuleType
from typing import Any

import gast
import numpy as np

from pyrev.ir.nodes import Loc
from pyrev.ir.special import SPECIAL
from pyrev.parse.bindings import Names, parameters
from pyrev.parse.grounds import Missing, lookup, place_behind
from pyrev.parse.source import Source
from pyrev.parse.values import Operand
from pyrev.runtime.error_boundary import reads_users
from pyrev.runtime.opaque import Handle

#: NumPy, whatever the user's module calls it: in texts that are made.
NUMPY = "@np"
#: The same for the transforms of the library.
TRANSFORMS = "@transforms"
#: The name of what gives the place of a record: see `record_place`.
RECORD = "@record"


def record_place(*arrays_and_index: object) -> None:
    """Stands for what `RECORD` names: the index of a record as a number, which is
    inside of these arrays.
    """


# Names that the printed form of a program uses itself.
RESERVED = frozenset(
    [*keyword.kwlist, "np", "math", "range", "reversed", "len", "min", "max", "abs"]
    + ["int", "float", "bool", "round", "numba", "prange", *SPECIAL]
)


@dataclass(frozen=True, slots=True)
class Capture:
    """A parameter that holds a global or closure value, and where that value is now."""

    name: str
    holder: FunctionType
    path: tuple[str, ...]

    @reads_users
    def read(self) -> object:
        """The present value."""
        value = lookup(self.holder, self.path[0])
        if isinstance(value, Missing):
            raise NameError(  # noqa: TRY004
                f"'{self.path[0]}' is not defined"
            )
        for attribute in self.path[1:]:
            value = getattr(value, attribute)
        return int(value) if isinstance(value, IntEnum) else value

    def place(self) -> tuple[object, str | int] | None:
        """The object that it is a field of, and the key; None for what is none."""
        return place_behind(self.holder, self.path[0])


@dataclass(frozen=True, slots=True)
class Runs:
    """A parameter that holds a function which runs as it is, as its number."""

    name: str
    handle: Handle

    def read(self) -> object:
        """The number, which CPython can call."""
        return self.handle

    def place(self) -> None:
        """It is no field of anything."""


@dataclass(slots=True)
class Scope:
    """One function being lowered: what its names stand for."""

    source: Source
    python: FunctionType | None
    #: The names in the text of `source`, and those that are its own.
    text: Names
    local: frozenset[str]
    outer: Scope | None
    stack: tuple[object, ...]
    inlined: bool
    #: The calls that lead here.
    site: tuple[Loc, ...] = ()
    bound: dict[str, Operand] = field(default_factory=dict)
    #: The functions that names stand for: helpers, and others that are known.
    helpers: dict[str, Any] = field(default_factory=dict)
    #: In which block the present array of a name was bound.
    paths: dict[str, tuple[int, ...]] = field(default_factory=dict)
    #: The arrays that the function made itself; names that had another array copied.
    owned: set[str] = field(default_factory=set)
    retired: set[str] = field(default_factory=set)
    numbers: set[str] = field(default_factory=set)
    #: The names that are None first, and the outermost block where they are.
    unset: dict[str, tuple[int, ...]] = field(default_factory=dict)
    start: tuple[int, ...] = ()
    #: The statement that is being read, and how many arrays there were before it.
    current: gast.AST | None = None
    since: int = 0


def home(scope: Scope) -> FunctionType | None:
    """The function whose free names the free names of `scope` are."""
    place: Scope | None = scope
    while place is not None:
        python: FunctionType | None = place.python
        if python is not None:
            return python
        place = place.outer
    return None


@dataclass(frozen=True, slots=True)
class Helper:
    """A function that can be inlined; `scope` is where it was defined, if here.

    Its text may have been made of another one, which is the `original`.
    """

    name: str
    source: Source
    python: FunctionType | None
    scope: Scope | None
    original: gast.AST | None = None
    #: Of a ufunc of Numba's: the dtypes of its loops.
    loops: tuple[str, ...] = ()

    @property
    def key(self) -> object:
        if self.python is not None:
            return self.python.__code__
        return self.source.node if self.original is None else self.original

    def made(self, node: gast.AST) -> Helper:
        """The same function with another text."""
        original = self.source.node if self.original is None else self.original
        return replace(self, source=replace(self.source, node=node), original=original)


def parameter_ids(scope: Scope) -> tuple[str, ...]:
    """The parameters of the function."""
    return tuple(p.id for p in parameters(scope.source.node))


#: The calls that lead to a helper, and a name of its own.
Called = tuple[tuple[Loc, ...], str]


def module_name(value: object) -> str:
    """The top-level module that a Python object is from."""
    if isinstance(value, ModuleType):
        return value.__name__
    if isinstance(value, np.ufunc):
        return "numpy"
    return str(getattr(value, "__module__", "")).split(".")[0]


def kind_of(value: object) -> str:
    """What a Python object is, in words."""
    match value:
        case Helper() | FunctionType():
            return "a function"
        case ModuleType():
            return "a module"
        case type():
            return "a class"
        case None:
            return "None"
        case str():
            return "a string"
        case np.ndarray():
            return "an array without axes"
        case np.generic() | complex():
            return f"a number of type {type(value).__name__}"
    if callable(value):
        return "a function"
    return f"an object of type {type(value).__name__}"
