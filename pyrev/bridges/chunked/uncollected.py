"""No search for cycles while tables of very many small tuples are made."""

from __future__ import annotations

import contextlib
import gc
from collections.abc import Iterator


@contextlib.contextmanager
def uncollected() -> Iterator[None]:
    """Pause the collection of cycles: a plan has none, and it would be searched often.

    Two thirds of the time that a plan of thousands of chunks takes are those searches.
    """
    paused = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if paused:
            gc.enable()
