"""``np.linalg.norm`` with its order and its axes, as sums and extrema of absolutes."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import gast

from pyrev.ir.nodes import Call, Const, Expr, Loc
from pyrev.parse.bindings import literal_axes
from pyrev.parse.operands import read_numbers
from pyrev.parse.reductions import reduce_axes
from pyrev.parse.scopes import Scope
from pyrev.parse.values import Array, Operand
from pyrev.parse.walk import Walk
from pyrev.parse.whole_arrays import applied, is_integral

_ARGUMENTS = ("ord", "axis", "keepdims")


def axes_asked(args: Sequence[gast.AST], named: Mapping[str, gast.AST]) -> int:
    """How many axes an array has of which such a norm is taken, at least."""
    given = dict(zip(_ARGUMENTS, args, strict=False)) | dict(named)
    axes = literal_axes(given.get("axis")) or ()
    return max([k + 1 if k >= 0 else -k for k in axes], default=1)


def read_norm(
    w: Walk,
    whole: Array,
    args: Sequence[gast.AST],
    named: Mapping[str, gast.AST],
    at: Loc,
    scope: Scope,
) -> Operand | None:
    """The norm of a vector, of the vectors along an axis, or of a matrix; None for
    arguments that are none of NumPy's, or not written out.
    """
    given = dict(zip(_ARGUMENTS, args, strict=False))
    if len(args) > len(_ARGUMENTS) or given.keys() & named.keys():
        return None
    given |= dict(named)
    if not given.keys() <= set(_ARGUMENTS):
        return None
    keep = given.get("keepdims", gast.Constant(False, None))
    order, axes = _order(w, given.get("ord"), scope), literal_axes(given.get("axis"))
    if not isinstance(keep, gast.Constant) or not isinstance(keep.value, bool):
        return None
    rank = whole.rank
    if order == "open" or axes is None or any(not -rank <= k < rank for k in axes):
        return None
    along = [k % rank for k in axes] or [*range(rank)]
    if len({*along}) < len(along) or (len(along) > 2 and order is not None):
        return None
    element: Expr = whole.element
    if is_integral(w, element):
        # As NumPy does: a square may pass the bits of an element.
        element = Call("float64", (element,), loc=at)
    floats = Array(whole.shape, element, False, loc=at)
    if order is None or order == ("fro" if len(along) == 2 else 2):
        squares = Array(whole.shape, Call("*", (element, element), loc=at), False)
        total = reduce_axes(w, "sum", squares, sorted(along), keep.value, at)
        # By the branch that is taken the derivative at zero is that of `hypot`: zero.
        some = applied(w, "!=", [total, Const(0.0)], at)
        root = applied(w, "sqrt", [total], at)
        return applied(w, "where", [some, root, Const(0.0)], at)
    if isinstance(order, str):
        return None
    if len(along) == 2:
        return _of_matrix(w, floats, order, (along[0], along[1]), keep.value, at)
    return _of_vector(w, floats, order, along[0], keep.value, at)


def _order(w: Walk, node: gast.AST | None, scope: Scope) -> float | str | None:
    """The order that is written out, "open" if it is not."""
    match node:
        case None | gast.Constant(value=None):
            return None
        case gast.Constant(value=str() as text):
            return text if text == "fro" else "open"
    (number,) = read_numbers(w, [node], scope)
    match number:
        case Const(int() | float() as value) if not isinstance(value, bool):
            return value
        case Call("neg", (Const(int() | float() as value),)):
            return -value
    return "open"


def _of_vector(
    w: Walk, whole: Array, order: float, along: int, keep: bool, at: Loc
) -> Operand | None:
    if order == 0:
        some = applied(w, "!=", [whole, Const(0.0)], at)
        ones = applied(w, "where", [some, Const(1.0), Const(0.0)], at)
        return _reduced(w, "sum", ones, (along,), keep, at)
    sizes = applied(w, "abs", [whole], at)
    if math.isinf(order):
        return _reduced(w, "max" if order > 0 else "min", sizes, (along,), keep, at)
    if order == 1:
        return _reduced(w, "sum", sizes, (along,), keep, at)
    if order != order or order < 0:
        return None
    powers = applied(w, "**", [sizes, Const(order)], at)
    total = _reduced(w, "sum", powers, (along,), keep, at)
    return applied(w, "**", [total, Const(1.0 / order)], at)


def _of_matrix(
    w: Walk, whole: Array, order: float, along: tuple[int, int], keep: bool, at: Loc
) -> Operand | None:
    """The greatest or least sum of absolutes, of columns or of rows."""
    if order not in (1, -1, math.inf, -math.inf):
        return None
    added, left = along if abs(order) == 1 else along[::-1]
    sizes = applied(w, "abs", [whole], at)
    sums = _reduced(w, "sum", sizes, (added,), True, at)
    found = _reduced(w, "max" if order > 0 else "min", sums, (left,), True, at)
    return found if keep else _reduced(w, "sum", found, sorted(along), False, at)


def _reduced(
    w: Walk, kind: str, whole: Operand, axes: Sequence[int], keep: bool, at: Loc
) -> Operand:
    assert isinstance(whole, Array)
    return reduce_axes(w, kind, whole, axes, keep, at)
