"""The texts of functions that a definition calls, before these are inlined."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

import gast

from pyrev.ir.diagnostics import UnsupportedError
from pyrev.parse.source import plain, read

T = TypeVar("T")


class _LookedAt(threading.local):
    """What this thread looks at: see `looking_at`."""

    def __init__(self) -> None:
        self.keys: list[tuple[str, object]] = []
        #: How often it came upon a function that it looked at.
        self.again = 0
        #: What was found, while it is kept.
        self.found: dict[tuple[object, ...], Any] | None = None


_looked_at = _LookedAt()


def definition_of(function: object) -> gast.AST | None:
    """The `def` of a plain function; None of others, and where it can't be read.

    It is the same one each time while it is remembered: nobody changes it.
    """
    own = plain(function)
    if own is None:
        return None

    def look() -> gast.AST | None:
        try:
            node = read(own).node
        except UnsupportedError:
            return None
        return node if isinstance(getattr(node, "body", None), list) else None

    return looked(own, "text", look, None, own.__code__)


@contextmanager
def looking_at(function: object, what: str) -> Iterator[bool]:
    """Is this the first look at a function for `what`, and not one in itself?"""
    key = what, function
    first = key not in _looked_at.keys
    _looked_at.again += not first
    _looked_at.keys.append(key)
    try:
        yield first
    finally:
        _looked_at.keys.pop()


@contextmanager
def remembering() -> Iterator[None]:
    """Within it, what `looked` has found of a function is not looked for again."""
    before = _looked_at.found
    _looked_at.found = {} if before is None else before
    try:
        yield
    finally:
        _looked_at.found = before


def looked(
    function: object, what: str, look: Callable[[], T], again: T, *given: object
) -> T:
    """What `look` finds of a function that is `given` this; `again` where it is being
    looked at for `what` already, since it calls itself.

    A helper of helpers is looked at on every path that leads to it: to remember what
    was found makes that linear. What depends on where a look began, since it came upon
    a function that was being looked at, is not remembered.
    """
    key = what, function, *given
    found = _looked_at.found
    if found is not None and key in found:
        kept: T = found[key]
        return kept
    before = _looked_at.again
    with looking_at(function, what) as first:
        made = look() if first else again
    if found is not None and _looked_at.again == before:
        found[key] = made
    return made
