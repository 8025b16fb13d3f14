"""Neighbouring loops over one range as one loop."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from pyrev.ir import (
    Add,
    Alloc,
    Assign,
    Block,
    Const,
    Expr,
    Extent,
    For,
    Grow,
    If,
    Load,
    Stmt,
    Var,
    accesses,
    all_names,
    assigned_scalars,
    blocks,
    names,
    walk,
    walk_expr,
    with_blocks,
    with_value,
    written,
)
from pyrev.linear import slope
from pyrev.schedule.legality import together

STREAMS = 3  # arrays that one loop writes at most: more, and LLVM gives up


def fused(block: Block) -> Block:
    """Neighbouring loops made one, from the outermost inwards."""
    out: list[Stmt] = []
    for stmt in block:
        last = out[-1] if out else None
        if isinstance(last, For) and isinstance(stmt, For):
            both = _fused(last, stmt)
            if both is not None:
                out[-1] = both
                continue
        if isinstance(last, For) and _independent(stmt, last):
            out.insert(-1, stmt)  # so that loops meet
            continue
        out.append(stmt)
    return tuple(with_blocks(s, tuple(fused(b) for b in blocks(s))) for s in out)


def _fused(first: For, second: For) -> For | None:
    """One loop for two, or None where an iteration would see what it did not."""
    ranges = [
        (f.lo, f.hi, f.step, f.reverse, bool(f.parallel)) for f in (first, second)
    ]
    if ranges[0] != ranges[1]:
        return None
    plain = (Assign, Add, If, For) if first.parallel else (Assign, Add, If)
    if not all(isinstance(s, plain) for f in (first, second) for s in walk(f.body)):
        return None
    if second.index != first.index:
        if first.index in all_names(second.body):
            return None
        second = replace(
            second,
            index=first.index,
            body=with_value(second.body, second.index, Var(first.index)),
        )
    one, two = set(assigned_scalars(first.body)), set(assigned_scalars(second.body))
    if one & all_names(second.body) or two & all_names(first.body):
        return None
    bounds = names(first.lo) | names(first.hi)
    changed = written(first.body) | written(second.body)
    if bounds & changed or first.index in changed:
        return None
    arrays = {
        s.target_name
        for f in (first, second)
        for s in walk(f.body)
        if isinstance(s, (Assign, Add)) and isinstance(s.target, Load)
    }
    shared = arrays & all_names(first.body) & all_names(second.body)
    if first.parallel and not shared or not first.parallel and len(arrays) > STREAMS:
        return None
    for array in shared:
        one_side = set(accesses(first.body, array))
        other_side = set(accesses(second.body, array))
        if not all(
            _meet(a, b, first.index, changed) for a in one_side for b in other_side
        ):
            return None
    # What either writes, the other touches in the same iteration only.
    return together(first, second)


def _independent(stmt: Stmt, loop: For) -> bool:
    """Can a scalar be set, or an array made, before a loop as well as behind it?"""
    match stmt:
        case Alloc(array, shape, None | Const(), source=None):
            sizes = {
                e.array for k in shape for e in walk_expr(k) if isinstance(e, Extent)
            }
            made = {s.array for s in walk((loop,)) if isinstance(s, (Alloc, Grow))}
            read = frozenset().union(*map(names, shape))
            return not (
                sizes & made or read & written((loop,)) or array in all_names((loop,))
            )
        case Assign(Var(name), value):
            return (
                not any(isinstance(e, (Load, Extent)) for e in walk_expr(value))
                and not names(value) & written((loop,))
                and name not in all_names((loop,))
            )
    return False


def _meet(
    a: tuple[Expr, ...], b: tuple[Expr, ...], index: str, changed: Iterable[str]
) -> bool:
    """Do two accesses touch one element in one iteration only?"""
    fixed = set(changed)
    return any(
        p == q
        and slope(p, index) in (1, -1)
        and not any(isinstance(e, Load) for e in walk_expr(p))
        and not names(p) & fixed
        for p, q in zip(a, b, strict=True)
    )
