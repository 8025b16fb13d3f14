"""Greatest and least values over chunks: ``m = max(m, x)``, a part from each block.

Each block begins with the value from before and goes on with its own terms. The values
of the blocks are joined by the same operation then: that is what one loop would have,
since none of these cares about order, or about a term that comes twice. Python's
``max(x, m)`` does care: a nan there makes it forget what was before, so it is none.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence, Set
from typing import Any

import numpy as np

from pyrev.ir.nodes import (
    Assign,
    Block,
    Call,
    Expr,
    If,
    Load,
    Stmt,
    Var,
    blocks,
    walk_expr,
    with_blocks,
)


def _max(a: Any, b: Any) -> Any:
    return np.where(b > a, b, a)


def _min(a: Any, b: Any) -> Any:
    return np.where(b < a, b, a)


#: The operations, on numbers and on arrays of them.
OPERATIONS: dict[str, Callable[[Any, Any], Any]] = {
    "max": _max,
    "min": _min,
    "maximum": np.maximum,
    "minimum": np.minimum,
    "fmax": np.fmax,
    "fmin": np.fmin,
}
#: Those whose result does not depend on the order of their arguments.
_SYMMETRIC = frozenset(["maximum", "minimum", "fmax", "fmin"])


def fold_of(s: Stmt) -> tuple[str, str] | None:
    """What a statement joins a term to, and the operation; None if it does not."""
    if not isinstance(s, Assign) or not isinstance(s.value, Call):
        return None
    op = s.value.op
    if op not in OPERATIONS or not _joins(s.value, s.target, op):
        return None
    return s.target_name, op


def _joins(e: Expr, target: Expr, op: str) -> bool:
    """Is an expression its target, joined to terms without it?"""
    if e == target:
        return True
    if not isinstance(e, Call) or e.op != op or len(e.args) != 2:
        return False
    first, second = e.args
    if _has(first, target) and not _has(second, target):
        return _joins(first, target, op)
    if op in _SYMMETRIC and _has(second, target) and not _has(first, target):
        return _joins(second, target, op)
    return False


def _has(e: Expr, target: Expr) -> bool:
    """Does an expression read what a target names, or another element of it?"""
    for part in walk_expr(e):
        if isinstance(target, Var) and part == target:
            return True
        if isinstance(target, Load) and isinstance(part, Load):
            if part.array == target.array:
                return True
    return False


def as_folds(s: Stmt, tracked: Set[str]) -> Stmt:
    """A statement with ``if x > m: m = x`` as ``m = max(m, x)``, which is the same.

    That is for what is in none of the `tracked` arrays.
    """
    inner: tuple[Block, ...] = tuple(
        tuple(as_folds(t, tracked) for t in b) for b in blocks(s)
    )
    s = with_blocks(s, inner)
    match s:
        case If(Call(">" | "<" as order, (a, b)), (Assign(target, value),), ()):
            if isinstance(target, Load) and target.array in tracked:
                return s
            if b == target and a == value:
                op = "max" if order == ">" else "min"
            elif a == target and b == value:
                op = "min" if order == ">" else "max"
            else:
                return s
            if not _has(value, target):
                return Assign(target, Call(op, (target, value)), loc=s.loc)
    return s


def joined(op: str, parts: Sequence[Any]) -> Any:
    """What is left of the values of some blocks."""
    found = parts[0]
    for part in parts[1:]:
        found = OPERATIONS[op](found, part)
    return found if np.ndim(found) else np.asarray(found)[()]


def shares(op: str, parts: Sequence[Any], cotangent: Any) -> tuple[Any, ...]:
    """The cotangent of the joined value, for the first block that has the value."""
    found = joined(op, parts)
    left: Any = np.ones(np.shape(found), bool)
    row = []
    for part in parts:
        own = left & ((part == found) | (np.isnan(part) & np.isnan(found)))
        row.append(np.where(own, cotangent, np.zeros_like(cotangent))[()])
        left = left & ~own
    return tuple(row)
