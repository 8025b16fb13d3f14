"""Which statements run again at each level, and the state that they start from.

What runs again is the backward slice of what is wanted at the level: the last values of
names, and what is recorded on the way. Where the loop is checkpointed it starts from
the state in which its iteration began.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from pyrev.adjoint.reverse import FUNCTION
from pyrev.ir.liveness import exposed
from pyrev.ir.nodes import (
    ONE,
    ZERO,
    Call,
    Expr,
    Extent,
    For,
    Load,
    Var,
    While,
    walk_expr,
)
from pyrev.ir.simplify import sub_int
from pyrev.ir.trip_counts import iteration, trip_count
from pyrev.schedule.storage.build import statements
from pyrev.schedule.storage.checkpoint import Part, names_for
from pyrev.schedule.storage.draft import Draft
from pyrev.schedule.storage.plan import Checkpointed, Record, Rerun
from pyrev.schedule.storage.recomputation import Recomputation
from pyrev.schedule.storage.timeline import Leaf, name_of


class Reruns:
    """Finds, level by level, what runs again; `read` and `saved` ask for more values.

    `checkpointed` are the loops that are reversed from kept states, each with how many
    of them; where that is None, as many as `memory` has room for.
    """

    def __init__(
        self,
        draft: Draft,
        recomputation: Recomputation,
        checkpointed: Mapping[int, int | None],
        memory: int | None,
        read: Callable[[int, Expr], Expr],
        saved: Callable[[Expr, int], Expr],
    ) -> None:
        self.draft, self.timeline = draft, draft.timeline
        self.recomputation, self.read, self.saved = recomputation, read, saved
        self.checkpointed, self.memory = checkpointed, memory

    def rerun(self, level: int, ends: Iterable[int]) -> Rerun:
        """What runs again at `level`; at FUNCTION also the statements `ends`."""
        want = self.draft.levels[level]
        roots = dict.fromkeys(want.roots, self.timeline.end)
        checkpoints: tuple[Checkpointed, ...] = ()
        around: list[int] = []
        if level == FUNCTION:
            around += ends
            checkpoints = self.draft.checkpoints()
            for one in checkpoints:
                around += self.timeline.controls(FUNCTION, one.loop)
                for name in one.reads:
                    roots.setdefault(name, self.timeline.places[one.loop].first)
        keep = self._closure(level, roots, want.records, around)
        found = Rerun(
            level,
            frozenset(keep),
            tuple(want.roots),
            tuple(want.records),
            want.counters,
            self.draft.copies_at(level),
            checkpoints,
            tuple(self.draft.zeros) if level == FUNCTION else (),
        )
        if level not in self.checkpointed:
            return found
        return replace(found, state=self._state(level, found))

    # ---------------------------------------------------------------- slices

    def _closure(
        self,
        level: int,
        roots: Mapping[str, int],
        records: Iterable[Record],
        around: Iterable[int] = (),
    ) -> set[int]:
        """The statements in `level` that the records, the roots and `around` need.

        A root is a name with the time up to which its writes count.
        """
        timeline = self.timeline
        keep: set[int] = set()
        names: dict[str, int] = dict(roots)
        todo: list[int] = list(around)

        def read(at: int, where: int, leaf: Leaf) -> None:
            if self._reads_here(level, where, leaf):
                name = name_of(leaf)
                names[name] = max(names.get(name, 0), timeline.until(level, at))

        for record in records:
            todo += timeline.controls(level, record.at)
            for e in self._record_reads(record):
                read(record.at, record.at, e)
        while True:
            for name, end in names.items():
                todo += [
                    w
                    for w in timeline.writes_in(level, name)
                    if timeline.places[w].first < end
                ]
            new = [at for at in todo if at not in keep]
            todo = []
            if not new:
                return keep
            for at in new:
                if at in keep:
                    continue
                keep.add(at)
                todo += timeline.controls(level, at)
                for where, leaf in timeline.reads_of(level, [at]):
                    read(at, where, leaf)

    def _reads_here(self, level: int, at: int, leaf: Leaf) -> bool:
        """Does what `leaf` reads at `at` have to be made by what runs again there, too?

        If not, this sees that it is there: at an outer level, or in a copy.
        """
        name = name_of(leaf)
        if self.timeline.constant(leaf):
            return False
        legal = self.recomputation
        restored = (level, at, leaf) in legal.restored
        in_state = level in self.checkpointed and self.timeline.moves(level, name)
        if not restored and (level == FUNCTION or in_state or legal.makes(level, name)):
            return True
        found = None if restored else legal.available(level, at, leaf)
        if found is None:
            assert restored or legal.copyable(level, at, leaf), (
                f"{name} is lost at level {level}"
            )
            copies = self.draft.copies.setdefault((level, at), {})
            copies[leaf] = self.read(at, leaf)
            return False
        self.draft.need(sorted(found))
        return False

    def _record_reads(self, record: Record) -> Iterator[Leaf]:
        """What a record reads: its value, its place on the tape, its tests."""
        sources: list[Expr] = [record.leaf]
        if isinstance(record.target, Load):
            sources += record.target.index
        if not record.whole and not record.early:
            paths = self.timeline.paths(record.at, record.leaf)
            sources += [t for path in paths for t in path]
        if record.room is not None:
            sources += record.room
        if record.there is not None:
            sources.append(record.there)
        for source in sources:
            for e in walk_expr(source):
                if isinstance(e, (Var, Load, Extent)):
                    yield e

    # ---------------------------------------------------------------- states

    def _state(self, level: int, again: Rerun) -> Checkpointed:
        """How the state is made in which the iteration of `level` began."""
        loop, draft = self.timeline.loop(level), self.draft
        before = self.timeline.made_before(loop)
        state, advance = self._state_names(level, again, before)
        draft.zeros.update(dict.fromkeys(n for n in state if n not in before))
        ranks = self.timeline.ranks
        parts = tuple(
            Part(
                n,
                draft.fresh(f"{n}_kept"),
                tuple(Extent(n, k) for k in range(ranks.get(n, 0))),
                self.timeline.dtype_of(n),
            )
            for n in state
        )
        names = names_for(draft.taken)
        trips = None if isinstance(loop, While) and not loop.index else trip_count(loop)
        reads = list(state)
        if trips is not None:
            reads += [e.name for e in walk_expr(trips) if isinstance(e, Var)]
        draft.level(FUNCTION)
        index = draft.fresh(loop.index or "k")
        position, number = self._numbers(level, index, trips)
        for part in parts:
            shape = (Var(names.slots), *part.shape)
            draft.note(part.name, "checkpointed", level, shape, dtype=part.dtype)
        return Checkpointed(
            level,
            parts,
            names,
            advance,
            index,
            position,
            number,
            trips,
            tuple(reads),
            self.checkpointed[level] or None,
            self.memory,
        )

    def _state_names(
        self, level: int, again: Rerun, before: frozenset[str]
    ) -> tuple[Sequence[str], Rerun]:
        """The names of a state, and the statements that lead from one to the next.

        In a state is what `again` reads before it sets it, and what the reverse sweep
        wants that `again` does not set on all paths; then what the statements read that
        make these in the next iteration.
        """
        timeline = self.timeline
        inside = [n for n in timeline.writes if timeline.moves(level, n)]
        block = statements(timeline, again, set(self.draft.taken))
        names: list[str] = []
        for n in inside:
            read, made = exposed(block, n)
            # An array that there was none of before the loop is read where it is made.
            carried = n in before or not timeline.ranks.get(n)
            if read or (n in again.roots and not made and carried):
                names.append(n)
        while True:
            keep = self._closure(level, dict.fromkeys(names, timeline.end), ())
            copies = self.draft.copies_at(level)
            advance = Rerun(level, frozenset(keep), copies=copies)
            block = statements(timeline, advance, set(self.draft.taken))
            more = [n for n in inside if n not in names and exposed(block, n)[0]]
            if not more:
                return names, advance
            names += more

    def _numbers(
        self, level: int, index: str, trips: Expr | None
    ) -> tuple[Expr | None, Expr]:
        """What a loop's own index is in iteration number `index`, and the number of the
        iteration that is reversed.
        """
        loop = self.timeline.loop(level)
        if not loop.index:
            return None, Var(self.timeline.backward[level])
        lo, step = self.saved(loop.lo, loop.id), self.saved(loop.step, loop.id)
        position: Expr = Var(index)
        number = iteration(loop.index, lo, step)
        if isinstance(loop, For) and loop.reverse:
            assert trips is not None
            last = sub_int(self.saved(trips, loop.id), ONE)
            position, number = (Call("-", (last, e)) for e in (position, number))
        if step != ONE:
            position = Call("*", (position, step))
        if lo != ZERO:
            position = Call("+", (lo, position))
        return position, number
