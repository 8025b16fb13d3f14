"""Arrays as subscripts: masks, and integers that say which elements are meant.

What is read so is a new array, as in NumPy; what is written to are the elements.
"""

from __future__ import annotations

from collections.abc import Sequence

from pyrev.ir.nodes import (
    ONE,
    ZERO,
    Assign,
    Call,
    Expr,
    Extent,
    For,
    If,
    Load,
    Loc,
    Stmt,
    Var,
    substitute,
    walk_expr,
)
from pyrev.ir.primitives import LOGICAL, PRIMITIVES
from pyrev.parse import views
from pyrev.parse.expression import increment
from pyrev.parse.values import Array, Operand, axis
from pyrev.parse.walk import Walk
from pyrev.parse.whole_arrays import (
    allocate,
    broadcast,
    check_length,
    evaluated,
    known_dtype,
    located,
    make,
    true_ones,
)

#: One subscript of an array: an index, an array, the part of an axis, a new axis.
Subscript = Operand | views.Slice | None


#: What takes more time than to keep it.
_DEAR = frozenset(op for op in PRIMITIVES if op.isidentifier()) - LOGICAL


def is_mask(w: Walk, element: Expr) -> bool:
    """Is this element of an array a truth value?"""
    found = known_dtype(w, element)
    return found == "bool" if found else views.kinds(element) == ("bool",)


def compressed(w: Walk, whole: Array, mask: Array, at: Loc) -> Array:
    """``a[mask]``: the elements, or the rows, where a mask is true, one after the
    other.
    """
    for mine, theirs in zip(whole.shape, mask.shape, strict=False):
        check_length(w, mine, theirs, at, "IndexError")
    if mask.rank == 1:
        made = gathered(w, whole, [places_where(w, mask, at)], at, False)
        assert made is not None  # it is no target
        return made
    if any(isinstance(e, Call) and e.op in _DEAR for e in walk_expr(mask.element)):
        mask = make(w, mask, "mask", at)
    count = true_ones(w, mask, at)
    rest = whole.shape[mask.rank :]
    dtype = views.dtype_of(views.kinds(whole.element))
    name = w.emit.fresh("selected")
    made = allocate(w, name, (count, *rest), None, dtype, at)
    place = Var(w.emit.fresh("place"), loc=at)
    w.emit.add(Assign(place, ZERO, loc=at))

    def body(index: tuple[Expr, ...]) -> list[Stmt]:
        inner = [Var(w.emit.index(mask.rank + k), loc=at) for k in range(len(rest))]
        value = views.collected(whole.at((*index, *inner)))
        stored: Stmt = Assign(Load(name, (place, *inner), loc=at), value, loc=at)
        for k, length in reversed([*zip(inner, rest, strict=True)]):
            stored = For(k.name, ZERO, length, ONE, (stored,), loc=at)
        test = views.collected(mask.at(index))
        return [If(test, (stored, increment(place, ONE, at)), loc=at)]

    w.emit.nest(mask.shape, at, body)
    return located(w, made, at)


def places_where(w: Walk, mask: Array, at: Loc) -> Array:
    """Where a vector is not zero: ``np.flatnonzero(mask)``."""
    if mask.name is None or mask.name in w.storage.lengths:
        mask = make(w, mask, "mask", at)
    assert mask.name is not None
    count = true_ones(w, mask, at, not is_mask(w, mask.element))
    name = w.emit.fresh("places")
    return allocate(w, name, (count,), None, "int64", at, "", mask.name, "true")


def gathered(
    w: Walk, whole: Array, items: Sequence[Subscript], at: Loc, store: bool
) -> Array | None:
    """``a[k, 1:]`` with an array of integers `k`: a value, or a target to `store` to;
    None if the elements cannot be told.

    Indices and arrays of them are taken together: their common shape stands where the
    first of them does, or in front if a slice stands between two (NumPy, Advanced
    indexing).
    """
    if store and not whole.view:
        return None
    if whole.base in w.storage.lengths or not _is_direct(whole, items):
        if store:
            return None
        whole = make(w, whole, "value", at)
    items = [_index(w, e, whole, at) if isinstance(e, Array) else e for e in items]
    arrays = [e for e in items if isinstance(e, Array)]
    common = broadcast(w, arrays, at)
    chosen = [k for k, e in enumerate(items) if e is not None and not _is_slice(e)]
    together = chosen == list(range(chosen[0], chosen[-1] + 1))
    start = chosen[0] if together else 0
    shape: list[Expr] = [] if together else list(common)
    env: dict[str, Expr] = {}
    k = 0
    for position, item in enumerate(items):
        if together and position == start:
            shape += common
        match item:
            case None:
                shape.append(ONE)
                continue
            case views.Slice(_, _, length):
                env[axis(k).name] = views.stepped(item, axis(len(shape)))
                shape.append(length)
            case Array():
                moved = {axis(j).name: axis(start + j) for j in range(len(common))}
                index = views.stretched(item, common).element
                env[axis(k).name] = substitute(index, moved)
            case index:
                env[axis(k).name] = index
        k += 1
    for rest in range(k, whole.rank):
        env[axis(rest).name] = axis(len(shape))
        shape.append(whole.shape[rest])
    element = substitute(whole.element, env)
    return Array(tuple(shape), element, store, scattered=store, loc=at)


def _index(w: Walk, index: Array, whole: Array, at: Loc) -> Array:
    """An array of indices, in one of its own if what it is of may be written to."""
    if whole.base in index.reads():
        return make(w, index, "index", at)
    return evaluated(w, index, "index", at)


def _is_slice(item: Subscript) -> bool:
    return isinstance(item, views.Slice)


def _is_direct(whole: Array, items: Sequence[Subscript]) -> bool:
    """Does each index count along all of an axis of the array itself?"""
    base = whole.element
    if not isinstance(base, Load):
        return False
    k = 0
    for item in items:
        if item is None:
            continue
        if not _is_slice(item) and not any(
            e == axis(k) and whole.shape[k] == Extent(base.array, m)
            for m, e in enumerate(base.index)
        ):
            return False
        k += 1
    return True
