"""Random numbers: what the methods of a `np.random.Generator` among the arguments give.

They are drawn before the call, all of one kind, and stand in an array in the order in
which the text takes them: a draw is the next element of it, and counts. How many a call
takes is counted by `ir.counting` for what the arguments are::

    z = mu + sigma * rng.normal()        z = mu + sigma * draws[drawn]
                                  ->     drawn += 1

NumPy draws the same for `size=n` as for `n` calls.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import gast
import numpy as np

from pyrev.ir.counting import counting, reads
from pyrev.ir.diagnostics import Finding, UnsupportedError
from pyrev.ir.nodes import (
    ONE,
    Add,
    Assign,
    Call,
    Check,
    Const,
    Expr,
    Load,
    Loc,
    Program,
    Var,
)
from pyrev.parse.creation import read_shape
from pyrev.parse.operands import read_numbers
from pyrev.parse.scopes import Capture, Scope, home
from pyrev.parse.streams import Draw, Drawing
from pyrev.parse.values import Array, Operand, Refused, axis

if TYPE_CHECKING:
    from pyrev.parse.walk import Walk


@dataclass(frozen=True, slots=True)
class Buffer(Capture):
    """The parameter that holds the numbers that are drawn for a call."""

    def read(self) -> object:
        """An array as it will be, of a length that no call has yet."""
        return np.empty(0)


#: What each method draws, and its parameters with their defaults in front of `size`.
_METHODS: dict[str, tuple[str, dict[str, float]]] = {
    "random": ("random", {}),
    "uniform": ("random", {"low": 0.0, "high": 1.0}),
    "standard_normal": ("standard_normal", {}),
    "normal": ("standard_normal", {"loc": 0.0, "scale": 1.0}),
}
_KNOWN = "`random`, `uniform`, `standard_normal` and `normal`, with `size=`"


def begin_drawing(w: Walk) -> None:
    """The statement that sets the count to zero, at the start of the program."""
    w.env.drawing = Drawing(w.emit.fresh("draws"), w.emit.fresh("drawn"))
    w.emit.add(Assign(Var(w.env.drawing.count), Const(0)))


def read_draw(w: Walk, draw: Draw, node: gast.Call, scope: Scope) -> Operand | Refused:
    """What a call of a method of the generator gives."""
    at = scope.source.loc(node)
    drawing = w.env.drawing
    assert drawing is not None
    if draw.method not in _METHODS:
        because = f"`{draw.method}` is no method of a generator that pyrev knows"
        helps = f"draw with {_KNOWN}, or before the call, and pass the numbers on"
        w.refuse("P107", at, because, helps)
        return Refused()
    kind, defaults = _METHODS[draw.method]
    given = _arguments(node, [*defaults, "size"])
    if given is None:
        because = f"`{draw.method}` does not take these arguments here"
        w.refuse("P108", at, because, f"draw with {_KNOWN}")
        return Refused()
    if drawing.kind not in ("", kind):
        because = f"`{drawing.kind}` and `{kind}` numbers are drawn from one generator"
        helps = "draw those of one kind before the call: `u = rng.random(n)`"
        w.refuse("P107", at, because, helps)
        return Refused()
    drawing.kind = kind
    drawing.at = drawing.at or at
    _ask_buffer(w, scope, drawing.buffer)
    size = given.pop("size", None)
    if isinstance(size, gast.Constant) and size.value is None:
        size = None
    found = dict(zip(given, read_numbers(w, [*given.values()], scope), strict=True))
    moved = [
        w.emit.keep(_real(found.get(n, Const(d)), at), n) for n, d in defaults.items()
    ]
    if draw.method == "normal":
        _check_sign(w, moved[1], "scale < 0", at)
    elif draw.method == "uniform":
        moved[1] = w.emit.keep(_difference(moved[1], moved[0], at), "width")
        _check_finite(w, moved[1], at)
        _check_sign(w, moved[1], "high - low < 0", at)
    if size is None:
        next_ = Load(drawing.buffer, (Var(drawing.count),), loc=at)
        one = w.emit.temp(_moved(_real(next_, at), moved, at), draw.method)
        w.emit.add(Add(Var(drawing.count), ONE, loc=at))
        return one
    return _many(w, drawing, size, moved, at, scope)


def _many(
    w: Walk, drawing: Drawing, size: gast.AST, moved: list[Expr], at: Loc, scope: Scope
) -> Operand | Refused:
    """An array of the next numbers, row by row."""
    shape, _ = read_shape(w, size, scope)
    if shape is None:
        return Refused()
    shape = tuple(w.emit.keep(n, "size") for n in shape)
    number: Expr = ONE
    place: Expr = Const(0)
    for k, n in enumerate(shape):
        if not isinstance(n, Const) or n.value < 0:
            message = "negative dimensions are not allowed"
            test = Call(">=", (n, Const(0)), loc=at)
            w.emit.add(Check(test, "ValueError", message, (message,), loc=at))
        number = n if k == 0 else Call("*", (number, n), loc=at)
        place = axis(0) if k == 0 else Call("*", (place, n), loc=at)
        place = place if k == 0 else Call("+", (place, axis(k)), loc=at)
    start = w.emit.temp(Var(drawing.count, loc=at), "start")
    w.emit.add(Add(Var(drawing.count), number, loc=at))
    element = Load(drawing.buffer, (Call("+", (start, place), loc=at),), loc=at)
    value = Call("float64", (_moved(element, moved, at),), loc=at)
    return Array(shape, value, False, loc=at)


def _arguments(node: gast.Call, names: list[str]) -> dict[str, gast.AST] | None:
    """The arguments by name; None if they do not fit."""
    if len(node.args) > len(names):
        return None
    given = dict(zip(names, node.args, strict=False))
    for k in node.keywords:
        if k.arg not in names or k.arg in given:
            return None
        given[k.arg] = k.value
    if any(isinstance(a, gast.Starred) for a in node.args):
        return None
    return given


def _ask_buffer(w: Walk, scope: Scope, name: str) -> None:
    key = ("draws",)
    if key not in w.found.captures:
        holder = home(scope)
        assert holder is not None
        w.found.captures[key] = Buffer(name, holder, (name,))


def _real(value: Expr, at: Loc) -> Expr:
    """A number as a float of Python's, which NumPy makes of it."""
    if isinstance(value, Const):
        return Const(float(value.value), loc=at)
    return Call("float", (value,), loc=at)


def _difference(high: Expr, low: Expr, at: Loc) -> Expr:
    if isinstance(high, Const) and isinstance(low, Const):
        return Const(high.value - low.value, loc=at)
    return Call("-", (high, low), loc=at)


def _moved(drawn: Expr, moved: list[Expr], at: Loc) -> Expr:
    """NumPy's ``loc + scale * drawn``."""
    if not moved:
        return drawn
    first, factor = moved
    if factor != Const(1.0, loc=factor.loc):
        drawn = Call("*", (factor, drawn), loc=at)
    if first != Const(0.0, loc=first.loc):
        drawn = Call("+", (first, drawn), loc=at)
    return drawn


def _check_sign(w: Walk, value: Expr, message: str, at: Loc) -> None:
    """`ValueError` where the sign bit of a number is set, as NumPy has it."""
    if isinstance(value, Const):
        if math.copysign(1.0, value.value) > 0.0:
            return
        test: Expr = Const(False)
    else:
        sign = Call("copysign", (Const(1.0), value), loc=at)
        positive = Call(">", (sign, Const(0.0)), loc=at)
        nan = Call("!=", (value, value), loc=at)
        test = Call("or", (positive, nan), loc=at)
    w.emit.add(Check(test, "ValueError", message, (message,), loc=at))


def _check_finite(w: Walk, value: Expr, at: Loc) -> None:
    message = "high - low range exceeds valid bounds"
    if isinstance(value, Const):
        if math.isfinite(value.value):
            return
        test: Expr = Const(False)
    else:
        test = Call("isfinite", (value,), loc=at)
    w.emit.add(Check(test, "OverflowError", message, (message,), loc=at))


def check_drawing(drawing: Drawing | None, program: Program) -> None:
    """`UnsupportedError` where what is drawn decides how much is drawn."""
    if drawing is None or not drawing.kind or drawing.at is None:
        return
    if drawing.buffer in reads(counting(program, drawing.count)):
        because = "what is drawn decides how many numbers are drawn"
        helps = "draw a number that is known before: `u = rng.random(most)`"
        raise UnsupportedError([Finding("P107", drawing.at, because, helps)])
