"""Trajectories: what one iteration leaves to the next is recorded once.

A value that a loop carries is the same at the end of an iteration and at the start of
the next. Where the reverse sweep reads both, one tape has both, with a place more than
the loop has iterations: the state before the loop, and behind each iteration.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from pyrev.ir.affine import Linear, from_linear, linear
from pyrev.ir.nodes import (
    NOWHERE,
    ONE,
    ZERO,
    Call,
    Const,
    Expr,
    For,
    Load,
    Loop,
    Var,
    children,
    fresh,
    rebuild,
)
from pyrev.ir.simplify import add_int
from pyrev.ir.trip_counts import fixed_trip
from pyrev.schedule.storage.element_order import element_axes, written_before
from pyrev.schedule.storage.plan import Plan, Record, Rerun, Stored
from pyrev.schedule.storage.recomputation import Recomputation
from pyrev.schedule.storage.timeline import Timeline, name_of


def joined(plan: Plan, recomputation: Recomputation) -> Plan:
    """The plan with one tape in the place of several, where some have what the others
    have an iteration later.

    Law: each read of the plan gives the same value.
    Not handled: loops that end early or run backwards; what is recorded where loops
    inside change it in no order that can be told; several ends without a start; plans
    with checkpoints.

    Where ``h = tanh(w * h + x[t])`` is followed by ``loss += (h - y[t]) ** 2``, the
    loop records ``h_tape[t + 1] = h`` behind the first, ``h_tape[0] = h`` stands before
    it, and ``h_tape[t]`` is what the iteration began with.
    """
    if plan.checkpoints:
        return plan
    for found in list(_trajectories(plan, recomputation)):
        plan = found.one_tape(plan)
    return plan


@dataclass(frozen=True, slots=True)
class _Tape:
    """A record of what the last of `loops` carries: of a scalar or a whole array, or of
    elements, one for each iteration of the loops inside.

    `subscripts` are those of an element in the array, each by its place among those of
    the tape and what is to be added; None of what has no elements, or all. `early` is
    made before anything changes the value in an iteration of the last loop, `late` when
    all has.
    """

    record: Record
    loops: tuple[Loop, ...]
    subscripts: tuple[tuple[int, Linear], ...] | None
    early: bool
    late: bool

    @property
    def name(self) -> str:
        """Its name."""
        return name_of(self.target)

    @property
    def target(self) -> Load:
        """Where the record goes."""
        assert isinstance(self.record.target, Load)
        return self.record.target

    @property
    def of(self) -> str:
        """What it is of."""
        assert isinstance(self.record.leaf, (Var, Load))
        return name_of(self.record.leaf)


@dataclass(frozen=True, slots=True)
class _Trajectory:
    """What is recorded of a name that `loop` carries: before an iteration changes it,
    and when it has, or several times before. `own` are the extents of an array.
    """

    timeline: Timeline
    level: int
    loop: For
    starts: tuple[_Tape, ...]
    ends: tuple[_Tape, ...]
    own: tuple[Expr, ...]

    def one_tape(self, plan: Plan) -> Plan:
        """The plan with all in one."""
        tapes = {t.name: t for t in (*self.starts, *self.ends)}
        some = (*self.starts, *self.ends)[0]
        called = f"{some.of}_{'tape' if self.ends else 'before'}"
        own = called if called in tapes else fresh(called, set(plan.taken))
        axis = len(some.loops) - 1
        late = {t.name for t in self.ends}

        def instead(e: Expr) -> Expr:
            match e:
                case Load(array, index) if array in tapes:
                    found = tuple(map(instead, index))
                    where = add_int(found[axis], 1) if array in late else found[axis]
                    subscripts = tapes[array].subscripts
                    if subscripts is None:
                        rest = found[axis + 1 :]
                    else:
                        rest = tuple(_moved(found[p], by) for p, by in subscripts)
                    return Load(own, (*found[:axis], where, *rest))
            return rebuild(e, tuple(map(instead, children(e))))

        gone = {t.record for t in tapes.values()}
        rerun = plan.reruns[self.level]
        kept = tuple(r for r in rerun.records if r not in gone)
        rerun = replace(rerun, records=kept)
        plan = _with_reads(
            replace(plan, reruns={**plan.reruns, self.level: rerun}), instead
        )
        made = self._records(some, own)
        rerun = plan.reruns[self.level]
        rerun = replace(rerun, records=(*rerun.records, *made))
        room = made[0].room
        assert room is not None
        return replace(
            plan,
            reruns={**plan.reruns, self.level: rerun},
            reasons=tuple(self._reasons(plan.reasons, room)),
            taken=plan.taken | {own},
        )

    def _records(self, some: _Tape, own: str) -> tuple[Record, ...]:
        """What is recorded instead, in the array `own`."""
        axis = len(some.loops) - 1
        *outer, here = some.target.index[: axis + 1]
        room = some.record.room
        assert room is not None
        places, top = self.timeline.places, self.timeline.top
        begin = min((t.record.at for t in self.starts), key=lambda at: places[at].first)
        changes = self.timeline.writes_in(self.loop.id, some.of)
        last = max(changes, key=lambda at: places[at].last)
        before = Record(
            top(self.loop.id, begin),
            Load(some.of, ()) if self.own else Var(some.of),
            Load(own, (*outer, here)),
            some.record.dtype,
            (*room[: axis + 1], *self.own),
            whole=bool(self.own),
            early=True,
            loc=NOWHERE,
        )
        if not self.ends:
            return (before,)
        behind = replace(
            before,
            at=top(self.loop.id, last),
            target=Load(own, (*outer, add_int(here, 1))),
            room=(*room[:axis], _one_more(room[axis]), *self.own),
            behind=True,
        )
        first = replace(
            before, at=self.loop.id, target=Load(own, (*outer, ZERO)), room=None
        )
        return behind, first

    def _reasons(
        self, reasons: tuple[Stored, ...], room: tuple[Expr, ...]
    ) -> Iterator[Stored]:
        """The reasons, with one for all that is recorded here."""
        lines = {
            (t.of, self.timeline.places[t.record.at].stmt.loc.line, t.record.room)
            for t in (*self.starts, *self.ends)
        }
        said = False
        for r in reasons:
            if r.kind != "taped" or (r.name, r.loc.line, r.shape) not in lines:
                yield r
            elif not said:
                said = True
                yield replace(r, shape=room)


def _moved(subscript: Expr, by: Linear) -> Expr:
    if by.terms:
        return from_linear(linear(subscript).plus(by))
    return add_int(subscript, by.constant)


def _one_more(length: Expr) -> Expr:
    match length:
        case Call("max", (inner, Const(0))):
            return Call("max", (add_int(inner, 1), ONE))
    return add_int(length, 1)


def _with_reads(plan: Plan, instead: Callable[[Expr], Expr]) -> Plan:
    """The plan with other reads of tapes."""

    def record(r: Record) -> Record:
        target = r.target
        if isinstance(target, Load):
            target = replace(target, index=tuple(map(instead, target.index)))
        room = None if r.room is None else tuple(map(instead, r.room))
        return replace(r, leaf=instead(r.leaf), target=target, room=room)

    def rerun(one: Rerun) -> Rerun:
        copies = {
            at: {leaf: instead(read) for leaf, read in found.items()}
            for at, found in one.copies.items()
        }
        return replace(one, records=tuple(map(record, one.records)), copies=copies)

    return replace(
        plan,
        reads={key: instead(read) for key, read in plan.reads.items()},
        reruns={level: rerun(one) for level, one in plan.reruns.items()},
    )


# ------------------------------------------------------------------ which


def _trajectories(plan: Plan, recomputation: Recomputation) -> Iterator[_Trajectory]:
    """What is recorded both at the start and at the end of iterations."""
    timeline = recomputation.timeline
    for level, rerun in plan.reruns.items():
        groups: dict[tuple[int, str], list[_Tape]] = {}
        for record in rerun.records:
            tape = _tape(timeline, level, record)
            if tape is not None:
                groups.setdefault((tape.loops[-1].id, tape.of), []).append(tape)
        for (_, name), tapes in groups.items():
            loop = tapes[0].loops[-1]
            if not isinstance(loop, For) or loop.reverse:
                continue
            own: tuple[Expr, ...] | None = ()
            if name in timeline.ranks:
                own = recomputation.shape_at(level, loop.id, name)
            if own is None or name not in timeline.made_before(loop, level):
                continue
            starts = tuple(t for t in tapes if t.early)
            ends = tuple(t for t in tapes if t.late)
            if starts and ends or len(starts) > 1:
                yield _Trajectory(timeline, level, loop, starts, ends, own)


def _tape(timeline: Timeline, level: int, record: Record) -> _Tape | None:
    """What a record is, if it goes to a tape with an axis for each loop of which one
    carries what it is of.
    """
    loops = tuple(timeline.loops_within(level, record.at))
    target, leaf = record.target, record.leaf
    if (
        record.room is None
        or record.grows is not None
        or not isinstance(target, Load)
        or not isinstance(leaf, (Var, Load))
        or len(target.index) != len(loops)
    ):
        return None
    if record.whole and isinstance(leaf, Load) and leaf.index:
        return None  # rows: other rows of the array may be on another tape
    elements = isinstance(leaf, Load) and not record.whole
    outer = len(loops) - (len(leaf.index) if isinstance(leaf, Load) and elements else 0)
    if outer < 1:
        return None
    changes = timeline.writes_in(loops[outer - 1].id, name_of(leaf))
    if not changes or any(map(timeline.makes, changes)):
        return None
    found: tuple[tuple[int, Linear], ...] | None = None
    if isinstance(leaf, Load) and elements:
        found = element_axes(leaf, target.index, loops, outer)
        if found is None or any(
            isinstance(f, For) and fixed_trip(f) for f in loops[outer:]
        ):
            return None  # of few elements of many, perhaps
    before = {
        written_before(timeline, w, record.at, target.index, loops, outer, found)
        for w in changes
    }
    return _Tape(record, loops[:outer], found, before == {False}, before == {True})
