"""A plan in the making: what has been decided so far, and what that asks for."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from pyrev.ir.nodes import Expr, fresh
from pyrev.schedule.storage.plan import Checkpointed, Kind, Plan, Record, Rerun, Stored
from pyrev.schedule.storage.timeline import Leaf, Timeline


@dataclass(slots=True)
class Wanted:
    """What the statements that run again at one level have to produce."""

    roots: dict[str, None] = field(default_factory=dict)
    records: list[Record] = field(default_factory=list)
    #: The scalar that numbers the iterations of a loop, by the loop's id.
    counters: dict[int, str] = field(default_factory=dict)


@dataclass(slots=True)
class Draft:
    """The decisions so far; `finished` is the plan that they make."""

    timeline: Timeline
    taken: set[str]
    levels: dict[int, Wanted] = field(default_factory=dict)
    reads: dict[tuple[int, Expr], Expr] = field(default_factory=dict)
    #: (level, statement): what it reads from copies where it runs again there.
    copies: dict[tuple[int, int], dict[Leaf, Expr]] = field(default_factory=dict)
    reruns: dict[int, Rerun] = field(default_factory=dict)
    #: Scalars of a state that first get a value in the loop: they start as zeros.
    zeros: dict[str, None] = field(default_factory=dict)
    _reasons: dict[tuple[object, ...], Stored] = field(default_factory=dict)

    def level(self, level: int) -> Wanted:
        """What is wanted of a level; from now on it runs again."""
        return self.levels.setdefault(level, Wanted())

    def need(self, needs: Iterable[tuple[int, str]]) -> None:
        """Names are read at levels at the end of what runs again there."""
        for level, name in needs:
            self.level(level).roots[name] = None

    def fresh(self, name: str) -> str:
        """A name that nothing has."""
        return fresh(name, self.taken)

    def copies_at(self, level: int) -> dict[int, dict[Leaf, Expr]]:
        """What the statements that run again at a level read from copies."""
        return {at: dict(c) for (k, at), c in self.copies.items() if k == level}

    def checkpoints(self) -> tuple[Checkpointed, ...]:
        """The loops that are checkpointed, as far as levels are finished."""
        return tuple(r.state for r in self.reruns.values() if r.state is not None)

    def note(
        self,
        name: str,
        kind: Kind,
        at: int,
        shape: tuple[Expr, ...] = (),
        level: str = "",
        dtype: str = "",
    ) -> None:
        """Say where a value is kept, once for each line of the function."""
        loc = self.timeline.places[at].stmt.loc
        if loc.line:
            stored = Stored(name, kind, shape, level, loc, dtype)
            self._reasons.setdefault((name, kind, shape, level, loc.line), stored)

    def finished(self) -> Plan:
        """The plan."""
        return Plan(
            self.reads,
            self.reruns,
            tuple(c for w in self.levels.values() for c in w.counters.items()),
            tuple(self._reasons.values()),
            frozenset(self.taken),
        )
