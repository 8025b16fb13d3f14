"""What does not depend on a loop is computed once for several of its iterations.

In ``for n: for c: for y: for b: ...`` the position that a warp reads from may depend on
`n`, `y` and `b` alone. Loops that are free to change places are put in the order ``n,
c in blocks, y, b``; what `c` has no part in fills rows over `b`, and the `c` of a block
use them (loop-invariant code motion across a loop, with the expansion of scalars:
Kennedy and Allen, Optimizing Compilers for Modern Architectures, 5.3 and 6.2).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from pyrev.analysis.dependence import private_names
from pyrev.ir.liveness import live_inside, occurs
from pyrev.ir.nodes import (
    ONE,
    ZERO,
    Add,
    Alloc,
    Assign,
    Block,
    Call,
    Check,
    Const,
    Expr,
    For,
    Grow,
    If,
    Load,
    Return,
    Stmt,
    Var,
    While,
    assigned_scalars,
    fresh,
    names,
    walk,
    walk_expr,
    written,
)
from pyrev.ir.trip_counts import trip_count
from pyrev.schedule.costs import CpuCosts
from pyrev.schedule.expand import Own
from pyrev.schedule.legality import free_order, prove_parallel
from pyrev.schedule.scalars import cost_of


def once_for_several(
    nest: For,
    outer: tuple[For, ...],
    live: frozenset[str],
    integers: frozenset[str],
    used: set[str],
    dtype_of: Callable[[str], str],
    own: Own,
    cpu: CpuCosts,
) -> For | None:
    """`nest` with rows for what one of its loops has no part in; None if none is dear.

    Law: it computes what `nest` computes; increments of one element may come in another
    order. Names that it makes are added to `used`. `own` is as in
    `pyrev.schedule.expand`.
    """
    chain = _chain(nest)
    if len(chain) < 3 or any(f.step != ONE for f in chain):
        return None
    body = chain[-1].body
    if any(
        isinstance(s, (While, Check, Grow, Alloc, Return)) for s in walk(body)
    ) or not _rectangular(chain):
        return None
    at = _shared_by(chain, outer, live, integers, cpu.row_operations)
    if at is None:
        return None
    row_private = private_names(chain[-1], _inside(chain, live))
    found = [(n, s) for n, s in _invariant(body, chain, at) if n in row_private]
    if sum(cost_of(s.value) for _, s in found) < cpu.row_operations:
        return None
    rest = tuple(s for s in body if not any(s is f for _, f in found))
    handed, first, again = _handed_on(found, rest, cpu.reread_operations)
    if not handed:
        return None
    rows = {n: fresh(f"{n}_row", used) for n in handed}
    stores, loads = _through_rows(rows, chain[-1], own)
    last, length = chain[-1], trip_count(chain[-1])
    room = (
        Alloc(r, (length,), None, dtype_of(n), loc=last.loc) for n, r in rows.items()
    )
    made = replace(last, body=(*first, *stores))
    using = replace(last, body=(*loads, *again, *rest))
    block = fresh(f"{chain[at].index}_block", used)
    over, several = _in_blocks(chain[at], block, using, cpu.sharing_iterations)
    inner: Block = (*room, made, several)
    for f in reversed([*chain[:at], over, *chain[at + 1 : -1]]):
        inner = (replace(f, body=inner, parallel=None),)
    (result,) = inner
    assert isinstance(result, For)
    return result


def _shared_by(
    chain: Sequence[For],
    outer: tuple[For, ...],
    live: frozenset[str],
    integers: frozenset[str],
    dear: int,
) -> int | None:
    """The loop of the chain whose iterations may share the most of what they compute;
    None if that is less than `dear` operations, or the loops may not change places.
    """
    body = chain[-1].body
    costs = {
        k: sum(cost_of(s.value) for _, s in _invariant(body, chain, k))
        for k in range(len(chain) - 1)
    }
    if max(costs.values()) < dear or not _permutable(chain, outer, live, integers):
        return None
    # Blocks of the outermost loop alone would leave cores idle.
    if costs[0] >= dear and not _proven(chain[1], (*outer, chain[0]), live, integers):
        costs[0] = 0
    at = max(costs, key=lambda k: (costs[k], k))
    return None if costs[at] < dear else at


def _through_rows(
    rows: Mapping[str, str], last: For, own: Own
) -> tuple[list[Assign], list[Assign]]:
    """What puts scalars into their rows over `last`, and what takes them out."""
    at: Expr = Var(last.index)
    if last.lo != ZERO:
        at = Call("-", (at, last.lo))
    elements = {n: Load(row, (at,)) for n, row in rows.items()}
    stores = [Assign(e, Var(n), loc=last.loc) for n, e in elements.items()]
    loads = [
        Assign(Var(n), Call(own(n), (e,)) if own(n) else e, loc=last.loc)
        for n, e in elements.items()
    ]
    return stores, loads


def _in_blocks(loop: For, block: str, body: For, together: int) -> tuple[For, For]:
    """`loop` strip-mined: the loop over blocks, empty yet, and that over the `together`
    iterations of one, around `body`.
    """
    start = Call("*", (Const(together), Var(block)))
    from_ = start if loop.lo == ZERO else Call("+", (loop.lo, start))
    to = Call("min", (Call("+", (from_, Const(together))), loop.hi))
    several = replace(loop, lo=from_, hi=to, body=(body,), parallel=None, note="")
    trips = Call("+", (trip_count(loop), Const(together - 1)))
    over = For(
        block,
        ZERO,
        Call("//", (trips, Const(together))),
        ONE,
        (),
        loc=loop.loc,
        note=f"{together} of {loop.index} share the rows below",
    )
    return over, several


def _handed_on(
    found: Sequence[tuple[str, Assign]], rest: Block, cheap: int
) -> tuple[list[str], list[Stmt], list[Stmt]]:
    """Which of the scalars get rows, what fills these, and what is computed again.

    That is what takes at most `cheap` operations: as long as to read an element.
    """
    handed: list[str] = []
    first: list[Stmt] = []
    again: list[Stmt] = []
    for n, s in reversed(found):
        used_later = occurs((*again, *rest), n)
        if used_later and cost_of(s.value) <= cheap:
            again.insert(0, s)
        elif used_later:
            handed.insert(0, n)
        if n in handed or occurs(tuple(first), n):
            first.insert(0, s)
    return handed, first, again


def _chain(nest: For) -> list[For]:
    """The loops of a perfect nest, outermost first, down to the first other body."""
    chain = [nest]
    while len(chain[-1].body) == 1 and isinstance(chain[-1].body[0], For):
        chain.append(chain[-1].body[0])
    return chain


def _rectangular(chain: Sequence[For]) -> bool:
    """Are the bounds of all loops the same wherever the loops stand?"""
    changed = {f.index for f in chain} | written(chain[-1].body)
    return not any(names(e) & changed for f in chain for e in (f.lo, f.hi))


def _permutable(
    chain: Sequence[For],
    outer: tuple[For, ...],
    live: frozenset[str],
    integers: frozenset[str],
) -> bool:
    """May the loops run in any order, each of them in any order of its iterations?

    No loop carries a dependence while those around it stand still: then no two
    instances at all depend on each other.
    """
    around, after = outer, live
    for f in chain:
        if not free_order(f, around, after, integers):
            return False
        after = live_inside(f, after)
        around = (*around, f)
    return True


def _proven(
    loop: For,
    outer: tuple[For, ...],
    live: frozenset[str],
    integers: frozenset[str],
) -> bool:
    """Is `loop`, which is all that the last of `outer` does, parallel too?"""
    live = _inside([outer[-1], loop], live)
    return prove_parallel(loop, outer, live, integers) is not None


def _inside(chain: Sequence[For], live: frozenset[str]) -> frozenset[str]:
    """What is live behind the innermost loop of the chain."""
    for f in chain[:-1]:
        live = live_inside(f, live)
    return live


def _invariant(body: Block, chain: Sequence[For], at: int) -> list[tuple[str, Assign]]:
    """The assignments of `body` that loop `at` of the chain has no part in.

    Each is the only one of its scalar, stands directly in `body` and reads what is
    the same in all iterations of that loop.
    """
    writes: dict[str, int] = {}
    for s in walk(body):
        for n in written((s,)) if not isinstance(s, (For, If)) else ():
            writes[n] = writes.get(n, 0) + 1
    stored = {
        s.target_name
        for s in walk(body)
        if isinstance(s, (Assign, Add)) and isinstance(s.target, Load)
    }
    varying = {chain[at].index, *assigned_scalars(body)}
    varying |= {s.index for s in walk(body) if isinstance(s, For)}
    found: list[tuple[str, Assign]] = []
    for s in body:
        if not isinstance(s, Assign) or not isinstance(s.target, Var):
            continue
        name = s.target.name
        loads = {e.array for e in walk_expr(s.value) if isinstance(e, Load)}
        if writes[name] == 1 and not names(s.value) & varying and not loads & stored:
            found.append((name, s))
            varying.discard(name)
    return found
