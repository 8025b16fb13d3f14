"""Rows on each of which the threads of a block work together, one loop after the other.

An iteration of a softmax finds the largest element of a row, adds up what it makes of
it, and divides by that: its loops wait for each other, and in each of them iterations
are independent, but for what they add up and find the largest of. A thread for each row
would walk memory beside threads that are whole rows away.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from pyrev.ir.affine import slope
from pyrev.ir.liveness import live_inside, with_live
from pyrev.ir.nodes import (
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
    fresh,
    names,
    walk,
    walk_expr,
    with_blocks,
    written,
)
from pyrev.ir.reductions import extremes, reductions
from pyrev.schedule.legality import prove_parallel


def teamed(
    loops: Sequence[For],
    outer: tuple[For, ...],
    live: frozenset[str],
    integers: frozenset[str],
) -> Block | None:
    """The body of `loops`, whose own loops have proofs that threads may share out their
    iterations, which meet at most in `sums` and `extremes`; None if one has none.

    Not handled: loops under tests, and arrays of an iteration.
    """
    body = loops[-1].body
    if not all(isinstance(s, (Assign, Add, For, If)) for s in walk(body)):
        return None
    for f in loops:
        outer, live = (*outer, f), live_inside(f, live)
    made: list[Stmt] = []
    for s, after in with_live(body, live):
        match s:
            case For():
                alone, met = _apart(s)
                proof = prove_parallel(alone, outer, after - met, integers)
                if proof is None:
                    return None
                made.append(replace(s, parallel=proof))
            case If() if not all(_of_a_scalar(x) for x in walk((s,))):
                return None
            case _:
                made.append(s)
    return tuple(made) if any(isinstance(s, For) for s in made) else None


def sums(loop: For) -> tuple[Var | Load, ...]:
    """What all iterations of `loop` add to, and do nothing else with: scalars, and
    elements that are the same for all.
    """
    moved = written(loop.body) | {loop.index}
    found: list[Var | Load] = []
    for adds in reductions(loop.body).values():
        target, *others = dict.fromkeys(a.target for a in adds)
        parts = target.index if isinstance(target, Load) else ()
        fixed = not any(names(e) & moved for e in parts)
        if (
            not others
            and fixed
            and not any(isinstance(x, Load) for e in parts for x in walk_expr(e))
        ):
            found.append(target)
    return tuple(found)


def along_rows(loops: Sequence[For], body: Block) -> bool:
    """Do the loops in a row walk memory, rather than those over rows?"""
    votes = 0
    for f in body:
        if not isinstance(f, For):
            continue
        for s in walk(f.body):
            for top in exprs(s):
                for e in walk_expr(top):
                    if isinstance(e, Load) and e.index:
                        votes += _is_near(e.index[-1], f.index)
                        votes -= _is_near(e.index[-1], loops[-1].index)
    return votes > 0


def _is_near(e: Expr, index: str) -> bool:
    """Is the place at `e` near to that of the next iteration?"""
    return 0 < abs(slope(e, index) or 0) <= 4


def _apart(loop: For) -> tuple[For, frozenset[str]]:
    """`loop` with what goes into sums and extremes assigned to a private scalar: what
    it reads stays in the question whether iterations are independent. And their names.
    """
    added, most = {*sums(loop)}, extremes(loop.body)
    dummy = Var(fresh("term", set(all_names((loop,)))))

    def changed(s: Stmt) -> Stmt:
        match s:
            case Add(target, value) if target in added:
                return Assign(dummy, value, loc=s.loc)
            case Assign(Var(name), Call(_, (_, value))) if name in most:
                return Assign(dummy, value, loc=s.loc)
        return with_blocks(s, tuple(tuple(map(changed, b)) for b in blocks(s)))

    met = {t.name if isinstance(t, Var) else t.array for t in added}
    body = tuple(map(changed, loop.body))
    return replace(loop, body=body), frozenset(met | most.keys())


def _of_a_scalar(s: Stmt) -> bool:
    if isinstance(s, (Assign, Add)):
        return isinstance(s.target, Var)
    return isinstance(s, If)
