"""Which new array a call makes: ``np.zeros(n)``, ``a.copy()``, ``np.arange(n)``.

The arrays are values not yet computed, with their dtype and what fills them; a name, or
an expression that needs one, makes them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import gast
import numpy as np

from pyrev.ir.dtypes import DTYPES, WEAK_INT
from pyrev.ir.nodes import (
    ONE,
    ZERO,
    Assign,
    Call,
    Const,
    Dtype,
    Expr,
    Load,
    Loc,
    Promoted,
    Var,
    like,
    names,
    resembled,
    walk_expr,
    written,
)
from pyrev.parse import views
from pyrev.parse.functions import CREATORS, dtype_name
from pyrev.parse.names import object_of, program_name, referred
from pyrev.parse.operands import read_numbers, read_operands
from pyrev.parse.reading import only_number, read_number
from pyrev.parse.scopes import Scope
from pyrev.parse.selections import places_where
from pyrev.parse.stacked import stack
from pyrev.parse.subscripts import lengths, measured
from pyrev.parse.values import Array, Operand, axis
from pyrev.parse.walk import Walk
from pyrev.parse.whole_arrays import (
    allocate,
    as_array,
    assign_elements,
    is_floating,
    is_integral,
    known_dtype,
    located,
    make,
)


def read_creation(
    w: Walk, function: object, node: gast.Call, scope: Scope
) -> Operand | None:
    """The array that a call of `function` makes; None if it makes none."""
    try:
        kind, constant = CREATORS[function]  # type: ignore[index]
    except (KeyError, TypeError):
        return None
    arguments = _Arguments(list(node.args), node.keywords)
    at = scope.source.loc(node)
    match kind:
        case "array":
            made = literal_array(w, arguments, at, scope)
        case "same":
            made = read_asarray(w, arguments, at, scope)
        case "arange":
            made = read_arange(w, arguments, at, scope)
        case "linspace":
            made = read_linspace(w, arguments, at, scope)
        case "eye" | "identity":
            made = read_eye(w, arguments, at, scope, kind == "identity")
        case "order":
            source = arguments.take(0, "a")
            made = None if source is None else read_order(w, source, at, scope)
        case "true":
            source = arguments.take(0, "a")
            whole = None if source is None else measured(w, source, scope)
            made = None if whole is None else places_where(w, whole, at)
        case "copy":
            source = arguments.take(0, "a")
            made = None if source is None else read_copy(w, source, scope, False)
        case _:
            full = function in (np.full, np.full_like)
            made = read_filled(w, arguments, kind == "like", full, constant, scope)
    if made is None or arguments.left:
        if not any(_inside(f.at, at) for f in w.findings.found):
            refuse_creation(w, node, "these arguments", _ARGUMENTS, scope)
        return Const(0)
    return made


def read_filled(
    w: Walk,
    arguments: _Arguments,
    like: bool,
    full: bool,
    constant: float | None,
    scope: Scope,
) -> Array | None:
    """``np.zeros(shape)`` and its like: one value everywhere."""
    source = arguments.take(0, "shape", "a", "prototype")
    fill_node = arguments.take(1, "fill_value") if full else None
    dtype_node = arguments.take(2 if full else 1, "dtype")
    if source is None or (full and fill_node is None):
        return None
    at = scope.source.loc(source)
    shape: tuple[Expr, ...] | None
    dtype: Dtype
    resembles = ""
    if like:
        whole = measured(w, source, scope)
        if whole is None:
            refuse_creation(w, source, "a number", _NUMBER, scope)
            return None
        shape, resembles = whole.shape, whole.name or ""
        dtype = views.dtype_of(views.kinds(whole.element))
    else:
        shape, resembles = read_shape(w, source, scope)
        dtype = "float64"
    fill: Expr = Const(0.0 if constant is None else constant)
    # Python evaluates the shape first, then the fill value.
    mark = w.emit.mark
    if fill_node is not None:
        fill = read_number(w, fill_node, scope)
        if not like:
            dtype = views.dtype_of(views.kinds(fill))
            if resembled(dtype) and not isinstance(fill, (Var, Load)):
                fill = w.emit.temp(fill, "fill")
                dtype = views.dtype_of(views.kinds(fill))
    if dtype_node is not None:
        named = read_dtype(w, dtype_node, scope)
        if named is None:
            refuse_creation(w, dtype_node, "this dtype", _DTYPE, scope)
            return None
        dtype = named
    if shape is None:
        return None
    if any(written(w.emit.since(mark)) & names(e) for e in shape):
        what = "a fill value that changes the shape"
        helps = "compute the fill value in a statement before"
        refuse_creation(w, source, what, helps, scope)
        return None
    blank = constant is None and not full
    return Array(shape, fill, False, dtype, resembles, blank, not like, loc=at)


def read_copy(
    w: Walk, source: gast.AST, scope: Scope, by_rows: bool = True
) -> Array | None:
    """``a.copy()``: the elements of an array in a new one, laid out `by_rows`."""
    whole = measured(w, source, scope)
    if whole is None:
        refuse_creation(w, source, "a number", _NUMBER, scope)
        return None
    at = scope.source.loc(source)
    if whole.name is None:
        return replace(whole, view=False, by_rows=by_rows, loc=at)
    name = whole.name
    made = Array(whole.shape, whole.element, False, like(name), name, loc=at)
    return replace(made, by_rows=by_rows)


def read_order(w: Walk, node: gast.AST, at: Loc, scope: Scope) -> Array | None:
    """The places of a vector in the order of its elements."""
    whole = measured(w, node, scope)
    if whole is None:
        return None
    if whole.name is None or whole.name in w.storage.lengths:
        whole = make(w, whole, "values", at)
    name = w.emit.fresh("order")
    return allocate(
        w, name, whole.shape, None, "int64", at, whole.name or "", whole.name, "order"
    )


def literal_array(
    w: Walk, arguments: _Arguments, at: Loc, scope: Scope
) -> Array | None:
    """``np.array([[1.0, x], [y, 0.0]])``"""
    node = arguments.take(0, "object", "a")
    dtype_node = arguments.take(1, "dtype")
    if not isinstance(node, (gast.List, gast.Tuple)):
        if node is None:
            return None
        if dtype_node is not None:
            return read_converted(w, node, dtype_node, at, scope)
        return read_copy(w, node, scope)
    return array_of_list(w, node, at, scope, dtype_node)


def read_converted(
    w: Walk, node: gast.AST, dtype_node: gast.AST, at: Loc, scope: Scope
) -> Array | None:
    """``a.astype(dtype)``: a new array with the elements of another."""
    whole = measured(w, node, scope)
    dtype = read_dtype(w, dtype_node, scope)
    if whole is None or dtype is None:
        return None
    if not isinstance(dtype, Promoted):
        element = Call(dtype, (whole.element,), loc=at)
        return Array(whole.shape, element, False, loc=at)
    if whole.name is not None:
        return Array(whole.shape, whole.element, False, dtype, whole.name, loc=at)
    if whole.blank:
        return replace(whole, dtype=dtype, loc=at)
    made = allocate(w, w.emit.fresh("converted"), whole.shape, None, dtype, at)
    assign_elements(w, made, whole, at, replaces=True)
    return made


def read_asarray(w: Walk, arguments: _Arguments, at: Loc, scope: Scope) -> Array | None:
    """``np.asarray(a)``: an array is itself, a list becomes one."""
    node = arguments.positional[0] if arguments.positional else None
    if isinstance(node, (gast.List, gast.Tuple)):
        return literal_array(w, arguments, at, scope)
    source, dtype_node = arguments.take(0, "a"), arguments.take(1, "dtype")
    whole = None if source is None else measured(w, source, scope)
    if whole is None or dtype_node is None:
        return None if whole is None else located(w, whole, at)
    return of_dtype(w, whole, dtype_node, at, scope)


def of_dtype(
    w: Walk, whole: Array, dtype_node: gast.AST, at: Loc, scope: Scope
) -> Array | None:
    """An array itself, whose elements have this dtype already, as each call checks;
    one that nobody else has is converted.
    """
    dtype = read_dtype(w, dtype_node, scope)
    if dtype is None or isinstance(dtype, Promoted):
        return None
    held = whole.name
    if held is None and whole.view and isinstance(whole.element, Load):
        held = whole.element.array
    if held is not None:
        w.found.alike_kinds.append((held, dtype, at))
        return located(w, whole, at)
    if whole.view:
        return None
    return replace(whole, element=Call(dtype, (whole.element,), loc=at), dtype="")


def array_of_list(
    w: Walk,
    node: gast.AST,
    at: Loc,
    scope: Scope,
    dtype_node: gast.AST | None = None,
) -> Array | None:
    """A new array with the elements that a list or a list of lists gives."""
    rows = list(node.elts)
    shape: tuple[int, ...] = (len(rows),)
    cells = rows
    if rows and all(isinstance(r, (gast.List, gast.Tuple)) for r in rows):
        lengths = {len(r.elts) for r in rows}
        if len(lengths) > 1:
            what = "rows of different lengths"
            helps = "write equally many elements in each row"
            refuse_creation(w, node, what, helps, scope)
            return None
        shape = (len(rows), lengths.pop())
        cells = [e for r in rows for e in r.elts]
    if not cells:
        refuse_creation(w, node, "no elements", "write `np.zeros(0)`", scope)
        return None
    operands = read_operands(w, cells, scope)
    asked: Dtype = ""
    if dtype_node is not None:
        named = read_dtype(w, dtype_node, scope)
        if named is None:
            refuse_creation(w, dtype_node, "this dtype", _DTYPE, scope)
            return None
        asked = named
    if len(shape) == 1 and any(isinstance(v, Array) for v in operands):
        return _array_of_arrays(w, node, operands, asked, at, scope)
    values = [only_number(w, v, n, scope) for v, n in zip(operands, cells, strict=True)]
    dtype = asked or views.dtype_of(views.union(map(views.kinds, values)))
    return array_of_values(w, values, [Const(n) for n in shape], dtype, at)


def _array_of_arrays(
    w: Walk,
    node: gast.AST,
    operands: Sequence[Operand],
    dtype: Dtype,
    at: Loc,
    scope: Scope,
) -> Array | None:
    """``np.array([u - v, w])``: arrays of one shape, above one another."""
    wholes = [a for v in operands if (a := as_array(w, v, at)) is not None]
    if len(wholes) < len(operands) or len({a.rank for a in wholes}) > 1:
        what = "numbers and arrays, or arrays of different ranks, side by side"
        refuse_creation(w, node, what, "write the elements out", scope)
        return None
    made = stack(w, wholes, 0, at)
    if not dtype:
        return made
    if isinstance(dtype, Promoted):
        return None
    return Array(made.shape, Call(dtype, (made.element,), loc=at), False, loc=at)


def array_of_values(
    w: Walk, values: Sequence[Expr], shape: Sequence[Const], dtype: Dtype, at: Loc
) -> Array:
    """A new vector or matrix with these elements, row by row."""
    name = w.emit.fresh("values")
    w.storage.by_rows.add(name)
    made = allocate(w, name, tuple(shape), None, dtype, at)
    for k, value in enumerate(values):
        place = (k,) if len(shape) == 1 else divmod(k, int(shape[1].value))
        index = tuple(Const(n, loc=value.loc) for n in place)
        w.emit.add(Assign(Load(name, index, loc=at), value, loc=at))
    return made


def read_arange(w: Walk, arguments: _Arguments, at: Loc, scope: Scope) -> Array | None:
    """``np.arange(start, stop, step)``"""
    start_node = arguments.take(0, "start")
    stop_node = arguments.take(1, "stop")
    step_node = arguments.take(2, "step")
    dtype_node = arguments.take(3, "dtype")
    if stop_node is None:
        start_node, stop_node = None, start_node
    if stop_node is None:
        return None
    nodes = [n for n in (start_node, stop_node, step_node) if n is not None]
    given = read_numbers(w, nodes, scope)
    start = ZERO if start_node is None else given[0]
    stop = given[0 if start_node is None else 1]
    step = ONE if step_node is None else given[-1]
    known = w.known.exact  # parameters are taken for floats before
    floats = any(_is_float_in_text(e) or known and is_floating(w, e) for e in given)
    if floats or not isinstance(step, Const):
        if dtype_node is not None:
            refuse_creation(w, nodes[0], "a range of floats", _CONVERTED, scope)
            return None
        return _stepped(w, start, stop, step, floats, at)
    if step.value == 0:
        refuse_creation(w, step_node, "steps of zero", _LINSPACE, scope)
        return None
    bounds = views.range_length(start, stop, int(step.value))
    dtype: Dtype | None = "int64"
    if dtype_node is not None:
        dtype = read_dtype(w, dtype_node, scope)
    if dtype is None or isinstance(dtype, Promoted):
        return None
    counts = is_integral(w, start) and is_integral(w, stop)
    if not counts and not names(start) | names(stop) <= names(bounds):
        # Whether what is left out counts is not asked by the length.
        made = _stepped(w, start, stop, step, False, at)
        if dtype_node is None:
            return made
        return replace(made, element=Call(dtype, (made.element,), loc=at))
    element: Expr = axis(0)
    if step != ONE:
        element = Call("*", (element, step), loc=at)
    element = views.add(_of_64_bits(w, start), element) if start != ZERO else element
    if dtype != "int64":
        element = Call(dtype, (element,), loc=at)
    return Array((bounds,), element, False, loc=at)


def _stepped(
    w: Walk, start: Expr, stop: Expr, step: Expr, floats: bool, at: Loc
) -> Array:
    """A range of floats, or one whose step is known when the program runs.

    NumPy counts the elements with floats, and adds the difference of the first two as
    often as needed.
    """
    start, stop, step = (
        Call("float64", (e,), loc=at) if floats and _is_element(e) else e
        for e in (start, stop, step)
    )
    first, width = (
        e if isinstance(e, (Const, Var)) else w.emit.temp(e, name)
        for e, name in ((start, "start"), (step, "step"))
    )
    is_zero = isinstance(first, Const) and first.value == 0
    span = stop if is_zero else Call("-", (stop, first), loc=at)
    ratio = span if width == ONE else Call("/", (span, width), loc=at)
    number = Call("int", (Call("ceil", (ratio,), loc=at),), loc=at)
    count = w.emit.temp(Call("max", (number, ZERO), loc=at), "count")
    match first, width:
        case Const(0), _:
            pass
        case Const(a), Const(b):
            width = Const((a + b) - a, loc=at)
        case _, Const(int()):
            pass
        case _:
            second = Call("+", (first, width), loc=at)
            width = w.emit.temp(Call("-", (second, first), loc=at), "width")
    # It holds 64 bits, whatever it is made of.
    place: Expr = axis(0) if floats else Call("int64", (axis(0),), loc=at)
    moved = place if width == ONE else Call("*", (place, width), loc=at)
    element = moved if is_zero else Call("+", (first, moved), loc=at)
    if floats:
        element = Call("float64", (element,), loc=at)
    return Array((count,), element, False, loc=at)


def _is_element(e: Expr) -> bool:
    """Is it read from an array, and may hold fewer bits?"""
    return any(isinstance(part, Load) for part in walk_expr(e))


def _of_64_bits(w: Walk, start: Expr) -> Expr:
    """An integer, so that what is added to it holds 64 bits, as in NumPy."""
    short = known_dtype(w, start) not in (None, "int64", WEAK_INT)
    if short or isinstance(start, Load):
        return Call("int64", (start,), loc=start.loc)
    return start


def _is_float_in_text(e: Expr) -> bool:
    """Is this a float whatever its names stand for?"""
    match e:
        case Const(value):
            return isinstance(value, float)
        case Call("/"):
            return True
        case Call("+" | "-" | "*", args):
            return any(map(_is_float_in_text, args))
    return False


def read_linspace(
    w: Walk, arguments: _Arguments, at: Loc, scope: Scope
) -> Array | None:
    """``np.linspace(start, stop, num)``"""
    nodes = [arguments.take(0, "start"), arguments.take(1, "stop")]
    number = arguments.take(2, "num")
    if None in nodes:
        return None
    every = [n for n in (*nodes, number) if n is not None]
    start, stop, *rest = read_numbers(w, every, scope)
    count = rest[0] if rest else Const(50)
    gaps = views.subtract(count, ONE)
    if not isinstance(gaps, Const):
        gaps = Call("max", (gaps, ONE), loc=at)
    span = Call("-", (stop, start), loc=at)
    width = w.emit.temp(Call("/", (span, gaps), loc=at), "width")
    first = start if isinstance(start, (Const, Var)) else w.emit.temp(start, "start")
    moved = Call("*", (axis(0), width), loc=at)
    element = Call("float64", (Call("+", (first, moved), loc=at),), loc=at)
    return Array((views.size(count),), element, False, loc=at)


def read_eye(
    w: Walk, arguments: _Arguments, at: Loc, scope: Scope, square: bool
) -> Array | None:
    """``np.eye(n)``, ``np.eye(n, m, k)``, and ``np.identity(n)``, which is `square`."""
    node = arguments.take(0, "N", "n")
    if node is None:
        return None
    columns_node = k_node = None
    if square:
        dtype_node = arguments.take(1, "dtype")
    else:
        columns_node, k_node = arguments.take(1, "M"), arguments.take(2, "k")
        dtype_node = arguments.take(3, "dtype")
    given = [n for n in (node, columns_node, k_node) if n is not None]
    numbers = iter(read_numbers(w, given, scope))
    rows = views.size(next(numbers))
    columns = rows if columns_node is None else views.size(next(numbers))
    place = axis(0) if k_node is None else views.add(axis(0), next(numbers))
    dtype: Dtype | None = "float64"
    if dtype_node is not None:
        dtype = read_dtype(w, dtype_node, scope)
        if dtype is None:
            refuse_creation(w, dtype_node, "this dtype", _DTYPE, scope)
            return None
    if isinstance(dtype, Promoted):
        return None
    one, zero = (Const(n if dtype == "int64" else float(n)) for n in (1, 0))
    test = Call("==", (place, axis(1)), loc=at)
    element = Call("where", (test, one, zero), loc=at)
    assert dtype is not None
    return Array((rows, columns), Call(dtype, (element,), loc=at), False, loc=at)


def read_shape(
    w: Walk, node: gast.AST, scope: Scope
) -> tuple[tuple[Expr, ...] | None, str]:
    """A shape, and the array whose shape it is by its text."""
    match node:
        case gast.Tuple(elts=[]) | gast.List(elts=[]):
            helps = "use a number in its place"
            refuse_creation(w, node, "a shape without axes", helps, scope)
            return None, ""
        case gast.Tuple(elts=elements) | gast.List(elts=elements):
            return tuple(read_numbers(w, elements, scope)), ""
        case gast.Attribute(value=base, attr="shape"):
            whole = measured(w, base, scope)
            if whole is not None:
                return whole.shape, whole.name or ""
        case gast.BinOp(op=gast.Add()) | gast.Subscript(slice=gast.Slice()):
            parts = lengths(w, node, scope)
            if parts:
                return tuple(parts), ""
    return (read_number(w, node, scope),), ""


def read_dtype(w: Walk, node: gast.AST, scope: Scope) -> Dtype | None:
    """The dtype that an expression names, None if it names none."""
    match node:
        case gast.Attribute(
            value=gast.Call(func=func, args=[of], keywords=[]), attr="dtype"
        ) if object_of(w, func, scope) in (np.asarray, np.array):
            whole = measured(w, of, scope)
            element = read_number(w, of, scope) if whole is None else whole.element
            return views.dtype_of(views.kinds(element))
        case gast.Attribute(value=base, attr="dtype"):
            whole = measured(w, base, scope)
            if whole is not None:
                return views.dtype_of(views.kinds(whole.element))
        case gast.Constant(value=str() as text):
            return dtype_name(text)
        case gast.Call(func=func, args=[of], keywords=[]) if (
            object_of(w, func, scope) is np.dtype
        ):
            return read_dtype(w, of, scope)
        case gast.Call(func=gast.Name() as func, args=[gast.Name() as of]) if (
            not node.keywords
            and object_of(w, func, scope) is type
            and not isinstance(referred(w, of, scope), Array)
        ):  # the class of a number
            return views.dtype_of(views.kinds(read_number(w, of, scope)))
        case gast.Call(func=func, args=args, keywords=[]) if (
            args and object_of(w, func, scope) is np.result_type
        ):
            return views.dtype_of(
                views.union([promoted_kinds(w, a, scope) for a in args])
            )
    if w.known.loose and isinstance(node, gast.Attribute) and node.attr in DTYPES:
        return str(node.attr)
    return dtype_name(object_of(w, node, scope))


def promoted_kinds(w: Walk, node: gast.AST, scope: Scope) -> views.Kinds:
    """What one argument of `np.result_type` adds to what is promoted."""
    own = dtype_name(object_of(w, node, scope))
    if own is not None:
        return (own,)
    if isinstance(node, gast.Constant):
        return views.kinds(read_number(w, node, scope))
    bound = program_name(w, referred(w, node, scope))
    if bound is not None:  # a number or an array: to be promoted says neither
        return (Var(bound),)
    whole = measured(w, node, scope)
    return () if whole is None else views.kinds(whole.element)


def refuse_creation(
    w: Walk, node: gast.AST, what: str, helps: str, scope: Scope
) -> None:
    """What no new array can be made from."""
    w.refuse(
        "P208",
        scope.source.loc(node),
        f"a new array cannot be made from {what}",
        helps,
    )


_ARGUMENTS = "give a shape of integers or `a.shape`, a fill value and a dtype, no more"


_DTYPE = "use a dtype of bools, ints or floats of up to 64 bits"


_CONVERTED = "leave the dtype out, and write `.astype(...)` behind it"
_LINSPACE = "use `np.linspace`, or fill `np.empty(n)` in a loop"


_NUMBER = "give it an array, or write `np.full(shape, value)`"


def _inside(inner: Loc, outer: Loc) -> bool:
    """Is one place of the text inside another?"""
    return (
        inner.file == outer.file
        and (outer.line, outer.col) <= (inner.line, inner.col)
        and (inner.end_line, inner.end_col) <= (outer.end_line, outer.end_col)
    )


class _Arguments:
    """The arguments of a call, taken one by one."""

    def __init__(self, positional: list[gast.AST], keywords: Sequence[gast.AST]):
        self.positional: list[gast.AST | None] = list(positional)
        self.keywords = {k.arg: k.value for k in keywords}

    def take(self, position: int, *spellings: str) -> gast.AST | None:
        """The argument at a position, or with one of these names."""
        if position < len(self.positional):
            found, self.positional[position] = self.positional[position], None
            return found
        taken = [self.keywords.pop(s) for s in spellings if s in self.keywords]
        return taken[0] if taken else None

    @property
    def left(self) -> bool:
        """Is there an argument that nobody took?"""
        return bool(self.keywords) or any(p is not None for p in self.positional)
