"""What is made of a plain function, kept with it."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from types import FunctionType
from typing import Any, TypeVar

T = TypeVar("T")


class _Kept:
    """What was made of a plain function, kept in its `__dict__`: freed with it.

    Copied elsewhere, as `functools.wraps` does, or pickled, it is empty.
    """

    def __init__(self, function: FunctionType) -> None:
        self.function = function
        self.made: dict[Hashable, Any] = {}

    def __reduce__(self) -> tuple[Any, ...]:
        return (_nothing, ())


def _nothing() -> None:
    """What is left of `_Kept` in another process."""


_KEPT = "__pyrev_kept__"


def kept_with(function: FunctionType, key: Hashable, make: Callable[[], T]) -> T:
    """What is made of a function once, and lives as long as the function does."""
    kept = function.__dict__.get(_KEPT)
    if not isinstance(kept, _Kept) or kept.function is not function:
        kept = function.__dict__[_KEPT] = _Kept(function)
    found: T | None = kept.made.get(key)
    if found is None:
        found = kept.made.setdefault(key, make())
    return found
