"""Random numbers: what the methods of NumPy's generators give.

They are drawn before the function runs, and stand in arrays in the order in which the
text takes them: a draw is the next element of one, and counts::

    z = mu + sigma * rng.normal()        z = mu + sigma * draws[drawn]
                                  ->     drawn += 1

The program that is read has requests, too: what is drawn there, and how many::

    k = rng.integers(0, n)               requests[0, 0] = 0
                                         requests[0, 1] = n
                                  ->     requests[0, 2] = 1
                                         k = whole_draws[drawn_2]
                                         drawn_2 += 1

With them it draws while it runs, which gives the arrays (`driver.draws`); without them
it is what is compiled and differentiated.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import gast
import numpy as np

from pyrev.ir.counting import counting, reads
from pyrev.ir.nodes import (
    ONE,
    Add,
    Assign,
    Block,
    Call,
    Check,
    Const,
    Expr,
    Extent,
    Load,
    Loc,
    Program,
    Return,
    Stmt,
    Var,
    While,
    blocks,
    free_ids,
    with_blocks,
    written,
)
from pyrev.parse.bindings import bindings, nodes_of
from pyrev.parse.creation import read_shape
from pyrev.parse.names import object_of
from pyrev.parse.operands import read_numbers
from pyrev.parse.reading import read_number
from pyrev.parse.scopes import Capture, Scope, home
from pyrev.parse.streams import Draw, Drawing, Site, Stream
from pyrev.parse.values import Array, Nothing, Operand, Refused, axis

if TYPE_CHECKING:
    from pyrev.parse.walk import Walk


@dataclass(frozen=True, slots=True)
class Buffer(Capture):
    """The parameter that holds the numbers that are drawn for a call."""

    rank: int = 1
    dtype: str = "float64"

    def read(self) -> object:
        """An array as it will be, of a length that no call has yet."""
        return np.empty((0,) * self.rank, self.dtype)


@dataclass(frozen=True, slots=True)
class _Method:
    """What a method draws: by which method of NumPy, which may be the same, and its
    parameters with their defaults in front of `size`.

    `moves`: are the parameters no part of what is drawn? Then derivatives pass through
    them. Else what is drawn are integers.
    """

    draws: str
    defaults: dict[str, float | None] = field(default_factory=dict)
    moves: bool = True


_BOTH = {
    "random": _Method("random"),
    "uniform": _Method("random", {"low": 0.0, "high": 1.0}),
    "standard_normal": _Method("standard_normal"),
    "normal": _Method("standard_normal", {"loc": 0.0, "scale": 1.0}),
    "standard_exponential": _Method("standard_exponential"),
    "exponential": _Method("standard_exponential", {"scale": 1.0}),
}
_NEW = {**_BOTH, "integers": _Method("integers", {"low": 0, "high": None}, False)}
_LEGACY = {
    **_BOTH,
    "random_sample": _Method("random"),
    "rand": _Method("random"),
    "randn": _Method("standard_normal"),
    "randint": _Method("randint", {"low": 0, "high": None}, False),
}
_KNOWN = (
    "`random`, `uniform`, `standard_normal`, `normal`, `exponential` and `{}`, with"
    " `size=`"
)


def begin_drawing(w: Walk) -> Drawing:
    """What the function draws, as far as it is known."""
    if w.env.drawing is None:
        w.env.drawing = Drawing(w.emit.fresh("requests"))
    return w.env.drawing


def with_counts(w: Walk, block: Block) -> Block:
    """A whole program with statements in front that set the counts to zero."""
    if w.env.drawing is None:
        return block
    counts = w.env.drawing.counts.values()
    return (*(Assign(Var(n), Const(0)) for n in counts), *block)


def read_draw(w: Walk, draw: Draw, node: gast.Call, scope: Scope) -> Operand | Refused:
    """What a call of a method of a generator gives."""
    at = scope.source.loc(node)
    begin_drawing(w)
    legacy = draw.stream.legacy
    methods = _LEGACY if legacy else _NEW
    known = _KNOWN.format("randint" if legacy else "integers")
    method = methods.get(draw.method)
    if method is None:
        because = f"`{draw.method}` is no method of a generator that pyrev knows"
        helps = f"draw with {known}, or before the call, and pass the numbers on"
        w.refuse("P107", at, because, helps)
        return Refused()
    given = _arguments(node, draw.method, method)
    if given is None:
        because = f"`{draw.method}` does not take these arguments here"
        w.refuse("P108", at, because, f"draw with {known}")
        return Refused()
    size = given.pop("size", None)
    if isinstance(size, gast.Constant) and size.value is None:
        size = None
    if not method.moves:
        return _read_whole(w, draw, method, given, size, scope, at)
    found = dict(zip(given, read_numbers(w, [*given.values()], scope), strict=True))
    moved = [
        w.emit.keep(_real(found.get(n, Const(d or 0.0)), at), n)
        for n, d in method.defaults.items()
    ]
    _check_moved(w, draw.method, legacy, moved, at)
    site = Site(draw.stream.name, method.draws, _buffer(w, "float64", scope))
    return _drawn(w, site, [], moved, size, scope, at)


def _read_whole(
    w: Walk,
    draw: Draw,
    method: _Method,
    given: dict[str, gast.AST],
    size: gast.AST | None,
    scope: Scope,
    at: Loc,
) -> Operand | Refused:
    """Integers, which NumPy makes of what the program gives."""
    fixed = []
    if "endpoint" in given:
        value = getattr(given.pop("endpoint"), "value", None)
        if not isinstance(value, bool):
            because = f"`{draw.method}` does not take these arguments here"
            w.refuse("P108", at, because, "write `endpoint=True`, or leave it out")
            return Refused()
        fixed.append(("endpoint", value))
    if isinstance(high := given.get("high"), gast.Constant) and high.value is None:
        del given["high"]
    numbers = read_numbers(w, [*given.values()], scope)
    asked = [w.emit.keep(v, n) for n, v in zip(given, numbers, strict=True)]
    buffer = _buffer(w, "int64", scope)
    site = Site(draw.stream.name, method.draws, buffer, (*given,), (*fixed,))
    return _drawn(w, site, asked, [], size, scope, at)


def read_seed(w: Walk, draw: Draw, node: gast.Call, scope: Scope) -> Nothing | Refused:
    """``np.random.seed(n)``"""
    at = scope.source.loc(node)
    begin_drawing(w)
    done = _seeded(w, draw.stream, "seed", node, scope, at)
    return Nothing() if done else Refused()


def new_stream(
    w: Walk, name: str, legacy: bool, node: gast.Call, scope: Scope
) -> Stream | None:
    """The generator that a name gets by ``np.random.default_rng(seed)``."""
    at = scope.source.loc(node)
    begin_drawing(w)
    before = scope.helpers.get(name)
    if isinstance(before, Stream) and before.legacy == legacy:
        stream = before
    else:
        stream = Stream(w.emit.fresh(name), legacy)
    made = "RandomState" if legacy else "default_rng"
    return stream if _seeded(w, stream, made, node, scope, at) else None


def _seeded(
    w: Walk, stream: Stream, method: str, node: gast.Call, scope: Scope, at: Loc
) -> bool:
    """Ask for a generator that begins with a seed; is that one number?"""
    match node.args, node.keywords:
        case ([value], []) | ([], [gast.keyword(arg="seed", value=value)]) if not (
            isinstance(value, gast.Constant) and value.value is None
        ):
            number = read_number(w, value, scope)
            site = Site(stream.name, method, "", ("seed",))
            _ask(w, site, [w.emit.keep(number, "seed")], ONE, at)
            return True
    because = "a generator that is made anew draws other numbers in each run"
    w.refuse("P107", at, because, "give a number as the seed")
    return False


def _drawn(
    w: Walk,
    site: Site,
    asked: list[Expr],
    moved: list[Expr],
    size: gast.AST | None,
    scope: Scope,
    at: Loc,
) -> Operand | Refused:
    """The next number, or an array of the next numbers, row by row."""
    drawing = begin_drawing(w)
    drawing.at = drawing.at or at
    count = Var(drawing.counts[site.buffer], loc=at)
    if size is None:
        _ask(w, site, asked, ONE, at)
        next_: Expr = Load(site.buffer, (count,), loc=at)
        if drawing.dtypes[site.buffer] == "float64":
            next_ = _moved(_real(next_, at), moved, at)
        elif site.method == "randint":
            next_ = Call("int", (next_,), loc=at)
        one = w.emit.temp(next_, site.method)
        w.emit.add(Add(count, ONE, loc=at))
        return one
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
    site = replace(site, size=True)
    _ask(w, site, asked, number, at)
    start = w.emit.temp(count, "start")
    w.emit.add(Add(count, number, loc=at))
    value: Expr = Load(site.buffer, (Call("+", (start, place), loc=at),), loc=at)
    if drawing.dtypes[site.buffer] == "float64":
        value = Call("float64", (_moved(value, moved, at),), loc=at)
    return Array(shape, value, False, loc=at)


def _ask(w: Walk, site: Site, asked: list[Expr], number: Expr, at: Loc) -> None:
    """Write what is drawn, and how many of them: that draws, in a run that does."""
    drawing = begin_drawing(w)
    name = drawing.requests
    _capture(w, ("requests",), name, 2, "float64", w.env.outermost)
    if site not in drawing.sites:
        drawing.sites.append(site)
    k = Const(drawing.sites.index(site))
    for j, value in enumerate((*asked, number)):
        w.emit.add(Assign(Load(name, (k, Const(j)), loc=at), value, loc=at))


def _buffer(w: Walk, dtype: str, scope: Scope) -> str:
    """The array of the numbers of this dtype."""
    drawing = begin_drawing(w)
    name = drawing.buffer(dtype)
    if not name:
        name = w.emit.fresh("draws" if dtype == "float64" else "whole_draws")
        drawing.dtypes[name] = dtype
        drawing.counts[name] = w.emit.fresh("drawn")
    _capture(w, ("draws", dtype), name, 1, dtype, scope)
    return name


def _capture(
    w: Walk,
    key: tuple[object, ...],
    name: str,
    rank: int,
    dtype: str,
    scope: Scope | None,
) -> None:
    if key not in w.found.captures:
        holder = None if scope is None else home(scope)
        assert holder is not None
        w.found.captures[key] = Buffer(name, holder, (name,), rank, dtype)


def _arguments(
    node: gast.Call, name: str, method: _Method
) -> dict[str, gast.AST] | None:
    """The arguments by name; None if they do not fit."""
    if any(isinstance(a, gast.Starred) for a in node.args):
        return None
    if name in ("rand", "randn"):
        if node.keywords:
            return None
        size = gast.Tuple(elts=list(node.args), ctx=gast.Load())
        gast.copy_location(size, node)
        return {"size": size} if node.args else {}
    names = [*method.defaults, "size"]
    more = ["endpoint"] if name == "integers" else []
    if len(node.args) > len(names):
        return None
    given = dict(zip(names, node.args, strict=False))
    for k in node.keywords:
        if k.arg not in (*names, *more) or k.arg in given:
            return None
        given[k.arg] = k.value
    if not method.moves and "low" not in given:
        return None
    return given


def _real(value: Expr, at: Loc) -> Expr:
    """A number as a float of Python's, which NumPy makes of it."""
    if isinstance(value, Const):
        return Const(float(value.value), loc=at)
    return Call("float", (value,), loc=at)


def _difference(high: Expr, low: Expr, at: Loc) -> Expr:
    if isinstance(high, Const) and isinstance(low, Const):
        return Const(high.value - low.value, loc=at)
    return Call("-", (high, low), loc=at)


def _check_moved(
    w: Walk, method: str, legacy: bool, moved: list[Expr], at: Loc
) -> None:
    """What NumPy asks of the parameters, of which a scale comes last from here on."""
    if method == "normal":
        _check_sign(w, moved[1], "scale < 0", at)
    elif method == "exponential":
        _check_sign(w, moved[0], "scale < 0", at)
        moved.insert(0, Const(0.0))
    elif method == "uniform":
        moved[1] = w.emit.keep(_difference(moved[1], moved[0], at), "width")
        _check_finite(w, moved[1], legacy, at)
        if not legacy:
            _check_sign(w, moved[1], "high - low < 0", at)


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


def _check_finite(w: Walk, value: Expr, legacy: bool, at: Loc) -> None:
    message = "Range exceeds valid bounds"
    if not legacy:
        message = "high - low range exceeds valid bounds"
    if isinstance(value, Const):
        if math.isfinite(value.value):
            return
        test: Expr = Const(False)
    else:
        test = Call("isfinite", (value,), loc=at)
    w.emit.add(Check(test, "OverflowError", message, (message,), loc=at))


def without_requests(program: Program, drawing: Drawing) -> Program:
    """The program that takes what was drawn, and draws nothing.

    Where what is drawn decides how many are, it tests in the end that it has read all:
    it computes the same as the one that drew, if not in the same way.
    """
    name = drawing.requests
    body = _stripped(program.body, name)
    result = body[-1:] if body and isinstance(body[-1], Return) else ()
    rest = body[: len(body) - len(result)]
    ids = free_ids(program.body)
    for buffer, count in drawing.counts.items():
        if reads(counting(program, count)) & drawing.counts.keys():
            all_read = Call("==", (Var(count), Extent(buffer, 0)))
            test = Check(all_read, "RuntimeError", _UNLIKE, (_UNLIKE,), id=next(ids))
            rest = (*rest, test)
    return replace(
        program,
        params=tuple(p for p in program.params if p.name != name),
        captured=tuple(n for n in program.captured if n != name),
        body=(*rest, *result),
    )


_UNLIKE = "rounding errors have changed which random numbers are drawn"


def _stripped(block: Block, name: str) -> Block:
    found: list[Stmt] = []
    for s in block:
        if isinstance(s, Assign) and s.target_name == name:
            continue
        inner = blocks(s)
        if any(name in written(b) for b in inner):
            new = tuple(_stripped(b, name) for b in inner)
            if not any(new) and not isinstance(s, While):
                continue
            s = with_blocks(s, new)
        found.append(s)
    return tuple(found)


def makes_stream(w: Walk, node: gast.Call, scope: Scope) -> bool:
    """Is this ``np.random.default_rng(seed)`` or ``np.random.RandomState(seed)``?"""
    return object_of(w, node.func, scope) in _MAKERS


def bind_stream(w: Walk, name: str, node: gast.Call, scope: Scope) -> None:
    """``rng = np.random.default_rng(seed)``"""
    at = scope.source.loc(node)
    maker = object_of(w, node.func, scope)
    definition = scope.source.node
    same = [
        n
        for n in nodes_of(definition)
        if isinstance(n, gast.Assign) and isinstance(n.value, gast.Call)
        if any(isinstance(t, gast.Name) and t.id == name for t in n.targets)
        if object_of(w, n.value.func, scope) is maker
    ]
    if bindings(definition).count(name) != len(same):
        because = f"`{name}` is a generator of random numbers, and something else"
        w.refuse("P107", at, because, "give the generator a name of its own")
        return
    stream = new_stream(w, name, maker is np.random.RandomState, node, scope)
    if stream is not None:
        scope.helpers[name] = stream


_MAKERS = (np.random.default_rng, np.random.RandomState)
