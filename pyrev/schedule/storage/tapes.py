"""Tapes: which loops a recorded value needs an axis for, and how it is indexed.

A tape has an axis for each loop between its level and the use whose length is known
before the first of them begins. The iterations of the others are numbered through, and
the tape grows. What reads many elements of an array that its nest does not write
records a copy of the array before the nest instead (a snapshot).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from pyrev.ir.affine import integer
from pyrev.ir.nodes import (
    Alloc,
    Call,
    Const,
    Expr,
    Extent,
    If,
    Load,
    Loop,
    Var,
    While,
    mentioned,
    walk_expr,
)
from pyrev.ir.simplify import divides
from pyrev.ir.text import expr_text
from pyrev.ir.trip_counts import iteration, trip_count, trip_count_of, upper
from pyrev.schedule.storage.draft import Draft
from pyrev.schedule.storage.element_order import read_before_written
from pyrev.schedule.storage.plan import Record
from pyrev.schedule.storage.recomputation import Recomputation
from pyrev.schedule.storage.timeline import name_of

#: How many elements a tape of unknown length has room for at first.
_ROOM = 64


@dataclass(frozen=True, slots=True)
class _Axes:
    """How a tape over some loops is indexed, going forward and coming back.

    `room` are its extents when it is made, `shape` those that it has in the end.
    """

    forward: tuple[Expr, ...]
    backward: tuple[Expr, ...]
    room: tuple[Expr, ...]
    shape: tuple[Expr, ...]
    grows: int | None


class Tapes:
    """Adds records to a draft, and says how the reverse sweep reads them.

    `saved` gives an expression with every value in it as it was at a statement.
    """

    def __init__(
        self,
        draft: Draft,
        recomputation: Recomputation,
        saved: Callable[[Expr, int], Expr],
    ) -> None:
        self.draft, self.timeline = draft, draft.timeline
        self.recomputation, self.saved = recomputation, saved
        #: Where a value was recorded, whatever tests come out: how that is read.
        self._known: dict[tuple[int, Var | Load], dict[int, Expr]] = {}
        #: (level, nest, array or rows of it): the copy made before the nest, and how it
        #: is indexed.
        self._snapshots: dict[tuple[int, int, Load], tuple[str, tuple[Expr, ...]]] = {}

    def tape(self, level: int, at: int, leaf: Expr, name: str) -> Expr:
        """Record `leaf` at `at`, over the loops between `level` and `at`.

        The loops inside which a scalar is not written all read one value of it: it is
        recorded once, before them. So do the statements of a block between two writes,
        of a scalar or of any element.
        """
        loops = self.timeline.loops_within(level, at)
        what = expr_text(leaf) if isinstance(leaf, Call) else name
        if not isinstance(leaf, (Var, Load)):
            return self._recorded(level, at, leaf, name, what, loops, False)
        steady: list[Loop] = []
        if isinstance(leaf, Var):
            steady = [f for f in loops if not self.timeline.writes_in(f.id, name)]
        if steady:
            self.draft.level(level).roots[name] = None
            loops = loops[: loops.index(steady[0])]
        where = steady[0].id if steady else at
        known = self._known.setdefault((level, leaf), {})
        for other, read in known.items():
            if all(self.timeline.unchanged(n, other, where) for n in mentioned(leaf)):
                return read
        read = self._recorded(level, where, leaf, name, what, loops, bool(steady))
        if steady or () in self.timeline.paths(at, leaf):
            known[where] = read
        return read

    def _recorded(
        self,
        level: int,
        at: int,
        leaf: Expr,
        name: str,
        what: str,
        loops: list[Loop],
        early: bool,
    ) -> Expr:
        """Record `leaf` before statement `at`, which stands in `loops` of `level`."""
        kind = self._dtype(leaf, name)
        if not loops:
            kept = Var(self.draft.fresh(f"{name}_kept"))
            self._add(level, Record(at, leaf, kept, kind, early=early), what, ())
            return kept
        if isinstance(leaf, Load):
            found = self._snapshot(level, at, leaf, loops)
            if found is not None:
                return found
        target = self.draft.fresh(f"{name}_tape")
        axes = self._axes(level, loops)
        to = Load(target, axes.forward)
        record = Record(at, leaf, to, kind, axes.room, axes.grows, early=early)
        self._add(level, record, what, axes.shape)
        return Load(target, axes.backward)

    def _add(
        self, level: int, record: Record, what: str, shape: tuple[Expr, ...]
    ) -> None:
        self.draft.level(level).records.append(record)
        index = self.timeline.index_of(level)
        self.draft.note(what, "taped", record.at, shape, index, record.dtype)

    def _dtype(self, leaf: Expr, name: str) -> str:
        """The dtype in which a value is kept; of a test one bit."""
        if isinstance(leaf, Extent):
            return "int64"
        return "bool" if isinstance(leaf, Call) else self.timeline.dtype_of(name)

    # ---------------------------------------------------------------- axes

    def _axes(self, level: int, loops: list[Loop]) -> _Axes:
        """The axes of a tape over `loops`, in the order of their iterations."""
        known: list[Expr] = []
        rest = list(loops)
        while rest and rest[-1].index:
            extent = self.extent(rest[-1], loops, level)
            if extent is None:
                break
            known.insert(0, extent)
            rest.pop()
        inner = loops[len(rest) :]
        shape = tuple(known)
        forward = tuple(iteration(loop.index, loop.lo, loop.step) for loop in inner)
        backward = tuple(self._iteration_back(loop) for loop in inner)
        if not rest:
            return _Axes(forward, backward, shape, shape, None)
        there, back, length = self._numbered(level, rest)
        room = Const(_ROOM if not known else 1)
        return _Axes(
            (there, *forward),
            (back, *backward),
            (room, *shape),
            (length, *shape),
            rest[-1].id,
        )

    def _iteration_back(self, loop: Loop) -> Expr:
        """The number of an iteration, as the reverse sweep writes it."""
        lo, step = self.saved(loop.lo, loop.id), self.saved(loop.step, loop.id)
        return iteration(loop.index, lo, step)

    def _numbered(self, level: int, loops: list[Loop]) -> tuple[Expr, Expr, Expr]:
        """The number of an iteration of the last of `loops`, all of them counted.

        As the forward and as the reverse sweep write it, and how many there are.
        """
        loop = loops[-1]
        if len(loops) == 1:
            count = getattr(loop, "count", "")
            if isinstance(loop, While) and not loop.index:
                self.draft.level(level).roots[count] = None
                return Var(count), Var(self.timeline.backward[loop.id]), Var(count)
            back = self._iteration_back(loop)
            length = Var(count) if count else trip_count_of(loop)
            return iteration(loop.index, loop.lo, loop.step), back, length
        counters = self.draft.level(level).counters
        if loop.id not in counters:
            counters[loop.id] = self.draft.fresh("place")
        place = Var(counters[loop.id])
        return place, place, place

    def extent(self, loop: Loop, around: list[Loop], level: int) -> Expr | None:
        """An upper bound of the trip count of `loop` over all iterations around it.

        None if there is none that is known before the outermost of them begins.
        """
        timeline = self.timeline
        outer = {
            f.index: f for f in around if f.index and timeline.encloses(f.id, loop.id)
        }
        top = timeline.top(level, around[0].id)
        bound = upper(trip_count(loop), outer)
        # Where the loop does not come to run, its bound must not be evaluated.
        if bound is None or divides(bound):
            return None
        indices = {f.index for f in around if f.index}
        for e in walk_expr(bound):
            if not isinstance(e, (Var, Load, Extent)):
                continue
            if isinstance(e, Var) and e.name in indices:
                return None
            for w in timeline.writes.get(name_of(e), ()):
                # An array keeps its shape unless it is made again.
                shapes = not isinstance(e, Extent) or timeline.makes(w)
                if shapes and (w == top or timeline.inside(top, w)):
                    return None
        return bound

    # ---------------------------------------------------------------- snapshots

    def _snapshot(
        self, level: int, at: int, leaf: Load, loops: list[Loop]
    ) -> Expr | None:
        """`leaf` from a copy of its array, made before a nest that does not write it.

        One copy serves all that the nest reads; None where it reads one element or
        fewer than the array has axes. A nest that writes each element behind its last
        read is such, too; and of one that writes other rows only, those are copied
        that it reads.
        """
        nest = self.recomputation.copied_before(level, at, leaf, loops)
        if nest is None and read_before_written(self.timeline, at, leaf, loops):
            nest = loops[0].id
        rows: tuple[Expr, ...] = ()
        if nest is None:
            nest, rows = self.recomputation.rows_before(at, leaf, loops)
        own = self.recomputation.shape_at(level, at, leaf.array)
        if nest is None or own is None:
            return None
        of = replace(leaf, index=rows)
        same = (
            other
            for (where, other, array) in self._snapshots
            if (where, array) == (level, of)
            and self.timeline.unchanged(leaf.array, other, nest)
        )
        key = (level, next(same, nest), of)
        if key not in self._snapshots:
            around = loops[: [f.id for f in loops].index(nest)]
            self._snapshots[key] = self._copied(level, nest, of, around, own)
        target, prefix = self._snapshots[key]
        index = tuple(self.saved(e, at) for e in leaf.index[len(rows) :])
        return Load(target, (*prefix, *index))

    def _copied(
        self,
        level: int,
        nest: int,
        leaf: Load,
        loops: list[Loop],
        own: tuple[Expr, ...],
    ) -> tuple[str, tuple[Expr, ...]]:
        """A copy of an array of the extents `own`, or of rows of it, as they are before
        `nest`, one for each iteration around.

        A nest that runs reads these rows; where it does not there may be none.
        """
        array = leaf.array
        there = self._inside(leaf)
        own = own[len(leaf.index) :]
        target = self.draft.fresh(f"{array}_before")
        kind = self.timeline.dtype_of(array)
        if loops:
            axes = self._axes(level, loops)
            to = Load(target, axes.forward)
            room = (*axes.room, *own)
            record = Record(nest, leaf, to, kind, room, axes.grows, True, there)
            self._add(level, record, array, (*axes.shape, *own))
            return target, axes.backward
        if leaf.index or any(
            isinstance(self.timeline.places[c].stmt, If)
            for c in self.timeline.controls(level, nest)
        ):
            # Made on every path, filled on this one.
            to = Load(target, ())
            record = Record(nest, leaf, to, kind, own, whole=True, there=there)
        else:
            record = Record(nest, leaf, Var(target), kind, whole=True)
        self._add(level, record, array, own)
        return target, ()

    def _inside(self, leaf: Load) -> Expr | None:
        """The test whether an array has some rows, which literals number; None if it
        has, whatever the arguments are.
        """
        timeline, array = self.timeline, leaf.array
        makers = filter(timeline.makes, timeline.writes.get(array, ()))
        made = [timeline.places[w].stmt for w in makers]
        shapes = [s.shape for s in made if isinstance(s, Alloc)]
        own = shapes[0] if len(shapes) == 1 and array not in timeline.params else ()
        open_: list[Expr] = []
        for k, row in enumerate(leaf.index):
            size = integer(own[k]) if own else None
            if size is None or (integer(row) or 0) >= size:
                open_.append(Call("<", (row, Extent(array, k))))
        if len(open_) < 2:
            return open_[0] if open_ else None
        return Call("and", tuple(open_))
