"""What a lock, or anything that threads share, becomes in a child of a fork.

Windows has no forks, so there is nothing to do there.
"""

from __future__ import annotations

import os
from collections.abc import Callable


def _nothing() -> None:
    pass


def at_fork(
    *,
    before: Callable[[], None] = _nothing,
    in_parent: Callable[[], None] = _nothing,
    in_child: Callable[[], None] = _nothing,
) -> None:
    """Have these called around every fork of this process, where processes can fork."""
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(
            before=before, after_in_parent=in_parent, after_in_child=in_child
        )
