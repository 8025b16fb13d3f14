"""Where a primal value lives that the reverse sweep needs: live, recomputed, or taped.

`adjoint.reverse` demands values as they were at a statement of the primal (`Saved`);
which, it derives from the rule table. `timeline` says when each is made, changed and
read; `decide` makes a plan of that, `build` a program of the plan.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from pyrev.adjoint.reverse import Adjoint
from pyrev.ir.nodes import Block, For, Program
from pyrev.schedule.storage.budget import within_budget
from pyrev.schedule.storage.build import build, build_apart
from pyrev.schedule.storage.cut import READING, RUNNING
from pyrev.schedule.storage.decide import Options, decide
from pyrev.schedule.storage.plan import Plan, Stored
from pyrev.schedule.storage.timeline import Lost, Timeline, timeline

__all__ = ["READING", "RUNNING", "Stored", "store", "store_apart"]


def store(
    primal: Program,
    adjoint: Adjoint,
    lost: Lost,
    dtype_of: Callable[[str], str],
    avoid: frozenset[str],
    memory: int | None = None,
    kept: frozenset[str] = frozenset(),
    record: int = RUNNING,
) -> tuple[Program, tuple[Stored, ...]]:
    """Replace every `Saved` and `Restart` of an adjoint program.

    `memory` bounds the bytes of the arrays that the result makes: loops whose values
    would be taped are checkpointed. So are the loops that ask for it. The values of the
    names in `kept` are not made again, where nothing is checkpointed; what takes more
    than `record` is recorded rather than made again from a state.

    `lost(body, at, load)` says whether the element that statement `at` reads may be
    written at or after it; `dtype_of` gives the dtype name of a scalar or array.
    """
    asked: dict[int, int | None] = {
        s.id: s.slots for s in primal.body if isinstance(s, For) and s.slots is not None
    }
    times = timeline(primal, adjoint, lost, dtype_of)
    options = Options(avoid, memory, kept, asked, record=record)
    plan = decide(times, options)
    # Checkpointing one loop may ask for values of another.
    while memory is not None and (more := _taped_loops(times, plan, options)):
        loops = {**options.checkpointed, **dict.fromkeys(more)}
        options = replace(options, checkpointed=loops)
        plan = decide(times, options)
    program = build(times, plan, adjoint.program)
    if memory is not None and plan.checkpoints:
        program = within_budget(program, plan)
    return program, plan.reasons


def store_apart(
    primal: Program,
    adjoint: Adjoint,
    lost: Lost,
    dtype_of: Callable[[str], str],
    avoid: frozenset[str],
    kept: frozenset[str] = frozenset(),
) -> tuple[Block, Block]:
    """The same as two blocks that run one after the other: forward, and back.

    The first does all that the primal does, in the caller's arrays, but for its
    `Return`; nothing is checkpointed.
    """
    times = timeline(primal, adjoint, lost, dtype_of)
    plan = decide(times, Options(avoid, kept=kept, apart=True))
    return build_apart(times, plan, adjoint.program)


def _taped_loops(times: Timeline, plan: Plan, options: Options) -> list[int]:
    """The loops of the function itself that values are taped over, and not yet
    checkpointed.
    """
    around = [times.places[r.at].loops for r in plan.records]
    found = dict.fromkeys(loops[0].id for loops in around if loops)
    return [k for k in found if k not in options.checkpointed]
