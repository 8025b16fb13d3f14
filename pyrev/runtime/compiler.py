"""Numba's compiler, which here does not do twice what it needs once.

Numba looks for the implementation of `a * b` by trying one template after another, at
every `*` of a function: up to three times while it infers types, once more when it
lowers. In long generated functions that was half of the time to compile them. What it
finds depends on the operation and the types of its arguments only, so one compilation
asks once.

And it makes machine code of each function for itself, also of those that only others
call, in which they are linked and compiled again. For these it is left out.

All that is changed of Numba's own is here, and only in the version with which the tests
ran (`code_cache.TESTED_NUMBA`).
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from numba import _dynfunc  # type: ignore[attr-defined]
from numba.core import types
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler
from numba.core.compiler_lock import global_compiler_lock
from numba.core.cpu import CPUContext
from numba.core.types.functions import BaseFunction

# Values of these types say nothing that a later use could refine, as a list's may.
_SETTLED = (types.Number, types.Boolean, types.Literal, types.Array, types.UniTuple)


class Remembering(Compiler):
    """Numba's default passes, each operation of given types resolved once."""

    def compile_extra(self, func: Any) -> Any:
        with global_compiler_lock, _remembered():
            flags = self.state.flags
            if flags.no_cpython_wrapper and flags.no_cfunc_wrapper:
                # As the lowering pass does where there is none.
                codegen = self.state.targetctx.codegen()
                library = _Linked(codegen, func.__qualname__)  # type: ignore[no-untyped-call]
                library.enable_object_caching()  # type: ignore[no-untyped-call]
                self.state.library = library
            return super().compile_extra(func)  # type: ignore[no-untyped-call]


class _Linked(JITCodeLibrary):
    """The code of a function that only other functions call: never run as it is."""

    def _finalize_final_module(self) -> None:
        self._finalize_dynamic_globals()  # type: ignore[no-untyped-call]
        self._verify_declare_only_symbols()  # type: ignore[no-untyped-call]
        self._finalized = True

    def get_pointer_to_function(self, name: str) -> int:
        self._ensure_finalized()  # type: ignore[no-untyped-call]
        return 0


def _executable(self: CPUContext, library: Any, fndesc: Any, env: Any) -> Any:
    """What stands for a function: of a linked one there is nothing to call."""
    if not isinstance(library, _Linked):
        return _EXECUTABLE(self, library, fndesc, env)  # type: ignore[no-untyped-call]
    name = fndesc.qualname.split(".")[-1]
    pointer = library.get_pointer_to_function(fndesc.llvm_func_name)
    module = fndesc.lookup_module()
    return _dynfunc.make_function(module, name, "linked", pointer, env, (library,))


_EXECUTABLE = CPUContext.get_executable


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
    CPUContext.get_executable = _executable  # type: ignore[method-assign]
    try:
        yield
    finally:
        BaseFunction.get_call_type = resolve  # type: ignore[method-assign]
        CPUContext.get_executable = _EXECUTABLE  # type: ignore[method-assign]
