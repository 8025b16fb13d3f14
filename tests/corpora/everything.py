"""All functions that gradients are judged on.

Every function is judged on the Python target in every run; of what else is asked of
them a run takes a share (`tests.turns`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import pytest

import pyrev
from tests.corpora.conformance.entries import CONFORMANCE, TEN
from tests.corpora.corpus import ENTRIES
from tests.corpora.entry import Entry
from tests.tools.costs import differentiable
from tests.turns import share_of

EVERY = {e.name: e for e in (*ENTRIES, *TEN, *CONFORMANCE)}


def accepted(entry: Entry, target: str) -> pyrev.Differentiable:
    """The function for a target, its loops shared out; skips what is refused."""
    try:
        return differentiable(entry.plain, target=target)
    except pyrev.UnsupportedError as refused:
        pytest.skip(f"outside the language: {refused.findings[0].code}")


def named(value: Any) -> str:
    """What a test is called that is given this function or target."""
    return str(getattr(value, "__name__", value))


def written_in(namespace: Mapping[str, Any]) -> list[Callable[..., Any]]:
    """The functions that a module has written so far, but for those with names that
    begin with an underscore.
    """
    return [
        f
        for n, f in [*namespace.items()]
        if not n.startswith("_")
        and getattr(f, "__module__", "") == namespace["__name__"]
    ]


def on_targets(
    functions: Iterable[Callable[..., Any]], of: int
) -> list[tuple[Callable[..., Any], str]]:
    """All functions for the Python target, and one part in `of` of them for Numba."""
    functions = list(functions)
    turn = share_of((f.__name__ for f in functions), of)
    compiled = [(f, "numba") for f in functions if f.__name__ in turn]
    return [*((f, "python") for f in functions), *compiled]
