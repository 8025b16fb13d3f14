"""What the finding of an object that is no plain function says."""

from __future__ import annotations

from types import BuiltinFunctionType, FunctionType, MethodType

import numpy as np

from pyrev.ir import nodes
from pyrev.parse.source import library_of

_NO_METHOD = (
    "write a function of the numbers and arrays that it needs, and call that from the"
    " method"
)


def no_function(f: object) -> tuple[str, nodes.Loc, str, str]:
    """The finding of an object that is no plain function."""
    code = "P101" if isinstance(f, type) else "P114"
    return code, nodes.NOWHERE, *_what_it_is(f)


def _what_it_is(f: object) -> tuple[str, str]:
    """What an object is that is no plain function, and what to give instead."""
    name = getattr(f, "__name__", type(f).__name__)
    calls = "give a function that calls it, `lambda x: ...`, if it is one of the"
    calls += " functions in docs/language.md"
    match f:
        case type():
            return f"`{name}` is a class", "give a function of numbers and arrays"
        case MethodType():
            return f"`{name}` is a method of a class", _NO_METHOD
        case BuiltinFunctionType() | np.ufunc():
            return f"`{name}` has no text in Python", calls
        case FunctionType():
            return f"`{name}` is a function of {library_of(f)}", calls
        case _ if callable(f):
            return f"an object of type `{type(f).__name__}` is called here", _NO_METHOD
    return (
        f"an object of type `{type(f).__name__}` is not a plain function",
        "give a function, a lambda or a `numba.njit` function",
    )
