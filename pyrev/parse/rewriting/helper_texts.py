"""The texts of functions that a definition calls, before these are inlined."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

import gast

from pyrev.ir.diagnostics import UnsupportedError
from pyrev.parse.source import plain, read


class _LookedAt(threading.local):
    """What this thread looks at: see `looking_at`."""

    def __init__(self) -> None:
        self.keys: list[tuple[str, object]] = []


_looked_at = _LookedAt()


def definition_of(function: object) -> gast.AST | None:
    """The `def` of a plain function; None of others, and where it can't be read."""
    own = plain(function)
    if own is None:
        return None
    try:
        node = read(own).node
    except UnsupportedError:
        return None
    return node if isinstance(getattr(node, "body", None), list) else None


@contextmanager
def looking_at(function: object, what: str) -> Iterator[bool]:
    """Is this the first look at a function for `what`, and not one in itself?"""
    key = what, function
    first = key not in _looked_at.keys
    _looked_at.keys.append(key)
    try:
        yield first
    finally:
        _looked_at.keys.pop()
