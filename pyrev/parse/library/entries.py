"""Which text stands for which call: a function, the ranks of its arguments, and what
has to be written out in the call.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from inspect import signature
from types import FunctionType
from typing import Any, TypeVar

#: How many axes an argument has; a `Count` is a number that is counted with. To a type
#: checker all are anything: dtypes are those of the call.
Number = Any
Count = Any
Vector = Any
Matrix = Any

_RANKS = {"Number": 0, "Count": 0, "Vector": 1, "Matrix": 2}

#: What a call may say as it likes: it decides no value.
ANY = object()

F = TypeVar("F", bound=Callable[..., Any])


@dataclass(frozen=True, slots=True)
class Entry:
    """One text: the parameters with the numbers of their axes, those of them that a
    call may leave out, and what else it has to say: literals, by NumPy's names.

    `order` are all parameters of NumPy's function, with its defaults.
    """

    function: FunctionType
    ranks: Mapping[str, int]
    optional: frozenset[str]
    literals: Mapping[str, object]
    order: Mapping[str, object]

    def takes(self, said: Mapping[str, object]) -> bool:
        """Is this the text for a call with these literals, beside its parameters?"""
        others = self.order.keys() - self.ranks.keys()
        return said.keys() <= others and all(
            self._is(said.get(n, self.order[n]), self.literals.get(n, self.order[n]))
            for n in others
        )

    @staticmethod
    def _is(found: object, wanted: object) -> bool:
        return wanted is ANY or (type(found) is type(wanted) and found == wanted)


#: The texts for a function, with what a call has to say.
_TEXTS: dict[object, list[tuple[FunctionType, Mapping[str, object]]]] = {}
_METHODS: dict[str, object] = {}


def means(*functions: object, method: str = "", **literals: object) -> Callable[[F], F]:
    """Note that a function is a text for these of NumPy's.

    Annotations give the ranks of its parameters, which are called as NumPy's, and
    `literals` what a call has to say of the others, where that is no default.
    """

    def note(text: F) -> F:
        assert isinstance(text, FunctionType)
        for function in functions:
            _TEXTS.setdefault(function, []).append((text, literals))
            if method:
                _METHODS[method] = function
        return text

    return note


def functions() -> tuple[object, ...]:
    """The functions that there are texts for."""
    return tuple(_TEXTS)


def _parameters(function: object) -> dict[str, object]:
    """The parameters of a library's function with their defaults, none if it says none
    or no call can name any.
    """
    try:
        own = signature(function).parameters  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return {}
    if all(p.kind in (p.POSITIONAL_ONLY, p.VAR_POSITIONAL) for p in own.values()):
        return {}
    # What stands for several arguments, or for others by name, has the text's names.
    several = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    return {n: p.default for n, p in own.items() if p.kind not in several}


def _takes_several(function: object) -> bool:
    """Has it arguments in a row, which the texts give names?"""
    try:
        own = signature(function).parameters  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return False
    return any(p.kind is p.VAR_POSITIONAL for p in own.values())


def entries_of(function: object) -> tuple[Entry, ...]:
    """The texts for calls of a function, none if it is not in the library."""
    try:
        return _entries(function) if function in _TEXTS else ()
    except TypeError:  # not hashable
        return ()


@cache
def _entries(function: object) -> tuple[Entry, ...]:
    return tuple(_entry(function, *noted) for noted in _TEXTS[function])


def _entry(
    function: object, text: FunctionType, literals: Mapping[str, object]
) -> Entry:
    # A name that the text itself needs for something else has an underscore.
    own = {n.rstrip("_"): p for n, p in signature(text).parameters.items()}
    order = _parameters(function) or dict.fromkeys(own)
    if "self" in order or _takes_several(function):
        order = {**dict.fromkeys(own), **order}
        order.pop("self", None)
    order |= {n: None for n in own if n not in order}
    ranks = {n: _RANKS[p.annotation] for n, p in own.items()}
    optional = frozenset(n for n, p in own.items() if p.default is not p.empty)
    return Entry(text, ranks, optional, literals, order)


def of_method(name: str) -> object | None:
    """NumPy's function that a method of arrays is; None if there is none here."""
    return _METHODS.get(name)


def in_words(entries: Sequence[Entry]) -> str:
    """What a function takes: "a (1 axis), v (a number)", one text after the other."""
    axes = {0: "a number", 1: "1 axis", 2: "2 axes"}
    found: dict[str, None] = {}
    for entry in entries:
        parts = [f"{name} ({axes[rank]})" for name, rank in entry.ranks.items()]
        said = {n: v for n, v in entry.literals.items() if v is not ANY}
        parts += [f"{name}={value!r}" for name, value in said.items()]
        found[", ".join(parts)] = None
    return "; or ".join(found)
