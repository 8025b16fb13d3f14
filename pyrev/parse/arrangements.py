"""Arrays of the elements of others, in other shapes and orders, put together or apart.

What NumPy has as a view is one here. Where it depends on how an array lies in memory
whether it has one, the array has to be contiguous if the function writes to it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import gast

from pyrev.ir.nodes import ONE, ZERO, Call, Const, Expr, Loc, substitute
from pyrev.parse import views
from pyrev.parse.bindings import literal_integer
from pyrev.parse.creation import of_dtype
from pyrev.parse.norms import axes_asked, read_norm
from pyrev.parse.operands import read_numbers, read_operands
from pyrev.parse.reading import read_operand
from pyrev.parse.reductions import running, trace
from pyrev.parse.rewriting.lists.sharing import LISTED
from pyrev.parse.scopes import Scope
from pyrev.parse.stacked import all_of, concatenate, stack
from pyrev.parse.subscripts import lengths as lengths_of
from pyrev.parse.values import Array, Operand, axis
from pyrev.parse.walk import Flat, Walk
from pyrev.parse.whole_arrays import (
    applied,
    as_array,
    ask_axes,
    check_length,
    located,
    make,
)

#: What is put together of several arrays.
JOINED = frozenset(["concatenate", "stack", "vstack", "hstack", "column_stack"])
#: Methods of arrays that are functions of NumPy with the array in front.
METHODS = frozenset(
    ["transpose", "swapaxes", "ravel", "flatten", "reshape", "squeeze", "cumsum"]
    + ["cumprod", "diagonal", "trace"]
)


def read_arrangement(
    w: Walk,
    kind: str,
    args: Sequence[gast.AST],
    keywords: Mapping[str, gast.AST],
    at: Loc,
    scope: Scope,
) -> Operand | None:
    """The array for a call with these arguments; None for such that do not fit."""
    if not args:
        return None
    if kind in JOINED:
        return _joined(w, kind, args, keywords, at, scope)
    first = read_operand(w, args[0], scope)
    whole = as_array(w, first, at)
    if whole is None:
        return None
    if whole.dtype:  # which its elements do not say
        whole = make(w, whole, "value", at)
    rest, named = list(args[1:]), dict(keywords)
    if whole.rank < (least := _least_rank(kind, rest, named)):
        deeper = _deeper(w, whole, least, at)
        if deeper is None or kind != "norm":  # which has fewer axes than that
            return deeper
        whole = deeper
    match kind:
        case "reshape":
            if named.pop("order", None) is not None or named:
                return None
            return _read_reshape(w, whole, rest, at, scope)
        case "ravel" | "flatten":
            if rest or named:
                return None
            return reshape(w, whole, [Const(-1)], at, copies=kind == "flatten")
        case "contiguous":
            asked = [*rest, *(named[k] for k in named if k == "dtype")]
            if len(asked) > 1 or named.keys() - {"dtype"}:
                return None
            typed = of_dtype(w, whole, asked[0], at, scope) if asked else whole
            return None if typed is None else _contiguous(w, typed, at)
        case "transpose":
            return _transpose(w, whole, rest, named, at)
        case "roll":
            return _read_roll(w, whole, rest, named, at, scope)
        case "norm":
            return read_norm(w, whole, rest, named, at, scope)
    given = _integers(rest, named, _TAKES.get(kind, ()))
    if given is None:
        return None
    return _of_one(w, kind, whole, given, at)


def _least_rank(
    kind: str, rest: Sequence[gast.AST], named: Mapping[str, gast.AST]
) -> int:
    """How many axes an array has that is given these axes."""
    if kind in ("fliplr", "trace", "diagonal"):
        return 2
    if kind == "norm":
        return axes_asked(rest, named)
    nodes = [n for key, n in named.items() if key not in ("n", "shift")]
    nodes += rest[1:] if kind in ("diff", "roll") else rest
    match kind, nodes:
        case "transpose", [gast.Tuple(elts=axes) | gast.List(elts=axes)]:
            return len(axes)
        case "transpose", _:
            return len(nodes)
        case "expand_dims" | "reshape", _:
            return 1
    axes = [k for k in map(literal_integer, nodes) if k is not None]
    return max([k + 1 if k >= 0 else -k for k in axes], default=1)


def _deeper(w: Walk, whole: Array, rank: int, at: Loc) -> Array | None:
    """What stands for an array of more axes than it is known to have."""
    if whole.base is None or w.known.exact:
        return None
    more = rank - whole.rank
    ask_axes(w, whole, more, at)
    return located(w, views.part(whole, [None] * more), at)


#: The integers that a function takes behind the array.
_TAKES = {
    "flip": ("axis",),
    "diff": ("n", "axis"),
    "expand_dims": ("axis",),
    "squeeze": ("axis",),
    "swapaxes": ("axis1", "axis2"),
    "moveaxis": ("source", "destination"),
    "cumsum": ("axis",),
    "cumprod": ("axis",),
}


def _of_one(
    w: Walk, kind: str, whole: Array, given: Mapping[str, int], at: Loc
) -> Operand | None:
    """An array made of one other, with integers that are written out."""
    rank = whole.rank
    own = given.get("axis")
    if own is not None and not -rank - 1 <= own <= rank:
        return None
    match kind:
        case "flip" | "flipud" | "fliplr":
            along = {"flipud": 0, "fliplr": 1}.get(kind, own)
            if along is not None and not -rank <= along < rank:
                return None
            turned = range(rank) if along is None else [along % rank]
            ways = [-1 if k in turned else 1 for k in range(rank)]
            every = map(views.sliced, [None] * rank, [None] * rank, ways, whole.shape)
            return located(w, views.part(whole, list(every)), at)
        case "diff":
            return _differences(w, whole, given.get("n", 1), own, at)
        case "expand_dims" if own is not None:
            items = all_of(whole)
            items.insert(own % (rank + 1), None)
            return located(w, views.part(whole, items), at)
        case "squeeze" if own is not None and -rank <= own < rank:
            check_length(w, whole.shape[own % rank], ONE, at)
            items = all_of(whole)
            items[own % rank] = ZERO
            part = views.part(whole, items)
            return part.element if not part.rank else located(w, part, at)
        case "swapaxes" | "moveaxis" if len(given) == 2:
            one, other = given.values()
            if not all(-rank <= k < rank for k in (one, other)):
                return None
            order = list(range(rank))
            if kind == "swapaxes":
                order[one], order[other] = order[other], order[one]
            else:
                order.insert(other % rank, order.pop(one % rank))
            return located(w, views.transposed(whole, order), at)
        case "trace" if rank == 2 and not given:
            return trace(w, whole, at)
        case "cumsum" | "cumprod" if own is not None or rank == 1:
            along = own or 0
            if not -rank <= along < rank:
                return None
            op = "+" if kind == "cumsum" else "*"
            return running(w, op, whole, along % rank, at)
        case "atleast_1d" | "atleast_2d" if not given:
            if kind == "atleast_2d" and rank == 1:
                return located(w, views.part(whole, [None, *all_of(whole)]), at)
            return located(w, whole, at)
        case "diag" if rank == 1 and not given:
            test = Call("==", (axis(0), axis(1)), loc=at)
            element = Call("where", (test, whole.at([axis(0)]), ZERO), loc=at)
            return Array((whole.shape[0],) * 2, element, False, by_rows=True, loc=at)
        case "diagonal" | "diag" if rank == 2 and not given:
            rows, columns = whole.shape
            same = views.equal(rows, columns)
            length = rows if same else Call("min", (rows, columns), loc=at)
            both = whole.at([axis(0), axis(0)])
            return located(w, Array((length,), both, whole.view, loc=at), at)
    return None


def _integers(
    args: Sequence[gast.AST], named: Mapping[str, gast.AST], takes: Sequence[str]
) -> dict[str, int] | None:
    """The arguments by name, None unless all are integers that are written out."""
    if len(args) > len(takes) or not named.keys() <= set(takes[len(args) :]):
        return None
    found: dict[str, int] = {}
    for name, node in [*zip(takes, args, strict=False), *named.items()]:
        value = literal_integer(node)
        if value is None:
            return None
        found[name] = value
    return found


# --------------------------------------------------------------------- shapes


def _read_reshape(
    w: Walk, whole: Array, args: Sequence[gast.AST], at: Loc, scope: Scope
) -> Operand | None:
    """``a.reshape(n, m)`` or ``a.reshape((n, m))``."""
    match args:
        case [gast.Tuple(elts=elements) | gast.List(elts=elements)]:
            args = elements
        case [gast.Attribute(value=base, attr="shape")]:
            like = as_array(w, read_operand(w, base, scope), at)
            return None if like is None else reshape(w, whole, like.shape, at)
        case [gast.BinOp(op=gast.Add()) | gast.Subscript(slice=gast.Slice()) as joined]:
            found = lengths_of(w, joined, scope)
            if found:
                return reshape(w, whole, found, at)
    if not args:
        return None
    return reshape(w, whole, read_numbers(w, args, scope), at)


def reshape(
    w: Walk, whole: Array, shape: Sequence[Expr], at: Loc, copies: bool = False
) -> Array | None:
    """The elements in another shape: a view, unless it `copies` or is of values."""
    lengths = list(shape)
    open_ones = [k for k, n in enumerate(lengths) if n == Const(-1)]
    if len(open_ones) > 1:
        return None
    total = views.count(whole.shape)
    for k in open_ones:
        known = views.count([n for n in lengths if n != Const(-1)])
        lengths[k] = total
        if known != ONE:
            some = known if isinstance(known, Const) else Call("max", (known, ONE))
            lengths[k] = Call("//", (total, some), loc=at)
    if not open_ones or len(lengths) > 1:
        check_length(w, views.count(lengths), total, at)
    mine = [n for n in whole.shape if n != ONE]
    theirs = [n for n in lengths if n != ONE]
    same = len(mine) == len(theirs) and all(map(views.equal, mine, theirs))
    if same:
        found = _with_ones(whole, lengths)
    else:
        found = views.reshaped(whole, lengths)
        if whole.view and not copies:
            _note_layout(w, whole, at)
    if copies:
        found = replace(found, view=False, by_rows=True)
    return located(w, found, at)


def _with_ones(whole: Array, lengths: Sequence[Expr]) -> Array:
    """The same array with axes of length one put in and left out."""
    items: list[views.Item] = [
        ZERO if n == ONE else views.Slice(ZERO, 1, n) for n in whole.shape
    ]
    bare = views.part(whole, items)
    rest = iter(bare.shape)
    return views.part(
        bare, [None if n == ONE else views.Slice(ZERO, 1, next(rest)) for n in lengths]
    )


def _note_layout(w: Walk, whole: Array, at: Loc) -> None:
    """An array is taken for the same memory in one row: it must be, if it is written
    to from here on (`laid_out`).
    """
    assert whole.base is not None
    inside = any(not isinstance(c.node, gast.If) for c in w.env.compounds)
    since = 0 if inside else len(w.storage.changed)
    rows = views.is_contiguous(whole)
    w.found.flat.append(Flat(whole.base, at, since, rows))


def _contiguous(w: Walk, whole: Array, at: Loc) -> Array:
    """``np.ascontiguousarray(a)``: itself where it is contiguous."""
    if whole.view:
        _note_layout(w, whole, at)
    return located(w, whole, at)


def _transpose(
    w: Walk,
    whole: Array,
    rest: Sequence[gast.AST],
    named: Mapping[str, gast.AST],
    at: Loc,
) -> Array | None:
    """``a.transpose()``, ``a.transpose(1, 0)``, ``np.transpose(a, (1, 0))``."""
    args = list(rest)
    if named:
        if args or named.keys() != {"axes"}:
            return None
        args = [named["axes"]]
    match args:
        case [gast.Tuple(elts=elements) | gast.List(elts=elements)]:
            args = elements
    order = [literal_integer(node) for node in args]
    axes = [k % whole.rank for k in order if k is not None]
    if order and sorted(axes) != list(range(whole.rank)):
        return None
    return located(w, views.transposed(whole, axes), at)


# --------------------------------------------------- differences and shifts


def _differences(
    w: Walk, whole: Array, times: int, along: int | None, at: Loc
) -> Operand | None:
    """``np.diff``: of each element the one before it, along an axis."""
    rank = whole.rank
    own = -1 if along is None else along
    if times < 1 or not -rank <= own < rank:
        return None
    found: Operand = whole
    for _ in range(times):
        assert isinstance(found, Array)
        ends = []
        for low, high in ((ONE, None), (None, Const(-1))):
            items = all_of(found)
            items[own] = views.sliced(low, high, 1, found.shape[own])
            ends.append(located(w, views.part(found, items), at))
        found = applied(w, "-", ends, at)
    return found


def _read_roll(
    w: Walk,
    whole: Array,
    rest: Sequence[gast.AST],
    named: Mapping[str, gast.AST],
    at: Loc,
    scope: Scope,
) -> Array | None:
    """``np.roll(a, shift)`` of a vector, ``np.roll(a, shift, axis=0)``."""
    given = dict(zip(("shift", "axis"), rest, strict=False)) | dict(named)
    if len(rest) > 2 or not {"shift"} <= given.keys() <= {"shift", "axis"}:
        return None
    along = 0
    if "axis" in given:
        found = literal_integer(given["axis"])
        if found is None or not -whole.rank <= found < whole.rank:
            return None
        along = found % whole.rank
    elif whole.rank != 1:
        return None
    (shift,) = read_operands(w, [given["shift"]], scope)
    if isinstance(shift, Array):
        return None
    moved = Call("-", (axis(along), shift), loc=at)
    index = Call("%", (moved, whole.shape[along]), loc=at)
    element = substitute(whole.element, {axis(along).name: index})
    return Array(whole.shape, element, False, loc=at)


# -------------------------------------------------------------- put together


def _joined(
    w: Walk,
    kind: str,
    args: Sequence[gast.AST],
    keywords: Mapping[str, gast.AST],
    at: Loc,
    scope: Scope,
) -> Array | None:
    """Arrays behind or above one another."""
    parts, *more = args
    takes = ("axis",) if kind in ("concatenate", "stack") else ()
    given = _integers(more, keywords, takes)
    if given is not None and hasattr(parts, LISTED):
        return _joined_list(w, kind, parts, given.get("axis", 0), at, scope)
    if given is None or not isinstance(parts, (gast.Tuple, gast.List)):
        return None
    operands = read_operands(w, parts.elts, scope)
    wholes = [a for v in operands if (a := as_array(w, v, at)) is not None]
    wholes = [make(w, a, "value", at) if a.dtype else a for a in wholes]
    if not wholes or len(wholes) < len(operands):
        return None
    deep = wholes[0].rank > 1
    along = given.get("axis", 0)
    match kind:
        case "vstack":
            kind = "concatenate" if deep else "stack"
        case "hstack":
            kind, along = "concatenate", 1 if deep else 0
        case "column_stack":
            kind, along = "concatenate", 1
            wholes = [a if a.rank > 1 else _column(a) for a in wholes]
    rank = wholes[0].rank + (kind == "stack")
    if any(a.rank != wholes[0].rank for a in wholes) or not -rank <= along < rank:
        return None
    if kind == "stack":
        return stack(w, wholes, along % rank, at)
    return concatenate(w, wholes, along % rank, at)


def _joined_list(
    w: Walk, kind: str, node: gast.AST, along: int, at: Loc, scope: Scope
) -> Array | None:
    """The arrays of a list, which are the rows of an array."""
    whole = as_array(w, read_operand(w, node, scope), at)
    if whole is None:
        return None
    deep = whole.rank > 2
    if kind == "stack" or (not deep and kind in ("vstack", "column_stack")):
        along = 1 if kind == "column_stack" else along
        order = [*range(1, whole.rank)]
        if not -whole.rank <= along < whole.rank:
            return None
        order.insert(along % whole.rank, 0)
        return make(w, views.transposed(whole, order), "joined", at)
    if kind == "concatenate" and along == 0 or kind == "vstack":
        kept = make(w, whole, "joined", at)
        lengths = kept.shape[2:]
        return reshape(w, kept, [Const(-1), *lengths], at)
    return None


def _column(whole: Array) -> Array:
    """A vector as a matrix of one column."""
    return views.part(whole, [*all_of(whole), None])
