"""A short loop that begins with what the loop before it has just computed joins it.

The reverse of ``for t in range(8): total += w[t] * cell[t]`` runs after ``total`` has
been made again, and needs every `w[t]` and `cell[t]` once more. Where nothing that
happens in between needs the whole of `total`, one loop finds them once (loop fusion
for reuse: Kennedy and Allen, Optimizing Compilers for Modern Architectures, 8.6).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from pyrev.ir.nodes import (
    RISKY,
    Add,
    Assign,
    Block,
    Call,
    Expr,
    For,
    If,
    Load,
    Stmt,
    Var,
    all_names,
    blocks,
    exprs,
    names,
    walk,
    walk_expr,
    with_blocks,
    written,
)
from pyrev.ir.trip_counts import fixed_trip
from pyrev.schedule.rows.fuse import alongside


def found_once(block: Block, most: int) -> Block:
    """`block` with such loops of at most `most` iterations joined, everywhere in it.

    Law: every name and element gets the same values, added in the same order.
    """
    out: list[Stmt] = []
    at: int | None = None  # the last loop, if nothing after it has to stay there
    for s in block:
        s = with_blocks(s, tuple(found_once(b, most) for b in blocks(s)))
        if at is not None and isinstance(s, For):
            first = out[at]
            assert isinstance(first, For)
            joined = _joined(first, s, out[at + 1 :], most)
            if joined is not None:
                out[at:] = joined
                at = _last_loop(out)
                continue
        out.append(s)
        if isinstance(s, For):
            at = len(out) - 1
        elif at is not None and not _movable(s):
            at = None
    return tuple(out)


def _last_loop(done: Sequence[Stmt]) -> int | None:
    """Where the last loop is, if nothing after it has to stay where it is."""
    for k in range(len(done) - 1, -1, -1):
        if isinstance(done[k], For):
            return k
        if not _movable(done[k]):
            return None
    return None


def _movable(s: Stmt) -> bool:
    return all(
        isinstance(one, (Assign, Add, If))
        and not any(
            isinstance(e, Call) and e.op in RISKY
            for top in exprs(one)
            for e in walk_expr(top)
        )
        for one in walk((s,))
    )


def _joined(
    first: For, second: For, between: Sequence[Stmt], most: int
) -> list[Stmt] | None:
    """What stands for `first`, `between` and `second`, or None."""
    both = _both(first, second, 1, most)
    if both is None:
        return None
    loop, found = both
    if not any(isinstance(e, Load) for e in _values(found)):
        return None  # nothing is saved that the compiler does not see
    before: list[Stmt] = []
    after: list[Stmt] = []
    for s in between:
        if written((s,)) & all_names(found):
            return None
        if _apart((s,), (first,)) and _apart((s,), after):
            before.append(s)
        elif _apart((s,), (second,)):
            after.append(s)
        else:
            return None
    return [*before, loop, *after]


def _both(first: For, second: For, times: int, most: int) -> tuple[For, Block] | None:
    """One loop for two, and the statements at the start of both that it has once."""
    trips, beside = fixed_trip(first), alongside(first, second)
    if first.parallel or second.parallel or trips is None or beside is None:
        return None
    second = beside
    times *= trips
    if times > most:
        return None
    found = _same(first.body, second.body)
    rest, other = first.body[len(found) :], second.body[len(found) :]
    if written((*rest, *other)) & all_names(found):
        return None
    match rest, other:
        case ((For() as one,), (For() as two,)):
            inner = _both(one, two, times, most)
            if inner is None:
                return None
            loop, more = inner
            return replace(first, body=(*found, loop)), (*found, *more)
    if not all(_movable(s) for s in (*rest, *other)) or not _apart(rest, other):
        return None
    return replace(first, body=(*found, *rest, *other)), found


def _same(first: Block, second: Block) -> Block:
    """What both begin with, as far as it finds scalars for one iteration."""
    found: list[Stmt] = []
    for a, b in zip(first, second, strict=False):
        if a != b or not isinstance(a, Assign) or not isinstance(a.target, Var):
            break
        found.append(a)
    # None may be handed on to the next iteration.
    made = written(tuple(found))
    known: set[str] = set()
    for s in found:
        if names(exprs(s)[1]) & made - known:
            return ()
        known |= written((s,))
    return tuple(found)


def _values(block: Block) -> Iterator[Expr]:
    for s in walk(block):
        for top in exprs(s):
            yield from walk_expr(top)


def _apart(a: Sequence[Stmt], b: Sequence[Stmt]) -> bool:
    """Does neither write what the other mentions?"""
    one, two = tuple(a), tuple(b)
    return not (written(one) & all_names(two) or written(two) & all_names(one))
