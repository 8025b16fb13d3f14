"""A program as a row of operations: stages over chunks, and what one task does alone.

Statements over chunked arrays in a row are one stage, a loop over time is another, so
many of its steps at once. Numbers and small arrays go from one to the next; what a
stage only adds to is a sum, a part of it from each block.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace

import numpy as np

from pyrev.analysis.dependence import Region
from pyrev.bridges.chunked.boxes import known_integer
from pyrev.bridges.chunked.phases import ChunkingError, Facts, Phase
from pyrev.bridges.chunked.rewritten import (
    apart,
    as_sums,
    resolved,
    separated,
    with_subscripts,
)
from pyrev.ir.affine import integer, linear
from pyrev.ir.liveness import live_before, names_in, touched
from pyrev.ir.nodes import (
    Add,
    Alloc,
    Assign,
    Block,
    Check,
    Expr,
    For,
    Grow,
    If,
    Load,
    Program,
    Return,
    Stmt,
    Tell,
    Var,
    While,
    all_names,
    blocks,
    exprs,
    loop_indices,
    names,
    walk,
    written,
)

Chunks = tuple[tuple[int, ...], ...]


@dataclass(frozen=True)
class Steps:
    """Steps of a loop over time: from its value `first` on, `count` of them."""

    loop: For
    first: int
    stride: int
    count: int


@dataclass(frozen=True)
class Stage:
    """Statements over chunks: phases, arrays that they make, and what each block does
    for itself.

    The `outs` are chunked arrays that are read later, `sums` what is only added to.
    """

    name: str
    body: Block
    outs: tuple[str, ...]
    sums: tuple[str, ...]
    time: Steps | None
    integers: Mapping[str, int]
    live: frozenset[str] = field(compare=False)


@dataclass(frozen=True)
class Alone:
    """Statements that one task runs: on numbers, and on arrays in one chunk."""

    name: str
    body: Block
    outputs: tuple[str, ...]
    integers: Mapping[str, int]


Operation = Stage | Alone


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
        """Does a loop go along the chunks of what is written in it?"""
        return any(
            isinstance(t, (Assign, Add))
            and isinstance(t.target, Load)
            and loop.index in names(t.target.index[k])
            for t in walk(loop.body)
            if isinstance(t, (Assign, Add))
            for k in self.axes.get(t.target_name, ())
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
                    for e in _loads(top):
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


def _loads(e: Expr) -> Iterator[Load]:
    todo = [e]
    while todo:
        part = todo.pop()
        if isinstance(part, Load):
            yield part
            todo += part.index
        elif hasattr(part, "args"):
            todo += part.args


def _made(
    body: Block, around: tuple[For, ...]
) -> Iterator[tuple[Alloc, tuple[For, ...]]]:
    """The arrays that are made, and the loops in which they are."""
    for s in body:
        if isinstance(s, Alloc):
            yield s, around
        for b in blocks(s):
            yield from _made(b, (*around, s) if isinstance(s, For) else around)


class Split:
    """A program as operations, for one layout of its arrays.

    `steps` are how many steps of a loop over time a task does; `more` are the names
    that are wanted of a call beside what is returned; `dtypes` those of all names, to
    which those of new ones are added.
    Raises `ChunkingError`.
    """

    def __init__(
        self,
        program: Program,
        layout: Layout,
        steps: int,
        more: Sequence[str],
        dtypes: dict[str, str],
    ) -> None:
        self.program, self.layout, self.steps = program, layout, steps
        self.dtypes, before = dtypes, {*dtypes}
        self._taken = {*all_names(program.body), *layout.shapes}
        self._taken |= {p.name for p in program.params}
        self.operations: list[Operation] = []
        self._count = itertools.count(1)
        end = frozenset(more)
        if program.body and isinstance(program.body[-1], Return):
            end |= all_names((program.body[-1],))
        self._block(program.body, end, {})
        self._check_sizes()
        #: The elements that are numbers of their own.
        self.numbers = [n for n in dtypes if n not in before]

    def _check_sizes(self) -> None:
        """Refuse arrays that go between operations, and whose size is not known."""
        for s in self.layout.local:
            if s.array in self.layout.shapes:
                continue
            users = [o for o in self.operations if s.array in all_names(o.body)]
            if len(users) > 1 or any(isinstance(o, Stage) for o in users):
                raise ChunkingError(
                    s.loc,
                    f"how large `{s.array}` is, is not known before the call runs",
                    "give its size as an integer argument, or as that of an argument",
                )

    # ---------------------------------------------------------------- kinds

    def chunked(self, s: Stmt) -> bool:
        """Does a statement touch an array in chunks?"""
        return not self.layout.axes.keys().isdisjoint(touched(s))

    def over_time(self, s: Stmt, live: frozenset[str] = frozenset()) -> bool:
        """Is it a loop whose iterations each run over the chunks?

        That is one in which arrays in chunks are made, or written and read at other
        elements again, or which hands on more than chunks and sums, to its next
        iteration or to what is `live` behind it; but not the loop along the chunks.
        """
        if not isinstance(s, (For, While)):
            return False
        axes = self.layout.axes
        stored: dict[str, set[tuple[Expr, ...]]] = {}
        read = [
            (e.array, tuple(e.index[k] for k in axes[e.array]))
            for e in _read_elements(s.body)
            if e.array in axes
        ]
        for t in walk(s.body):
            if isinstance(t, (Assign, Add)) and isinstance(t.target, Load):
                if t.target.array in axes:
                    own = tuple(t.target.index[k] for k in axes[t.target.array])
                    stored.setdefault(t.target.array, set()).add(own)
        along = {
            n
            for index in itertools.chain(*(stored.values() or [[i for _, i in read]]))
            for e in index
            for n in names(e)
        }
        if s.index in along:
            return False
        if isinstance(s, While) and not s.index:
            return True
        if any(isinstance(t, Alloc) and t.array in axes for t in walk(s.body)):
            return True
        if any(self.chunked(t) and self.over_time(t) for t in s.body):
            return True
        carried = live_before(s.body, frozenset())
        for t in s.body:
            if not self.chunked(t):
                if (written((t,)) - loop_indices((t,))) & carried:
                    return True
        if self._lost(s, live):
            return True
        return any(
            index not in stored[array] or len(stored[array]) > 1
            for array, index in read
            if array in stored
        )

    # ---------------------------------------------------------------- operations

    def _block(
        self, body: Block, after: frozenset[str], integers: Mapping[str, int]
    ) -> None:
        """Append the operations of a block; `after` are the names wanted behind it."""
        body = self._rewritten(body, after)
        lives = _lives(body, after)
        run: list[Stmt] = []
        alone: list[Stmt] = []

        def close(live: frozenset[str]) -> None:
            if alone:
                everything = live | all_names(tuple(run))
                self._alone(tuple(alone), everything, integers)
                alone.clear()
            if run:
                self._stage(tuple(run), live, None, integers)
                run.clear()

        for k, s in enumerate(body):
            live, later = lives[k], lives[k + 1]
            if isinstance(s, Return):
                close(live)
                values = [v for v in s.values if not self._array(v)]
                if values:
                    self._alone((s,), frozenset(), integers)
                continue
            if self.chunked(s):
                if self.over_time(s, later):
                    close(live)
                    self._time(s, later, integers)
                    continue
                if not self._joins(run, s):
                    close(live)
                run.append(s)
                continue
            changed = {*written((s,))}
            if run and (
                changed & all_names(tuple(run))
                or names_in(s) & written(tuple(run)) - self.layout.axes.keys()
            ):
                close(live)
            alone.append(s)
        close(after)

    def _rewritten(self, body: Block, after: frozenset[str]) -> Block:
        """A block whose statements over chunks give what blocks can give."""
        axes = self.layout.axes
        lives = _lives(body, after)
        found: list[Stmt] = []
        for s, live in zip(body, lives[1:], strict=True):
            if not self.chunked(s) or self.over_time(s, live):
                found.append(s)
                continue
            parts: list[Stmt] = []
            for t in apart(s, axes.keys(), self.dtypes, self._taken):
                plain = with_subscripts(t, axes, live)
                parts += separated(plain, axes.keys(), live)
            row = tuple(parts)
            for part, own in zip(row, _lives(row, live)[1:], strict=True):
                lost = self.chunked(part) and self._lost(part, own)
                made = lost and as_sums(part, lost, axes.keys(), own, self.dtypes)
                found += made or (part,)
        return tuple(found)

    def _without_zeros(self, loop: For, live: frozenset[str]) -> tuple[Block, For]:
        """A loop over time, and zeros before it for what it gives in one piece.

        What it does then only is to add: several steps can be one task.
        """
        before: Block = ()
        tracked = self.layout.axes.keys()
        lost = set[str]()
        for s in loop.body:
            if self.chunked(s) and not self.over_time(s, live):
                lost |= self._lost(s, live)
        for name in sorted(lost & self.layout.shapes.keys()):
            made = as_sums(loop, {name}, tracked, live, self.dtypes)
            if made is not None:
                *zeros, adding = made
                assert isinstance(adding, For)
                before, loop = (*before, *zeros), adding
        return before, loop

    def _lost(
        self, s: Stmt, live: frozenset[str], sums: Set[str] | None = None
    ) -> set[str]:
        """What is wanted later of a statement over chunks, and no block can hand on."""
        if sums is None:
            sums = self._added((s,))
        own = written((s,)) - loop_indices((s,)) - self.layout.axes.keys() - sums
        return {*own} & live

    def _array(self, e: Expr) -> bool:
        return isinstance(e, Var) and e.name in self.layout.shapes

    def _joins(self, run: Sequence[Stmt], s: Stmt) -> bool:
        """May `s` be in one stage with these statements? Not if it reads their sums."""
        sums = self._added(tuple(run))
        return not sums & (names_in(s) - self._added((s,)))

    def _added(self, body: Block) -> set[str]:
        """What a stage may add to, and does nothing else with."""
        found: set[str] = set()
        other: set[str] = set()
        tracked = self.layout.axes
        for s in body:
            if isinstance(s, Alloc):
                other |= {s.array}
                continue
            region = Region((s,), frozenset(all_names((s,))))
            for leaf in region.leaves:
                for a in leaf.accesses:
                    if a.name in tracked or region.private_depth(leaf, a.name):
                        continue
                    if a.kind == "add":
                        found.add(a.name)
                    else:
                        other.add(a.name)
        return found - other

    def _alone(
        self, body: Block, live: frozenset[str], integers: Mapping[str, int]
    ) -> None:
        changed = written(body) - loop_indices(body)
        # An array keeps its elements where only some are written.
        outputs = tuple(sorted(changed & live))
        if any(isinstance(s, Return) for s in body):
            outputs = ()
        elif not outputs and not any(isinstance(s, Check) for s in walk(body)):
            return
        name = f"{self.program.name}_{next(self._count)}"
        self.operations.append(Alone(name, body, outputs, dict(integers)))

    def _stage(
        self,
        body: Block,
        live: frozenset[str],
        time: Steps | None,
        integers: Mapping[str, int],
        name: str = "",
    ) -> None:
        axes = self.layout.axes
        sums = self._added(body)
        self._check(body, live, sums)
        outs = tuple(sorted(written(body) & axes.keys() & live))
        wanted = tuple(sorted(sums & live))
        if not outs and not wanted:
            return
        name = name or f"{self.program.name}_{next(self._count)}"
        self.operations.append(
            Stage(name, body, outs, wanted, time, dict(integers), live)
        )

    def _check(self, body: Block, live: frozenset[str], sums: Set[str]) -> None:
        """Refuse a stage that does more than to give chunks and sums."""
        axes = self.layout.axes
        for s, later in zip(body, _lives(body, live)[1:], strict=True):
            if not self.chunked(s):
                continue
            for t in walk((s,)):
                if isinstance(t, Alloc) and t is not s and t.array in axes:
                    raise ChunkingError(
                        t.loc,
                        f"data decides if `{t.array}`, which is in chunks, is made",
                        "make it before",
                    )
                if isinstance(t, Check):
                    raise ChunkingError(
                        t.loc,
                        f"data in chunks decide if this raises {t.error}: {t.message}",
                        "decide it before, on sizes, or in a function of its own",
                    )
                if isinstance(t, Tell):
                    raise ChunkingError(
                        t.loc, "a probe is in a loop over chunks", "leave it out"
                    )
            for name in sorted(self._lost(s, later, sums)):
                at = [t for t in walk((s,)) if name in written((t,))][-1]
                arrays = sorted(touched(s) & axes.keys())
                raise ChunkingError(
                    at.loc,
                    f"`{name}` is in one piece, and gets values from chunks of"
                    f" `{arrays[0]}` that are no sum",
                    f"write each of its elements once, or keep `{arrays[0]}` in one"
                    " chunk",
                )

    # ---------------------------------------------------------------- time

    def _time(
        self, loop: Stmt, after: frozenset[str], integers: Mapping[str, int]
    ) -> None:
        """The operations of a loop over time."""
        if not isinstance(loop, For):
            raise ChunkingError(
                loop.loc,
                "how often this loop over chunks runs is decided while it runs",
                "write `for t in range(n)`, with n known before",
            )
        known = {**self.layout.integers, **integers}
        lo, hi, step = (
            known_integer(e, known, self.layout.shapes)
            for e in (loop.lo, loop.hi, loop.step)
        )
        if lo is None or hi is None or not step:
            raise ChunkingError(
                loop.loc,
                "how often this loop runs is not known before the call runs",
                "give the number of steps as an integer argument",
            )
        values = range(lo, hi, step)
        if loop.reverse:
            values = values[::-1]
        if not values:
            return
        inside = after | live_before((loop,), after)
        inside |= live_before(loop.body, inside)
        zeros, loop = self._without_zeros(loop, inside)
        self._block(zeros, inside, integers)
        loop = replace(loop, body=self._rewritten(loop.body, inside))
        if self._one_stage(loop, inside):
            stride = values.step
            name = f"{self.program.name}_{next(self._count)}"
            for k in range(0, len(values), self.steps):
                part = values[k : k + self.steps]
                time = Steps(loop, part[0], stride, len(part))
                self._stage(loop.body, inside, time, integers, name)
            return
        for value in values:
            own = {**integers, loop.index: value}
            body = resolved(loop.body, {**known, **own}, self.layout.shapes)
            self._block(body, inside, own)

    def _one_stage(self, loop: For, live: frozenset[str]) -> bool:
        """Can several iterations be one task? Not if they hand on more than chunks.

        `live` are the names that matter after an iteration.
        """
        body, tracked = loop.body, self.layout.axes.keys()
        sums = self._added(body)
        for s, later in zip(body, _lives(body, live)[1:], strict=True):
            if self.chunked(s):
                if isinstance(s, (If, While, Grow)) or self.over_time(s, later):
                    return False
                # No sum of the blocks is there before all of them have run.
                alone = self._added((s,)) - sums
                if alone or self._lost(s, later, sums):
                    return False
            elif (written((s,)) - loop_indices((s,)) - tracked) & live:
                return False
            elif any(isinstance(t, (Check, Tell)) for t in walk((s,))):
                return False
        return integer(loop.step) is not None


def _lives(body: Block, after: frozenset[str]) -> list[frozenset[str]]:
    """What matters before each statement of a block, and after the last."""
    lives = [after]
    for s in reversed(body):
        lives.append(live_before((s,), lives[-1]))
    return lives[::-1]


def _read_elements(body: Block) -> Iterator[Load]:
    """The elements of arrays that a block reads."""
    for s in walk(body):
        tops: Sequence[Expr] = exprs(s)
        if isinstance(s, (Assign, Add)) and isinstance(s.target, Load):
            tops = (*s.target.index, s.value)
            if isinstance(s, Add):
                yield s.target
        for top in tops:
            yield from _loads(top)


def phases(
    body: Block, facts: Facts, live: frozenset[str], sums: Sequence[str]
) -> list[Phase | Alloc | Stmt]:
    """The statements of a stage: what is over chunks as phases."""
    found: list[Phase | Alloc | Stmt] = []
    for k, s in enumerate(body):
        if isinstance(s, Alloc) and s.array in facts.axes:
            if s.places:
                raise ChunkingError(
                    s.loc,
                    "an order of elements needs all of them",
                    f"keep `{s.source}` in one chunk",
                )
            found.append(s)
        elif facts.axes.keys().isdisjoint(touched(s)):
            found.append(s)
        else:
            others = all_names((*body[:k], *body[k + 1 :]))
            found.append(Phase(s, facts, live | others, {*sums}))
    return found
