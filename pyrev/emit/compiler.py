"""Numba's compiler, which here remembers how it resolved an operation.

Numba looks for the implementation of `a * b` by trying one template after another, at
every `*` of a function: up to three times while it infers types, once more when it
lowers. In long generated functions that was half of the time to compile them. What it
finds depends on the operation and the types of its arguments only, so one compilation
asks once.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from numba.core import types
from numba.core.compiler import Compiler
from numba.core.compiler_lock import global_compiler_lock
from numba.core.types.functions import BaseFunction

# Values of these types say nothing that a later use could refine, as a list's may.
_SETTLED = (types.Number, types.Boolean, types.Literal, types.Array, types.UniTuple)


class Remembering(Compiler):
    """Numba's default passes, each operation of given types resolved once."""

    def compile_extra(self, func: Any) -> Any:
        with global_compiler_lock, _remembered():
            return super().compile_extra(func)  # type: ignore[no-untyped-call]


def remember(function: Any) -> None:
    """Let Numba compile `function`, one of its dispatchers, by `Remembering`."""
    inner = getattr(function, "_compiler", None)
    if inner is not None and getattr(inner, "pipeline_class", None) is Compiler:
        inner.pipeline_class = Remembering


@contextmanager
def _remembered() -> Iterator[None]:
    """Within it, and the compiler's lock, an operation is resolved once."""
    resolve = BaseFunction.get_call_type
    if hasattr(resolve, "found"):  # already, for a function that calls this one
        yield
        return
    # Operations and contexts compare by what they are called, while what was resolved
    # is noted in the object itself: so by identity, with the objects, which live on.
    found: dict[tuple[Any, ...], tuple[Any, ...]] = {}

    def remembered(self: BaseFunction, context: Any, args: Any, kws: Any) -> Any:
        if kws or not all(isinstance(a, _SETTLED) for a in args):
            return resolve(self, context, args, kws)
        key = (id(self), id(context), tuple(args))
        if key not in found:
            found[key] = (resolve(self, context, args, kws), self, context)
        return found[key][0]

    remembered.found = found  # type: ignore[attr-defined]
    BaseFunction.get_call_type = remembered  # type: ignore[method-assign]
    try:
        yield
    finally:
        BaseFunction.get_call_type = resolve  # type: ignore[method-assign]
