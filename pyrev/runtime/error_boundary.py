"""Whose exception is it? The user's own pass; what happens to pyrev is its bug.

A call of pyrev may raise what pyrev says (`PyrevError`), and what the user's function
raises in CPython too: `IndexError`, `AssertionError`, the `ZeroDivisionError` of
integers, whatever a callback raises. Anything else that comes out of the compiler, out
of Numba or out of a generated text is an `InternalError` with that as its cause. Where
an exception comes from is read from its traceback, so calls that return pay nothing.
"""

from __future__ import annotations

import dis
import functools
import os
import sysconfig
from collections.abc import Callable
from pathlib import Path
from types import CodeType, TracebackType
from typing import ParamSpec, TypeVar

from pyrev.ir.diagnostics import BackendError, InternalError, PyrevError, shows_all

P = ParamSpec("P")
T = TypeVar("T")

#: What the names of modules begin with that hold texts of pyrev's own.
GENERATED = "_pyrev_"

#: What the paths of pyrev's own files begin with.
PACKAGE = str(Path(__file__).parents[1]) + os.sep
_STANDARD = sysconfig.get_path("stdlib") + os.sep
_INSTALLED = tuple(_STANDARD + part + os.sep for part in ("site-packages",))
_COMPILERS = tuple(f"{os.sep}{part}{os.sep}" for part in ("numba", "llvmlite"))
#: Libraries that work for whoever called them.
_LIBRARIES = tuple(
    f"{os.sep}{part}{os.sep}" for part in ("numpy", "gast", "islpy", "astunparse")
)

#: What pyrev raises by these names is meant: an index outside, no memory left.
_MEANT = (IndexError, MemoryError)
#: What code that pyrev made raises is the user's, except for this where Python does.
_NEVER = (SystemError, NameError, AttributeError, KeyError, RecursionError)

#: So long is the code of a frame that Numba makes up, at most.
_MADE_UP = 8

#: What makes arrays in place of NumPy.
_POOL = str(Path(__file__).with_name("pool.py"))
#: Plain functions that users call in theirs: what they raise is meant.
_SOLVERS = str(Path(__file__).parents[1] / "api" / "solvers.py")
_runs: set[CodeType] = set()
_reads: set[CodeType] = set()
#: The files of generated texts: what they raise is what the user's function raises.
generated: set[str] = set()


def runs_users(function: Callable[P, T]) -> Callable[P, T]:
    """Note that `function` calls code that stands for the user's, and leaves no frame.

    What is raised there is as if the user's function had raised it.
    """
    _runs.add(function.__code__)
    return function


def reads_users(function: Callable[P, T]) -> Callable[P, T]:
    """Note that `function` looks up what the user's function would look up."""
    _reads.add(function.__code__)
    return function


def guarded(function: Callable[P, T]) -> Callable[P, T]:
    """`function`, a way into pyrev, of which only the exceptions above come out."""

    @functools.wraps(function)
    def call(*args: P.args, **kwargs: P.kwargs) -> T:
        try:
            return function(*args, **kwargs)
        except PyrevError as error:
            if shows_all(error):
                raise
            # What pyrev did inside is nothing to somebody who reads a message.
            error.__traceback__ = None
            raise
        except Exception as error:
            found = meant(error)
            if found is None:
                raise
            raise found from error

    return call


def meant(error: Exception) -> PyrevError | None:
    """The error of pyrev that says it, or None if `error` is the user's.

    It is an `InternalError` but for a machine on which Numba has no threads.
    """
    if isinstance(error, (PyrevError, Warning)):  # warnings that are made errors
        return None
    whose, where = "", ""
    step = error.__traceback__
    while step is not None:
        code = step.tb_frame.f_code
        kind = _kind(code)
        if kind:
            whose = kind
        if kind in ("pyrev", "run"):
            where = _place(step)
        step = step.tb_next
    made = isinstance(error, _NEVER) and not isinstance(error, UnboundLocalError)
    made = made and not _said(error)
    bug = {
        "pyrev": not isinstance(error, _MEANT),
        "run": made,
        "compiler": not isinstance(error, MemoryError),
    }.get(whose, False)
    if not bug:
        return None
    said = str(error).strip().partition("\n")[0]
    if whose == "compiler" and "threading layer" in said:
        return BackendError(f"Numba: {said} Choose one by NUMBA_THREADING_LAYER")
    what = type(error).__name__ + (f": {said}" if said else "")
    return InternalError(f"{what} ({where})")


def _said(error: Exception) -> bool:
    """Does a `raise` say it, in a generated text or in what was compiled of one?"""
    step = error.__traceback__
    while step is not None and step.tb_next is not None:
        step = step.tb_next
    if step is None or step.tb_frame.f_code.co_filename not in generated:
        return False
    text, at = step.tb_frame.f_code.co_code, step.tb_lasti
    said = dis.opmap["RAISE_VARARGS"]
    # Numba makes frames up, whose code does nothing else.
    return text[at] == said or (len(text) <= _MADE_UP and said in text)


def _kind(code: CodeType) -> str:
    """Whose code it is; "" for a library, which works for whoever called it."""
    file = code.co_filename
    if code in _reads:
        return "user"
    if code in _runs or file in generated:
        return "run"
    if file == _SOLVERS:
        return "user"
    if file.startswith(PACKAGE):
        return "" if file in (__file__, _POOL) else "pyrev"
    if any(part in file for part in _COMPILERS):
        return "compiler"
    if any(part in file for part in _LIBRARIES) or file.startswith("<frozen "):
        return ""
    if file.startswith(_STANDARD) and not file.startswith(_INSTALLED):
        return ""
    return "user"


def _place(step: TracebackType) -> str:
    file = step.tb_frame.f_code.co_filename
    name = file.removeprefix(PACKAGE).replace(os.sep, "/")
    return f"pyrev/{name}:{step.tb_lineno}"
