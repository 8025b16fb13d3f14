"""From a plan to a program: every demand met, and what runs again put in its place.

Nothing is decided here but the names of counters and of copies.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace

from pyrev.adjoint.reverse import FUNCTION
from pyrev.ir.accesses import anywhere, whole_reads
from pyrev.ir.liveness import flow_of
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
    Grow,
    If,
    Load,
    Loc,
    Program,
    Restart,
    Stmt,
    Var,
    While,
    blocks,
    children,
    fresh,
    like,
    map_whole,
    rebuild,
    walk,
    with_blocks,
    with_value,
    written,
)
from pyrev.ir.renaming import rename
from pyrev.schedule.storage.checkpoint import back_to, room
from pyrev.schedule.storage.plan import Checkpointed, Plan, Record, Rerun
from pyrev.schedule.storage.timeline import Leaf, Timeline

#: Stands for the bytes of all other arrays until they are known.
OTHERS = Var("bytes of all other arrays")


def build(timeline: Timeline, plan: Plan, reverse: Program) -> Program:
    """The program that `plan` makes of the reverse sweep."""
    taken = set(plan.taken)
    again = _reruns(timeline, plan, taken)
    body = _restarted(_met(timeline, plan, reverse.body), plan, again)
    return _own_copies(timeline.primal, replace(reverse, body=body), taken)


def build_apart(
    timeline: Timeline, plan: Plan, reverse: Program
) -> tuple[Block, Block]:
    """The same as two blocks that run one after the other, in the caller's arrays."""
    again = _reruns(timeline, plan, set(plan.taken))
    forward = again.pop(FUNCTION)
    return forward, _restarted(_met(timeline, plan, reverse.body), plan, again)


def _met(timeline: Timeline, plan: Plan, body: Block) -> Block:
    """The reverse sweep with the read of the plan in the place of each demand."""

    def met(expr: Expr) -> Expr:
        demand = timeline.demanded(expr)
        if demand is not None:
            return plan.reads[demand.at, demand.value]
        match expr:
            case Load(_, index):
                return replace(expr, index=tuple(map(met, index)))
            case Call(_, args):
                return replace(expr, args=tuple(map(met, args)))
        return expr

    return tuple(map_whole(s, met) for s in body)


def _restarted(block: Block, plan: Plan, again: Mapping[int, Block]) -> Block:
    """What runs again at a level in the place of its `Restart`."""
    out: list[Stmt] = []
    for stmt in block:
        if isinstance(stmt, Restart):
            # The iterations come back from the last one.
            out += [
                Add(Var(name), Const(-1), loc=stmt.loc)
                for loop, name in plan.counters
                if loop == stmt.loop
            ]
            out += again.get(stmt.loop, ())
        else:
            inner = tuple(_restarted(b, plan, again) for b in blocks(stmt))
            out.append(with_blocks(stmt, inner))
    return tuple(out)


def _own_copies(primal: Program, program: Program, taken: set[str]) -> Program:
    """The forward sweep writes copies of the caller's arrays, never the arrays."""
    touched = written(program.body)
    copies: list[Stmt] = []
    new: dict[str, str] = {}
    for p in primal.params:
        if p.rank and p.name in touched:
            own = new[p.name] = fresh(p.name, taken)
            shape = tuple(Extent(p.name, k) for k in range(p.rank))
            copies.append(Alloc(own, shape, None, like(p.name), source=p.name))
    first, body = _first_copies(program.body, new)
    body = tuple(rename(s, new, extents=False) for s in body)
    body = tuple(rename(s, first) for s in body)
    return replace(program, body=(*copies, *body))


def _first_copies(body: Block, arrays: Collection[str]) -> tuple[dict[str, str], Block]:
    """The copies that are made of some arguments before these are written, which are
    the arguments themselves where others are written in their place; and the rest.
    """
    found: dict[str, str] = {}
    left = set(arrays)
    changed = Counter(n for s in walk(body) if not blocks(s) for n in written((s,)))
    rest: list[Stmt] = []
    for s in body:
        match s:
            case Alloc(own) if (
                s.copied in left and s.dtype == like(s.copied) and changed[own] == 1
            ):
                found[own] = s.copied
                continue
        left -= written((s,))
        rest.append(s)
    return found, tuple(rest)


# ------------------------------------------------------------------ one level


def _reruns(timeline: Timeline, plan: Plan, taken: set[str]) -> dict[int, Block]:
    """What runs again at each level, the state that it starts from made before it."""
    found: dict[int, Block] = {}
    for level, rerun in plan.reruns.items():
        again = statements(timeline, rerun, taken)
        state: Block = ()
        restored: frozenset[str] = frozenset()
        if rerun.state is not None:
            state = _restored(timeline, rerun.state, taken)
            restored = frozenset(p.name for p in rerun.state.parts)
        undefined = _undefined(timeline, rerun, again, restored)
        found[level] = (*state, *undefined, *again)
    return found


def statements(timeline: Timeline, rerun: Rerun, taken: set[str]) -> Block:
    """The primal statements that run again at a level, with the records in them.

    Names of loops that copy arrays are none of `taken`, and may be the same in each.
    """
    copier = _Copier(timeline, rerun, taken)
    made: dict[int, list[Alloc]] = {}
    for r in rerun.records:
        if r.room is not None:
            loc = timeline.places[r.at].stmt.loc
            assert isinstance(r.target, Load)
            alloc = Alloc(r.target.array, r.room, None, r.dtype, loc=loc)
            made.setdefault(r.at, []).append(alloc)
    out: list[Stmt] = [Assign(Var(n), ZERO) for n in rerun.counters.values()]
    out += [Assign(Var(n), _zero(timeline.dtype_of(n))) for n in rerun.zeros]
    for stmt in timeline.body_of(rerun.level):
        for s in walk((stmt,)):
            out += made.get(s.id, ())
        out += copier.block((stmt,))
    return tuple(out)


def _undefined(
    timeline: Timeline, rerun: Rerun, block: Block, restored: frozenset[str]
) -> Iterator[Stmt]:
    """Zeros for scalars that `block` makes on some paths only.

    The reverse sweep reads such a scalar on the same paths only, but under a test of
    its own: without a value before it, no analysis could see that.
    """
    kept = {
        r.target.name: r.dtype
        for r in rerun.records
        if isinstance(r.target, Var) and not r.whole
    }
    made, (_, sure) = written(block), flow_of(block)
    for name in dict.fromkeys([*rerun.roots, *kept]):
        scalar = name in kept or any(
            map(timeline.writes_scalar, timeline.writes.get(name, ()))
        )
        if not scalar or name in timeline.params or name not in made:
            continue
        if name not in restored and name not in sure:
            dtype = kept[name] if name in kept else timeline.dtype_of(name)
            yield Assign(Var(name), _zero(dtype))


def _zero(dtype: str) -> Const:
    zero: bool | int | float = 0.0 if dtype.startswith("float") else 0
    return Const(False if dtype == "bool" else zero)


class _Copier:
    """Copies primal statements with the records, and the counting, that tapes need."""

    def __init__(self, timeline: Timeline, rerun: Rerun, taken: set[str]) -> None:
        self.timeline, self.rerun, self.taken = timeline, rerun, taken
        self.records: dict[int, list[Record]] = {}
        self.growing: dict[int, list[Record]] = {}
        for record in rerun.records:
            self.records.setdefault(record.at, []).append(record)
            if record.grows is not None:
                self.growing.setdefault(record.grows, []).append(record)
        self.heads = {
            one.loop: _first_state(timeline, one) for one in rerun.checkpoints
        }

    def block(self, block: Block) -> Block:
        """What runs again of a block."""
        out: list[Stmt] = []
        for stmt in block:
            out += self.heads.get(stmt.id, ())
            records = self.records.get(stmt.id, ())
            for record in records:
                if not record.behind:
                    out += self._record(record)
            if stmt.id in self.rerun.keep:
                out += self._statement(stmt)
            for record in records:
                if record.behind:
                    out += self._record(record)
        return tuple(out)

    def _statement(self, stmt: Stmt) -> Block:
        """One statement again, with what it reads from copies."""
        inner = tuple(self.block(b) for b in blocks(stmt))
        if isinstance(stmt, (For, While)):
            (body,) = inner
            room = tuple(map(self._room, self.growing.get(stmt.id, ())))
            number = self.rerun.counters.get(stmt.id)
            count = () if number is None else (Add(Var(number), ONE),)
            inner = ((*room, *body, *count),)
        copies = self.rerun.copies.get(stmt.id)
        if copies:

            def instead(e: Expr) -> Expr:
                # An element before its subscripts, which may be read from copies, too.
                if isinstance(e, (Load, Var)) and e in copies:
                    return copies[e]
                return rebuild(e, tuple(map(instead, children(e))))

            bare = with_blocks(stmt, tuple(() for _ in blocks(stmt)))
            stmt = map_whole(bare, instead)
            if isinstance(stmt, Alloc) and stmt.opaque is not None:
                return self._given(stmt, copies)
            if isinstance(stmt, Alloc) and stmt.source is not None:
                kept = copies.get(Load(stmt.source, anywhere(stmt)))
                if kept is not None:
                    return self._copy_of(kept, stmt)
        return (with_blocks(stmt, inner),)

    def _room(self, record: Record) -> Stmt:
        """``if k == tape.shape[0]: tape = np.concatenate(...)``"""
        assert isinstance(record.target, Load)
        tape, place = record.target.array, record.target.index[0]
        loc = self.timeline.places[record.at].stmt.loc
        full = Call("==", (place, Extent(tape, 0)))
        return If(full, (Grow(tape, loc=loc),), loc=loc)

    # ---------------------------------------------------------------- records

    def _loc(self, record: Record) -> Loc:
        if record.loc is None:
            return self.timeline.places[record.at].stmt.loc
        return record.loc

    def _record(self, record: Record) -> Block:
        """The recording statement, under the tests that guard the read it repeats."""
        if record.whole:
            return self._whole(record)
        # Before a loop there is no test yet.
        paths = self.timeline.paths(record.at, record.leaf)
        paths = [()] if record.early else paths
        loc = self._loc(record)
        write: Stmt = Assign(record.target, record.leaf, loc=loc)
        if any(not path for path in paths):
            return (write,)
        made: list[Stmt] = []
        for path in paths:
            guarded: Stmt = write
            for test in reversed(path):
                guarded = If(test, (guarded,))
            made.append(guarded)
        return tuple(made)

    def _whole(self, record: Record) -> Block:
        """Copy an array, or rows of it, to a tape, or as an array of its own."""
        assert isinstance(record.leaf, Load)
        array, loc = record.leaf.array, self._loc(record)
        axes = range(len(record.leaf.index), self.timeline.ranks[array])
        shape = tuple(Extent(array, k) for k in axes)
        if isinstance(record.target, Var):
            own = record.target.name
            return (Alloc(own, shape, None, like(array), array, loc=loc),)
        made = self._elements(record.target, record.leaf, shape, loc)
        return made if record.there is None else (If(record.there, made, loc=loc),)

    def _copy_of(self, kept: Expr, made: Alloc) -> Block:
        """``made`` as a copy of what was `kept` of the array that it is a copy of."""
        assert isinstance(kept, Load)
        index = anywhere(made)
        around = kept.index[: -len(index)]
        if not around:
            return (replace(made, source=kept.array),)
        own = fresh(kept.array, self.taken) if made.places else made.array
        shape = tuple(Extent(own, k) for k in range(len(index)))
        rows = replace(kept, index=around)
        filled = self._elements(Load(own, ()), rows, shape, made.loc)
        if not made.places:
            return (replace(made, source=None), *filled)
        room = Alloc(own, made.shape, None, like(kept.array), loc=made.loc)
        return (room, *filled, replace(made, source=own))

    def _given(self, stmt: Alloc, copies: Mapping[Leaf, Expr]) -> Block:
        """An opaque call of what was kept of the arrays that it was given."""
        before: list[Stmt] = []
        new: dict[str, str] = {}
        for read in whole_reads(stmt):
            kept = copies.get(read)
            if not isinstance(kept, Load):
                continue
            rank = len(read.index)
            around = kept.index[: len(kept.index) - rank]
            if not around:
                new[read.array] = kept.array
                continue
            own = new[read.array] = fresh(kept.array, self.taken)
            sizes = range(len(around), len(kept.index))
            shape = tuple(Extent(kept.array, k) for k in sizes)
            dtype = like(read.array)
            before.append(Alloc(own, shape, None, dtype, loc=stmt.loc))
            rows = replace(kept, index=around)
            before += self._elements(Load(own, ()), rows, shape, stmt.loc)
        if not new:
            return (stmt,)
        assert stmt.opaque is not None and stmt.source is not None
        call = stmt.opaque.mapped(lambda e: e, lambda n: new.get(n, n))
        source = new.get(stmt.source, stmt.source)
        return (*before, replace(stmt, source=source, opaque=call))

    def _elements(
        self, target: Load, value: Load, shape: tuple[Expr, ...], loc: Loc
    ) -> Block:
        """Loops that copy what has `shape`, behind the subscripts that both have."""
        # Another record may be called as an index would be.
        scope = set(self.taken)
        base = target.array
        index = tuple(Var(fresh(f"{base}_{k}", scope)) for k in range(len(shape)))
        stmt: Stmt = Assign(
            replace(target, index=(*target.index, *index)),
            replace(value, index=(*value.index, *index)),
            loc=loc,
        )
        for k in reversed(range(len(shape))):
            stmt = For(index[k].name, ZERO, shape[k], ONE, (stmt,), loc=loc)
        return (stmt,)


# ------------------------------------------------------------------ checkpoints


def _first_state(timeline: Timeline, loop: Checkpointed) -> Block:
    """Room for the states of a loop, and its first one: this stands before the loop."""
    budget = None if loop.slots is not None else loop.memory
    loc = timeline.places[loop.loop].stmt.loc
    return room(loop.parts, loop.names, budget, OTHERS, loop.trips, loop.slots, loc)


def _restored(timeline: Timeline, loop: Checkpointed, taken: set[str]) -> Block:
    """Make the state in which the iteration began that is reversed now."""
    advance = statements(timeline, loop.advance, taken)
    if loop.position is not None:
        advance = with_value(advance, timeline.loop(loop.loop).index, loop.position)
    loc = timeline.places[loop.loop].stmt.loc
    return back_to(loop.number, loop.parts, loop.names, advance, loop.index, taken, loc)
