"""What a user says in the text of a function: no-ops in CPython, read by the parser."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from types import FunctionType
from typing import TypeVar

from pyrev.ir.diagnostics import ArgumentError

_UNITS = {
    "": 1,
    "B": 1,
    **{f"{p}B": 1000**k for k, p in enumerate("kMGT", 1)},
    **{f"{p}iB": 1024**k for k, p in enumerate("KMGT", 1)},
}


T = TypeVar("T")


def stop_gradient(x: T) -> T:
    """``x``, through which no derivative passes, of any order.

    In CPython it is `x`, unchanged. `x` is a number: of an array stop each element.
    """
    return x


#: What says something of a number in the text of a derivative, and is the number:
#: name and parameters. `by_rule(x)` was computed by a helper with a rule of its own.
MARKS = {
    "stop_gradient": ("x",),
    "by_rule": ("x",),
    "along": ("value", "slope", "x"),
}


def mark(function: object) -> str | None:
    """Which of `MARKS` a function is, also where a generated text defines it."""
    if not isinstance(function, FunctionType):
        return None
    if function is stop_gradient:
        return "stop_gradient"
    code = function.__code__
    known = MARKS.get(function.__name__)
    same = code.co_code == stop_gradient.__code__.co_code  # returns its first argument
    alike = same and code.co_varnames == known
    return function.__name__ if alike else None


def probe(x: T, callback: Callable[[float], object]) -> T:
    """``x``; derivatives in reverse mode call `callback` with its adjoint, there.

    In CPython it is `x`, unchanged. The pullback calls ``callback(d)`` once for each
    time that the line ran, the last one first: `d` is the derivative of the outputs,
    weighted by the cotangents, with respect to what this use of `x` passes on. What
    `callback` returns is ignored, what it raises comes out of the pullback. `callback`
    is the name of a function outside of the one that is differentiated, an attribute
    (``seen.append``) included, and `x` a number: of an array probe each element.

    A function with a probe runs compiled as ever; its adjoint runs in CPython. Forward
    mode, Jacobians, derivatives of higher order and `check_grad` call nothing.
    """
    return x


def checkpointed(iterations: range, slots: int | None = None) -> range:
    """``for t in pyrev.checkpointed(range(T))``: do not keep every state of this loop.

    In CPython it is `iterations`, unchanged. The derivative keeps the state at the
    start of at most `slots` iterations (an integer literal; default: as many as let no
    iteration run more than twice again) and runs the others again, by the binomial
    schedule of Griewank and Walther, ACM TOMS 26 (2000). The loop must stand in the
    function itself, not in another loop or under an `if`. Gradients have the same bits
    as without it.
    """
    return iterations


def memory_bytes(memory: object) -> int | None:
    """``"500MB"`` or a number of bytes as an integer; None stays None.

    Raises `ArgumentError` for anything else.

    >>> memory_bytes("1.5 GiB"), memory_bytes(1000), memory_bytes(None)
    (1610612736, 1000, None)
    """
    if memory is None:
        return None
    if isinstance(memory, (int, float)) and 0 < memory < math.inf:
        return int(memory)
    match = re.fullmatch(r"\s*([\d._]+)\s*([a-zA-Z]*)\s*", str(memory))
    if isinstance(memory, str) and match is not None:
        number, unit = match.groups()
        if unit in _UNITS:
            return int(float(number) * _UNITS[unit])
    raise ArgumentError(
        f"memory={memory!r}: give bytes as a number, or text such as '500MB', '2GiB'"
    )
