"""Arrays behind or above one another, in a new one."""

from __future__ import annotations

from collections.abc import Sequence

from pyrev.ir.nodes import ZERO, Expr, Loc
from pyrev.parse import views
from pyrev.parse.values import Array
from pyrev.parse.walk import Walk
from pyrev.parse.whole_arrays import (
    allocate,
    assign_elements,
    check_length,
    evaluated,
    located,
)


def stack(w: Walk, wholes: Sequence[Array], along: int, at: Loc) -> Array:
    """``np.stack``: arrays of one shape along a new axis."""
    return concatenate(w, [_with_axis(a, along) for a in wholes], along, at)


def _with_axis(whole: Array, k: int) -> Array:
    """An array with one more axis, of length one."""
    items = all_of(whole)
    items.insert(k, None)
    return views.part(whole, items)


def concatenate(w: Walk, wholes: Sequence[Array], along: int, at: Loc) -> Array:
    """``np.concatenate`` along an axis."""
    wholes = [evaluated(w, a, "value", at) for a in wholes]
    length = wholes[0].shape[along]
    starts: list[Expr] = [ZERO]
    for a in wholes[1:]:
        starts.append(length)
        length = views.add(length, a.shape[along])
        for k, (mine, theirs) in enumerate(zip(wholes[0].shape, a.shape, strict=True)):
            if k != along:
                check_length(w, mine, theirs, at)
    tokens = views.union(views.kinds(a.element) for a in wholes)
    shape = list(wholes[0].shape)
    shape[along] = length
    dtype = views.dtype_of(tokens)
    made = allocate(w, w.emit.fresh("joined"), tuple(shape), None, dtype, at)
    for start, a in zip(starts, wholes, strict=True):
        items = all_of(made)
        items[along] = views.Slice(start, 1, a.shape[along])
        assign_elements(w, views.part(made, items), a, at)
    return located(w, made, at)


def all_of(whole: Array) -> list[views.Item]:
    """Subscripts that take all of an array."""
    return [views.Slice(ZERO, 1, n) for n in whole.shape]
