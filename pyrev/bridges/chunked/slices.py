"""What of a stage the parts need that blocks own: backwards, statement by statement.

An element is *needed* where a later statement reads it that runs for an owned part.
Every write to a needed element runs, in the program's order, so its value is that of
the whole program; what else runs, because its loops run, is read by nobody. This is the
backward slice of Weiser, "Program slicing" (1984), on boxes of iterations.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pyrev.bridges.chunked.boxes import Box, Ints, hull, nothing
from pyrev.bridges.chunked.phases import ChunkingError, Phase
from pyrev.ir.nodes import Alloc, Stmt

#: So often may a statement need more of its own results before it is a recurrence.
ROUNDS = 3
#: So often the growth per step is tried again.
TRIES = 8

#: A loop: the number of its statement in the stage, and its own in that.
Key = tuple[int, int]


@dataclass(frozen=True, eq=False)
class Limits:
    """The range of a loop in the last step, and by how much it is longer, below and
    above, in each step before. Where it is never anything it is `none`.

    What is empty in the last step, low above high, may be something before.
    """

    low: Ints
    high: Ints
    none: Any
    below: int
    above: int

    def at(self, before: int) -> Box:
        """The range, so many steps before the last one."""
        low = self.low - before * self.below
        high = self.high + before * self.above
        return Box(
            np.where(self.none, 0, low)[None], np.where(self.none, 0, high)[None]
        )

    def equals(self, other: Limits) -> bool:
        """Are they the same for all blocks?"""
        there = ~self.none
        return (
            (self.below, self.above) == (other.below, other.above)
            and np.array_equal(self.none, other.none)
            and np.array_equal(self.low[there], other.low[there])
            and np.array_equal(self.high[there], other.high[there])
        )


@dataclass(frozen=True)
class Slice:
    """What blocks run of a stage: ranges of loops, and windows of arrays."""

    loops: Mapping[Key, Limits]
    windows: Mapping[str, Box]
    used: frozenset[int]  # the statements that any block runs


class Slicer:
    """A stage that is walked backwards, for blocks that own parts of some arrays.

    `outs` are the arrays of which the owned parts are wanted; `own` has the owned parts
    of these and of what sums read. `times` are the values of the time in the steps,
    the last one first; `axes` the chunked axes of arrays.
    """

    def __init__(
        self,
        phases: Sequence[Phase | Stmt],
        outs: Sequence[str],
        own: Mapping[str, Box],
        times: Sequence[Any],
        axes: Mapping[str, tuple[int, ...]],
    ) -> None:
        self.phases, self.own, self.times, self.axes = phases, own, times, axes
        self.outs = {a: own[a] for a in outs}
        self.blocks = next(iter(own.values())).low.shape[1]
        self.windows: dict[str, Box] = {}
        self.history: list[dict[Key, Box]] = []
        self.used: set[int] = set()

    def slice(self) -> Slice:
        """What the blocks run; raises `ChunkingError` where that has no end."""
        limits: dict[Key, Limits] = {}
        for _ in range(TRIES):
            before = frozenset(self.used)
            self._walk(limits)
            found = self._fitted()
            if self.used == before and all(
                key in limits and limits[key].equals(new) for key, new in found.items()
            ):
                return Slice(limits, self.windows, before)
            limits = found
        first = next(p for p in self.phases if isinstance(p, Phase))
        raise ChunkingError(
            first.loc,
            "what a step needs of the steps before grows from step to step",
            "run fewer steps in a task (steps=1)",
        )

    # ---------------------------------------------------------------- backwards

    def _walk(self, limits: Mapping[Key, Limits]) -> None:
        need = dict(self.outs)
        self.windows, self.history = dict(self.outs), []
        for before, time in enumerate(self.times):
            self.history.append({})
            for number in reversed(range(len(self.phases))):
                phase = self.phases[number]
                if isinstance(phase, Alloc):
                    self._made(phase, need)
                elif isinstance(phase, Phase):
                    self._phase(number, phase, need, limits, before, time)
        for array, box in need.items():
            self.windows[array] = hull(self.windows.get(array), box)
        self._as_copies()

    def _made(self, made: Alloc, need: dict[str, Box]) -> None:
        box = need.pop(made.array, None)
        if box is None:
            return
        self.windows[made.array] = hull(self.windows.get(made.array), box)
        source = made.copied
        if source is not None and source in self.axes:
            need[source] = hull(need.get(source), box)

    def _as_copies(self) -> None:
        """A copy has the window of what it is a copy of."""
        copies = [
            (p.array, p.copied)
            for p in self.phases
            if isinstance(p, Alloc) and p.copied in self.axes
        ]
        for _ in copies:
            for array, source in copies:
                if array in self.windows and source is not None:
                    both = hull(self.windows.get(source), self.windows[array])
                    self.windows[array] = self.windows[source] = both

    def _phase(
        self,
        number: int,
        phase: Phase,
        need: dict[str, Box],
        limits: Mapping[Key, Limits],
        before: int,
        time: Any,
    ) -> None:
        needed = any(d.array in (self.own if d.sum else need) for d in phase.drivers)
        # What runs in one step has its place in the text, and runs in all of them.
        if not needed and number not in self.used:
            return

        def ranges() -> dict[int, Box]:
            found = phase.loops(need, self.own, time)
            for loop in found:
                if (number, loop) in limits:
                    found[loop] = hull(found[loop], limits[number, loop].at(before))
            return found

        loops = first = ranges()
        for again in range(ROUNDS + 1):
            for touch in phase.touches:
                if touch.access.kind == "read" and not touch.old:
                    name = touch.access.name
                    box = phase.elements(touch, self._or_all(loops), time)
                    need[name] = hull(need.get(name), box)
            wider = ranges()
            if wider == loops:
                break
            if again == ROUNDS:
                self._recurrence(phase, first, wider)
            loops = wider
        self.used.add(number)
        self.history[-1].update({(number, k): box for k, box in loops.items()})
        for touch in phase.touches:
            name = touch.access.name
            box = phase.elements(touch, self._or_all(loops), time)
            self.windows[name] = hull(self.windows.get(name), box)
            if touch.access.kind != "write":
                need[name] = hull(need.get(name), box)

    def _or_all(self, loops: dict[int, Box]) -> dict[int, Box]:
        """The ranges; where no loop is limited, one that says how many blocks."""
        return loops or {-1: nothing(1, self.blocks)}

    def _recurrence(
        self, phase: Phase, before: Mapping[int, Box], after: Mapping[int, Box]
    ) -> None:
        grown = [k for k in after if after[k] != before[k]]
        at = next(
            a for leaf in phase.region.leaves for a in leaf.loops if a.number in grown
        )
        raise ChunkingError(
            at.loop.loc,
            f"an iteration of `{at.loop.index}` reads what the one before it wrote, and"
            " so on to the end of the array",
            phase.axes_of(at),
        )

    # ---------------------------------------------------------------- growth

    def _fitted(self) -> dict[Key, Limits]:
        """Ranges that grow by the same numbers in each step, around those needed."""
        found = {}
        for key in dict.fromkeys(k for step in self.history for k in step):
            boxes = [step.get(key) for step in self.history]
            below = above = 0
            for later, box in zip(boxes, boxes[1:], strict=False):
                if later is None or box is None:
                    continue
                both = ~(later.empty | box.empty)
                if (later.empty & ~box.empty).any():
                    below = max(below, 1)  # it begins with this step
                if both.any():
                    below = max(below, int((later.low - box.low)[0][both].max()))
                    above = max(above, int((box.high - later.high)[0][both].max()))
            most, least = np.iinfo(np.int64).max, np.iinfo(np.int64).min
            low = np.full(self.blocks, most)
            high = np.full(self.blocks, least)
            for k, box in enumerate(boxes):
                if box is not None:
                    there = ~box.empty
                    low = np.where(there, np.minimum(low, box.low[0] + below * k), low)
                    high = np.where(
                        there, np.maximum(high, box.high[0] - above * k), high
                    )
            none = low == most
            low, high = np.where(none, 0, low), np.where(none, 0, high)
            found[key] = Limits(low, high, none, below, above)
        return found
