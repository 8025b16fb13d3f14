"""Neighbouring loops as one loop, those over different ranges with tests of the index.

A loop over the interior of an array and one over all of it share rows: what one has
brought into the cache the other finds there.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import reduce

from pyrev.analysis.dependence import conjuncts
from pyrev.ir.accesses import accesses
from pyrev.ir.affine import linear, slope
from pyrev.ir.nodes import (
    ONE,
    Add,
    Alloc,
    Assign,
    Block,
    Call,
    Const,
    Expr,
    Extent,
    For,
    Grow,
    If,
    Load,
    Stmt,
    Var,
    all_names,
    assigned_scalars,
    blocks,
    exprs,
    names,
    walk,
    walk_expr,
    with_blocks,
    with_value,
    written,
)
from pyrev.schedule.legality import together

_HARMLESS = frozenset("< <= > >= == != and or not + - * min max neg".split())


def fused(block: Block, most: int, inside: bool = False) -> Block:
    """Neighbouring loops made one, from the outermost inwards.

    One that is not parallel writes at most `most` arrays. `inside` a parallel loop it
    does not matter which of them are parallel, too.
    """
    out: list[Stmt] = []
    for stmt in block:
        # What two became may go with the one before them.
        while out and (both := _pair(out[-1], stmt, most, inside)) is not None:
            out.pop()
            stmt = both
        last = out[-1] if out else None
        if isinstance(last, For) and _independent(stmt, last):
            out.insert(-1, stmt)  # so that loops meet
            continue
        out.append(stmt)
    return tuple(
        with_blocks(s, tuple(fused(b, most, inside or _parallel(s)) for b in blocks(s)))
        for s in out
    )


def _parallel(s: Stmt) -> bool:
    return isinstance(s, For) and bool(s.parallel)


def _pair(first: Stmt, second: Stmt, most: int, inside: bool) -> For | None:
    """One loop for two statements, if they are loops, or tests in front of loops."""
    if isinstance(first, For) and isinstance(second, For):
        both = _fused(first, second, most)
        if both is not None:
            return both
    one, two = _sunk(first), _sunk(second)
    if one is None or two is None:
        return None
    if not inside and not (one.parallel and two.parallel):
        return None
    return _over_both(one, two, most)


def _sunk(s: Stmt) -> For | None:
    """A loop around loops; a test in front of it in each iteration instead."""
    match s:
        case For():
            return s if any(isinstance(x, For) for x in walk(s.body)) else None
        case If(test, (For() as loop,), ()):
            if not _harmless(test):
                return None  # the loop may be empty, and the test fail
            if names(test) & (written(loop.body) | {loop.index}):
                return None
            return _sunk(replace(loop, body=_under(test, loop.body)))
    return None


def _under(test: Expr, body: Block) -> Block:
    """`body` where `test` holds."""
    match body:
        case ():
            return ()  # what it did is needed by nothing
        case (If(more, then, ()) as s,):
            first, second = conjuncts(test), conjuncts(more)
            if _harmless(more):
                first, second = second, first  # the outer index first
            both = reduce(lambda a, b: Call("and", (a, b)), (*first, *second))
            return (replace(s, test=both, then=then),)
    return (If(test, body, (), loc=body[0].loc),)


def _harmless(test: Expr) -> bool:
    """Can it be evaluated anywhere? What it loads may not exist, and division fails."""
    return all(
        not isinstance(e, Load) and not (isinstance(e, Call) and e.op not in _HARMLESS)
        for e in walk_expr(test)
    )


def _over_both(first: For, second: For, most: int) -> For | None:
    """One loop over the ranges of two nests that share rows of an array.

    Only if the loops in them go together as well, down to the rows: iterations of which
    each does two things one after the other share nothing.
    """
    if any(f.step != ONE or f.reverse for f in (first, second)):
        return None
    low, high = _apart(first.lo, second.lo), _apart(first.hi, second.hi)
    if low is None or high is None:
        return None
    if not _rows_of_one(first, second):
        return None
    # The ends are asked for again in each iteration.
    ends = {n for f in (first, second) for e in (f.lo, f.hi) for n in names(e)}
    if ends & (written(first.body) | written(second.body)):
        return None
    lo = first.lo if low >= 0 else second.lo
    hi = first.hi if high <= 0 else second.hi
    wide = []
    for f in (first, second):
        body, index = f.body, Var(f.index)
        if f.lo != lo:
            body = _under(Call(">=", (index, f.lo)), body)
        if f.hi != hi:
            body = _under(Call("<", (index, f.hi)), body)
        wide.append(replace(f, lo=lo, hi=hi, body=body))
    parallel = all(f.parallel for f in wide)
    if not parallel:
        wide = [replace(f, parallel=None) for f in wide]
    both = _fused(wide[0], wide[1], most, rows=True)
    if both is None:
        return None
    inner = [s for s in both.body if _sunk(s) is not None]
    if not inner:
        return both
    merged = fused(both.body, most, inside=True)
    return replace(both, body=merged) if len(merged) == 1 else None


def _apart(a: Expr, b: Expr) -> int | None:
    """``b - a``, if that is a number."""
    gap = linear(b).plus(linear(a), -1)
    return None if gap.terms else gap.constant


def _loads(block: Block) -> Iterator[Load]:
    """The elements that a block reads or writes."""
    for s in walk(block):
        for top in exprs(s):
            for e in walk_expr(top):
                if isinstance(e, Load):
                    yield e


def _rows_of_one(first: For, second: For) -> bool:
    """Does an iteration of both touch the same rows of some array?"""

    def rows(f: For) -> set[tuple[str, int]]:
        return {
            (e.array, axis)
            for e in _loads(f.body)
            for axis, k in enumerate(e.index[:-1])
            if slope(k, f.index) == 1
        }

    return bool(rows(first) & rows(second))


def _fused(first: For, second: For, most: int, rows: bool = False) -> For | None:
    """One loop for two, or None where an iteration would see what it did not.

    With `rows` it is worth it though neither writes what the other touches.
    """
    plain = (Assign, Add, If, For) if first.parallel or rows else (Assign, Add, If)
    if not all(isinstance(s, plain) for f in (first, second) for s in walk(f.body)):
        return None
    beside = alongside(first, second)
    if beside is None or bool(first.parallel) != bool(second.parallel):
        return None
    second = beside
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
    if not rows:
        if first.parallel and not shared and not _reads_alike(first, second):
            return None
        if not first.parallel and len(arrays) > most:
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


def alongside(first: For, second: For) -> For | None:
    """`second` with the index of `first`; None if it runs over another range, or means
    something else by that name.
    """
    ranges = [(f.lo, f.hi, f.step, f.reverse) for f in (first, second)]
    if ranges[0] != ranges[1]:
        return None
    if second.index == first.index:
        return second
    if first.index in all_names(second.body):
        return None
    body = with_value(second.body, second.index, Var(first.index))
    return replace(second, index=first.index, body=body)


def _reads_alike(first: For, second: For) -> bool:
    """Do both read the same part of some array in an iteration?"""

    def reads(f: For) -> set[tuple[str, tuple[tuple[Expr, ...], ...]]]:
        parts: dict[str, tuple[Expr, ...]] = {f.index: ()}
        for s in walk(f.body):
            if isinstance(s, For):
                parts[s.index] = (s.lo, s.hi, s.step)
        found = set()
        for e in _loads(f.body):
            own = set().union(*map(names, e.index)) & parts.keys()
            around = {n for o in own for k in parts[o] for n in names(k)}
            if f.index in own | around:
                ranges = tuple(parts[n] for n in sorted(own))
                found.add((e.array, (e.index, *ranges)))
        return found

    return bool(reads(first) & reads(second))


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
