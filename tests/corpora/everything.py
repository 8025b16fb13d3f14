"""All functions that gradients are judged on, and whose turn it is.

Every function is judged on the Python target in every run. To compile takes seconds a
function, and what else is asked of it rarely finds what the first judgement does not:
of these a run takes a share. PYREV_ROTATION chooses which (CI takes the number of the
commit), and PYREV_FULL=1 takes all (`python -m tests.tools.nightly`).
"""

from __future__ import annotations

import os
import zlib
from collections.abc import Callable, Iterable
from typing import Any

import pytest

import pyrev
from tests.corpora.conformance.entries import CONFORMANCE, TEN
from tests.corpora.corpus import ENTRIES
from tests.corpora.entry import Entry
from tests.tools.costs import differentiable

FULL = os.environ.get("PYREV_FULL") == "1"
#: What takes minutes where a command of its own shows it: CI runs the small case.
full_size = pytest.mark.skipif(not FULL, reason="full size: PYREV_FULL=1 runs it")
TURN = int(os.environ.get("PYREV_ROTATION", "0"))

EVERY = {e.name: e for e in (*ENTRIES, *TEN, *CONFORMANCE)}


def accepted(entry: Entry, target: str) -> pyrev.Differentiable:
    """The function for a target, its loops shared out; skips what is refused."""
    try:
        return differentiable(entry.plain, target=target)
    except pyrev.UnsupportedError as refused:
        pytest.skip(f"outside the language: {refused.findings[0].code}")


def share_of(names: Iterable[str], of: int) -> list[str]:
    """One part in `of` of the names: those whose turn it is."""
    return [n for n in names if FULL or zlib.crc32(n.encode()) % of == TURN % of]


def named(value: Any) -> str:
    """What a test is called that is given this function or target."""
    return str(getattr(value, "__name__", value))


def on_targets(
    functions: Iterable[Callable[..., Any]], of: int
) -> list[tuple[Callable[..., Any], str]]:
    """All functions for the Python target, and one part in `of` of them for Numba."""
    functions = list(functions)
    turn = share_of((f.__name__ for f in functions), of)
    compiled = [(f, "numba") for f in functions if f.__name__ in turn]
    return [*((f, "python") for f in functions), *compiled]
