"""``y[m] = 2.0 * x[m] + z[m]``: one mask for all, so that each element is assigned from
those beside it.
"""

from __future__ import annotations

import gast
import numpy as np

from pyrev.parse.bindings import mapped, nodes_of
from pyrev.parse.functions import meaning
from pyrev.parse.grounds import Missing
from pyrev.parse.names import find, object_of, standing_for
from pyrev.parse.scopes import Scope, module_name
from pyrev.parse.selections import is_mask
from pyrev.parse.values import Array
from pyrev.parse.walk import Walk


def under_mask(
    w: Walk, target: gast.AST, value: gast.AST, scope: Scope
) -> gast.AST | None:
    """The value with whole arrays for what the mask of the target selects of them; None
    if the target has no mask, or if not all arrays in the value are under it.

    The mask is told by its text: nothing runs between the two but this expression.
    """
    if not isinstance(target, gast.Subscript) or not _is_mask(w, target.slice, scope):
        return None
    mask = gast.dump(target.slice)
    bare = _without(value, mask)
    if bare is value or not _is_elementwise(w, value, mask, scope):
        return None
    # One of fewer axes would go along with others of the target.
    every = [target, *(n for n in nodes_of(value) if _selects(n, mask))]
    ranks = {_rank(w, n.value, scope) for n in every}
    return bare if len(ranks) == 1 and ranks != {-1} else None


def _rank(w: Walk, node: gast.AST, scope: Scope) -> int:
    """How many axes a name has, as far as is known; -1 if it has no value here."""
    found = find(w, node.id, scope) if isinstance(node, gast.Name) else None
    if not isinstance(found, Scope):
        return -1
    value = standing_for(w, node.id, found)
    return value.rank if isinstance(value, Array) else 0


def _without(node: gast.AST, mask: str) -> gast.AST:
    if _selects(node, mask):
        return node.value
    return mapped(node, lambda part: _without(part, mask))


def _selects(node: gast.AST, mask: str) -> bool:
    """Is this a name with the mask behind it?"""
    return (
        isinstance(node, gast.Subscript)
        and isinstance(node.value, gast.Name)
        and gast.dump(node.slice) == mask
    )


def _is_elementwise(w: Walk, node: gast.AST, mask: str, scope: Scope) -> bool:
    """Is this computed element by element from what the mask selects, and numbers?"""
    match node:
        case gast.Constant():
            return True
        case gast.BinOp(left=left, right=right) if not isinstance(
            node.op, gast.MatMult
        ):
            parts = [left, right]
        case gast.UnaryOp(operand=operand):
            parts = [operand]
        case gast.Call(args=args, keywords=[]):
            function = object_of(w, node.func, scope)
            named = module_name(function)
            if meaning(function) is None or named not in ("numpy", "scipy"):
                return False
            parts = args
        case gast.Name(id=name):
            found = find(w, name, scope)
            if isinstance(found, Scope):
                return not isinstance(standing_for(w, name, found), Array)
            return not isinstance(found, (np.ndarray, Missing))
        case gast.Attribute():
            return isinstance(object_of(w, node, scope), float)
        case _:
            return _selects(node, mask)
    return all(_is_elementwise(w, p, mask, scope) for p in parts)


def _is_mask(w: Walk, node: gast.AST, scope: Scope) -> bool:
    """Is this subscript told to be a mask by its text?"""
    match node:
        case gast.Name(id=name):
            found = find(w, name, scope)
            if not isinstance(found, Scope):
                return False
            bound = standing_for(w, name, found)
            return isinstance(bound, Array) and is_mask(w, bound.element)
        case gast.Compare(ops=[_], left=left, comparators=[right]):
            return any(
                isinstance(standing, Array)
                for side in (left, right)
                if isinstance(side, gast.Name)
                and isinstance(found := find(w, side.id, scope), Scope)
                for standing in [standing_for(w, side.id, found)]
            )
        case gast.UnaryOp(op=gast.Invert(), operand=operand):
            return _is_mask(w, operand, scope)
        case gast.BinOp(op=gast.BitAnd() | gast.BitOr(), left=left, right=right):
            return _is_mask(w, left, scope) and _is_mask(w, right, scope)
    return False
