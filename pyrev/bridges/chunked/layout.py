"""Which axes of which arrays are chunked, and how: of those given, and of others."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from pyrev.bridges.chunked.boxes import known_integer
from pyrev.bridges.chunked.phases import ChunkingError, Facts
from pyrev.ir.affine import linear
from pyrev.ir.nodes import (
    Add,
    Alloc,
    Assign,
    Block,
    Expr,
    For,
    Load,
    Program,
    Var,
    blocks,
    exprs,
    names,
    walk,
    walk_expr,
    written,
)

Chunks = tuple[tuple[int, ...], ...]


class Layout:
    """Which axes of which arrays are chunked, and how.

    The chunks of an array that the function makes, or writes to and was given in one
    chunk, are those of what it reads in the same loops; those in `wanted` are known.
    """

    def __init__(
        self,
        program: Program,
        shapes: Mapping[str, tuple[int, ...]],
        chunks: Mapping[str, Chunks],
        integers: Mapping[str, int],
        wanted: Mapping[str, Chunks],
    ) -> None:
        self.integers = dict(integers)
        self.shapes = dict(shapes)
        self.chunks = {**wanted, **chunks}
        self.given = frozenset(chunks)
        self.axes = {
            a: tuple(k for k, c in enumerate(parts) if len(c) > 1)
            for a, parts in self.chunks.items()
        }
        self.axes = {a: axes for a, axes in self.axes.items() if axes}
        made = [*_made(program.body, ())]
        self.local = [s for s, _ in made]
        self._measure()
        own = {s.array for s in self.local} & self.shapes.keys()
        given = {p.name for p in program.params if p.rank}
        changed = written(program.body)
        copied = {s.copied for s in self.local if s.copied is not None}
        free = own | {a for a in given & (changed | copied) if a not in self.axes}
        before = dict(self.axes), dict(self.chunks)
        again = True
        while again:
            self.axes, self.chunks = dict(before[0]), dict(before[1])
            self._spread(program.body, free)
            # What is made anew for each row belongs to the row, as a whole.
            rows = {
                s.array
                for s, around in made
                if s.array in free and any(map(self._along, around))
            }
            again = bool(rows)
            free -= rows
        for array in own - self.chunks.keys():
            self.chunks[array] = tuple((n,) for n in self.shapes[array])

    def _along(self, loop: For) -> bool:
        """Does a loop go along the chunks of all that is written in it?

        Where that is only what it makes, and sums: of something that it reads.
        """
        made = {t.array for t in walk(loop.body) if isinstance(t, Alloc)}
        axes = {a: k for a, k in self.axes.items() if a not in made}
        stored = [
            t.target
            for t in walk(loop.body)
            if isinstance(t, (Assign, Add)) and isinstance(t.target, Load)
        ]
        of = [e for e in stored if e.array in axes]
        if of:
            return all(
                any(loop.index in names(e.index[k]) for k in axes[e.array]) for e in of
            )
        return any(
            loop.index in names(e.index[k])
            for t in walk(loop.body)
            for top in exprs(t)
            for e in loads(top)
            for k in axes.get(e.array, ())
        )

    def _measure(self) -> None:
        for s in self.local:
            sizes = [known_integer(e, self.integers, self.shapes) for e in s.shape]
            known = tuple(n for n in sizes if n is not None)
            if len(known) == len(sizes):
                if self.shapes.setdefault(s.array, known) != known:
                    raise ChunkingError(
                        s.loc,
                        f"`{s.array}` has several shapes",
                        "give each of them a name of its own",
                    )

    def _spread(self, body: Block, free: set[str]) -> None:
        """Find the chunks of the `free` arrays: those of what shares their loops."""
        copies = [(s.array, s.copied) for s in self.local if s.copied]
        uses = [*self._uses(body)]
        again = True
        while again:
            again = False
            for array, source in copies:
                if array in free and source in self.axes and array not in self.axes:
                    self.axes[array] = self.axes[source]
                    self.chunks[array] = self.chunks[source]
                    again = True
            bound = {a for a, s in copies if s is not None}
            for loop in uses:
                known = [u for u in loop if u[1] in self.axes.get(u[0], ())]
                for array, axis, form in loop:
                    open_axis = axis not in self.axes.get(array, ())
                    if not (known and open_axis and array in free - bound):
                        continue
                    parts = self._like(array, axis, form, known[0])
                    if len(parts) < 2:
                        continue
                    own = list(
                        self.chunks.get(array) or ((n,) for n in self.shapes[array])
                    )
                    own[axis] = parts
                    self.chunks[array] = tuple(own)
                    self.axes[array] = tuple(sorted({*self.axes.get(array, ()), axis}))
                    again = True

    def _like(
        self,
        array: str,
        axis: int,
        form: tuple[int, int],
        other: tuple[str, int, tuple[int, int]],
    ) -> tuple[int, ...]:
        """Chunks along an axis with subscript ``a * i + b`` like those of another."""
        name, k, (factor, shift) = other
        size = self.shapes[array][axis]
        if factor < 0:  # for the loop the other way round
            factor, form = -factor, (-form[0], form[1])
        ends = np.cumsum(self.chunks[name][k])[:-1]
        cuts = -((shift - ends) // factor) * form[0] + form[1] + (form[0] < 0)
        inside = sorted({int(c) for c in cuts if 0 < c < size})
        return tuple(int(n) for n in np.diff([0, *inside, size]))

    def _uses(self, body: Block) -> Iterator[list[tuple[str, int, tuple[int, int]]]]:
        """By loop, the axes whose subscripts are ``a * i + b`` of its index.

        After them come those whose subscripts are about its index in another way, as
        those of a window around it are: with these the chunks only run along.
        """

        def of(stmts: Block, around: tuple[For, ...]) -> Iterator[tuple[For, Load]]:
            for s in stmts:
                inside = (*around, s) if isinstance(s, For) else around
                for top in exprs(s):
                    for e in loads(top):
                        for loop in around:
                            yield loop, e
                for b in blocks(s):
                    yield from of(b, inside)

        found: dict[int, list[tuple[str, int, tuple[int, int]]]] = {}
        about: dict[int, list[tuple[str, int, tuple[int, int]]]] = {}
        made: dict[int, set[str]] = {}
        for loop, load in of(body, ()):
            if load.array not in self.shapes:
                continue
            if id(loop) not in made:
                made[id(loop)] = _made_of(loop)
            own = found.setdefault(id(loop), [])
            for axis, e in enumerate(load.index):
                form = linear(e)
                factor = form.coefficient(Var(loop.index))
                rest = form.without(Var(loop.index))
                if not factor or names(e) & (made[id(loop)] - {loop.index}):
                    if names(e) & made[id(loop)]:
                        near = about.setdefault(id(loop), [])
                        near.append((load.array, axis, (1, 0)))
                    continue
                shift = rest.constant
                for atom, c in rest.terms:
                    shift += c * (known_integer(atom, self.integers, self.shapes) or 0)
                own.append((load.array, axis, (factor, shift)))
        for number, own in found.items():
            yield [*own, *about.get(number, [])]

    def add(
        self,
        array: str,
        shape: tuple[int, ...],
        along: Sequence[tuple[str, int, tuple[int, int]] | None],
    ) -> None:
        """Note one more array that is made in blocks.

        By axis, where it is so: its element `i` is made of ``a * i + b`` of another
        array along an axis: (array, axis, (a, b)). Their chunks go together then.
        """
        self.shapes[array] = shape
        parts = tuple(
            (n,) if of is None else self._like(array, k, (1, 0), of)
            for k, (n, of) in enumerate(zip(shape, along, strict=True))
        )
        self.chunks[array] = parts
        self.axes[array] = tuple(k for k, c in enumerate(parts) if len(c) > 1)

    def facts(self, integers: Mapping[str, int], time: str | None) -> Facts:
        """What is known in an operation."""
        known = {**self.integers, **integers}
        if time is not None:
            known.pop(time, None)
        return Facts(self.axes, self.shapes, known, self.given, time)


def _made_of(loop: For) -> set[str]:
    """The index of a loop, and the numbers that are made of it in an iteration."""
    found = {loop.index}
    again = True
    while again:
        before = len(found)
        for s in walk(loop.body):
            if isinstance(s, For) and (names(s.lo) | names(s.hi)) & found:
                found.add(s.index)
            if isinstance(s, Assign) and isinstance(s.target, Var):
                if names(s.value) & found:
                    found.add(s.target.name)
        again = len(found) > before
    return found


def loads(e: Expr) -> Iterator[Load]:
    todo = [e]
    while todo:
        part = todo.pop()
        if isinstance(part, Load):
            yield part
            todo += part.index
        elif hasattr(part, "args"):
            todo += part.args


def loads_in(body: Block) -> Iterator[Load]:
    """The elements that the expressions of a block read, in order, and those that it
    writes to.
    """
    for s in walk(body):
        for top in exprs(s):
            for e in walk_expr(top):
                if isinstance(e, Load):
                    yield e


def loaded_in(body: Block) -> set[str]:
    """The arrays of which a block touches elements, or that it copies or puts in order:
    not those that it only measures.
    """
    found = {e.array for e in loads_in(body)}
    return found.union(*(s.sources for s in walk(body) if isinstance(s, Alloc)))


def _made(
    body: Block, around: tuple[For, ...]
) -> Iterator[tuple[Alloc, tuple[For, ...]]]:
    """The arrays that are made, and the loops in which they are."""
    for s in body:
        if isinstance(s, Alloc):
            yield s, around
        for b in blocks(s):
            yield from _made(b, (*around, s) if isinstance(s, For) else around)
