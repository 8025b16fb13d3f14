"""Which new array a call makes: ``np.zeros(n)``, ``a.copy()``, ``np.arange(n)``.

The arrays are values not yet computed, with their dtype and what fills them; a name, or
an expression that needs one, makes them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import gast
import numpy as np

from pyrev.ir.dtypes import DTYPES
from pyrev.ir.nodes import (
    ONE,
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
    written,
)
from pyrev.parse import views
from pyrev.parse.expressions import Values
from pyrev.parse.functions import CREATORS, dtype_name
from pyrev.parse.names import Scope
from pyrev.parse.values import Array, Operand, axis, stored_in


@dataclass(slots=True)
class Creation(Values):
    """The part of the walk that reads what makes an array."""

    def _created(
        self, function: object, node: gast.Call, scope: Scope
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
                made = self._literal_array(arguments, at, scope)
            case "same":
                made = self._as_array(arguments, at, scope)
            case "arange":
                made = self._arange(arguments, at, scope)
            case "linspace":
                made = self._linspace(arguments, at, scope)
            case "eye":
                made = self._eye(arguments, at, scope)
            case "copy":
                source = arguments.take(0, "a")
                made = None if source is None else self._copied(source, scope)
            case _:
                full = function in (np.full, np.full_like)
                made = self._filled(arguments, kind == "like", full, constant, scope)
        if made is None or arguments.left:
            if not any(_inside(f.at, at) for f in self.findings.found):
                self._refuse_creation(node, "these arguments", _ARGUMENTS, scope)
            return Const(0)
        return made

    def _filled(
        self,
        arguments: _Arguments,
        like: bool,
        full: bool,
        constant: float | None,
        scope: Scope,
    ) -> Array | None:
        source = arguments.take(0, "shape", "a", "prototype")
        fill_node = arguments.take(1, "fill_value") if full else None
        dtype_node = arguments.take(2 if full else 1, "dtype")
        if source is None or (full and fill_node is None):
            return None
        at = scope.source.loc(source)
        # Python evaluates the shape first, then the fill value.
        mark = len(self.out)
        shape: tuple[Expr, ...] | None
        dtype: Dtype
        resembles = ""
        if like:
            whole = self._measured(source, scope)
            if whole is None:
                self._refuse_creation(source, "a number", _NUMBER, scope)
                return None
            shape, resembles = whole.shape, whole.name or ""
            dtype = views.dtype_of(views.kinds(whole.element))
        else:
            shape, resembles = self._shape(source, scope)
            dtype = "float64"
        fill: Expr = Const(0.0 if constant is None else constant)
        if fill_node is not None:
            fill = self._number_of(fill_node, scope)
            if not like:
                dtype = views.dtype_of(views.kinds(fill))
                if resembled(dtype) and not isinstance(fill, (Var, Load)):
                    fill = self._temp(fill, "fill")
                    dtype = views.dtype_of(views.kinds(fill))
        if dtype_node is not None:
            named = self._dtype(dtype_node, scope)
            if named is None:
                self._refuse_creation(dtype_node, "this dtype", _DTYPE, scope)
                return None
            dtype = named
        if shape is None:
            return None
        if any(written(tuple(self.out[mark:])) & names(e) for e in shape):
            what = "a fill value that changes the shape"
            helps = "compute the fill value in a statement before"
            self._refuse_creation(source, what, helps, scope)
            return None
        blank = constant is None and not full
        return Array(shape, fill, False, dtype, resembles, blank, loc=at)

    def _copied(self, source: gast.AST, scope: Scope) -> Array | None:
        whole = self._measured(source, scope)
        if whole is None:
            self._refuse_creation(source, "a number", _NUMBER, scope)
            return None
        at = scope.source.loc(source)
        if whole.name is None:
            return replace(whole, view=False, loc=at)
        name = whole.name
        return Array(whole.shape, whole.element, False, like(name), name, loc=at)

    def _literal_array(
        self, arguments: _Arguments, at: Loc, scope: Scope
    ) -> Array | None:
        """``np.array([[1.0, x], [y, 0.0]])``"""
        node = arguments.take(0, "object", "a")
        dtype_node = arguments.take(1, "dtype")
        if not isinstance(node, (gast.List, gast.Tuple)):
            if node is None or dtype_node is not None:
                return None
            return self._copied(node, scope)
        return self._array_of(node, at, scope, dtype_node)

    def _as_array(self, arguments: _Arguments, at: Loc, scope: Scope) -> Array | None:
        """``np.asarray(a)``: an array is itself, a list becomes one."""
        node = arguments.positional[0] if arguments.positional else None
        if isinstance(node, (gast.List, gast.Tuple)):
            return self._literal_array(arguments, at, scope)
        source = arguments.take(0, "a")
        whole = None if source is None else self._measured(source, scope)
        return None if whole is None else self._located(whole, at)

    def _array_of(
        self,
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
                self._refuse_creation(node, what, helps, scope)
                return None
            shape = (len(rows), lengths.pop())
            cells = [e for r in rows for e in r.elts]
        if not cells:
            self._refuse_creation(node, "no elements", "write `np.zeros(0)`", scope)
            return None
        values = self._numbers(cells, scope)
        tokens = views.union(map(views.kinds, values))
        dtype: Dtype | None = views.dtype_of(tokens)
        if dtype_node is not None:
            dtype = self._dtype(dtype_node, scope)
            if dtype is None:
                self._refuse_creation(dtype_node, "this dtype", _DTYPE, scope)
                return None
        assert dtype is not None
        name = self._fresh("values")
        extents = tuple(Const(n) for n in shape)
        made = self._allocate(name, extents, None, dtype, at)
        for k, value in enumerate(values):
            place = (k,) if len(shape) == 1 else divmod(k, shape[1])
            index = tuple(Const(n, loc=value.loc) for n in place)
            self.out.append(Assign(Load(name, index, loc=at), value, loc=at))
        return made

    def _arange(self, arguments: _Arguments, at: Loc, scope: Scope) -> Array | None:
        nodes = [arguments.take(k) for k in range(3)]
        dtype_node = arguments.take(3, "dtype")
        given = self._numbers([n for n in nodes if n is not None], scope)
        if not given:
            return None
        start, stop, step = _range_of(given)
        if any(isinstance(e, Const) and type(e.value) is not int for e in given):
            self._refuse_creation(nodes[0], "a range of floats", _LINSPACE, scope)
            return None
        if not isinstance(step, Const) or step.value == 0:
            what = "steps that are not an integer literal"
            self._refuse_creation(nodes[2], what, _LINSPACE, scope)
            return None
        bounds = views.range_length(start, stop, int(step.value))
        element: Expr = axis(0)
        if step != ONE:
            element = Call("*", (element, step), loc=at)
        element = views.add(start, element) if start != Const(0) else element
        dtype: Dtype | None = "int64"
        if dtype_node is not None:
            dtype = self._dtype(dtype_node, scope)
            if dtype is None:
                return None
        assert dtype is not None
        if isinstance(dtype, Promoted):
            return None
        if dtype != "int64":
            element = Call(dtype, (element,), loc=at)
        return Array((bounds,), element, False, loc=at)

    def _linspace(self, arguments: _Arguments, at: Loc, scope: Scope) -> Array | None:
        nodes = [arguments.take(0, "start"), arguments.take(1, "stop")]
        number = arguments.take(2, "num")
        if None in nodes:
            return None
        every = [n for n in (*nodes, number) if n is not None]
        start, stop, *rest = self._numbers(every, scope)
        count = rest[0] if rest else Const(50)
        gaps = views.subtract(count, ONE)
        if not isinstance(gaps, Const):
            gaps = Call("max", (gaps, ONE), loc=at)
        span = Call("-", (stop, start), loc=at)
        width = self._temp(Call("/", (span, gaps), loc=at), "width")
        first = start if isinstance(start, (Const, Var)) else self._temp(start, "start")
        moved = Call("*", (axis(0), width), loc=at)
        element = Call("float64", (Call("+", (first, moved), loc=at),), loc=at)
        return Array((views.size(count),), element, False, loc=at)

    def _eye(self, arguments: _Arguments, at: Loc, scope: Scope) -> Array | None:
        node = arguments.take(0, "N", "n")
        if node is None:
            return None
        count = views.size(self._number_of(node, scope))
        test = Call("==", (axis(0), axis(1)), loc=at)
        one, zero = Const(1.0), Const(0.0)
        element = Call("where", (test, one, zero), loc=at)
        element = Call("float64", (element,), loc=at)
        return Array((count, count), element, False, loc=at)

    def _shape(
        self, node: gast.AST, scope: Scope
    ) -> tuple[tuple[Expr, ...] | None, str]:
        """A shape, and the array whose shape it is by its text."""
        match node:
            case gast.Tuple(elts=[]) | gast.List(elts=[]):
                helps = "use a number in its place"
                self._refuse_creation(node, "a shape without axes", helps, scope)
                return None, ""
            case gast.Tuple(elts=elements) | gast.List(elts=elements):
                return tuple(self._numbers(elements, scope)), ""
            case gast.Attribute(value=base, attr="shape"):
                whole = self._measured(base, scope)
                if whole is not None:
                    return whole.shape, whole.name or ""
        return (self._number_of(node, scope),), ""

    def _dtype(self, node: gast.AST, scope: Scope) -> Dtype | None:
        match node:
            case gast.Attribute(value=base, attr="dtype"):
                whole = self._measured(base, scope)
                if whole is not None:
                    return views.dtype_of(views.kinds(whole.element))
            case gast.Constant(value=str() as text):
                return dtype_name(text)
            case gast.Call(func=func, args=args, keywords=[]) if (
                args and self._object(func, scope) is np.result_type
            ):
                return views.dtype_of(
                    views.union([self._promoted(a, scope) for a in args])
                )
        if self.loose and isinstance(node, gast.Attribute) and node.attr in DTYPES:
            return str(node.attr)
        return dtype_name(self._object(node, scope))

    def _promoted(self, node: gast.AST, scope: Scope) -> views.Kinds:
        """What one argument of `np.result_type` adds to what is promoted."""
        own = dtype_name(self._object(node, scope))
        if own is not None:
            return (own,)
        if isinstance(node, gast.Constant):
            return views.kinds(self._number_of(node, scope))
        bound = stored_in(self._referred(node, scope))
        if bound is not None:  # a number or an array: to be promoted says neither
            return (Var(bound),)
        whole = self._measured(node, scope)
        return () if whole is None else views.kinds(whole.element)

    def _refuse_creation(
        self, node: gast.AST, what: str, helps: str, scope: Scope
    ) -> None:
        self.findings.add(
            "P208",
            scope.source.loc(node),
            f"a new array cannot be made from {what}",
            helps,
        )


_ARGUMENTS = "give a shape of integers or `a.shape`, a fill value and a dtype, no more"
_DTYPE = "use a dtype of bools, ints or floats of up to 64 bits"
_LINSPACE = "use `np.linspace`, or fill `np.empty(n)` in a loop"
_NUMBER = "give it an array, or write `np.full(shape, value)`"


def _inside(inner: Loc, outer: Loc) -> bool:
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


def _range_of(given: Sequence[Expr]) -> tuple[Expr, Expr, Expr]:
    zero: Expr = Const(0)
    match given:
        case [stop]:
            return zero, stop, ONE
        case [start, stop]:
            return start, stop, ONE
    start, stop, step = given
    return start, stop, step
