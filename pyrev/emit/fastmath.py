"""Where a user's `fastmath=True` is taken."""

from __future__ import annotations

from collections.abc import Mapping

from pyrev.analysis.steering import steering_floats
from pyrev.ir.nodes import Program

_TAKEN = "all sums and products, by fastmath=True"


def may_be_fast(program: Program, types: Mapping[str, str]) -> tuple[bool, str]:
    """May numbers meet in any order? And what `explain` says of it.

    Where a float decides what runs, or which element is meant, the same number made
    twice must be the same: the test that an access is inside stands apart from the
    access, and the reverse sweep goes the way that the forward sweep went.
    """
    deciding = steering_floats(program, types)
    if not deciding:
        return True, _TAKEN
    which = ", ".join(f"`{n}`" for n in deciding[:3])
    more = " and others" if len(deciding) > 3 else ""
    return False, f"none by fastmath=True: {which}{more} decide what runs"
