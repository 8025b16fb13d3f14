"""Sums, products, least and greatest elements and their like, as loops."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from pyrev.ir.nodes import (
    ONE,
    ZERO,
    Assign,
    Call,
    Check,
    Const,
    Expr,
    If,
    Load,
    Loc,
    Stmt,
    Var,
)
from pyrev.parse import views
from pyrev.parse.values import Array, Operand, axis
from pyrev.parse.walk import Walk
from pyrev.parse.whole_arrays import (
    allocate,
    elementwise,
    evaluated,
    is_integral,
    located,
    update,
)


@dataclass(frozen=True, slots=True)
class _Reduction:
    """An array that is reduced over `axes`: where the result of the others goes."""

    name: str
    source: Array
    axes: tuple[int, ...]
    at: Loc

    @property
    def rest(self) -> list[int]:
        """The axes that are left."""
        return [k for k in range(self.source.rank) if k not in self.axes]

    @property
    def shape(self) -> tuple[Expr, ...]:
        """The shape of the result."""
        return tuple(self.source.shape[k] for k in self.rest)

    def place(self, index: Sequence[Expr]) -> Var | Load:
        """What the element of the array with these subscripts is reduced into."""
        if not self.rest:
            return Var(self.name, loc=self.at)
        return Load(self.name, tuple(index[k] for k in self.rest), loc=self.at)


def reduce_axes(
    w: Walk,
    kind: str,
    whole: Array,
    axes: Sequence[int],
    keep: bool,
    at: Loc,
    fold: str = "",
) -> Operand:
    """The sum (product, mean, least, greatest) over some axes.

    `fold` is the operation, where it is not NumPy's.
    """
    element = whole.element
    if kind in ("sum", "mean", "prod") and is_integral(w, element):
        # NumPy adds small integers up in wide ones.
        element = Call("int64", (element,), loc=at)
    count: Expr = ONE
    for k in axes:
        length = whole.shape[k]
        count = length if count == ONE else Call("*", (count, length), loc=at)
        if kind in ("min", "max"):
            _check_some(w, length, at)
    source = Array(whole.shape, element, False)
    one = _Reduction(w.emit.fresh(_RESULT[kind]), source, tuple(axes), at)
    if kind in ("min", "max"):
        op = fold or ("minimum" if kind == "min" else "maximum")
        made = _reduce_from_first(w, one, op)
    else:
        made = _reduce_from_unit(w, one, "*" if kind == "prod" else "+")
    if made is None:
        w.found.sums.add(one.name)
        total: Expr = Var(one.name, loc=at)
        if kind == "mean":
            total = Call("/", (total, _unless_none(count)), loc=at)
        return Array((ONE,) * whole.rank, total, False, loc=at) if keep else total
    if keep:
        kept = [
            None if k in axes else views.Slice(ZERO, 1, whole.shape[k])
            for k in range(whole.rank)
        ]
        made = views.part(made, kept)
    if kind == "mean":
        mean = Call("/", (made.element, _unless_none(count)), loc=at)
        made = Array(made.shape, mean, False)
    return located(w, made, at)


def _check_some(w: Walk, length: Expr, at: Loc) -> None:
    """There must be elements along an axis of which one is the least."""
    if isinstance(length, Const) and length.value > 0:
        return
    message = "an array without elements has no least or greatest one"
    w.emit.add(Check(Call(">", (length, ZERO), loc=at), "ValueError", message, loc=at))


def _reduce_from_first(w: Walk, one: _Reduction, op: str) -> Array | None:
    """The least (greatest) elements, beginning with the first of each; the array of
    them, None for a number.
    """
    at, source, made = one.at, one.source, None

    def begin(index: Sequence[Expr]) -> list[Stmt]:
        first = [ZERO if k in one.axes else e for k, e in enumerate(index)]
        start = views.collected(source.at(first))
        return [Assign(one.place(index), start, loc=at)]

    def opened(index: tuple[Expr, ...]) -> list[Stmt]:
        full: list[Expr] = [ZERO] * source.rank
        for k, e in zip(one.rest, index, strict=True):
            full[k] = e
        return begin(full)

    def body(index: tuple[Expr, ...]) -> list[Stmt]:
        given = views.collected(source.at(index))
        where = one.place(index)
        return [Assign(where, Call(op, (where, given), loc=at), loc=at)]

    if one.rest:
        dtype = views.dtype_of(views.kinds(source.element))
        made = allocate(w, one.name, one.shape, None, dtype, at)
        w.emit.nest(one.shape, at, opened)
    else:
        w.emit.extend(begin([ZERO] * source.rank))
    behind: list[Expr] = []
    if len(one.axes) == 1:
        behind = [ONE if k in one.axes else ZERO for k in range(source.rank)]
    w.emit.nest(source.shape, at, body, behind)
    return made


def _reduce_from_unit(w: Walk, one: _Reduction, op: str) -> Array | None:
    """The sums (products), beginning with 0 (1): their array, None for a number."""
    at, source, made = one.at, one.source, None
    unit = 1 if op == "*" else 0

    def body(index: tuple[Expr, ...]) -> list[Stmt]:
        given = views.collected(source.at(index))
        return [update(one.place(index), given, op, at)]

    if one.rest:
        dtype = views.dtype_of(views.kinds(source.element))
        made = allocate(w, one.name, one.shape, Const(float(unit)), dtype, at)
    else:
        whole_number = is_integral(w, source.element)
        zero = Const(unit if whole_number else float(unit), loc=at)
        w.emit.add(Assign(Var(one.name, loc=at), zero, loc=at))
    w.emit.nest(source.shape, at, body)
    return made


def variance(
    w: Walk, kind: str, whole: Array, axes: Sequence[int], keep: bool, at: Loc
) -> Operand:
    """The variance, or its root."""
    whole = evaluated(w, whole, "value", at)
    mean = reduce_axes(w, "mean", whole, axes, True, at)
    pair = [replace(whole, view=False), mean]
    gaps = elementwise(w, pair, lambda e: Call("-", tuple(e), loc=at), at)
    assert isinstance(gaps, Array)
    square = Call("**", (gaps.element, Const(2)), loc=at)
    squares = Array(gaps.shape, square, False)
    found = reduce_axes(w, "mean", squares, axes, keep, at)
    if kind == "var":
        return found
    return elementwise(w, [found], lambda e: Call("sqrt", tuple(e), loc=at), at)


def any_or_all(
    w: Walk, kind: str, whole: Array, axes: Sequence[int], keep: bool, at: Loc
) -> Operand:
    """Is any element true, are all?"""
    count: Expr = ONE
    for k in axes:
        count = Call("*", (count, whole.shape[k]), loc=at)
    one = Call("where", (whole.element, ONE, ZERO), loc=at)
    total = reduce_axes(w, "sum", Array(whole.shape, one, False), axes, keep, at)
    if kind == "any":
        return elementwise(w, [total], lambda e: Call(">", (e[0], ZERO), loc=at), at)
    return elementwise(
        w, [total], lambda e: Call("==", (e[0], views.plain(count)), loc=at), at
    )


def arg_extremum(w: Walk, kind: str, whole: Array, at: Loc) -> Expr:
    """Where the least or the greatest element is, the first of them row by row."""
    whole = evaluated(w, whole, "value", at)
    message = "an array without elements has no least or greatest one"
    for length in whole.shape:
        some = Call(">", (length, ZERO), loc=at)
        w.emit.add(Check(some, "ValueError", message, loc=at))
    place = Var(w.emit.fresh("place"), loc=at)
    best = Var(w.emit.fresh("lowest" if kind == "argmin" else "highest"), loc=at)
    first = views.collected(whole.at([ZERO] * whole.rank))
    w.emit.add(Assign(place, ZERO, loc=at))
    w.emit.add(Assign(best, first, loc=at))

    def body(index: tuple[Expr, ...]) -> list[Stmt]:
        here = views.collected(whole.at(index))
        better = Call("<" if kind == "argmin" else ">", (here, best), loc=at)
        # NumPy stops at the first NaN.
        known = Call("not", (Call("isnan", (best,), loc=at),), loc=at)
        worse = Call("or", (better, Call("isnan", (here,), loc=at)), loc=at)
        test = Call("and", (known, worse), loc=at)
        number = index[0]
        for k, length in zip(index[1:], whole.shape[1:], strict=True):
            row = Call("*", (number, length), loc=at)
            number = Call("+", (row, k), loc=at)
        taken = (Assign(place, number, loc=at), Assign(best, here, loc=at))
        return [If(test, taken, loc=at)]

    w.emit.nest(whole.shape, at, body, [ONE] if whole.rank == 1 else [])
    return place


def running(w: Walk, op: str, whole: Array, along: int, at: Loc) -> Array:
    """``np.cumsum`` or ``np.cumprod`` along an axis."""
    element = whole.element
    if is_integral(w, element):
        element = Call("int64", (element,), loc=at)
    source = Array(whole.shape, element, False)
    if whole.rank > 1:
        return _running_along(w, op, source, along, at)
    words = ("sums", "total") if op == "+" else ("products", "product")
    name, total = w.emit.fresh(words[0]), Var(w.emit.fresh(words[1]), loc=at)
    unit = 0 if op == "+" else 1
    dtype = views.dtype_of(views.kinds(element))
    made = allocate(w, name, whole.shape, None, dtype, at)
    start = Const(unit if is_integral(w, element) else float(unit), loc=at)
    w.emit.add(Assign(total, start, loc=at))

    def body(index: tuple[Expr, ...]) -> list[Stmt]:
        given = views.collected(source.at(index))
        place = Load(name, index, loc=at)
        return [update(total, given, op, at), Assign(place, total, loc=at)]

    w.emit.nest(whole.shape, at, body)
    return located(w, made, at)


def _running_along(w: Walk, op: str, source: Array, along: int, at: Loc) -> Array:
    """The same of an array of several axes: each element from the one before it."""
    dtype = views.dtype_of(views.kinds(source.element))
    name = w.emit.fresh("sums" if op == "+" else "products")
    made = allocate(w, name, source.shape, None, dtype, at)

    def begin(index: tuple[Expr, ...]) -> list[Stmt]:
        given = views.collected(source.at(index))
        return [Assign(Load(name, index, loc=at), given, loc=at)]

    def body(index: tuple[Expr, ...]) -> list[Stmt]:
        before = list(index)
        before[along] = views.subtract(index[along], ONE)
        given = views.collected(source.at(index))
        total = Call(op, (Load(name, tuple(before), loc=at), given), loc=at)
        return [Assign(Load(name, index, loc=at), total, loc=at)]

    first = list(source.shape)
    first[along] = Call("min", (first[along], ONE), loc=at)
    w.emit.nest(first, at, begin)
    behind: list[Expr] = [ONE if k == along else ZERO for k in range(source.rank)]
    w.emit.nest(source.shape, at, body, behind)
    return located(w, made, at)


def trace(w: Walk, whole: Array, at: Loc) -> Operand:
    """``np.trace`` of a matrix."""
    rows, columns = whole.shape
    length = rows if rows == columns else Call("min", (rows, columns), loc=at)
    diagonal = Array((length,), whole.at([axis(0), axis(0)]), False)
    return reduce_axes(w, "sum", diagonal, (0,), False, at)


_RESULT = {
    "sum": "total",
    "mean": "total",
    "prod": "product",
    "min": "lowest",
    "max": "highest",
}


def _unless_none(count: Expr) -> Expr:
    """What a mean is divided by: of no elements it is nan, also in Python's floats."""
    if isinstance(count, Const) and count.value:
        return count
    some = Call(">", (count, ZERO), loc=count.loc)
    return Call("where", (some, count, Const(math.nan)), loc=count.loc)
