"""All functions that gradients are judged on, and whose turn it is.

To compile takes seconds a function, so a run takes a share. PYREV_ROTATION chooses
which (CI takes the number of the commit), and PYREV_FULL=1 takes all.
"""

from __future__ import annotations

import os
import zlib
from collections.abc import Iterable

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
