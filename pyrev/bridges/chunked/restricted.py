"""A stage for one block, as a loop function: on windows, with the loops it needs.

Loops count from where the windows start; what else is said of an index, or of an
extent, is about the whole arrays. So borders are where they are in the whole program,
and one text serves all blocks.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, field, replace

from pyrev.bridges.chunked.boxes import known_range
from pyrev.bridges.chunked.folds import fold_of
from pyrev.bridges.chunked.frames import Frames
from pyrev.bridges.chunked.layout import loaded_in
from pyrev.bridges.chunked.phases import Driver, Facts, Phase
from pyrev.bridges.chunked.rewritten import zero_of
from pyrev.bridges.chunked.slices import Key, Limits, Slice
from pyrev.bridges.chunked.stages import Steps
from pyrev.emit.python import emit_python
from pyrev.ir.affine import integer, tidy
from pyrev.ir.dtypes import concrete
from pyrev.ir.liveness import live_before
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
    Extent,
    For,
    If,
    Load,
    Param,
    Program,
    Return,
    Stmt,
    Var,
    all_names,
    blocks,
    exprs,
    fresh,
    map_block,
    map_expr,
    map_whole,
    names,
    substitute,
    walk,
    with_blocks,
    written,
)

#: A bound that no loop passes: it runs for nothing.
NEVER = 1 << 40

#: What an integer of a block is: what kind, of which array and axis, or which loop.
Meaning = tuple[str, str, int] | tuple[str, Key] | tuple[str, int]


@dataclass(frozen=True)
class Text:
    """A stage for one block as Python, and what it takes and gives.

    `windows` and `others` are the arrays it takes, `scalars` the numbers, `integers`
    what the blocks differ in. Of `outs` those in `returned` come back, with the sums
    that are numbers; `summed` are arrays that are added to. Of the sums those in
    `folds` are joined by another operation.
    """

    name: str
    text: str
    windows: tuple[str, ...]
    others: tuple[str, ...]
    scalars: tuple[str, ...]
    integers: Mapping[str, Meaning]
    outs: tuple[str, ...]
    sums: tuple[str, ...]
    returned: tuple[str, ...]
    summed: tuple[str, ...]
    folds: Mapping[str, str]
    #: The ranges of loops in the whole program, where they are known.
    ranges: Mapping[Key, range]
    program: Program = field(repr=False)

    @property
    def written(self) -> frozenset[str]:
        """The arrays that it writes to."""
        return written(self.program.body)


class Restriction:
    """Makes the text of a stage: of its statements, and of what blocks need of them."""

    def __init__(
        self,
        name: str,
        items: Sequence[Phase | Stmt],
        found: Slice,
        facts: Facts,
        params: Mapping[str, Param],
        types: Mapping[str, str],
        time: Steps | None,
        outs: Sequence[str],
        sums: Sequence[str],
        frames: Frames,
        integers: Mapping[str, int],
    ) -> None:
        self.frames = frames
        self.ranges: dict[Key, range] = {}
        self._frame_names: dict[int, str] = {}
        self.name, self.items, self.found, self.facts = name, items, found, facts
        self.params, self.types, self.time = params, types, time
        self.outs, self.sums = tuple(outs), tuple(sums)
        stmts = tuple(i.stmt if isinstance(i, Phase) else i for i in items)
        self.taken = {*all_names(stmts), *params, name}
        #: Loops over time around the stage have their values in this call.
        self.meanings: dict[str, Meaning] = {n: ("known", n, 0) for n in integers}
        self._names: dict[Meaning, str] = {}
        self.local = {s.array for s in stmts if isinstance(s, Alloc)}
        self.loaded = loaded_in(stmts)
        self.before: Expr = ZERO

    def made(self) -> Text:
        """The text of the stage for one block."""
        body: list[Stmt] = []
        steps = ""
        if self.time is not None:
            index = fresh("left", self.taken)
            steps = fresh("steps", self.taken)
            self.before = Var(index)
        for number, item in enumerate(self.items):
            if isinstance(item, Phase):
                if number in self.found.used:
                    body.append(self._phase(number, item))
            elif isinstance(item, Alloc) and item.array in self.facts.axes:
                if item.array in self.found.windows:
                    body.append(self._alloc(item))
            else:
                body.append(map_whole(item, lambda e: self._expr(e, {})))
        integers: list[str] = []
        if self.time is not None:
            inner = tuple(body)
            if self.time.loop.index in _read_scalars(inner):
                first = fresh("first", self.taken)
                integers.append(first)
                self.meanings[first] = ("first", "", 0)
                done = Call("-", (Call("-", (Var(steps), ONE)), Var(index)))
                later = Call("*", (Const(self.time.stride), done))
                now = tidy(Call("+", (Var(first), later)))
                env = {self.time.loop.index: now}
                inner = map_block(inner, lambda e: substitute(e, env))
            loc = self.time.loop.loc
            body = [For(index, ZERO, Var(steps), ONE, inner, reverse=True, loc=loc)]
            self.meanings[steps] = ("steps", "", 0)
            integers.append(steps)
        numbers = [s for s in self.sums if s not in self.facts.shapes]
        found = [fold_of(s) for s in walk(tuple(body))]
        folds = {f[0]: f[1] for f in found if f is not None and f[0] in self.sums}
        zeros = [
            Assign(Var(s), zero_of(self._dtype(s))) for s in numbers if s not in folds
        ]
        back = [*numbers, *(o for o in self.outs if o in self.local)]
        ends = [Return(tuple(map(Var, back)), len(back) == 1)] if back else []
        program = self._program((*zeros, *body, *ends))
        text = emit_python(program, doc=f"{self.name}, for one block.").text
        own = {p.name for p in program.params}
        arrays = [p.name for p in program.params if p.rank]
        return Text(
            program.name,
            text,
            tuple(a for a in arrays if a in self.facts.axes),
            tuple(a for a in arrays if a not in self.facts.axes),
            tuple(p for p in self.params if p in own and p not in arrays),
            {n: m for n, m in self.meanings.items() if n in own},
            self.outs,
            self.sums,
            tuple(back),
            tuple(s for s in self.sums if s in self.facts.shapes),
            folds,
            self.ranges,
            program,
        )

    def _dtype(self, name: str) -> str:
        return concrete(self.types.get(name, "float64"))

    def _program(self, body: Block) -> Program:
        used = all_names(body)
        made = {s.array for s in walk(body) if isinstance(s, Alloc)}
        # A number that the block gives a value first is none that it takes.
        taken = live_before(body, frozenset())
        own = [
            p
            for p in self.params.values()
            if p.name in used - made and (p.rank or p.name in taken)
        ]
        more = [Param(n, 0, "int64") for n in self.meanings if n in used]
        return Program(self.name, (*own, *more), body)

    # ---------------------------------------------------------------- integers

    def _integer(self, meaning: Meaning, name: str) -> Var:
        if meaning not in self._names:
            self._names[meaning] = fresh(name, self.taken)
            self.meanings[self._names[meaning]] = meaning
        return Var(self._names[meaning])

    def _of_axis(self, what: str, array: str, axis: int) -> Var:
        alone = len(self.facts.shapes[array]) == 1
        name = f"{array}_{what}" if alone else f"{array}_{what}_{axis}"
        return self._integer((what, array, axis), name)

    def _start(self, frame: int | None, name: str) -> Expr:
        """Where a frame starts; it is called after its first loop or array."""
        assert frame is not None
        return self._integer(("start", frame), f"{name}_start")

    # ---------------------------------------------------------------- statements

    def _expr(self, e: Expr, env: Mapping[str, Expr]) -> Expr:
        """An expression with subscripts in windows, and extents of whole arrays.

        Loops that count from the start of their windows are in `env`.
        """

        def node(e: Expr) -> Expr:
            match e:
                case Load(array, index) if array in self.facts.axes:
                    return replace(
                        e,
                        index=tuple(
                            self._in_window(array, k, i)
                            if k in self.facts.axes[array]
                            else i
                            for k, i in enumerate(index)
                        ),
                    )
                case Extent(array, axis) if array in self.facts.axes or (
                    array in self.facts.shapes and array not in self.loaded
                ):
                    return self._of_axis("size", array, axis)
            return e

        return map_expr(substitute(e, env) if env else e, node)

    def _in_window(self, array: str, axis: int, index: Expr) -> Expr:
        start = self._start(self.frames.of((array, axis)), f"{array}_{axis}")
        return tidy(Call("-", (index, start)))

    def _alloc(self, made: Alloc) -> Stmt:
        if made.copied is not None:  # it has the window of what it is a copy of
            of = made.copied
            return replace(
                made, shape=tuple(Extent(of, k) for k in range(len(made.shape)))
            )
        shape = tuple(
            self._of_axis("window", made.array, k)
            if k in self.facts.axes[made.array]
            else self._expr(e, {})
            for k, e in enumerate(made.shape)
        )
        fill = None if made.fill is None else self._expr(made.fill, {})
        return replace(self._typed(made), shape=shape, fill=fill)

    def _typed(self, made: Alloc) -> Alloc:
        """An array of the dtype that it has in this call, like none of the others."""
        if made.copied is not None or isinstance(made.dtype, str):
            return made
        return replace(made, dtype=self._dtype(made.array))

    def _phase(self, number: int, phase: Phase) -> Stmt:
        limited = {
            id(at.loop): (number, at.number)
            for leaf in phase.region.leaves
            for at in leaf.loops
            if at.number in phase.limited
        }
        # Of several steps the ranges are wider than what one of them needs.
        alone = self.time is None or self.time.count == 1
        guarded = {
            id(d.leaf.stmt): d
            for d in phase.drivers
            if d.sum and not (alone and phase.exact(d))
        }

        def of(s: Stmt, env: Mapping[str, Expr]) -> Stmt:
            inside = env
            if isinstance(s, For) and id(s) in limited:
                start = self._start(self.frames.of(limited[id(s)]), s.index)
                inside = {**env, s.index: Call("+", (Var(s.index), start))}
            inner = tuple(tuple(of(t, inside) for t in b) for b in blocks(s))
            bare = with_blocks(s, tuple(() for _ in blocks(s)))
            if isinstance(bare, Alloc):
                bare = self._typed(bare)
            whole = map_whole(bare, lambda e: self._expr(e, env))
            new = with_blocks(whole, inner)
            if isinstance(s, For) and id(s) in limited:
                assert isinstance(new, For)
                new = self._limited(new, s, limited[id(s)])
            if id(s) in guarded:
                return If(self._owned(guarded[id(s)], env), (new,), loc=s.loc)
            return new

        return of(phase.stmt, {})

    def _owned(self, d: Driver, env: Mapping[str, Expr]) -> Expr:
        """Does the element that a term belongs to lie in what the block owns?"""
        parts: list[Expr] = []
        for k in self.facts.axes[d.array]:
            at = tidy(self._expr(d.index[k], env))
            parts.append(Call("<=", (self._of_axis("from", d.array, k), at)))
            parts.append(Call("<", (at, self._of_axis("to", d.array, k))))
        return Call("and", tuple(parts))

    def _limited(self, loop: For, old: For, key: Key) -> For:
        """A loop over the iterations that a block needs of it, from its window on."""
        limits: Limits = self.found.loops[key]
        start = self._start(self.frames.of(key), loop.index)
        step = integer(loop.step)
        assert step is not None
        known = known_range(old, self.facts.integers, self.facts.shapes)
        low: Expr = self._integer(("low", key), f"{loop.index}_from")
        high: Expr = self._integer(("high", key), f"{loop.index}_to")
        grows = limits.below or limits.above
        if known is not None:
            self.ranges[key] = known
            if not grows:  # then the bounds of the block say all
                return replace(loop, lo=low, hi=high)
        lo = tidy(Call("-", (loop.lo, start)))
        hi = tidy(Call("-", (loop.hi, start)))
        if known is not None and step == 1:
            lo = self._integer(("first", key), f"{loop.index}_first")
            hi = self._integer(("end", key), f"{loop.index}_end")
        if limits.below:
            low = tidy(Call("-", (low, _times(limits.below, self.before))))
        if limits.above:
            high = tidy(Call("+", (high, _times(limits.above, self.before))))
        if step > 0:
            first: Expr = Call("max", (lo, low))
            if step > 1:
                late = Call("max", (tidy(Call("-", (low, lo))), ZERO))
                first = _moved(lo, late, step)
            return replace(loop, lo=first, hi=Call("min", (hi, high)))
        top = tidy(Call("-", (high, ONE)))
        first = Call("min", (lo, top))
        if step < -1:
            late = Call("max", (tidy(Call("-", (lo, top))), ZERO))
            first = _moved(lo, late, step)
        bottom = tidy(Call("-", (low, ONE)))
        return replace(loop, lo=first, hi=Call("max", (hi, bottom)))


def _times(k: int, e: Expr) -> Expr:
    return e if k == 1 else Call("*", (Const(k), e))


def _moved(start: Expr, late: Expr, step: int) -> Expr:
    """The first value of a range that is not before `late` more than `start`."""
    wide = Const(abs(step))
    count = Call("//", (Call("+", (late, Const(abs(step) - 1))), wide))
    return Call("+", (start, Call("*", (count, Const(step)))))


def _read_scalars(body: Block) -> Set[str]:
    return {n for s in walk(body) for top in exprs(s) for n in names(top)}


def without_sums(body: Block, unwanted: Set[str]) -> Block:
    """A block that does not add to some names, and runs no loop for nothing."""
    kept: list[Stmt] = []
    for s in body:
        fold = fold_of(s)
        if fold is not None and fold[0] in unwanted:
            continue
        if isinstance(s, Add) and s.target_name in unwanted:
            continue
        inner = tuple(without_sums(b, unwanted) for b in blocks(s))
        if not inner or any(inner):
            kept.append(with_blocks(s, inner))
    return tuple(kept)
