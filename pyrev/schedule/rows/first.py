"""Zeros that a loop adds to once each are set by it instead.

``d_x = np.zeros(n)`` and ``for i in range(n): d_x[i] += g[i]`` go through memory twice,
or three times where the zeros are written too. ``d_x[i] = 0.0 + g[i]`` does once; the
zero stays, because it makes a positive zero of a negative one.
"""

from __future__ import annotations

from dataclasses import replace

from pyrev.ir import (
    ONE,
    ZERO,
    Add,
    Alloc,
    Assign,
    Block,
    Call,
    Const,
    Extent,
    For,
    Load,
    Stmt,
    Var,
    accesses,
    blocks,
    names,
    with_blocks,
    written,
)
from pyrev.liveness import occurs, touched


def set_first(block: Block) -> Block:
    """`block` with such arrays left empty until then.

    Law: the same values, to the bit.
    """
    out = [with_blocks(s, tuple(map(set_first, blocks(s)))) for s in block]
    for k, made in enumerate(block):
        if not isinstance(made, Alloc) or made.source is not None:
            continue
        if not isinstance(made.fill, Const):
            continue
        at = next(
            (n for n in range(k + 1, len(out)) if made.array in touched(out[n])), None
        )
        if at is None or not isinstance(nest := out[at], For):
            continue
        # What the sizes are made of may have changed since.
        sizes = frozenset().union(*map(names, made.shape))
        if sizes & written(block[k + 1 : at + 1]):
            continue
        changed = _set_in(nest, made, ())
        if changed is not None:
            out[k], out[at] = replace(made, fill=None), changed
    return tuple(out)


def _set_in(s: Stmt, made: Alloc, loops: tuple[For, ...]) -> Stmt | None:
    """`s` with the first increment as an assignment; None if it may not be one."""
    if not isinstance(s, For) or s.index in written(s.body):
        return None
    around = (*loops, s)
    users = [k for k, inner in enumerate(s.body) if occurs((inner,), made.array)]
    if not users:
        return None
    first = s.body[users[0]]
    if isinstance(first, Add) and isinstance(first.target, Load):
        target = first.target
        if (
            target.array != made.array
            or made.array in names(first.value)
            or not _covers(target, made, around)
            or any(index != target.index for index in accesses(s.body, made.array))
        ):
            return None
        assert made.fill is not None
        value = Call("+", (made.fill, first.value))
        done: Stmt = Assign(target, value, loc=first.loc, id=first.id, note=first.note)
    else:
        if len(users) > 1:
            return None
        inner = _set_in(first, made, around)
        if inner is None:
            return None
        done = inner
    at = users[0]
    return with_blocks(s, ((*s.body[:at], done, *s.body[at + 1 :]),))


def _covers(target: Load, made: Alloc, loops: tuple[For, ...]) -> bool:
    """Is each element of the array the target in exactly one iteration?"""
    index = {f.index: f for f in loops}
    if len(index) != len(loops) or len(loops) != len(made.shape):
        return False
    met = [e.name for e in target.index if isinstance(e, Var)]
    if sorted(met) != sorted(index):
        return False
    return all(
        f.lo == ZERO
        and f.step == ONE
        and f.hi in (made.shape[k], Extent(made.array, k))
        and isinstance(made.shape[k], (Const, Extent))
        for k, f in ((k, index[name]) for k, name in enumerate(met))
    )
