"""Which fields of an object its methods read and store: those that a text calls."""

from __future__ import annotations

import weakref
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import partial
from types import FunctionType

from pyrev.parse.bindings import parameters
from pyrev.parse.grounds import Grounds, in_class
from pyrev.parse.rewriting.field_reads import stored_fields, used_fields
from pyrev.parse.rewriting.helper_texts import definition_of
from pyrev.parse.rewriting.structures.methods import OF_TUPLES
from pyrev.parse.source import plain

#: Fields as paths of text keys ("[k") and attributes (".k"); None for all of them.
Paths = Sequence[tuple[str, ...]] | None


@dataclass(frozen=True, slots=True)
class Reads:
    """The fields of an object that are read, and those that may be assigned to."""

    paths: Paths
    stored: frozenset[str]


def reads(cls: type, own: Collection[object], paths: Paths) -> Reads:
    """What a text reads of an object of a class, that has these fields of its `own`,
    if it reads these `paths`: those of its methods and properties among them are what
    these read and store, and what they call in turn. Of one that is used in another
    way, too, any method may be called.
    """
    left = attributes_of(cls) if paths is None else [first[1:] for first, *_ in paths]
    whole = paths is None
    stored: set[str] = set()
    found = {p: None for p in paths or ()}
    done: set[str] = set()
    methods: set[str] = set()
    while left:
        attr = left.pop()
        if attr in done or attr in own:
            continue
        done.add(attr)
        read = _of_method(cls, attr)
        if read is None:
            continue
        methods.add("." + attr)
        stored |= read.stored
        if read.paths is None:
            whole = True
            left += attributes_of(cls)
            continue
        found |= dict.fromkeys(read.paths)
        left += [first[1:] for first, *_ in read.paths]
    fields = [p for p in found if p[0] not in methods]
    return Reads(None if whole else fields, frozenset(stored))


def attributes_of(cls: type) -> list[str]:
    """The names of what objects of a class share, methods and values: those that its
    user gave it.
    """
    names = {n for c in cls.__mro__ if c.__module__ != "builtins" for n in vars(c)}
    return [n for n in sorted(names) if not n.startswith("__") and n not in OF_TUPLES]


#: What methods were found to read, and what that rests on.
_KNOWN: weakref.WeakKeyDictionary[type, dict[str, tuple[object, Grounds, Reads]]]
_KNOWN = weakref.WeakKeyDictionary()


def _of_method(cls: type, attr: str) -> Reads | None:
    """What a method or a property reads and stores; None if it is none, or a value."""
    way, function = in_class(cls, attr)
    known = _KNOWN.setdefault(cls, {}).get(attr)
    if known is not None and known[0] is function and known[1].hold():
        return known[2]
    grounds = Grounds()
    own = plain(function, grounds) if way else None
    if own is None:
        return None
    made = Reads((), frozenset()) if way == "static" else _read_by(own, grounds)
    _KNOWN[cls][attr] = function, grounds, made
    return made


def _read_by(function: FunctionType, grounds: Grounds) -> Reads:
    """What a function reads and stores of its first parameter."""
    node = definition_of(function)
    first = next(iter(parameters(node)), None) if node is not None else None
    if node is None or first is None:
        return Reads(None, frozenset())  # a lambda, or what is refused when called
    look = partial(grounds.lookup, function)
    paths = used_fields(node, first.id, look, outside=grounds.lookup)
    return Reads(paths, frozenset(stored_fields(node, look).get(first.id, ())))
