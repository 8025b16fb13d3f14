"""Whose turn it is: what takes long is done in shares, another one for each commit.

To compile takes seconds a function, and what else is asked of it rarely finds what the
first judgement does not: of these a run takes a share. So it does of the tests that are
marked `slow`, where `make test` says how many turns there are (PYREV_TURNS).
PYREV_ROTATION chooses the share (the number of the commit), and PYREV_FULL=1 takes all
(`python -m tests.tools.nightly`).
"""

from __future__ import annotations

import os
import zlib
from collections.abc import Iterable

import pytest

FULL = os.environ.get("PYREV_FULL") == "1"
#: What takes minutes where a command of its own shows it: CI runs the small case.
full_size = pytest.mark.skipif(not FULL, reason="full size: PYREV_FULL=1 runs it")
TURN = int(os.environ.get("PYREV_ROTATION", "0"))
#: Of how many slow tests one is run.
TURNS = 1 if FULL else int(os.environ.get("PYREV_TURNS", "1"))


#: The slow tests have turns of their own: those of a share would never come, where the
#: numbers of both have a common factor.
SLOW_TURN = TURN // 9973


def its_turn(name: str, of: int, turn: int = TURN) -> bool:
    """Is it the turn of this one, of one part in `of`?"""
    return FULL or zlib.crc32(name.encode()) % of == turn % of


def share_of(names: Iterable[str], of: int) -> list[str]:
    """One part in `of` of the names: those whose turn it is."""
    return [n for n in names if its_turn(n, of)]
