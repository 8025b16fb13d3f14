"""Which values one run of a level can make again, and from what.

Recomputation is legal for a value where the *slice* of its name (Weiser 1981: the
statements that it depends on) is inside the level, writes nothing that others read, and
starts from values that are still there when it runs again: *available*, as in common
subexpression elimination. Nothing here says that it is worth it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pyrev.adjoint.reverse import FUNCTION
from pyrev.ir.accesses import accesses
from pyrev.ir.affine import integer
from pyrev.ir.liveness import exposed
from pyrev.ir.nodes import (
    ZERO,
    Alloc,
    Call,
    Const,
    Expr,
    Extent,
    For,
    Load,
    Loop,
    Var,
    exprs,
    mentioned,
    walk_expr,
)
from pyrev.ir.simplify import divides
from pyrev.ir.trip_counts import fixed_trip
from pyrev.schedule.storage.timeline import Leaf, Place, Timeline, name_of

#: Where values can be read: (level, name).
Needs = frozenset[tuple[int, str]]


@dataclass(frozen=True, slots=True)
class Choice:
    """What of iterations is recorded so that other values can be made again.

    Values of `names` are not made again. `leaves` are read from tapes, each by a
    statement where it runs again at a level.
    """

    names: frozenset[str] = frozenset()
    leaves: frozenset[tuple[int, int, Leaf]] = frozenset()

    def __or__(self, other: Choice) -> Choice:
        return Choice(self.names | other.names, self.leaves | other.leaves)


class Recomputation:
    """What may run again, for one timeline.

    The iterations of the loops in `checkpointed` start from a state that is restored:
    all that has changed since they began can be made again. The names in `kept` are not
    to be made again. What is `restored` is (level, statement, leaf): the statement,
    run again at the level, reads it from a tape.
    """

    def __init__(
        self,
        timeline: Timeline,
        checkpointed: Mapping[int, int | None],
        kept: frozenset[str],
        restored: frozenset[tuple[int, int, Leaf]] = frozenset(),
    ) -> None:
        self.timeline = timeline
        self.restored = restored
        self.checkpointed = checkpointed
        self.kept = frozenset() if checkpointed else kept
        self._slices: dict[tuple[int, str], Needs | None] = {}
        #: How many slices are being looked for: what is found out meanwhile may rest on
        #: one that is not known yet.
        self._open = 0
        self._lost: dict[tuple[int, int, Load], bool] = {}
        self._private: dict[tuple[int, str], bool] = {}
        self._overwritten: dict[tuple[int, int, Leaf], bool] = {}
        self._recorded: dict[tuple[int, Leaf], int | None] = {}

    # ---------------------------------------------------------------- live ranges

    def private(self, level: int, name: str) -> bool:
        """Is each value of `name` made and used up in one run of `level`?

        All writes are inside then; for an array what makes it, too.
        """
        key = (level, name)
        found = self._private.get(key)
        if found is None:
            found = self._private[key] = self._is_private(level, name)
        return found

    def _is_private(self, level: int, name: str) -> bool:
        if level in self.checkpointed:
            return self.timeline.moves(level, name)
        if name in self.timeline.params:
            return False
        return all(self.timeline.inside(level, w) for w in self.timeline.writes[name])

    def makes(self, level: int, name: str) -> bool:
        """Does a run of `level` make its own values of `name`?"""
        return bool(self.timeline.writes_in(level, name)) and self.private(level, name)

    def overwritten(self, level: int, at: int, leaf: Var | Load) -> bool:
        """May `leaf` change between statement `at` and the end of one run of `level`?

        A write counts that comes later in the text, or at any place of a loop that both
        are in; then the dependence analysis says if it meets the same element.
        """
        key = (level, at, leaf)
        found = self._overwritten.get(key)
        if found is None:
            found = self._overwritten[key] = self._may_change(level, at, leaf)
        return found

    def _may_change(self, level: int, at: int, leaf: Var | Load) -> bool:
        here = self.timeline.places[at]
        for w in self.timeline.writes_in(level, name_of(leaf)):
            there = self.timeline.places[w]
            # Its own write, its body, or what follows.
            after = there.first >= here.first
            if after or any(
                loop in there.loops and self.timeline.inside(level, loop.id)
                for loop in here.loops
            ):
                return not isinstance(leaf, Load) or self._element_lost(level, at, leaf)
        return False

    def _element_lost(self, level: int, at: int, leaf: Load) -> bool:
        key = (level, at, leaf)
        if key not in self._lost:
            self._lost[key] = self.timeline.lost(self.timeline.body_of(level), at, leaf)
        return self._lost[key]

    def steady(self, at: int, leaf: Var | Load) -> bool:
        """Does `leaf` still have, after the forward sweep, the value it had at `at`?"""
        name = name_of(leaf)
        if name not in self.timeline.writes:
            return True
        if isinstance(leaf, Load) and any(
            self.timeline.makes(w) and self.timeline.places[w].loops
            for w in self.timeline.writes[name]
        ):
            return False
        return not self.overwritten(FUNCTION, at, leaf)

    def keeps(self, at: int, target: Load) -> bool:
        """Does an array still have, after the forward sweep, what `at` stored in it?

        It is found there by subscripts that the reverse sweep has anyway.
        """
        makers = filter(self.timeline.makes, self.timeline.writes[target.array])
        if any(self.timeline.places[w].loops for w in makers):
            return False
        if not self._plain(target, at):
            return False
        body = self.timeline.primal.body
        return not self.timeline.lost(body, at, target, or_same=False)

    def available(self, level: int, at: int, leaf: Leaf) -> Needs | None:
        """Where outside `level` the value that `leaf` has at `at` can be read.

        None for nowhere. Closest first: a loop around `level` whose iterations make it
        again and keep it to their end; then what the forward sweep leaves behind.
        """
        name = name_of(leaf)
        if isinstance(leaf, Extent):
            if name in self.timeline.params:
                return frozenset()
            makers = [w for w in self.timeline.writes[name] if self.timeline.makes(w)]
            if len(makers) == 1 and not self.timeline.places[makers[0]].loops:
                return frozenset({(FUNCTION, name)})  # whatever becomes of its elements
            leaf = Load(name, ())
        for loop in reversed(self.timeline.places[at].loops):
            if self.timeline.encloses(loop.id, level) and self.private(loop.id, name):
                needs = self.slice(loop.id, name)
                if needs is not None and not self.overwritten(loop.id, at, leaf):
                    return needs | {(loop.id, name)}
        return frozenset({(FUNCTION, name)}) if self.steady(at, leaf) else None

    # ---------------------------------------------------------------- slices

    def makers_of(self, place: Place, name: str) -> Sequence[Loop]:
        """The loops around `place` whose iterations may make `name` again."""
        return () if name in self.kept else place.loops[::-1]

    def slice(self, level: int, name: str) -> Needs | None:
        """What the slice of `name` in one run of `level` reads of outer levels.

        None where it may not run again.
        """
        if level in self.checkpointed:
            return frozenset()
        key = (level, name)
        if key not in self._slices:
            self._slices[key] = None  # a cycle through outer levels is a no
            self._open += 1
            try:
                self._slices[key] = self._try_slice(level, name)
            finally:
                self._open -= 1
        return self._slices[key]

    def _try_slice(self, level: int, root: str) -> Needs | None:
        body = self.timeline.body_of(level)
        needs: set[tuple[int, str]] = set()
        todo, seen = [root], {root}
        while todo:
            name = todo.pop()
            if exposed(body, name)[0]:
                return None
            own = self.timeline.writes_in(level, name)
            is_array = not any(map(self.timeline.writes_scalar, own))
            if is_array and not any(map(self.timeline.makes, own)):
                return None  # running it again would change an array that others read
            for at, leaf in self.timeline.reads_of(level, own):
                read = name_of(leaf)
                if self.timeline.places[at].counts(read):
                    continue
                if self.timeline.constant(leaf) or (level, at, leaf) in self.restored:
                    continue
                if self.makes(level, read):
                    if read not in seen:
                        seen.add(read)
                        todo.append(read)
                    continue
                found = self.available(level, at, leaf)
                if found is None and not self.copyable(level, at, leaf):
                    return None
                needs |= found or frozenset()
        return frozenset(needs)

    # ---------------------------------------------------------------- records

    def recorded_at(self, at: int, leaf: Var | Load) -> int | None:
        """The level at which `leaf` has to be recorded; None if it need not be."""
        key = (at, leaf)
        if key in self._recorded:
            return self._recorded[key]
        found = self._record_level(at, leaf)
        if not self._open:
            self._recorded[key] = found
        return found

    def _record_level(self, at: int, leaf: Var | Load) -> int | None:
        place, name = self.timeline.places[at], name_of(leaf)
        if place.counts(name) or name not in self.timeline.writes:
            return None
        for loop in self.makers_of(place, name):
            if not self.private(loop.id, name) or self.slice(loop.id, name) is None:
                continue
            if not self.overwritten(loop.id, at, leaf):
                return None
            if self.recordable(loop.id, at, leaf):
                return loop.id
        return None if self.steady(at, leaf) else FUNCTION

    def test_recorded_at(self, at: int, test: Expr) -> int | None:
        """The level at which the outcome of `test` has to be recorded, if any.

        It need not be where all its operands are there; else it is recorded as far out
        as any of them would be.
        """
        found: int | None = None
        for e in walk_expr(test):
            if isinstance(e, (Var, Load)):
                level = self.recorded_at(at, e)
                if level is not None and (
                    found is None
                    or self.timeline.depth(level) < self.timeline.depth(found)
                ):
                    found = level
        if found is None or found == FUNCTION or self.recordable(found, at, test):
            return found
        return FUNCTION

    def recordable(self, level: int, at: int, leaf: Expr) -> bool:
        """Can what leads to statement `at`, in one run of `level`, run again there?"""
        reads = [
            (control, e)
            for control in self.timeline.controls(level, at)
            for top in exprs(self.timeline.places[control].stmt)
            for e in walk_expr(top)
        ]
        reads += [(at, e) for e in walk_expr(leaf)]
        # A record repeats the tests under which the statement evaluates the value.
        tests = [t for path in self.timeline.paths(at, leaf) for t in path]
        reads += [(at, e) for test in tests for e in walk_expr(test)]
        for where, e in reads:
            if not isinstance(e, (Var, Load)):
                continue
            name = name_of(e)
            if name not in self.timeline.writes:
                continue
            if self.timeline.places[where].counts(name):
                continue
            if self.makes(level, name):
                if self.slice(level, name) is None:
                    return False
            elif self.available(level, where, e) is None:
                return False
        return True

    # ---------------------------------------------------------------- copies

    def copyable(self, level: int, at: int, leaf: Leaf) -> bool:
        """Can statement `at`, run again at `level`, read `leaf` from a copy?

        The copy of its array is made before a nest around `level` that does not write
        the array.
        """
        if not isinstance(leaf, Load) or not self._plain(leaf, at):
            return False
        if self.timeline.loops_within(level, at):
            return False  # a sum over a loop: its value is kept instead
        outer = self.recorded_at(at, leaf)
        if outer is None:
            return False
        loops = self.timeline.loops_within(outer, at)
        nest = self.copied_before(outer, at, leaf, loops)
        return nest is not None and (nest == level or self.timeline.inside(nest, level))

    def _plain(self, leaf: Load, at: int) -> bool:
        """Are its subscripts made of loop indices and of what never changes?"""
        place = self.timeline.places[at]
        return all(
            not isinstance(e, (Var, Load, Extent))
            or place.counts(name_of(e))
            or self.timeline.constant(e)
            for k in leaf.index
            for e in walk_expr(k)
        )

    def copied_before(
        self, level: int, at: int, leaf: Load, loops: Sequence[Loop]
    ) -> int | None:
        """The nest before which a copy of the array is made for `leaf`, if any is.

        It is the outermost of `loops` that does not write the array, and pays where the
        nest reads more than one element in an iteration, over as many loops as the
        array has axes; or where more loops than that number the elements, so that some
        are read again.
        """
        array = leaf.array
        if self.shape_at(level, at, array) is None:
            return None
        k = next(
            (
                k
                for k, loop in enumerate(loops)
                if not self.timeline.writes_in(loop.id, array)
            ),
            None,
        )
        if k is None or self.timeline.ranks[array] > len(loops) - k:
            return None
        nest = loops[k]
        several = len(set(accesses((nest,), array))) > 1
        return nest.id if several or self._read_again(leaf, loops[k:]) else None

    def rows_before(
        self, at: int, leaf: Load, loops: Sequence[Loop]
    ) -> tuple[int | None, tuple[Expr, ...]]:
        """The nest before which rows of an array are copied for `leaf`, if any is, and
        the subscripts that say which rows.

        These are literals. The nest writes to other rows only, reads more than one
        element of these in an iteration, and has as many loops as they have axes.
        """
        for k, loop in enumerate(loops):
            for front in range(1, len(leaf.index)):
                rows = leaf.index[:front]
                if len(leaf.index) - front <= len(loops) - k and self._other_rows(
                    loop, leaf.array, rows
                ):
                    found = set(accesses((loop,), leaf.array))
                    if sum(e[:front] == rows for e in found) > 1:
                        return loop.id, rows
        return None, ()

    def _other_rows(self, nest: Loop, array: str, rows: tuple[Expr, ...]) -> bool:
        """Are these subscripts literals behind which a nest writes no element?"""
        if not all(map(_is_number, rows)):
            return False
        for w in self.timeline.writes_in(nest.id, array):
            target = getattr(self.timeline.places[w].stmt, "target", None)
            if not isinstance(target, Load) or not any(
                map(_other_number, target.index, rows)
            ):
                return False
        return True

    def _read_again(self, leaf: Load, loops: Sequence[Loop]) -> bool:
        """Do more loops of unknown length than an array has axes read an element of it,
        of which they and nothing else say which one that is?
        """
        timeline, indices = self.timeline, {f.index for f in loops}
        unknown = [f for f in loops if not (isinstance(f, For) and fixed_trip(f))]
        return len(unknown) > len(leaf.index) and not any(
            isinstance(e, Load)
            or isinstance(e, Var)
            and e.name not in indices
            and timeline.writes_in(loops[0].id, e.name)
            for subscript in leaf.index
            for e in walk_expr(subscript)
        )

    def shape_at(self, level: int, at: int, array: str) -> tuple[Expr, ...] | None:
        """The extents of `array` as they can be told where a tape for `at` is made.

        None where they depend on what is computed after that.
        """
        top = self.timeline.top(level, at)
        made = [w for w in self.timeline.writes[array] if self.timeline.makes(w)]
        if not any(w == top or self.timeline.inside(top, w) for w in made):
            return tuple(Extent(array, k) for k in range(self.timeline.ranks[array]))
        stmt = self.timeline.places[made[0]].stmt
        assert isinstance(stmt, Alloc)
        fixed = self.timeline.fixed
        steady = all(
            not isinstance(e, Load)
            and (not isinstance(e, (Var, Extent)) or mentioned(e)[0] in fixed)
            for n in stmt.shape
            for e in walk_expr(n)
        )
        if len(made) > 1 or not steady or any(map(divides, stmt.shape)):
            return None
        return tuple(
            n if isinstance(n, (Const, Extent)) else Call("max", (n, ZERO))
            for n in stmt.shape
        )


def _is_number(e: Expr) -> bool:
    """Is it a literal that counts from the first element?"""
    value = integer(e)
    return value is not None and value >= 0


def _other_number(one: Expr, other: Expr) -> bool:
    """Are these two literals that do not say the same element?

    Not told of variables, nor of what is negative: that counts from the end.
    """
    return _is_number(one) and _is_number(other) and one != other
