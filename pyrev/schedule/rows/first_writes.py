"""What a loop sets, or adds to, once for each element has no value before it.

``d_x = np.zeros(n)`` and ``for i in range(n): d_x[i] += g[i]`` go through memory twice,
or three times where the zeros are written too. ``d_x[i] = 0.0 + g[i]`` does once; the
zero stays, because it makes a positive zero of a negative one. A copy of which every
element is overwritten before it is read is no copy; one of which every element is read
and then set to zero is zeros, and what it was copied from is read.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from pyrev.ir.accesses import accesses
from pyrev.ir.liveness import occurs, touched
from pyrev.ir.nodes import (
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
    Return,
    Stmt,
    Var,
    blocks,
    names,
    walk,
    with_blocks,
    written,
)
from pyrev.ir.renaming import rename
from pyrev.schedule.legality import without


def set_first(block: Block, alone: bool = False) -> Block:
    """`block` with such arrays left empty until then, and without such copies.

    If `alone`, zeros stay where other loops go on with the array: as increments they
    may all come to be in one loop.

    Law: the same values, to the bit.
    """
    out = [with_blocks(s, tuple(set_first(b, alone) for b in blocks(s))) for s in block]
    for k, made in enumerate(block):
        if not isinstance(made, Alloc):
            continue
        if made.source is None and not isinstance(made.fill, Const):
            continue
        at = next(
            (n for n in range(k + 1, len(out)) if made.array in touched(out[n])), None
        )
        if at is None or not isinstance(nest := out[at], For):
            continue
        if any(isinstance(s, Return) for s in walk((nest,))):
            continue
        # What the sizes are made of may have changed since.
        sizes = frozenset().union(*map(names, made.shape))
        if sizes & written(block[k + 1 : at + 1]):
            continue
        more = (s for s in out[at + 1 :] if not isinstance(s, Return))
        stays = alone and made.source is None and occurs(tuple(more), made.array)
        changed = None if stays else _set_in(nest, made, ())
        if changed is not None:
            blank = replace(made, fill=None, source=None, places="")
            out[k], out[at] = blank, changed
            continue
        source = made.copied
        if source is None or source in written((*block[k + 1 : at], nest)):
            continue
        changed = _zeroed_in(nest, made)
        if changed is not None:
            out[k] = replace(made, fill=Const(0.0), source=None)
            out[at] = rename(changed, {made.array: source}, extents=False)
    return tuple(out)


def _zeroed_in(s: Stmt, made: Alloc) -> Stmt | None:
    """`s` without the zeros that it puts where it has read; None if it may read them.

    Every element is read, if at all, in the iteration that sets it to zero.
    """
    match last_zeros(s, made):
        case (rest,), _ if made.array not in written((rest,)):
            return rest
    return None


def last_zeros(
    s: Stmt, made: Alloc, around: tuple[For, ...] = ()
) -> tuple[Block, For] | None:
    """A nest that sets each element to zero last: what is left of it, and the zeros."""
    if not isinstance(s, For) or s.index in written(s.body):
        return None
    loops = (*around, s)
    users = [k for k, inner in enumerate(s.body) if occurs((inner,), made.array)]
    if not users:
        return None
    last = s.body[users[-1]]
    rest: Sequence[Stmt]
    if isinstance(last, For):
        found = last_zeros(last, made, loops) if len(users) == 1 else None
        if found is None:
            return None
        rest, zeros = found
        done: Stmt = zeros
    elif (
        isinstance(last, Assign)
        and isinstance(last.target, Load)
        and isinstance(last.value, Const)
        and last.value.value == 0
        and covers(last.target, made, loops)
        and all(index == last.target.index for index in accesses(s.body, made.array))
    ):
        rest, done = (), last
    else:
        return None
    proof, left = s.parallel, s.parallel
    if s.parallel:
        for other in sorted(written(s.body) - {made.array}):
            proof = without(proof, other)
        left = without(s.parallel, made.array)
    kept = (*s.body[: users[-1]], *rest, *s.body[users[-1] + 1 :])
    whole = replace(s, body=kept, parallel=left)
    return (whole,) if kept else (), replace(s, body=(done,), parallel=proof)


def _set_in(s: Stmt, made: Alloc, loops: tuple[For, ...]) -> Stmt | None:
    """`s` with the first increment as an assignment; None if it may not be one."""
    if not isinstance(s, For) or s.index in written(s.body):
        return None
    around = (*loops, s)
    users = [k for k, inner in enumerate(s.body) if occurs((inner,), made.array)]
    if not users:
        return None
    first = s.body[users[0]]
    if isinstance(first, Add) and made.source is not None:
        return None
    if isinstance(first, (Add, Assign)) and isinstance(first.target, Load):
        target = first.target
        if (
            target.array != made.array
            or made.array in names(first.value)
            or not covers(target, made, around)
            or any(index != target.index for index in accesses(s.body, made.array))
        ):
            return None
        value = first.value
        if isinstance(first, Add):
            assert made.fill is not None
            value = Call("+", (made.fill, value))
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


def covers(target: Load, made: Alloc, loops: tuple[For, ...]) -> bool:
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
