"""An adjoint cut in two: forward with what it records, and the way back.

A pullback that follows a call need not run the function a second time: the call makes
what the reverse sweep needs. That pays where the iterations of a loop wait for each
other. What loops make in any order is as well made again, since the reverse sweep then
has it in the same row and it is never stored (Li et al. 2018, section 4.3).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace

from pyrev.adjoint.activity import returned
from pyrev.adjoint.opaque_calls import witnessed
from pyrev.adjoint.preaccumulate import preaccumulated
from pyrev.adjoint.reverse import Adjoint, reverse
from pyrev.adjoint.slopes import valued
from pyrev.analysis.array_shapes import of_arguments
from pyrev.analysis.dependence import overwritten_after
from pyrev.analysis.poly import integer_names
from pyrev.driver.derive import RESERVED, prepared, tidied
from pyrev.driver.dump import dump
from pyrev.driver.sizes import Sizes, with_known_shapes
from pyrev.ir.dtypes import concrete, infer
from pyrev.ir.liveness import flow_of, with_live
from pyrev.ir.nodes import (
    RISKY,
    ZERO,
    Alloc,
    Assign,
    Block,
    Call,
    Const,
    Extent,
    For,
    Grow,
    Loop,
    Param,
    Program,
    Return,
    Stmt,
    Var,
    While,
    all_names,
    exprs,
    fresh,
    walk,
    walk_expr,
    written,
)
from pyrev.ir.text import expr_text
from pyrev.schedule.legality import free_order
from pyrev.schedule.storage import store_apart
from pyrev.schedule.work import operations


@dataclass(frozen=True, slots=True)
class Sweeps:
    """The two programs, unscheduled.

    `forward` does what the function does and returns its results followed by the values
    of `passed`. `reverse` has for parameters those of the function, the cotangents of
    `adjoint`, and what of `passed` is neither. Of an array that the function writes it
    reads the final elements; those in `final`.
    """

    adjoint: Adjoint
    forward: Program
    reverse: Program
    passed: tuple[str, ...]
    #: The dtype of each value that is passed, weak kinds included, and its axes.
    dtypes: Mapping[str, str]
    ranks: Mapping[str, int]
    final: tuple[str, ...]
    #: What is passed and also returned: the caller may change it.
    shared: frozenset[str]
    #: How many values the function itself returns.
    results: int
    single: bool

    def described(self) -> tuple[str, ...]:
        """What is passed, with its extents and dtypes."""
        shapes = {
            s.array: s.shape for s in walk(self.forward.body) if isinstance(s, Alloc)
        }
        found = [f"{name}, as the call leaves it" for name in self.final]
        for name in self.passed:
            sizes = ", ".join(map(expr_text, shapes.get(name, ())))
            dtype = concrete(self.dtypes[name])
            found.append(f"{name} [{sizes}] {dtype}" if sizes else f"{name} {dtype}")
        return tuple(found)


def sweeps(
    program: Program,
    wrt: tuple[str, ...],
    avoid: frozenset[str],
    store: tuple[str, ...] = (),
    shorten: bool = False,
) -> Sweeps | None:
    """The adjoint of `program` with respect to `wrt` in two parts; None if it can't be.

    The names in `store` are kept, and partials multiplied out with `shorten`, as for
    `pipeline.derive`.
    """
    program, kept = prepared(program, wrt, avoid, store)
    if shorten:
        program, _ = preaccumulated(program, wrt, avoid | RESERVED)
    program = witnessed(program)
    # What may take long to run is not run again: its results are passed.
    kept |= {s.array for s in walk(program.body) if isinstance(s, Alloc) and s.opaque}
    params = {p.name: p.dtype for p in program.params}
    types = infer(program, params)
    adjoint = reverse(program, wrt, avoid | RESERVED)
    program = valued(program)
    forward, back = _cut(program, adjoint, types, avoid, kept)
    users = all_names(program.body)
    made = written(forward)
    ranks = {s.array: len(s.shape) for s in walk(forward) if isinstance(s, Alloc)}
    ranks |= {p.name: p.rank for p in program.params}
    own = adjoint.program.params
    taken = {*all_names((*forward, *back)), *params, *avoid, *RESERVED}
    taken |= {p.name for p in own}
    ahead = replace(program, name=fresh(f"{program.name}_forward", taken), body=forward)
    dtypes = infer(ahead, params)

    def needed(block: Block) -> list[str]:
        """What `block` has from the forward sweep."""
        known = {p.name for p in own} - made
        return [n for n in _needs(block) if n not in known]

    if any(n not in made for n in needed(back)):  # lengths of what isn't made any more
        return None
    extra = [n for n in needed(back) if n not in params]
    behind = replace(
        adjoint.program,
        name=fresh(f"{program.name}_reverse", taken),
        params=(*own, *(Param(n, ranks.get(n, 0), concrete(dtypes[n])) for n in extra)),
        body=back,
    )
    behind = tidied(behind, users, adjoint.outputs)
    # What was needed for something that is gone now is not passed.
    found = needed(behind.body)
    behind = replace(
        behind, params=tuple(p for p in behind.params if p in own or p.name in found)
    )
    if {n for n in found if ranks.get(n)} & written(behind.body):
        return None  # a pullback may be called again
    final = tuple(n for n in found if n in params and ranks[n])
    passed = tuple(n for n in found if n not in final)
    result = returned(program)
    values = result.values if result is not None else ()
    if values or passed:
        forward += (Return((*values, *map(Var, passed)), single=False),)
    forward = _on_all_paths(forward, passed, params, dtypes, ranks)
    ahead = tidied(replace(ahead, body=forward), users, {})
    if not _risky(program.body) <= {s.id for s in walk(ahead.body)}:
        return None  # nothing needs it, but it may raise
    dump("forward", ahead)
    dump("reverse", behind)
    outputs = {e.name for e in values if isinstance(e, Var)}
    return Sweeps(
        adjoint,
        ahead,
        behind,
        passed,
        {n: dtypes[n] for n in passed},
        {n: ranks.get(n, 0) for n in passed},
        final,
        frozenset(n for n in passed if n in outputs and ranks.get(n)),
        len(values),
        result is not None and result.single,
    )


def _on_all_paths(
    forward: Block,
    passed: Collection[str],
    params: Collection[str],
    dtypes: Mapping[str, str],
    ranks: Mapping[str, int],
) -> Block:
    """The same with something for what is `passed` and has a value on some paths only.

    On the others the reverse sweep reads none of it; but a name without a value cannot
    be returned.
    """
    read, _ = flow_of(forward)
    made: list[Stmt] = []
    for name in passed:
        if name not in read or name in params:
            continue
        dtype = concrete(dtypes[name])
        if ranks.get(name, 0):
            made.append(Alloc(name, (ZERO,) * ranks[name], None, dtype))
        else:
            value = Const(False if dtype == "bool" else 0)
            made.append(Assign(Var(name), Call(dtype, (value,))))
    return (*made, *forward)


def _cut(
    program: Program,
    adjoint: Adjoint,
    types: Mapping[str, str],
    avoid: frozenset[str],
    kept: frozenset[str],
) -> tuple[Block, Block]:
    """The function with what it records, and the reverse sweep that reads that.

    Extents of local arrays are those of parameters in both, where these are known.
    """
    forward, back = store_apart(
        program,
        adjoint,
        overwritten_after,
        lambda name: concrete(types[name]),
        avoid | RESERVED,
        kept,
    )
    both = with_known_shapes(
        replace(adjoint.program, body=(*forward, *back), params=program.params)
    ).body
    return both[: len(forward)], both[len(forward) :]


def _needs(block: Block) -> tuple[str, ...]:
    """What `block` reads of what was there before it, or measures, sorted by name."""
    read, _ = flow_of(block)
    made = {s.array for s in walk(block) if isinstance(s, (Alloc, Grow))}
    measured = {
        e.array
        for s in walk(block)
        for top in exprs(s)
        for e in walk_expr(top)
        if isinstance(e, Extent)
    }
    return tuple(sorted(read | (measured - made)))


def _risky(block: Block) -> set[int]:
    """The statements that may raise, by their numbers."""
    return {
        s.id
        for s in walk(block)
        if any(
            isinstance(e, Call) and e.op in RISKY
            for top in exprs(s)
            for e in walk_expr(top)
        )
    }


def pays(made: Sweeps, sizes: Sizes) -> bool:
    """Is it cheaper to keep what the forward sweep computes than to compute it again?

    It is if the values that the reverse sweep needs come from loops that carry a
    dependence and so cannot run on several cores, and if these loops are a good part of
    the function's work; and if functions that run as they are made these values.
    """
    costs = sizes.costs
    body = made.forward.body
    if any(isinstance(s, Alloc) and s.opaque is not None for s in walk(body)):
        return True
    wanted = {*made.passed, *made.final}
    loops = [
        (s, bool(written((s,)) & wanted) and _waits(s, live, body))
        for s, live in with_live(body, frozenset(wanted))
        if isinstance(s, (For, While))
    ]
    if not any(waits for _, waits in loops):
        return False
    shapes = {s.array: s.shape for s in walk(body) if isinstance(s, Alloc)}
    waiting, total = [], []
    for loop, waits in loops:
        work = operations(loop, costs) if isinstance(loop, For) else None
        if work is None:
            return True  # data decides how much that is
        text = expr_text(of_arguments(work, shapes))
        total.append(text)
        if waits:
            waiting.append(text)
    parts = f"{costs.kept_parts} * ({' + '.join(waiting)})"
    test = f"{parts} >= {' + '.join(total)}"
    return sizes.weigh(test, relied=True) is not False


def _waits(loop: Loop, live: frozenset[str], body: Block) -> bool:
    """Can the iterations of `loop` not run in any order?"""
    if isinstance(loop, While):
        return True
    return not free_order(loop, (), live, integer_names(body))
