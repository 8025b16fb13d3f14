"""One statement of a stage: which of its loops an owned part needs, and their reads.

Both are asked of ISL once, as functions of the bounds of boxes, and evaluated for all
blocks at once. What ISL does not see (data decides it) may be anything: more is read
then, never less.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from pyrev.analysis.dependence import Access, At, Leaf, Region
from pyrev.analysis.loop_trees import Unknown
from pyrev.analysis.poly import Span, conj, disj, integer_names, span
from pyrev.bridges.chunked.boxes import (
    Box,
    evaluated,
    hull,
    masked,
    nothing,
    whole,
)
from pyrev.bridges.chunked.folds import fold_of
from pyrev.ir.affine import integer, linear, tidy
from pyrev.ir.diagnostics import ArgumentError
from pyrev.ir.nodes import (
    NOWHERE,
    Add,
    Alloc,
    Assign,
    Expr,
    Extent,
    For,
    If,
    Load,
    Loc,
    Stmt,
    Var,
    While,
    names,
    substitute,
)


class ChunkingError(ArgumentError):
    """A function can't be run on these chunks: where, why, and what to do instead.

    If it is about how an array is `read`, copies of parts of it might help.
    """

    def __init__(self, at: Loc, why: str, remedy: str, read: str = "") -> None:
        self.read = read
        self._reason = at, why, remedy
        place = "" if at == NOWHERE else f"{at.place}: "
        super().__init__(f"{place}{why}; {remedy}")

    def of_tangents(self) -> ChunkingError:
        """The refusal of a tangent, whose names are nobody's: in words."""
        at, *texts = self._reason
        why, remedy = (
            re.sub(r"`dot_(\w+)`", r"the tangent of `\1`", text) for text in texts
        )
        return ChunkingError(at, why, remedy)


@dataclass(frozen=True)
class Facts:
    """What is known of a call before anything runs.

    `axes` are the chunked axes of the arrays that have such, `shapes` those of all
    arrays, `integers` the values of integer arguments; arrays that came in chunks are
    `given`. `time` is the index of a loop over time, if there is one.
    """

    axes: Mapping[str, tuple[int, ...]]
    shapes: Mapping[str, tuple[int, ...]]
    integers: Mapping[str, int]
    given: frozenset[str] = frozenset()
    time: str | None = None

    def __hash__(self) -> int:
        return id(self)


@dataclass(frozen=True, slots=True)
class Reach:
    """The range of one subscript or loop, by the bounds of what `free` names.

    Without a `span` it is anything: `whole` then, if it is that of an array's axis.
    """

    span: Span | None
    free: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Touch:
    """An access to a chunked array: its ranges along the chunked axes.

    With `old` it reads what was there before the statement, whatever runs of it.
    """

    access: Access
    leaf: Leaf
    along: tuple[Reach, ...]
    old: bool


@dataclass(frozen=True, slots=True)
class Driver:
    """A leaf that runs for what it writes to, or for what it reads: `array[index]`.

    `loops` are the ranges of the loops that this decides. A `sum` belongs to what it
    reads: an anchor.
    """

    leaf: Leaf
    array: str
    index: tuple[Expr, ...]
    loops: Mapping[int, Reach]
    sum: bool


def low_of(k: int | str) -> str:
    """The bound of a target's axis, or of a loop, in ISL's questions."""
    return f"?low {k}"


def high_of(k: int | str) -> str:
    """The same from above; excluded."""
    return f"?high {k}"


class Phase:
    """One statement of a stage, over chunked arrays.

    `live` are the names that matter after it, `sums` the scalars and arrays that it
    may only add to, each block a part. Raises `ChunkingError` where what it does can't
    be shared out.
    """

    def __init__(
        self, stmt: Stmt, facts: Facts, live: frozenset[str], sums: Set[str]
    ) -> None:
        self.stmt, self.facts, self.sums = stmt, facts, sums
        depth = 1 + max((len(leaf_loops) for leaf_loops in _nests(stmt)), default=0)
        asked = {f(k) for k in range(max(depth, 8)) for f in (low_of, high_of)}
        known = integer_names((stmt,)) | asked | {*facts.integers}
        if facts.time is not None:
            known |= {facts.time}
        self.region = Region((stmt,), live, integers=frozenset(known))
        self.drivers = tuple(self._drivers())
        self.limited = self._limited()
        self._check()

    @property
    def loc(self) -> Loc:
        return self.stmt.loc

    # ---------------------------------------------------------------- who runs

    def tracked(self, leaf: Leaf, name: str) -> bool:
        """Is an array one of blocks, that no iteration has to itself?"""
        return name in self.facts.axes and not self.region.private_depth(leaf, name)

    def _drivers(self) -> Iterator[Driver]:
        for leaf in self.region.leaves:
            stmt = leaf.stmt
            if not isinstance(stmt, (Assign, Add)):
                continue
            name = stmt.target_name
            if isinstance(stmt.target, Load) and self.tracked(leaf, name):
                index = stmt.target.index
                self._check_written(leaf, name)
                yield Driver(leaf, name, index, self._loops(leaf, name, index), False)
            elif self._is_sum(leaf):
                anchor = self._anchor(leaf)
                assert anchor.index is not None
                loops = self._loops(leaf, anchor.name, anchor.index)
                yield Driver(leaf, anchor.name, anchor.index, loops, True)

    def _check_written(self, leaf: Leaf, name: str) -> None:
        """Refuse what only data keep from writing outside: no block would run that."""
        axes = self.facts.axes[name]
        if not leaf.tests:
            return  # the sizes have said that it does not
        for a in leaf.accesses:
            if a.name != name or a.kind == "read" or not a.index:
                continue
            if any(self.facts.time in _about(leaf.loops, a.index[k]) for k in axes):
                continue
            if self._total(leaf, a, axes) is False:
                raise ChunkingError(
                    leaf.stmt.loc,
                    f"only data keep this from writing outside of `{name}`",
                    "test the subscript, too, or keep"
                    f" {' and '.join(f'axis {k}' for k in axes)} of `{name}` in one"
                    " chunk",
                )

    def _is_sum(self, leaf: Leaf) -> bool:
        stmt = leaf.stmt
        fold = fold_of(stmt)
        name = stmt.target_name if isinstance(stmt, Add) else fold[0] if fold else ""
        return name in self.sums and not self.region.private_depth(leaf, name)

    def _anchor(self, leaf: Leaf) -> Access:
        """An element of a chunked array that each iteration of a sum has."""
        candidates = [(leaf, a) for a in leaf.accesses]
        for other in self.region.leaves:
            if other is not leaf and other.loops == leaf.loops[: other.depth]:
                candidates += [(other, a) for a in other.accesses]
        candidates.sort(key=lambda c: c[1].kind != "read")
        for other in self.region.leaves:
            if other.depth > leaf.depth and other.loops[: leaf.depth] == leaf.loops:
                candidates += [(other, a) for a in other.accesses]
        first = None
        for where, a in candidates:
            if not a.index or not self.tracked(where, a.name):
                continue
            if not self.facts.axes[a.name]:
                continue  # it is one chunk
            a = _first_of(a, where.loops[leaf.depth :])
            first = first or a
            axes = self.facts.axes[a.name]
            if self._total(leaf, a, axes):
                return a
        if first is None:
            assert isinstance(leaf.stmt, (Assign, Add))
            raise ChunkingError(
                leaf.stmt.loc,
                f"no chunk says which blocks add this to `{leaf.stmt.target_name}`",
                "write it before or after the loops over chunks",
            )
        raise ChunkingError(
            leaf.stmt.loc,
            f"data decides, or not every term has, the element of `{first.name}` that"
            " a term of this sum belongs to",
            f"keep `{first.name}` in one chunk",
        )

    def _total(self, leaf: Leaf, a: Access, axes: Sequence[int]) -> bool | None:
        """Does every iteration of `leaf` have an element of `a`, which is inside?

        None where ISL does not see which element that is.
        """
        assert a.index is not None
        space = self.region.space
        env, within = self.region.env(leaf, "i"), self.region.domain(leaf, "i")
        found = [space.cases(a.index[k], env, within) for k in axes]
        numbers = [f"{p} = {n}" for p, n in self._fixed().items()]
        for k, cases in zip(axes, found, strict=True):
            if cases is None or None in found:
                return None
            size = self.facts.shapes[a.name][k]
            outside = disj(
                conj((c.when, f"not (0 <= {c.term} and {c.term} < {size})"))
                for c in cases
            )
            if not space.excluded(env, conj((within, outside, *numbers))):
                return False
        return True

    def _loops(
        self, leaf: Leaf, name: str, index: tuple[Expr, ...]
    ) -> dict[int, Reach]:
        """The ranges of the loops around `leaf` that an element's subscripts decide."""
        axes = self.facts.axes[name]
        region, found = self.region, dict[int, Reach]()
        env, within = region.env(leaf, "i"), region.domain(leaf, "i")
        for at in leaf.loops:
            if at.early or integer(at.loop.step) in (None, 0):
                continue
            own = [
                (j, region.space.cases(index[k], env, within))
                for j, k in enumerate(axes)
                if at.loop.index in names(index[k])
            ]
            parts, free = [within], list[str]()
            for j, cases in own:
                if cases is None:
                    continue
                low, high = self._box_names(j)
                parts.append(
                    disj(
                        conj((c.when, f"{low} <= {c.term} and {c.term} < {high}"))
                        for c in cases
                    )
                )
                free += [low_of(j), high_of(j)]
            if free:
                own_cases = region.space.cases(Var(at.loop.index), env, within)
                assert own_cases is not None
                reach = self._reach(leaf, conj(parts), own_cases, free)
                if reach.span is not None:
                    found[at.number] = reach
        return found

    def _limited(self) -> frozenset[int]:
        """The loops of which a block runs a part: all that counts in them says which.

        A loop that some driver under it leaves alone runs as it is.
        """
        around: dict[int, list[Driver]] = {}
        for d in self.drivers:
            for at in d.leaf.loops:
                around.setdefault(at.number, []).append(d)
        return frozenset(
            number
            for number, ds in around.items()
            if all(number in d.loops for d in ds)
        )

    def _check(self) -> None:
        """Refuse what a part of the loops would change."""
        own = {id(d.leaf) for d in self.drivers}
        for leaf in self.region.leaves:
            stmt = leaf.stmt
            if not isinstance(stmt, (Assign, Add, Alloc)) or id(leaf) in own:
                continue
            name = stmt.array if isinstance(stmt, Alloc) else stmt.target_name
            depth = self.region.private_depth(leaf, name)
            carried = [at for at in leaf.loops[depth:] if at.number in self.limited]
            if carried:
                remedy = self.axes_of(carried[0])
                if name in self.facts.shapes:
                    remedy += f", or make `{name}` in the loop"
                raise ChunkingError(
                    stmt.loc,
                    f"`{name}` goes from one iteration of `{carried[0].loop.index}` to"
                    " the next",
                    remedy,
                )

    def axes_of(self, at: At) -> str:
        """What to do about a loop that can't be shared out."""
        found = dict[str, None]()
        for d in self.drivers:
            for k in self.facts.axes[d.array]:
                if at.loop.index in names(d.index[k]):
                    found[f"axis {k} of `{d.array}`"] = None
        return f"keep {' and '.join(found)} in one chunk" if found else "use one chunk"

    # ---------------------------------------------------------------- what ISL says

    def _fixed(self) -> dict[str, int]:
        """The numbers of this call behind ISL's parameters."""
        found = {}
        for parameter, e in self.region.space.params().items():
            if isinstance(e, Extent):
                if e.array in self.facts.shapes:
                    found[parameter] = self.facts.shapes[e.array][e.axis]
            elif isinstance(e, Var) and e.name in self.facts.integers:
                found[parameter] = self.facts.integers[e.name]
        return found

    def _box_names(self, k: int | str) -> tuple[str, str]:
        """ISL's names of two bounds."""
        space = self.region.space
        low, high = (space.cases(Var(f(k)), {}) for f in (low_of, high_of))
        assert low is not None and high is not None
        return low[0].term, high[0].term

    def _reach(
        self, leaf: Leaf, formula: str, cases: Sequence[Any], free: Sequence[str]
    ) -> Reach:
        space, time = self.region.space, self.facts.time
        kept = {*free} | ({time} if time is not None else set())
        of = {e.name: p for p, e in space.params().items() if isinstance(e, Var)}
        names_kept = {of[n] for n in kept if n in of}
        variables = self.region.variables(leaf, "i")
        try:
            found = span(space, variables, formula, cases, self._fixed(), names_kept)
        except Unknown:
            found = None
        return Reach(found, tuple(kept))

    # ---------------------------------------------------------------- what is touched

    @cached_property
    def touches(self) -> tuple[Touch, ...]:
        """Every access to an element of a chunked array, and to all of one."""
        return tuple(
            Touch(a, leaf, self._along(leaf, a), self._old(leaf, a))
            for leaf in self.region.leaves
            for a in leaf.accesses
            if a.index != () and self.tracked(leaf, a.name)
        )

    def _along(self, leaf: Leaf, a: Access) -> tuple[Reach, ...]:
        if a.index is None:  # a copy of the array, or an order of its elements
            return tuple(Reach(None, ()) for _ in self.facts.axes[a.name])
        found = []
        region = self.region
        loops = leaf.loops[: a.depth]
        env = {at.loop.index: f"i{k}" for k, at in enumerate(loops)}
        within = region.domain(leaf, "i", a.depth)
        for k in self.facts.axes[a.name]:
            cases = region.space.cases(a.index[k], env, within)
            if cases is None:
                self._refuse_opaque(leaf, a, k)
                found.append(Reach(None, ()))
                continue
            parts, free = [within], list[str]()
            for depth in _near(loops, a.index[k]):
                at = loops[depth]
                if at.number in self.limited:
                    low, high = self._box_names(depth)
                    parts.append(f"{low} <= i{depth} and i{depth} < {high}")
                    free += [low_of(depth), high_of(depth)]
            reach = self._reach(leaf, conj(parts), cases, free)
            if reach.span is None:
                self._refuse_opaque(leaf, a, k)
            found.append(reach)
        return tuple(found)

    def _refuse_opaque(self, leaf: Leaf, a: Access, axis: int) -> None:
        """Refuse a subscript that data decides, of an array that came in chunks."""
        if a.name in self.facts.given:
            does = "read" if a.kind == "read" else "written"
            raise ChunkingError(
                leaf.stmt.loc,
                f"data decides which elements of `{a.name}` are {does} here along axis"
                f" {axis}, or how is not seen",
                f"keep axis {axis} of `{a.name}` in one chunk",
                a.name if a.kind == "read" else "",
            )

    def _old(self, leaf: Leaf, a: Access) -> bool:
        """Does `a` read what no instance of the statement has written before?"""
        if a.kind != "read":
            return False
        region = self.region
        for other in region.touching().get(a.name, ()):
            for b in region.changed(other)[a.name]:
                if b.kind == "read":
                    continue
                same = region.same_element(other, b, leaf, a)
                if same is not None and any(
                    region.possible(other, leaf, conj((way, same)))
                    for way in region.before(other, b, leaf, a)
                ):
                    return False
        return True

    # ---------------------------------------------------------------- for all blocks

    def loops(
        self, need: Mapping[str, Box], own: Mapping[str, Box], time: Any
    ) -> dict[int, Box]:
        """The ranges of the limited loops that these elements need, one axis each.

        `need` are elements that are read later; sums run for their `own` anchors.
        """
        found: dict[int, Box] = {}
        for d in self.drivers:
            box = own.get(d.array) if d.sum else need.get(d.array)
            if box is None:
                continue
            for number, reach in d.loops.items():
                if number in self.limited:
                    part = self._range(reach, box, time)
                    found[number] = hull(found.get(number), part)
        blocks = next((b.low.shape[1] for b in (*need.values(), *own.values())), 1)
        for number in self.limited - found.keys():
            found[number] = nothing(1, blocks)
        return found

    def _range(self, reach: Reach, box: Box, time: Any) -> Box:
        values = {low_of(j): box.low[j] for j in range(len(box.low))}
        values |= {high_of(j): box.high[j] for j in range(len(box.high))}
        return masked(self._evaluated(reach, values, time, box), ~box.empty)

    def _evaluated(
        self, reach: Reach, values: dict[str, Any], time: Any, like: Box
    ) -> Box:
        assert reach.span is not None
        if self.facts.time is not None:
            values = {**values, self.facts.time: time}
        some, low, high = (
            np.broadcast_to(
                np.asarray(evaluated(e, values, self.facts.shapes)),
                like.low.shape[1:],
            )
            for e in (reach.span.some, reach.span.low, reach.span.high)
        )
        box = Box(low[None].astype(np.int64), high[None].astype(np.int64) + 1)
        return masked(box, some)

    def elements(self, touch: Touch, loops: Mapping[int, Box], time: Any) -> Box:
        """What an access touches where the loops have these ranges."""
        leaf, name = touch.leaf, touch.access.name
        around = leaf.loops[: touch.access.depth]
        blocks = next(iter(loops.values())).low.shape[1] if loops else 1
        there: Any = np.ones(blocks, bool)
        values: dict[str, Any] = {}
        for depth, at in enumerate(around):
            if at.number in loops:
                box = loops[at.number]
                values[low_of(depth)], values[high_of(depth)] = box.low[0], box.high[0]
                there = there & ~box.empty
        sides = []
        for reach, axis in zip(touch.along, self.facts.axes[name], strict=True):
            if reach.span is None:
                sides.append(whole((self.facts.shapes[name][axis],), blocks))
            else:
                like = nothing(1, blocks)
                sides.append(self._evaluated(reach, values, time, like))
        if not sides:  # it is not cut
            sides = [whole((), blocks)]
        # What data keep from being read may lie outside; there is nothing to fetch.
        sizes = [[self.facts.shapes[name][k]] for k in self.facts.axes[name]]
        most = np.array(sizes or np.empty((0, 1)), np.int64)
        low = np.clip(np.concatenate([s.low for s in sides]), 0, most)
        high = np.clip(np.concatenate([s.high for s in sides]), 0, most)
        return masked(Box(low, high), there)

    # ---------------------------------------------------------------- sums

    def exact(self, driver: Driver) -> bool:
        """Do the ranges of the loops say exactly which terms of a sum a block has?"""
        names_of = {at.loop.index: at for at in driver.leaf.loops}
        for k in self.facts.axes[driver.array]:
            form = linear(driver.index[k])
            indices = [
                (a.name, c)
                for a, c in form.terms
                if isinstance(a, Var) and a.name in names_of
            ]
            rest = [a for a, _ in form.terms if not isinstance(a, (Var, Extent))]
            if len(indices) != 1 or indices[0][1] != 1 or rest:
                return False
            number = names_of[indices[0][0]].number
            if number not in self.limited:
                return False
            for other in self.drivers:
                if number in other.loops and (
                    not other.sum
                    or (other.array, other.index) != (driver.array, driver.index)
                ):
                    return False
        return True


def _about(loops: Sequence[At], e: Expr) -> set[str]:
    """The names that a subscript is made of, and the bounds of its loops."""
    found = set(names(e))
    for at in reversed(loops):
        if at.loop.index in found:
            found |= names(at.loop.lo) | names(at.loop.hi)
    return found


def _near(loops: Sequence[At], e: Expr) -> list[int]:
    """The loops that a subscript is made of, and those that bound these."""
    wanted = _about(loops, e)
    return [k for k in reversed(range(len(loops))) if loops[k].loop.index in wanted]


def _first_of(a: Access, inner: Sequence[At]) -> Access:
    """The element that an access in some more loops has in their first iterations."""
    first: dict[str, Expr] = {}
    for at in inner:
        first[at.loop.index] = substitute(at.loop.lo, first)
    assert a.index is not None
    return replace(a, index=tuple(tidy(substitute(e, first)) for e in a.index))


def _nests(stmt: Stmt) -> Iterator[tuple[Stmt, ...]]:
    """The loops around each statement, for how deep they go."""

    def inside(s: Stmt, around: tuple[Stmt, ...]) -> Iterator[tuple[Stmt, ...]]:
        yield around
        match s:
            case For(body=body) | While(body=body):
                for t in body:
                    yield from inside(t, (*around, s))
            case If(_, then, orelse):
                for t in (*then, *orelse):
                    yield from inside(t, around)

    yield from inside(stmt, ())
