"""Functions that return None on some paths."""

from __future__ import annotations

import functools

from pyrev.parse.grounds import Grounds, lookup
from pyrev.parse.rewriting.maybe_returned import values_found
from pyrev.parse.source import plain, read


def values_or_none(f: object) -> int:
    """How many values a function returns, if None on some paths; else zero."""
    function = plain(f, Grounds())
    if function is None:
        return 0
    return values_found(read(function).node, functools.partial(lookup, function))
