"""The places that a loop only adds to: each can be summed up beside it."""

from __future__ import annotations

from pyrev.ir.affine import apart
from pyrev.ir.nodes import (
    Add,
    Assign,
    For,
    If,
    Load,
    Var,
    all_names,
    names,
    walk,
    written,
)


def sums_of(f: For) -> list[Var | Load]:
    """The places that a loop itself only adds to, each the same throughout."""
    if not all(isinstance(s, (Assign, Add, For, If)) for s in walk(f.body)):
        return []
    changed = written(f.body) | {f.index}
    out: dict[Var | Load, None] = {}
    for s in f.body:
        match s:
            case Add(Load(array, index) as target, _):
                moving = {n for i in index for n in names(i)} & changed
                if not moving and _only_sum(f, array, target):
                    out[target] = None
            case Add(Var(n) as scalar, _) if _only_sum(f, n, scalar):
                out[scalar] = None
    return list(out)


def _only_sum(f: For, base: str, target: Var | Load) -> bool:
    """Is adding to `target` all that the loop does with this array or scalar?"""
    for s in f.body:
        match s:
            case Add(place, value) if place == target or apart(place, target):
                touched = names(value)
            case Assign(place, value) | Add(place, value):
                touched = names(value) | names(place)
            case _:
                touched = all_names((s,))
        if base in touched:
            return False
    return base not in frozenset().union(*map(names, (f.lo, f.hi, f.step)))
