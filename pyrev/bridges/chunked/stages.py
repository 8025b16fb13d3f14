"""A program as a row of operations: stages over chunks, and what one task does alone.

Statements over chunked arrays in a row are one stage, a loop over time is another, so
many of its steps at once. Numbers and small arrays go from one to the next; what a
stage only adds to is a sum, a part of it from each block.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace

from pyrev.analysis.dependence import Region
from pyrev.bridges.chunked.boxes import known_range
from pyrev.bridges.chunked.edges import Edges
from pyrev.bridges.chunked.folds import as_folds, fold_of
from pyrev.bridges.chunked.layout import Layout, loads
from pyrev.bridges.chunked.phases import ChunkingError, Facts, Phase
from pyrev.bridges.chunked.rewritten import (
    apart,
    as_sums,
    placed,
    resolved,
    separated,
    with_subscripts,
)
from pyrev.ir.affine import integer
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
    exprs,
    loop_indices,
    names,
    walk,
    written,
)


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


class Split:
    """A program as operations, for one layout of its arrays.

    `steps` are how many steps of a loop over time a task does; `more` are the names
    that are wanted of a call beside what is returned; `dtypes` those of all names, to
    which those of new ones are added. Of the `wide` arrays what is read far from what
    is written is copied before.
    Raises `ChunkingError`.
    """

    def __init__(
        self,
        program: Program,
        layout: Layout,
        steps: int,
        more: Sequence[str],
        dtypes: dict[str, str],
        wide: Set[str] = frozenset(),
    ) -> None:
        self.program, self.layout, self.steps = program, layout, steps
        self.dtypes, before = dtypes, {*dtypes}
        self._taken = {*all_names(program.body), *layout.shapes}
        self._taken |= {p.name for p in program.params}
        self.edges = Edges(layout, wide, dtypes, self._taken)
        self.operations: list[Operation] = []
        #: Of each outermost loop over time, where its groups of steps begin among the
        #: operations, and where the last one ends.
        self.loops: list[tuple[int, ...]] = []
        self._count = itertools.count(1)
        self._names: dict[Block, str] = {}
        self._ways: dict[Stmt, Mapping[str, str]] = {}
        #: The indices of loops over time around what is rewritten.
        self._times: list[str] = []
        end = frozenset(more)
        if program.body and isinstance(program.body[-1], Return):
            end |= all_names((program.body[-1],))
        self._block(program.body, end, {})
        self._check_sizes()
        #: The elements that are numbers of their own.
        self.numbers = [
            n for n in dtypes if n not in before and n not in self.edges.made
        ]

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
        made = {t.array for t in walk(s.body) if isinstance(t, Alloc)}
        outside = [i for a in stored.keys() - made for i in stored[a]]
        if outside:
            along = all(s.index in _names_of(i) for i in outside)
        else:
            along = any(s.index in _names_of(i) for _, i in read)
        if along:
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
        if self._lost(s, live) or self._goes_on(s):
            return True
        return any(
            index not in stored[array] or len(stored[array]) > 1
            for array, index in read
            if array in stored
        )

    def _goes_on(self, s: For | While) -> bool:
        """Is something in one piece, made of chunks, read later in an iteration?"""
        for k, t in enumerate(s.body):
            if self.chunked(t):
                own = written((t,)) - loop_indices((t,)) - self.layout.axes.keys()
                if own & live_before(s.body[k + 1 :], frozenset()):
                    return True
        return False

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
                begins = isinstance(s, Alloc) and s.array in self.edges.made
                if begins or not self._joins(run, s):
                    close(live)
                run.append(s)
                if self._copies(s):
                    close(later)
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
        body = self._near(body, after)
        lives = _lives(body, after)
        found: list[Stmt] = []
        for s, live in zip(body, lives[1:], strict=True):
            if not self.chunked(s) or self.over_time(s, live):
                found.append(s)
                continue
            parts: list[Stmt] = []
            for t in apart(s, axes.keys(), self.dtypes, self._taken):
                plain = as_folds(with_subscripts(t, axes, live), axes.keys())
                for u in separated(plain, axes.keys(), live):
                    parts += self._placed(u, live)
            row = tuple(parts)
            for part, own in zip(row, _lives(row, live)[1:], strict=True):
                lost = self.chunked(part) and self._lost(part, own)
                made = lost and as_sums(part, lost, axes.keys(), own, self.dtypes)
                found += made or (part,)
        return tuple(found)

    def _placed(self, s: Stmt, live: frozenset[str]) -> Block:
        """A statement that blocks run which have the places that it writes to."""
        layout, times = self.layout, frozenset(self._times)
        known, shapes = layout.integers, layout.shapes
        return placed(s, layout.axes, known, shapes, times, live, self._taken)

    def _near(self, body: Block, after: frozenset[str]) -> Block:
        """A block with copies of what nests read far away of wide arrays."""
        if not self.edges.wide:
            return body
        lives = _lives(body, after)
        found: list[Stmt] = []
        for s, live in zip(body, lives[1:], strict=True):
            if not self.chunked(s) or self.over_time(s, live) or self._copies(s):
                found.append(s)
                continue
            plain = with_subscripts(s, self.layout.axes, live)
            found, nests = self.edges.copied(plain, found, live)
            found += nests
        return tuple(found)

    def _copies(self, s: Stmt) -> bool:
        """Does a nest make a copy of what is read far away?"""
        return not isinstance(s, Alloc) and bool(written((s,)) & self.edges.made)

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
        """May `s` be in one stage with these statements?

        Not if it reads their sums, or goes on with them in another way.
        """
        sums, own = self._added(tuple(run)), self._added((s,))
        both = self._added((*run, s))
        return not sums & (names_in(s) - own) and sums | own <= both

    def _added(self, body: Block) -> set[str]:
        """What a stage may only add to, or join values to by one operation."""
        found: dict[str, str] = {}
        for s in body:
            for name, way in self._ways_of(s).items():
                found[name] = way if found.get(name, way) == way else ""
        return {n for n, way in found.items() if way}

    def _ways_of(self, s: Stmt) -> Mapping[str, str]:
        """By name, how a statement goes on with a value in one piece: it adds to it,
        joins other values to it by an operation, or does something else: "".
        """
        if s not in self._ways:
            found: dict[str, str] = {}
            if isinstance(s, Alloc):
                return {s.array: ""}
            region = Region((s,), frozenset(all_names((s,))))
            for leaf in region.leaves:
                name, op = fold_of(leaf.stmt) or ("", "")
                for a in leaf.accesses:
                    if a.name in self.layout.axes:
                        continue
                    if region.private_depth(leaf, a.name):
                        continue
                    way = "+" if a.kind == "add" else op if a.name == name else ""
                    found[a.name] = way if found.get(a.name, way) == way else ""
            self._ways[s] = found
        return self._ways[s]

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
        own = _used(integers, body)
        self.operations.append(Alone(self._name(body), body, outputs, own))

    def _name(self, body: Block) -> str:
        """The name of an operation: one for each body."""
        if body not in self._names:
            self._names[body] = f"{self.program.name}_{next(self._count)}"
        return self._names[body]

    def _stage(
        self,
        body: Block,
        live: frozenset[str],
        time: Steps | None,
        integers: Mapping[str, int],
    ) -> None:
        axes = self.layout.axes
        sums = self._added(body)
        self._check(body, live, sums)
        outs = tuple(sorted(written(body) & axes.keys() & live))
        wanted = tuple(sorted(sums & live))
        if not outs and not wanted:
            return
        name, own = self._name(body), _used(integers, body)
        self.operations.append(Stage(name, body, outs, wanted, time, own, live))

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
                    "write each of its elements once, or as `m = max(m, x)`, or keep"
                    f" `{arrays[0]}` in one chunk",
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
        values = known_range(loop, known, self.layout.shapes)
        if values is None:
            raise ChunkingError(
                loop.loc,
                "how often this loop runs is not known before the call runs",
                "give the number of steps as an integer argument",
            )
        if loop.reverse:
            values = values[::-1]
        if not values:
            return
        inside = after | live_before((loop,), after)
        inside |= live_before(loop.body, inside)
        zeros, loop = self._without_zeros(loop, inside)
        self._block(zeros, inside, integers)
        outermost = not self._times
        self._times.append(loop.index)
        bounds = [len(self.operations)]
        loop = replace(loop, body=self._rewritten(loop.body, inside))
        if self._one_stage(loop, inside):
            stride = values.step
            for k in range(0, len(values), self.steps):
                part = values[k : k + self.steps]
                time = Steps(loop, part[0], stride, len(part))
                self._stage(loop.body, inside, time, integers)
                bounds.append(len(self.operations))
        else:
            for value in values:
                own = {**integers, loop.index: value}
                body = resolved(loop.body, {**known, **own}, self.layout.shapes)
                self._block(body, inside, own)
                bounds.append(len(self.operations))
        self._times.pop()
        if outermost:
            self.loops.append(tuple(dict.fromkeys(bounds)))

    def _one_stage(self, loop: For, live: frozenset[str]) -> bool:
        """Can several iterations be one task? Not if they hand on more than chunks.

        `live` are the names that matter after an iteration.
        """
        body, tracked = loop.body, self.layout.axes.keys()
        sums = self._added(body)
        for s, later in zip(body, _lives(body, live)[1:], strict=True):
            if self.chunked(s):
                if self._copies(s):
                    return False
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


def _names_of(index: Sequence[Expr]) -> set[str]:
    """The names in some subscripts."""
    return {n for e in index for n in names(e)}


def _used(integers: Mapping[str, int], body: Block) -> dict[str, int]:
    """The integers that a block reads, of loops over time around it."""
    used = all_names(body)
    return {n: v for n, v in integers.items() if n in used}


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
            yield from loads(top)


def phases(
    body: Block, facts: Facts, live: frozenset[str], sums: Sequence[str]
) -> list[Phase | Alloc | Stmt]:
    """The statements of a stage: what is over chunks as phases."""
    found: list[Phase | Alloc | Stmt] = []
    for s, later in zip(body, _lives(body, live)[1:], strict=True):
        made = s if isinstance(s, Alloc) else None
        if made is not None and made.opaque is not None:
            if not facts.axes.keys().isdisjoint(touched(made)):
                raise ChunkingError(
                    s.loc,
                    f"`{made.opaque.function}` runs as it is, on whole arrays",
                    "keep its arguments and what it returns in one chunk each",
                )
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
            found.append(Phase(s, facts, later, {*sums}))
    return found
