"""What is worth a launch: the form in which the threads of a GPU run a nest.

Of what is legal (`pyrev.schedule.thread_loops`) the costs of the machine, the sizes of
the call and the wish for the same bits in every run choose; `plan_launches` makes it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from pyrev.ir.liveness import names_in
from pyrev.ir.nodes import (
    Alloc,
    Block,
    Expr,
    For,
    Grow,
    Stmt,
    assigned_scalars,
    walk,
)
from pyrev.ir.trip_counts import iterations
from pyrev.schedule.costs import GpuCosts
from pyrev.schedule.teams import along_rows
from pyrev.schedule.thread_loops import Shared
from pyrev.schedule.work import product

# Are there so many, by the sizes of the call? None: not known.
Enough = Callable[[Expr, int], bool | None]

#: How the threads of a GPU run a nest:
#:
#: distributed    the outer loops once for each of the nests in them;
#: independent    a thread for each iteration of the loops that carry no dependence;
#: inverse index  terms first, sorted by the elements that data says;
#: serial inside  as `independent`: what is added where data says, in its order;
#: atomic         a thread for each iteration, whose increments are atomic;
#: owner          a thread for each element of the sums, which runs the other loops;
#: reduction      a block of threads for each element, a tree of partial sums.
Form = Literal[
    "distributed",
    "independent",
    "inverse index",
    "serial inside",
    "atomic",
    "owner",
    "reduction",
]


@dataclass(frozen=True, slots=True)
class Policy:
    """Chooses among forms that are all legal, for one machine and the sizes of a call.

    With `deterministic`, sums have the same bits in every run.
    """

    enough: Enough
    gpu: GpuCosts
    deterministic: bool

    def form(self, found: Shared) -> Form:
        """The form of a nest. The first that applies:

        - nests in a loop of few iterations are distributed: each may have more threads;
        - no sums across threads where loops without a dependence keep all threads busy;
        - what is added where data says: by atomics, unless bits have to be the same or
          the hardware cannot; then by an inverse index, or without a thread of its own;
        - sums: by their owners if these keep the threads busy, else by blocks.
        """
        loops = found.independent
        if loops and self.distributes(loops):
            return "distributed"
        if loops == found.chain or (loops and self.busy(loops)):
            return "independent"
        if found.others and self.deterministic:
            return "inverse index"
        if not found.atomic:
            return "serial inside"
        if not found.sums:
            return "atomic"
        owning = found.owning
        return "owner" if owning and self.busy(owning) else "reduction"

    def busy(self, loops: Sequence[For]) -> bool | None:
        """Does a thread for each iteration of `loops` keep the device busy?"""
        count = product(map(iterations, loops))
        return self.enough(count, self.gpu.busy_threads)

    def works_together(self, loops: Sequence[For], body: Block) -> bool:
        """Is an iteration of `loops` better run by a block of threads than by one, if
        they may share out the loops in its `body`?

        Where those walk memory, and some of them, as is known, for long enough.
        """
        long = [
            self.enough(iterations(f), self.gpu.team_iterations)
            for f in body
            if isinstance(f, For)
        ]
        return any(long) and along_rows(loops, body)

    def distributes(self, loops: Sequence[For]) -> bool:
        """Is it better to run the nests in `loops` one after another, each alone?

        Where these loops are too few for all threads, as is known, and their body falls
        into parts that hand nothing on within an iteration.
        """
        body = loops[-1].body
        if len(body) < 2 or not any(isinstance(s, For) for s in walk(body)):
            return False
        return self.busy(loops) is False and len(parts(body)) > 1


def parts(body: Block) -> list[Block]:
    """The statements of an iteration in runs that share no scalar or array of it."""
    own = set(assigned_scalars(body))
    own |= {s.array for s in walk(body) if isinstance(s, (Alloc, Grow))}
    out: list[list[Stmt]] = []
    used: list[set[str]] = []
    for s in body:
        mine = set(names_in(s)) & own
        at = next((k for k, names in enumerate(used) if names & mine), None)
        if at is None:
            out.append([s])
            used.append(mine)
            continue
        # In their order: all since then come with it.
        out[at:] = [[x for g in out[at:] for x in g] + [s]]
        used[at:] = [set().union(*used[at:]) | mine]
    return [tuple(g) for g in out]
