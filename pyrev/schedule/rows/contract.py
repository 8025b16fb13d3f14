"""A local array of which each iteration uses a row of its own is made a row.

``convolved[a, b]``, filled and read by iteration `a` of one loop alone, never leaves
the cache as ``convolved_row[b]``, and the whole array needs no memory (array
contraction: Lewis, Lin and Snyder, "The Implementation and Evaluation of Fusion and
Contraction in Array Languages", PLDI 1998).
"""

from __future__ import annotations

from dataclasses import replace

from pyrev.ir.accesses import accesses
from pyrev.ir.liveness import occurs
from pyrev.ir.nodes import (
    Alloc,
    Block,
    Const,
    Expr,
    Extent,
    For,
    Grow,
    Load,
    Program,
    Return,
    Var,
    all_names,
    assigned_scalars,
    exprs,
    fresh,
    loop_indices,
    map_block,
    resembled,
    walk,
    walk_expr,
)
from pyrev.schedule.costs import CpuCosts
from pyrev.schedule.legality import without
from pyrev.schedule.work import Choose, product


def contracted(
    program: Program,
    taken: set[str],
    choose: Choose,
    cpu: CpuCosts,
    store: frozenset[str] = frozenset(),
) -> Program:
    """`program` with rows in place of arrays that one parallel loop alone uses.

    Law: the same values in everything but those arrays. Names that it makes are added
    to `taken`; `choose` answers for sizes as in `schedule_cpu`. The arrays in `store`
    stay.
    """
    body = list(program.body)
    for made in its_own(program, store):
        at = next(k for k, s in enumerate(body) if s is made)
        users = [k for k, s in enumerate(body) if k != at and occurs((s,), made.array)]
        if len(users) != 1 or users[0] < at:
            continue
        loop = body[users[0]]
        if not isinstance(loop, For) or not _by_row(loop, made):
            continue
        size = product(made.shape[1:])
        if choose(size, cpu.contracted_elements) is not True:
            continue
        if choose(size, cpu.cached_elements + 1) is not False:
            continue
        body[users[0]] = _with_row(loop, made, fresh(f"{made.array}_row", taken))
        del body[at]
    return replace(program, body=tuple(body))


def its_own(program: Program, store: frozenset[str]) -> tuple[Alloc, ...]:
    """The arrays that `program` makes once, and that nothing is returned or made like.

    Those in `store` are not among them.
    """
    kept = {p.name for p in program.params} | store
    makers = [s for s in walk(program.body) if isinstance(s, (Alloc, Grow))]
    for s in walk(program.body):
        if isinstance(s, Return):
            kept |= all_names((s,))
        elif isinstance(s, Alloc):
            kept |= {*s.sources, *resembled(s.dtype)}
    return tuple(
        s
        for s in program.body
        if isinstance(s, Alloc) and s.source is None and s.array not in kept
        if sum(m.array == s.array for m in makers) == 1
    )


def _by_row(loop: For, made: Alloc) -> bool:
    """Is all that `loop` uses of the array in the row of the present iteration?"""
    if not loop.parallel or len(made.shape) < 2:
        return False
    # What is measured so never changes, and is never negative.
    if not all(isinstance(e, (Const, Extent)) for e in made.shape):
        return False
    if loop.index in loop_indices(loop.body) | set(assigned_scalars(loop.body)):
        return False
    if any(
        isinstance(e, Extent) and e.array == made.array
        for s in walk((loop,))
        for top in exprs(s)
        for e in walk_expr(top)
    ):
        return False
    return all(k[0] == Var(loop.index) for k in accesses((loop,), made.array))


def _with_row(loop: For, made: Alloc, row: str) -> For:
    def of_row(e: Expr) -> Expr:
        if isinstance(e, Load) and e.array == made.array:
            return replace(e, array=row, index=e.index[1:])
        return e

    room = Alloc(row, made.shape[1:], made.fill, made.dtype, loc=made.loc)
    body: Block = (room, *map_block(loop.body, of_row))
    return replace(loop, body=body, parallel=without(loop.parallel, made.array))
