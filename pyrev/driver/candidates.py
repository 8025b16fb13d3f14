"""The adjoints of one program among which the sizes of a call decide."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from pyrev.driver.derive import Derived, begun, derive
from pyrev.driver.sizes import Sizes
from pyrev.ir.nodes import (
    Alloc,
    Block,
    Call,
    For,
    Program,
    Stmt,
    While,
    blocks,
    exprs,
    walk,
    walk_expr,
    with_blocks,
)
from pyrev.ir.primitives import PRIMITIVES, UNKNOWN
from pyrev.parse.probes import has_probes
from pyrev.schedule.costs import Costs


def alternatives(
    program: Program,
    wrt: tuple[str, ...],
    avoid: frozenset[str],
    costs: Costs,
    memory: int | None = None,
    store: tuple[str, ...] = (),
    recompute: tuple[str, ...] = (),
    shorten: bool = True,
    for_reading: bool = False,
) -> tuple[Derived, ...]:
    """The unscheduled adjoints of `program` among which the sizes decide.

    The first makes again what it can, as `derive` does. The others keep one scalar
    more, and record fewer arrays for it: of a step's state often one number is needed.
    Where something is recorded, partials may be multiplied out before (`preaccumulate`)
    if that takes fewer operations or records less, unless not `shorten`. `for_reading`
    is as for `derive`.
    """

    def make(
        program: Program,
        memory: int | None,
        store: tuple[str, ...],
        shorten: bool = False,
    ) -> Derived:
        return derive(program, wrt, avoid, memory, store, shorten, for_reading)

    # What else is asked for than gradients of parameters keeps its name and its place.
    local = set(wrt) - {p.name for p in program.params}
    shorten &= not (recompute or store or local or has_probes(program.body))
    # Checkpoints must not change a bit: what is best without them is done with them.
    free = _without_slots(program)
    bounded = memory is not None or free is not program
    first = make(free, None, store) if shorten or not bounded else None
    if first is not None and shorten and first.taped:
        first = _shorter(first, make(free, None, store, True), costs)
    if first is None or bounded:
        counts, shortened = (first.counts, first.shortened) if first else (None, False)
        made = make(program, memory, store, shortened)
        first = replace(made, counts=counts)
    if memory is not None or first.shortened:
        return (first,)
    least = _recorded(first)
    found = [first]
    if least[0] < 2 or least[1] < 2:
        return (first,)
    again = {s.name: None for s in first.stored if s.kind == "recomputed" and s.level}
    arrays = {s.array for s in walk(program.body) if isinstance(s, Alloc)}
    tried = [n for n in again if n not in {*arrays, *recompute}]
    for name in tried[: costs.kept_scalars]:
        kept = (*store, name)
        other = begun(program, wrt, avoid, memory, kept, for_reading=for_reading)
        if _recorded(other.made) < least:
            found.append(other.done())
    return tuple(found)


def _slots(program: Program) -> bool:
    """Is a loop to be checkpointed?"""
    return any(isinstance(s, For) and s.slots is not None for s in walk(program.body))


def _without_slots(program: Program) -> Program:
    """The program with no loop that is to be checkpointed."""
    if not _slots(program):
        return program

    def visit(s: Stmt) -> Stmt:
        s = with_blocks(s, tuple(tuple(map(visit, b)) for b in blocks(s)))
        return replace(s, slots=None) if isinstance(s, For) else s

    return replace(program, body=tuple(map(visit, program.body)))


def _shorter(one: Derived, other: Derived, costs: Costs) -> Derived:
    """The adjoint with partials multiplied out (`other`), if that is better."""
    if not other.shortened:
        return one
    before = operations(one.program.body), one.taped
    after = operations(other.program.body), other.taped
    no_more = _recorded(other) <= _recorded(one) and after[1] <= before[1]
    parts = costs.saved_parts
    fewer = parts * after[0] <= (parts - 1) * before[0]
    less = after[1] < before[1] and after[0] <= before[0]
    better = other if no_more and (fewer or less) else one
    return replace(better, counts=(before, after))


def operations(block: Block) -> int:
    """Operations in one iteration of the innermost loops of a block, weighed."""
    loops = [s for s in walk(block) if isinstance(s, (For, While))]
    inner = [
        s for s in loops if not any(isinstance(t, (For, While)) for t in walk(s.body))
    ]
    own = [t for s in inner for t in walk(s.body)] or list(walk(block))
    calls = [e for s in own for top in exprs(s) for e in walk_expr(top)]
    return sum(PRIMITIVES.get(e.op, UNKNOWN).cost for e in calls if isinstance(e, Call))


def _recorded(derived: Derived) -> tuple[int, int]:
    """The most axes of what is recorded, and how many arrays have so many."""
    axes = [len(s.shape) for s in derived.recorded]
    most = max(axes, default=0)
    return most, axes.count(most)


def chosen(made: Sequence[Derived], sizes: Sizes) -> Derived:
    """Of several adjoints the one that records the least, if that is much less."""
    best = made[0]
    parts = sizes.costs.recorded_parts
    for other in made[1:]:
        now, then = (sizes.of_arguments(d) for d in (best, other))
        if not sizes.many(now, relied=True):
            break
        # What is recorded may be most of the memory: each size has its own answer.
        test = f"{parts - 1} * ({now}) > {parts} * ({then})"
        if sizes.weigh(test, relied=True):
            best = other
    return best
