"""Options of calls as the user gave them: of the right type, or `ArgumentError`."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from pyrev.ir.diagnostics import ArgumentError


def mapping(what: str, value: object) -> dict[str, Any]:
    """What names are mapped to; None is nothing.

    >>> mapping("into", {"x": 1}), mapping("into", None)
    ({'x': 1}, {})
    """
    if value is None:
        return {}
    if not isinstance(value, Mapping) or not all(isinstance(n, str) for n in value):
        found = f"a {type(value).__name__}"
        if isinstance(value, Mapping):
            found = "a mapping of other things"
        raise ArgumentError(f"{what} is {found}; give names, as in {what}={{'x': ...}}")
    return dict(value)


def flag(what: str, value: object) -> bool:
    """True or False."""
    if isinstance(value, (bool, np.bool_)) or type(value) is int:
        return bool(value)
    raise ArgumentError(f"{what} is a {type(value).__name__}; say True or False")


def choice(what: str, value: object, known: Sequence[str]) -> str:
    """One of some words."""
    if isinstance(value, str) and value in known:
        return value
    listed = ", ".join(map(repr, known))
    raise ArgumentError(f"{what}={_short(value)}: choose one of {listed}")


def references(what: str, value: object) -> tuple[str | int, ...]:
    """A name or an index, or several in a tuple or a list; at least one.

    >>> references("wrt", "x"), references("wrt", ["x", 1])
    (('x',), ('x', 1))
    """
    found = tuple(value) if isinstance(value, (tuple, list)) else (value,)
    if not found:
        raise ArgumentError(f"{what}={_short(value)} names nothing; name at least one")
    for one in found:
        named = isinstance(one, (str, int, np.integer))
        if not named or isinstance(one, bool):
            raise ArgumentError(
                f"{what}={_short(value)}: give a name, an index or a tuple of them"
            )
    return tuple(one if isinstance(one, str) else int(one) for one in found)


def file(what: str, value: object) -> Path:
    """The name of a file."""
    if isinstance(value, (str, os.PathLike)):
        path = os.fspath(value)
        if isinstance(path, str):
            return Path(path)
    raise ArgumentError(f"{what}: a {type(value).__name__} is no name of a file")


def _short(value: object) -> str:
    try:
        text = repr(value)
    except Exception:  # of an object of the user
        return f"a {type(value).__name__}"
    return text if len(text) <= 60 else f"{text[:57]}..."
