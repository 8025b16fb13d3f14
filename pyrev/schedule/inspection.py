"""The inspection of data before a call, on all cores.

What `analysis.inspector` makes stops at its first finding, one iteration after another.
Where iterations share nothing but what is found, chunks of them look for themselves.
"""

from __future__ import annotations

from dataclasses import replace

from pyrev.ir.liveness import exposed
from pyrev.ir.nodes import (
    ONE,
    ZERO,
    Alloc,
    Assign,
    Block,
    Call,
    Const,
    Expr,
    Extent,
    For,
    If,
    Load,
    Program,
    Return,
    Stmt,
    Var,
    While,
    all_names,
    assigned_scalars,
    fresh,
    loop_indices,
    walk,
    walk_expr,
    written,
)
from pyrev.ir.renaming import rename
from pyrev.ir.trip_counts import trip_count
from pyrev.schedule.costs import Costs
from pyrev.schedule.legality import chunk_ends, parallelise
from pyrev.schedule.work import Choose


def in_chunks(program: Program, choose: Choose, costs: Costs) -> Program:
    """The inspector `program` with chunks of its long loops side by side.

    Law: the same verdict. What is found first is what the first chunk finds that finds
    anything. `choose` answers for sizes as in `schedule_cpu`.
    """
    last = program.body[-1]
    assert isinstance(last, Return)
    flags = tuple(e.name for e in last.values if isinstance(e, Var))
    taken = set(all_names(program.body)) | {p.name for p in program.params}
    least, count = costs.inspected_iterations, Const(costs.chunks)

    def block(stmts: Block, after: Block) -> Block:
        out: list[Stmt] = []
        for k, s in enumerate(stmts):
            behind = (*stmts[k + 1 :], *after)
            match s:
                case While() if (
                    _apart(s, flags, behind)
                    and choose(Call("-", (s.hi, s.lo)), least) is True
                ):
                    out += _chunked(s, flags, taken, count)
                case If(test, then, ()) if test == _fine(flags):
                    out.append(replace(s, then=block(then, behind)))
                case _:
                    out.append(s)
        return tuple(out)

    return replace(program, body=block(program.body, ()))


def _fine(flags: tuple[str, ...]) -> Expr:
    """Nothing has been found."""
    return Call("==", (Var(flags[0]), ZERO))


def _apart(loop: While, flags: tuple[str, ...], after: Block) -> bool:
    """Do iterations of `loop` share nothing but the flags?"""
    sizes = [e for end in (loop.lo, loop.hi) for e in walk_expr(end)]
    # The number of a scalar may be so large that its product with another wraps.
    if not all(isinstance(e, (Const, Extent, Call)) for e in sizes):
        return False
    if loop.step != ONE or loop.count or loop.test != _fine(flags):
        return False
    own = set(assigned_scalars(loop.body)) - set(flags)
    if any(isinstance(s, (Alloc, Return)) for s in walk(loop.body)):
        return False
    if written(loop.body) - own - set(flags) - loop_indices(loop.body):
        return False
    return not any(exposed(loop.body, n)[0] or exposed(after, n)[0] for n in own)


def _chunked(
    loop: While, flags: tuple[str, ...], taken: set[str], count: Const
) -> Block:
    chunk = fresh("chunk", taken)
    parts = {f: fresh(f"{f}_parts", taken) for f in flags}
    own = {f: fresh(f"own_{f}", taken) for f in flags}
    length = trip_count(loop)
    first, last = chunk_ends(loop.lo, length, Var(chunk), count)
    inner = rename(replace(loop, lo=first, hi=last), own)
    chunks = For(
        chunk,
        ZERO,
        count,
        ONE,
        (
            *(Assign(Var(own[f]), Var(f)) for f in flags),
            inner,
            *(Assign(Load(parts[f], (Var(chunk),)), Var(own[f])) for f in flags),
        ),
        loc=loop.loc,
    )
    chunks = parallelise(chunks, (), frozenset({*flags, *parts.values()}))
    if not chunks.parallel:
        return (loop,)
    found = tuple(Load(parts[f], (Var(chunk),)) for f in flags)
    seen = [
        If(Call("!=", (part, ZERO)), (Assign(Var(f), part),))
        for f, part in zip(flags, found, strict=True)
    ]
    return (
        *(Alloc(p, (count,), None, "int64") for p in parts.values()),
        chunks,
        For(chunk, ZERO, count, ONE, (If(_fine(flags), tuple(seen)),)),
    )
