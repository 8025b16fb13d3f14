"""Loops shared out to all cores at sizes at which that does not pay.

CPython has to run every function that is judged, so the sizes are small; without this,
parallel code would hardly ever be judged.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from pyrev.schedule import inspection, layout, ownership
from pyrev.schedule.rows import contract


@contextmanager
def shared_out(seed: int = 1) -> Iterator[None]:
    """Share every loop out, whatever little it does, but for every fourth seed."""
    before = ownership.PLENTY, contract.LONG, layout.LARGE, layout.OFTEN
    many = inspection.MANY
    if seed % 4:
        inspection.MANY = 0
        ownership.PLENTY, contract.LONG, layout.LARGE, layout.OFTEN = 0, 0, 0, 0
    try:
        yield
    finally:
        ownership.PLENTY, contract.LONG, layout.LARGE, layout.OFTEN = before
        inspection.MANY = many
