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

from collections.abc import Sequence
from dataclasses import dataclass, replace
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
from pyrev.parse.draw_methods import Form, Method, known_methods, method_of
from pyrev.parse.names import object_of
from pyrev.parse.operands import read_numbers
from pyrev.parse.reading import read_number
from pyrev.parse.scopes import Capture, Scope, home
from pyrev.parse.streams import Draw, Drawing, Site, Stream
from pyrev.parse.values import Array, Nothing, Operand, Refused, axis
from pyrev.parse.whole_arrays import make

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
    known = known_methods(draw.stream.legacy)
    method = method_of(draw.method, draw.stream.legacy)
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
    if method.form is None:
        return _read_whole(w, draw, method, given, size, scope, at)
    found = dict(zip(given, read_numbers(w, [*given.values()], scope), strict=True))
    numbers = {
        n: w.emit.keep(_real(found.get(n, Const(d or 0.0)), at), n)
        for n, d in method.defaults.items()
    }
    form = method.form(w, [*numbers.values()], draw.stream.legacy, at)
    asked = [numbers[n] for n in method.shape]
    buffer = buffer_of(w, "float64", scope)
    site = Site(draw.stream.name, method.draws, buffer, method.shape)
    if any(not isinstance(p, Const) for p in asked):
        return _shaped(w, site, asked, form, size, scope, at)
    return drawn_by(w, site, asked, size, scope, at, _as_float(form, size, at))


def _as_float(form: Form, size: gast.AST | None, at: Loc) -> Form:
    """What is drawn is a float of Python's, or an element of an array."""
    if size is None:
        return lambda drawn: form(_real(drawn, at))
    return lambda drawn: Call("float64", (form(drawn),), loc=at)


def _shaped(
    w: Walk,
    site: Site,
    asked: Sequence[Expr],
    form: Form,
    size: gast.AST | None,
    scope: Scope,
    at: Loc,
) -> Operand | Refused:
    """What is made of numbers that have no derivative by what was `asked` for.

    That is said in statements of its own: derivatives of others read the value.
    """

    def said(drawn: Expr) -> Expr:
        for parameter in asked:
            if not isinstance(parameter, Const):
                drawn = Call("drawn", (drawn, parameter), loc=at)
        return drawn

    found = drawn_by(w, site, asked, size, scope, at, _as_float(said, size, at))
    if isinstance(found, Refused):
        return found
    if isinstance(found, Array):
        found = make(w, found, site.method, at)
        element = Call("float64", (form(found.element),), loc=at)
        return Array(found.shape, element, False, loc=at)
    value = form(found)
    return found if value == found else w.emit.temp(value, "drawn_value")


def _read_whole(
    w: Walk,
    draw: Draw,
    method: Method,
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
    buffer = buffer_of(w, "int64", scope)
    site = Site(draw.stream.name, method.draws, buffer, (*given,), (*fixed,))
    form = integer_form(site.method, size is None, at)
    return drawn_by(w, site, asked, size, scope, at, form)


def integer_form(method: str, alone: bool, at: Loc) -> Form:
    """An integer that is drawn alone is Python's, except for `integers`."""
    if alone and method != "integers":
        return lambda drawn: Call("int", (drawn,), loc=at)
    return lambda drawn: drawn


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
            ask(w, site, [w.emit.keep(number, "seed")], ONE, at)
            return True
    because = "a generator that is made anew draws other numbers in each run"
    w.refuse("P107", at, because, "give a number as the seed")
    return False


def drawn_by(
    w: Walk,
    site: Site,
    asked: Sequence[Expr],
    size: gast.AST | None,
    scope: Scope,
    at: Loc,
    form: Form,
    vector: Array | None = None,
) -> Operand | Refused:
    """What is made of the next number, or an array of that of the next, row by row."""
    if size is None:
        ask(w, site, asked, ONE, at, vector)
        count = _count(w, site, at)
        one = w.emit.temp(form(Load(site.buffer, (count,), loc=at)), site.method)
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
    ask(w, site, asked, number, at, vector)
    return Array(shape, form(taken(w, site, number, place, at)), False, loc=at)


def taken(w: Walk, site: Site, number: Expr, place: Expr, at: Loc) -> Expr:
    """The one at a `place` among a `number` drawn next, all of which are taken."""
    count = _count(w, site, at)
    start = w.emit.temp(count, "start")
    w.emit.add(Add(count, number, loc=at))
    return Load(site.buffer, (Call("+", (start, place), loc=at),), loc=at)


def _count(w: Walk, site: Site, at: Loc) -> Var:
    drawing = begin_drawing(w)
    drawing.at = drawing.at or at
    return Var(drawing.counts[site.buffer], loc=at)


def ask(
    w: Walk,
    site: Site,
    asked: Sequence[Expr],
    number: Expr,
    at: Loc,
    vector: Array | None = None,
) -> None:
    """Write what is drawn, and how many of them: that draws, in a run that does.

    The elements of a `vector` that is asked with come first.
    """
    drawing = begin_drawing(w)
    name = drawing.requests
    _capture(w, ("requests",), name, 2, "float64", w.env.outermost)
    if site not in drawing.sites:
        drawing.sites.append(site)
    k = Const(drawing.sites.index(site))
    if vector is not None:
        behind = Load(name, (k, Const(len(asked) + 1)), loc=at)
        elements = vector
        w.emit.nest(
            vector.shape, at, lambda i: [Assign(behind, elements.at(i), loc=at)]
        )
    for j, value in enumerate((*asked, number)):
        w.emit.add(Assign(Load(name, (k, Const(j)), loc=at), value, loc=at))


def buffer_of(w: Walk, dtype: str, scope: Scope) -> str:
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
    node: gast.Call, name: str, method: Method
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
    if not {*names[: method.required]} <= given.keys():
        return None
    return given


def _real(value: Expr, at: Loc) -> Expr:
    """A number as a float of Python's, which NumPy makes of it."""
    if isinstance(value, Const):
        return Const(float(value.value), loc=at)
    return Call("float", (value,), loc=at)


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
