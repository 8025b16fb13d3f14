"""The plan: where each value that the reverse sweep reads is kept, as data.

`decide` makes it of a timeline, `build` a program of it, `explain()` shows its reasons.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from pyrev.adjoint.reverse import FUNCTION
from pyrev.ir.nodes import Expr, Load, Loc, Var
from pyrev.ir.text import expr_text
from pyrev.schedule.storage.checkpoint import Names, Part
from pyrev.schedule.storage.timeline import Leaf

#: live          nothing overwrites it after its use: it is read where it is;
#: recomputed    it is private to an iteration, whose statements can run again;
#: taped         it is overwritten, and what makes it cannot run again, or is dear;
#: checkpointed  it is part of the state that a loop starts from.
Kind = Literal["live", "recomputed", "taped", "checkpointed"]


@dataclass(frozen=True, slots=True)
class Stored:
    """One decision: where the value of `name`, used by statement `at`, is kept.

    `shape` are a tape's extents, outermost first; `level` is "" for the whole function
    or the index of the loop whose iterations recompute the value.
    """

    name: str
    kind: Kind
    shape: tuple[Expr, ...]
    level: str
    loc: Loc
    dtype: str = ""

    def to_dict(self) -> dict[str, object]:
        """The decision as plain data."""
        return {
            "name": self.name,
            "kind": self.kind,
            "shape": [expr_text(e) for e in self.shape],
            "dtype": self.dtype,
            "level": self.level,
            "line": self.loc.line,
        }


@dataclass(frozen=True, slots=True)
class Record:
    """``target = leaf`` just before statement `at`.

    A `target` of a scalar is one value; else an element of a tape, which is made with
    the extents `room`, or a whole array. A target over loop `grows`, whose length is
    not known, grows in it.
    """

    at: int
    leaf: Expr
    target: Var | Load
    dtype: str
    room: tuple[Expr, ...] | None = None
    grows: int | None = None
    whole: bool = False  # all of the array, or of its rows, that `leaf` is of
    there: Expr | None = None  # if there are such rows
    early: bool = False  # whatever tests come out
    behind: bool = False  # just after the statement
    loc: Loc | None = None  # if not that of statement `at`


@dataclass(frozen=True, slots=True)
class Rerun:
    """The statements of one level that run again, and what is recorded on the way.

    At FUNCTION that is the forward sweep. `roots` are the names whose last values are
    wanted of it; `counters` number the iterations of loops, by the loops' ids.
    """

    level: int
    keep: frozenset[int]
    roots: tuple[str, ...] = ()
    records: tuple[Record, ...] = ()
    counters: Mapping[int, str] = field(default_factory=dict)
    #: What a statement reads from copies where it runs again here.
    copies: Mapping[int, Mapping[Leaf, Expr]] = field(default_factory=dict)
    #: The loops inside that are checkpointed: their first states are kept before them.
    checkpoints: tuple[Checkpointed, ...] = ()
    #: Set at FUNCTION to zero: scalars of states that first get a value in the loop.
    zeros: tuple[str, ...] = ()
    #: How the state is made in which the iteration began, if its loop is checkpointed.
    state: Checkpointed | None = None


@dataclass(frozen=True, slots=True)
class Checkpointed:
    """A loop that is reversed from kept states.

    `advance` runs iteration number `index` without records; in it the loop's own index
    is `position`. Iteration `number` is the one to be reversed. Before the loop `reads`
    are read. `slots` states are kept, as many as `memory` has room for, or as many as
    let no iteration run more than twice.
    """

    loop: int
    parts: tuple[Part, ...]
    names: Names
    advance: Rerun
    index: str
    position: Expr | None
    number: Expr
    trips: Expr | None
    reads: tuple[str, ...]
    slots: int | None
    memory: int | None


@dataclass(frozen=True, slots=True)
class Plan:
    """Where everything is that the reverse sweep reads, and what runs again for it."""

    #: (statement, value): the expression by which the reverse sweep reads it.
    reads: Mapping[tuple[int, Expr], Expr]
    #: By level, inner ones first.
    reruns: Mapping[int, Rerun]
    #: The loops whose iterations are numbered through, each with its counter.
    counters: tuple[tuple[int, str], ...]
    reasons: tuple[Stored, ...]
    #: All names in use.
    taken: frozenset[str]

    @property
    def checkpoints(self) -> tuple[Checkpointed, ...]:
        """The loops that are checkpointed."""
        return tuple(r.state for r in self.reruns.values() if r.state is not None)

    @property
    def records(self) -> tuple[Record, ...]:
        """What the forward sweep records."""
        forward = self.reruns.get(FUNCTION)
        return () if forward is None else forward.records
