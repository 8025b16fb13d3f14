"""Reads far from what they are read for: copied before, to where they are needed.

Along a periodic axis the first chunk reads the last element, and a window around both
is the whole array. So is one around a flipped array and itself, or around a chunk and
a row that all chunks read. A loop is cut where a subscript jumps, and what lies far
from the element that is written is copied to an array of its own by a stage before.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from pyrev.bridges.chunked.boxes import NotKnown, evaluated, known_range
from pyrev.bridges.chunked.layout import Layout, loads_in
from pyrev.bridges.chunked.rewritten import parted, resolved
from pyrev.ir.affine import linear, tidy
from pyrev.ir.nodes import (
    ONE,
    ZERO,
    Add,
    Alloc,
    Assign,
    Block,
    Call,
    Const,
    Expr,
    For,
    If,
    Load,
    Stmt,
    Var,
    blocks,
    exprs,
    fresh,
    map_block,
    map_expr,
    map_whole,
    names,
    substitute,
    walk,
    walk_expr,
    with_blocks,
    written,
)

#: A loop is cut into so many parts at most.
PARTS = 8

Chunks = tuple[int, ...]


class _Loop(NamedTuple):
    """A loop around a statement: the part of it there, and all of it."""

    name: str
    part: range
    whole: range


Around = tuple[_Loop, ...]


@dataclass(frozen=True)
class _Nest:
    """What is known while a nest is rewritten.

    `sources` say where the values of arrays are before it, `written` the subscripts of
    what it writes to them, `copies` what has been copied so far. The `places` are those
    that its blocks have, by axis, with the chunks there.
    """

    sources: Mapping[str, tuple[str, int]]
    written: Mapping[str, Sequence[Any]]
    copies: dict[Any, tuple[str, Block]]
    places: Sequence[tuple[int, Chunks, Expr]]


class Edges:
    """Copies what statements read far away of some `wide` arrays in chunks.

    The copies are arrays with names that are not `taken`; they are added to the layout,
    and their dtypes to `dtypes`.
    """

    def __init__(
        self,
        layout: Layout,
        wide: Set[str],
        dtypes: dict[str, str],
        taken: set[str],
    ) -> None:
        self.layout, self.wide, self.dtypes = layout, wide, dtypes
        self.taken = taken
        #: The arrays that were made.
        self.made: set[str] = set()

    def copied(
        self, s: Stmt, before: Sequence[Stmt], live: frozenset[str]
    ) -> tuple[list[Stmt], Block]:
        """The statements before a nest, with copies of what it reads far away, and the
        nest as it is then, behind which some names are `live`.
        """
        sources = {a: self._source(a, before) for a in self.wide}
        stored = written((s,))
        local = {t.array for t in walk((s,)) if isinstance(t, Alloc)}
        sources = {a: at for a, at in sources.items() if a not in local}
        if sources.keys().isdisjoint(e.array for e in loads_in((s,))):
            return [*before], (s,)
        elsewhere = {a: self._written((s,), a) for a in stored & self.wide}
        nest = _Nest(sources, elsewhere, {}, self._places(s))
        new = self._cut(s, (), nest)
        if not nest.copies:
            return [*before], new
        rest = [*before]
        places = {array: at for array, at in sources.values()}
        for (array, *_), (name, block) in nest.copies.items():
            self.made.add(name)
            at = places[array]
            rest[at:at] = block
            places = {a: k + (k >= at) * len(block) for a, k in places.items()}
        # Parts along one axis are apart along the others, too.
        return rest, tuple(t for u in new for t in parted(u, live))

    def _source(self, array: str, before: Sequence[Stmt]) -> tuple[str, int]:
        """Where the values of an array are before a nest: it may be a copy.

        The array, and the number of the first statement before which it has them.
        """
        at = len(before)
        for k in reversed(range(len(before))):
            s = before[k]
            if isinstance(s, Alloc) and s.array == array:
                copied = s.copied
                if copied is None or copied not in self.layout.axes:
                    return array, at
                if self.dtypes.get(copied) != self.dtypes.get(array):
                    return array, at  # it is rounded
                if copied in written(tuple(before[k:])):
                    return array, at
                array = copied
            elif array in written((s,)) or any(
                isinstance(t, Alloc) and t.array == array for t in walk((s,))
            ):
                return array, at
            at = k
        return array, at

    # ---------------------------------------------------------------- cut

    def _range(self, loop: For) -> range | None:
        return known_range(loop, self.layout.integers, self.layout.shapes)

    def _cut(self, s: Stmt, around: Around, nest: _Nest) -> Block:
        """A nest that reads what lies far away in copies.

        Its loops are cut where subscripts of chunked axes jump.
        """

        def inside(b: Block, around: Around) -> Block:
            return tuple(t for u in b for t in self._cut(u, around, nest))

        if not isinstance(s, For):
            new = self._near(with_blocks(s, tuple(() for _ in blocks(s))), around, nest)
            return (with_blocks(new, tuple(inside(b, around) for b in blocks(s))),)
        values = self._range(s)
        if values is None or s.index in written(s.body):
            return (s,)
        parts = self._parts(s, values)
        if len(parts) == 1:
            loop = _Loop(s.index, values, values)
            return (with_blocks(s, (inside(s.body, (*around, loop)),)),)
        found: list[Stmt] = []
        for part in parts[::-1] if s.reverse else parts:
            body = self._straight(s, part)
            body = inside(body, (*around, _Loop(s.index, part, values)))
            lo, hi, step = map(Const, (part.start, part.stop, part.step))
            found.append(replace(s, lo=lo, hi=hi, step=step, body=body))
        return tuple(found)

    def _parts(self, loop: For, values: range) -> list[range]:
        """The parts of a loop in which subscripts of chunked axes are ``a * i + b``,
        and tests of its index have one result.
        """
        if len(values) < 3:
            return [values]
        row = np.array(values)
        cuts, own = set[int](), written(loop.body)
        for s in walk(loop.body):
            for top in exprs(s):
                for e in walk_expr(top):
                    if not isinstance(e, Load) or e.array not in self.wide:
                        continue
                    for k in self.layout.axes[e.array]:
                        at, far = e.index[k], max(self.layout.chunks[e.array][k])
                        if names(at) & own:
                            cuts |= self._decisions(loop, row)
                        elif not _plain(at) and loop.index in names(at):
                            cuts |= _jumps(self._along(at, loop.index, row), far)
        if len(cuts) >= PARTS:
            return [values]
        ends = [0, *sorted(cuts), len(row)]
        return [values[a:b] for a, b in zip(ends, ends[1:], strict=False)]

    def _decisions(self, loop: For, row: Any) -> set[int]:
        """Where the tests in a loop change that its index decides."""
        return {
            k
            for s in walk(loop.body)
            if isinstance(s, If)
            for k in _changes(self._along(s.test, loop.index, row))
        }

    def _along(self, e: Expr, index: str, row: Any) -> Any:
        """An integer or a test for all values of an index; None if that is not all."""
        known = {**self.layout.integers, index: row}
        try:
            return np.broadcast_to(evaluated(e, known, self.layout.shapes), row.shape)
        except (NotKnown, ZeroDivisionError, TypeError, ValueError):
            return None

    def _straight(self, loop: For, part: range) -> Block:
        """The body of a loop for a part of its range, without what that decides."""
        index, row = loop.index, np.array(part)

        def straight(e: Expr) -> Expr:
            if not isinstance(e, Load) or e.array not in self.layout.axes:
                return e
            at = [
                self._fitted(i, index, row) if k in self.layout.axes[e.array] else i
                for k, i in enumerate(e.index)
            ]
            return replace(e, index=tuple(at))

        def decided(s: Stmt) -> Stmt:
            inner = tuple(tuple(map(decided, b)) for b in blocks(s))
            s = with_blocks(s, inner)
            if isinstance(s, If) and index in names(s.test):
                found = self._along(s.test, index, row)
                if found is not None and (found == found[0]).all():
                    return replace(s, test=Const(bool(found[0])))
            return s

        body = map_block(
            tuple(map(decided, loop.body)), lambda e: map_expr(e, straight)
        )
        return resolved(body, self.layout.integers, self.layout.shapes)

    def _fitted(self, e: Expr, index: str, row: Any) -> Expr:
        """A subscript as ``a * i + b``, if it is that in a part of a loop."""
        if _plain(e):
            return e
        found = self._along(e, index, row)
        if found is None:
            return e
        if len(row) == 1:
            return Const(int(found[0]))
        factor = int(found[1] - found[0]) // int(row[1] - row[0])
        shift = int(found[0]) - factor * int(row[0])
        if not np.array_equal(found, factor * row + shift):
            return e
        scaled: Expr = (
            Var(index) if factor == 1 else Call("*", (Const(factor), Var(index)))
        )
        return Const(shift) if not factor else tidy(Call("+", (scaled, Const(shift))))

    # ---------------------------------------------------------------- far reads

    def _near(self, s: Stmt, around: Around, nest: _Nest) -> Stmt:
        """A statement that reads what lies far away in copies."""

        def node(e: Expr) -> Expr:
            if not isinstance(e, Load) or e.array not in nest.sources:
                return e
            if not self._far(e, around, nest):
                return e
            return self._copy(e, around, nest) or e

        new = map_whole(s, lambda e: map_expr(e, node))
        if isinstance(s, (Assign, Add)):
            assert isinstance(new, (Assign, Add))
            new = replace(new, target=s.target)
        return new

    def _far(self, e: Load, around: Around, nest: _Nest) -> bool:
        """Is an element further from the one it is read for than a chunk is long?"""
        for k in self.layout.axes[e.array]:
            chunks = self.layout.chunks[e.array][k]
            likes = [(j, at) for j, c, at in nest.places if c == chunks]
            for _, like in sorted(likes, key=lambda f: f[0] != k):
                apart = self._apart(e.index[k], like, around)
                if apart is None:
                    continue
                if apart > max(chunks):
                    return True
                break
        return False

    def _places(self, s: Stmt) -> list[tuple[int, Chunks, Expr]]:
        """The places that say which block an iteration of a nest is for.

        By axis, with the chunks there: those that it writes to, else what it reads.
        """
        stored = [
            t.target
            for t in walk((s,))
            if isinstance(t, (Assign, Add)) and isinstance(t.target, Load)
        ]
        read = [*loads_in((s,))]
        for loads in (stored, read):
            found = [
                (k, self.layout.chunks[e.array][k], e.index[k])
                for e in loads
                for k in self.layout.axes.get(e.array, ())
                if loads is stored or (names(e.index[k]) and _plain(e.index[k]))
            ]
            if found:
                return found
        return []

    def _apart(self, e: Expr, other: Expr, around: Around) -> int | None:
        """How far two subscripts are from each other at most."""
        loops = [(at.name, at.part) for at in around]
        own = [(i, r) for i, r in loops if i in names(e) | names(other)]
        if len(own) > 1:
            return None
        index, values = own[0] if own else ("", range(1))
        a, b = (self._along(x, index, np.array(values)) for x in (e, other))
        if a is None or b is None:
            return None
        return int(np.abs(a - b).max(initial=0))

    def _copy(self, e: Load, around: Around, nest: _Nest) -> Load | None:
        """The element of a copy that has the value of `e`; None if none can have it."""
        used = set[str]().union(*(names(i) for i in e.index))
        own = [at for at in around if at.name in used]
        if used - {at.name for at in own} - self.layout.integers.keys():
            return None
        # One copy serves all parts of loops where these read the same.
        for loops in (
            [(at.name, at.whole) for at in own],
            [(at.name, at.part) for at in own],
        ):
            if self._inside(e, loops, nest.written.get(e.array, ())):
                break
        else:
            return None
        array = nest.sources[e.array][0]
        key = array, e.index, tuple(loops)
        if key not in nest.copies:
            name = fresh(f"{array}_far", self.taken)
            nest.copies[key] = name, self._copying(name, array, e, loops)
        at = tuple(tidy(Call("-", (Var(i), Const(min(r))))) for i, r in loops)
        return Load(nest.copies[key][0], at or (ZERO,))

    def _inside(
        self, e: Load, loops: Sequence[tuple[str, range]], written: Sequence[Any]
    ) -> bool:
        """Are these elements there, and none of them among those `written`?"""
        sizes = self.layout.shapes[e.array]
        sets = [self._values(i, loops) for i in e.index]
        for found, size in zip(sets, sizes, strict=True):
            if found is None or not len(found):
                return False
            if found.min() < 0 or found.max() >= size:
                return False
        return all(any(map(_disjoint, sets, others)) for others in written)

    def _values(self, e: Expr, loops: Sequence[tuple[str, range]]) -> Any:
        """All values of a subscript; None if they are not known."""
        own = [(i, r) for i, r in loops if i in names(e)]
        if len(own) > 1:
            return None
        index, values = own[0] if own else ("", range(1))
        return self._along(e, index, np.array(values))

    def _copying(
        self, name: str, array: str, e: Load, loops: Sequence[tuple[str, range]]
    ) -> Block:
        """The statements that make a copy; it gets the chunks that are read for it."""
        shape = tuple(max(r) - min(r) + 1 for _, r in loops) or (1,)
        along: list[tuple[str, int, tuple[int, int]] | None] = []
        env: dict[str, Expr] = {}
        for index, values in loops:
            new = fresh(index, self.taken)
            env[index] = tidy(Call("+", (Var(new), Const(min(values)))))
            found = None
            for k in self.layout.axes[array]:
                form = linear(e.index[k])
                factor = form.coefficient(Var(index))
                if factor and found is None:
                    ends = self._along(e.index[k], index, np.array([min(values)]))
                    if ends is not None:
                        found = array, k, (factor, int(ends[0]))
            along.append(found)
        self.layout.add(name, shape, along or [None])
        self.dtypes[name] = self.dtypes[array]
        at = tuple(substitute(i, env) for i in e.index)
        inner = tuple(
            v.name for _, x in env.items() for v in walk_expr(x) if isinstance(v, Var)
        )
        target = Load(name, tuple(map(Var, inner)) or (ZERO,))
        body: Stmt = Assign(target, Load(array, at))
        for index, size in reversed([*zip(inner, shape, strict=False)]):
            body = For(index, ZERO, Const(size), ONE, (body,))
        made = Alloc(name, tuple(map(Const, shape)), None, self.dtypes[array])
        return (made, body)

    def _written(self, block: Block, array: str) -> list[list[Any]]:
        """The subscripts, along each axis, of the elements of an array that are
        written, one for each write; None where they are not known.
        """
        found: list[list[Any]] = []

        def of(b: Block, around: list[tuple[str, range]]) -> None:
            for s in b:
                target = getattr(s, "target", None)
                if isinstance(target, Load) and target.array == array:
                    found.append([self._values(i, around) for i in target.index])
                values = self._range(s) if isinstance(s, For) else None
                here = around
                if isinstance(s, For) and values is not None:
                    here = [*around, (s.index, values)]
                for c in blocks(s):
                    of(c, here)

        of(block, [])
        return found


def _plain(e: Expr) -> bool:
    """Is a subscript a sum of multiples of indices?"""
    return all(isinstance(a, Var) for a, _ in linear(e).terms)


def _disjoint(mine: Any, its: Any) -> bool:
    """Do two subscripts never have a common value?"""
    known = mine is not None and its is not None
    return known and not np.intersect1d(mine, its).size


def _changes(found: Any) -> set[int]:
    """Where the result of a test changes."""
    if found is None or found.dtype != bool:
        return set()
    return {int(k) + 1 for k in np.flatnonzero(found[1:] != found[:-1])}


def _jumps(found: Any, far: int) -> set[int]:
    """Where a row of integers goes on elsewhere than its common step says."""
    if found is None or len(found) < 3:
        return set()
    steps = np.diff(found)
    kinds, counts = np.unique(steps, return_counts=True)
    common = kinds[counts.argmax()]
    return {int(k) + 1 for k in np.flatnonzero(np.abs(steps - common) > far)}
