"""The GPU's form of a program: loops whose iterations are independent, outermost.

The readable form, with gathers inside parallel loops too, one thread an element; but a
scatter stays one nest where its terms are added where they are made.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from pyrev.analysis.poly import known_numbers
from pyrev.ir.dtypes import concrete
from pyrev.ir.liveness import live_inside
from pyrev.ir.nodes import Alloc, Block, Const, For, Program, While, walk
from pyrev.schedule.costs import Costs
from pyrev.schedule.distribute import Readable
from pyrev.schedule.host_values import host_numbers
from pyrev.schedule.legality import forward, prove_parallel
from pyrev.schedule.thread_loops import Nests


class Device(Readable):
    """The readable form, gathers inside parallel loops too: one thread an element."""

    def __init__(
        self,
        taken: frozenset[str],
        program: Program,
        types: Mapping[str, str],
        deterministic: bool,
        costs: Costs,
    ) -> None:
        integers = known_numbers(program.body)
        super().__init__(taken, integers, lambda name: concrete(types[name]), costs)
        self.nests = Nests(types, integers, host_numbers(program))
        self.deterministic = deterministic

    def nest(self, loop: For, outer: tuple[For, ...], live: frozenset[str]) -> Block:
        """As in the readable form, unless it is better in one piece.

        A scatter is turned into a gather if that takes no memory for what its terms
        are made of; else its terms are added where they are made.
        """
        whole = self.nests.shared(loop, outer, live)
        told, taken = len(self.decisions), self.taken
        parted = super().nest(loop, outer, live)
        if whole is None or not whole.atomic:
            return parted
        if whole.others and self.deterministic:
            return parted
        own = {s.array for s in walk((loop,)) if isinstance(s, Alloc)}
        made = {s.array for s in walk(parted) if isinstance(s, Alloc)} - own
        if not made and (whole.others or _long(whole.chain[-1].body)):
            return parted
        del self.decisions[told:]
        self.taken = taken
        return (forward(loop, outer, live, self.integers),)

    def kept(self, loop: For, outer: tuple[For, ...], live: frozenset[str]) -> Block:
        """A nest that is parallel as it stands, with what is inside in this form too,
        if it is parallel then.
        """
        self.report_kept(loop)
        inside = live_inside(loop, live)
        body = self.block(loop.body, (*outer, loop), inside)
        whole = replace(loop, body=body)
        proof = prove_parallel(whole, outer, live, self.integers)
        # What was taken apart inside may have tied the iterations together.
        return (replace(whole, parallel=proof),) if proof else (loop,)


def _long(body: Block) -> bool:
    """Is there a loop in `body` of which sizes or data decide how long it is?"""
    return any(
        isinstance(s, While)
        or isinstance(s, For)
        and not all(isinstance(e, Const) for e in (s.lo, s.hi))
        for s in walk(body)
    )
