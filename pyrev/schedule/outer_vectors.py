"""Iterations of an outer loop side by side, where the inner loops stay scalar.

LLVM makes vector instructions of innermost loops only. Where such a loop hands a value
on from step to step, or finds its elements with arithmetic that no vector load
understands, the vector instructions can come from a loop around it whose iterations are
independent: 64 of them run statement by statement, each scalar of an iteration becomes
a row with an element per lane, and what does not depend on the lane is computed once
for all (outer-loop vectorisation: Nuzman and Zaks, PACT 2008).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from pyrev.analysis.dependence import private_names
from pyrev.ir.affine import slope
from pyrev.ir.dtypes import is_float
from pyrev.ir.liveness import flow_of
from pyrev.ir.nodes import (
    ONE,
    ZERO,
    Add,
    Alloc,
    Assign,
    Block,
    Call,
    Check,
    Const,
    Expr,
    Extent,
    For,
    Grow,
    If,
    Load,
    Loop,
    Return,
    Stmt,
    Var,
    While,
    assigned_scalars,
    blocks,
    exprs,
    fresh,
    like,
    map_block,
    names,
    walk,
    walk_expr,
    written,
)
from pyrev.ir.renaming import rename
from pyrev.ir.trip_counts import fixed_trip, trip_count, upper
from pyrev.schedule.costs import CpuCosts
from pyrev.schedule.expand import Own, around_runs, crossing, in_rows
from pyrev.schedule.legality import free_order
from pyrev.schedule.scalars import cost_of
from pyrev.schedule.work import Choose

# What may end the process on the integers that memory happens to hold.
_TRAPS = frozenset(("//", "%", "<<", ">>", "int", "round"))


def in_lanes(
    loop: For,
    outer: tuple[For, ...],
    live: frozenset[str],
    integers: frozenset[str],
    used: set[str],
    dtype_of: Callable[[str], str],
    own: Own,
    choose: Choose,
    cpu: CpuCosts,
    trips: Expr | None = None,
) -> Side | None:
    """`loop` in blocks of iterations side by side; None where it would not pay.

    Law: it computes what `loop` computes, sums in an order of their own. Names that it
    makes are added to `used`. `choose` answers for sizes as in `schedule_cpu`; `trips`
    is how many iterations there are in all, if this loop runs over a share of them.
    """
    if loop.step != ONE or any(
        isinstance(s, (While, Check, Grow, Return)) for s in walk(loop.body)
    ):
        return None
    deepest = _deepest(loop)
    if not deepest:
        return None
    alone = all(map(_scalar, deepest)) or _short_sums(loop, deepest, dtype_of, cpu)
    if cpu.vector_rows and not alone:
        return None
    count = trip_count(loop) if trips is None else trips
    if choose(count, cpu.laned_iterations) is not True:
        return None
    if not free_order(loop, outer, live, integers):
        return None
    trial = set(used)
    try:
        private = private_names(loop, live)
        made = _Lanes(loop, deepest, private, trial, dtype_of, own, choose, cpu).run()
    except _NotWorth:
        return None
    used |= trial
    return made


@dataclass(frozen=True, slots=True)
class Side:
    """A loop strip-mined into vectors: each iteration runs the lanes of one vector.

    In `loop` the first iteration of a vector and the number of its lanes are written
    out wherever they stand, since a proof has to see that they depend on the loop's
    index. `numbers` are the scalars that hold them once `loop` is proved (`named`).
    """

    loop: For
    numbers: tuple[tuple[str, Expr], ...]

    def named(self, loop: For) -> For:
        """`loop`, which is proved, with `numbers` set first and read instead."""
        known = {value: Var(name) for name, value in self.numbers}
        body = map_block(loop.body, lambda e: known.get(e, e))
        made = (Assign(known[v], v, loc=loop.loc) for _, v in self.numbers)
        return replace(loop, body=(*made, *body))


class _NotWorth(Exception):
    """The lanes would have to gather, or part ways."""


def _deepest(loop: For) -> list[For]:
    """The innermost loops in `loop` that the most loops surround."""
    found: list[tuple[int, For]] = []

    def go(block: Block, depth: int) -> None:
        for s in block:
            if isinstance(s, For):
                found.append((depth, s))
            for b in blocks(s):
                go(b, depth + isinstance(s, For))

    go(loop.body, 1)
    most = max((d for d, _ in found), default=0)
    return [f for d, f in found if d == most]


def _scalar(loop: For) -> bool:
    """Will LLVM leave this innermost loop without vector instructions?"""
    assigned = set(assigned_scalars(loop.body))
    for e in _loads((loop,)):
        for k in e.index:
            if names(k) & assigned or slope(k, loop.index) is None:
                return True
    handed = flow_of(loop.body)[0] & assigned
    return any(
        isinstance(s, Assign) and s.target_name in handed for s in walk(loop.body)
    )


def _short_sums(
    loop: For, deepest: Sequence[For], dtype_of: Callable[[str], str], cpu: CpuCosts
) -> bool:
    """Are all loops inside too short for rows, though not unrolled, and is there a sum?

    The terms of a short sum are added in order, one after the other.
    """
    trips = [
        trip
        for s in walk(loop.body)
        if isinstance(s, For)
        for trip in (fixed_trip(s) or cpu.lanes + 1,)  # many, for all that is known
    ]
    return cpu.unrolled_iterations < max(trips) <= cpu.lanes and any(
        isinstance(s, Add)
        and isinstance(s.target, Var)
        and is_float(dtype_of(s.target.name))
        for f in deepest
        for s in f.body
    )


def _loads(block: Block) -> Iterator[Load]:
    for s in walk(block):
        for top in exprs(s):
            for e in walk_expr(top):
                if isinstance(e, Load):
                    yield e


@dataclass(slots=True)
class _Lanes:
    loop: For
    deepest: list[For]
    private: frozenset[str]
    used: set[str]
    dtype_of: Callable[[str], str]
    own: Own
    choose: Choose
    cpu: CpuCosts
    varying: set[str] = field(default_factory=set)
    arrays: set[str] = field(default_factory=set)
    rows: dict[str, str] = field(default_factory=dict)
    turned: dict[str, tuple[str, list[Expr]]] = field(default_factory=dict)
    lane: str = ""
    count: Expr = ZERO
    first: Expr = ZERO

    def run(self) -> Side:
        loop = self.loop
        changing = written((loop,))
        for s in loop.body:
            if isinstance(s, Alloc):
                if s.array not in self.private or s.source is not None:
                    raise _NotWorth
                if any(names(e) & changing for e in exprs(s)):
                    raise _NotWorth
                self.arrays.add(s.array)
        if any(isinstance(s, Alloc) and s not in loop.body for s in walk(loop.body)):
            raise _NotWorth
        self.find_varying()
        self.look(loop.body, ())
        self.widen(loop.body, ())
        lanes = self.cpu.lanes
        self.lane, block = fresh("lane", self.used), fresh("block", self.used)
        trips = trip_count(loop)
        done = Call("*", (Const(lanes), Var(block)))
        self.first = done if loop.lo == ZERO else Call("+", (loop.lo, done))
        left = Call("-", (trips, done))
        # LLVM is to see that the lanes are few.
        self.count = Call("min", (Const(lanes), left))
        self.rows = {
            n: fresh(f"{n}_row", self.used)
            for n in crossing(loop.body, self.alone)
            if n in self.varying and n in self.private
        }
        # Elsewhere in the program an array of this name may keep its axes.
        wider = {n: fresh(f"{n}_lanes", self.used) for n in sorted(self.arrays)}
        body = around_runs(loop.body, self.alone, self.over_lanes, self.kept)
        body = tuple(rename(s, wider) for s in body)
        room = [
            Alloc(row, (Const(lanes),), None, self.dtype_of(n), loc=loop.loc)
            for n, row in self.rows.items()
        ]
        together = Call("//", (Call("+", (trips, Const(lanes - 1))), Const(lanes)))
        note = f"{lanes} iterations of {loop.index} side by side"
        made = (*room, *self.turn(), *body)
        over = For(block, ZERO, together, ONE, made, loc=loop.loc, note=note)
        numbers: tuple[tuple[str, Expr], ...] = (
            (fresh("first", self.used), self.first),
        )
        if loop.lo != ZERO:
            numbers += ((fresh("left", self.used), left),)
        return Side(over, numbers)

    # ---------------------------------------------------------------- what varies

    def find_varying(self) -> None:
        """The scalars whose value depends on the lane."""
        self.varying = {self.loop.index}
        while True:
            before = len(self.varying)
            self.spread(self.loop.body, False)
            if len(self.varying) == before:
                return

    def spread(self, block: Block, apart: bool) -> None:
        for s in block:
            match s:
                case Assign(Var(name), value) | Add(Var(name), value):
                    if apart or self.varies(value):
                        self.varying.add(name)
                case If(test):
                    for b in blocks(s):
                        self.spread(b, apart or self.varies(test))
                case For():
                    self.spread(s.body, apart)

    def varies(self, e: Expr) -> bool:
        changed = written(self.loop.body)
        return any(
            (isinstance(p, Var) and p.name in self.varying)
            or (isinstance(p, Load) and p.array in changed)
            for p in walk_expr(e)
        )

    # ---------------------------------------------------------------- does it pay

    def look(self, block: Block, around: tuple[For, ...]) -> None:
        """Raise `_NotWorth` where lanes part ways or gather in the deepest loops."""
        for s in block:
            match s:
                case For():
                    if any(self.varies(e) for e in (s.lo, s.hi, s.step)):
                        raise _NotWorth
                    inside = (*around, s)
                    if any(s is f for f in self.deepest):
                        self.deep(s, inside)
                    self.look(s.body, inside)
                case If(test):
                    if self.varies(test) and any(
                        isinstance(i, For) for b in blocks(s) for i in walk(b)
                    ):
                        raise _NotWorth
                    for b in blocks(s):
                        self.look(b, around)

    def deep(self, loop: For, around: tuple[For, ...]) -> None:
        for s in walk(loop.body):
            if isinstance(s, If) and self.varies(s.test):
                raise _NotWorth
            if (
                isinstance(s, (Assign, Add))
                and isinstance(s.target, Load)
                and s.target.array not in self.arrays
                and any(map(self.varies, s.target.index))
                and not self.contiguous(s.target)
            ):
                raise _NotWorth
        for e in _loads(loop.body):
            if e.array in self.arrays or not any(map(self.varies, e.index)):
                continue
            if not self.contiguous(e) and not self.turnable(e, around):
                raise _NotWorth

    def contiguous(self, e: Load) -> bool:
        *leading, last = e.index
        return not any(map(self.varies, leading)) and slope(last, self.loop.index) == 1

    def turnable(self, e: Load, around: tuple[For, ...]) -> bool:
        """May a copy of the rows of `e.array` stand for it, its lanes neighbours?

        The copy has to be small and used more than once.
        """
        match e.index:
            case (Var(lane), Var()) if lane == self.loop.index:
                pass
            case _:
                return False
        if e.array in written(self.loop.body):
            return False
        again = [f for f in around if f.index not in names(e.index[1])]
        width = self.width(e, around)
        if not again or width is None:
            return False
        if self.choose(width, self.cpu.turned_row) is not False:
            return False
        if e.array not in self.turned:
            name = fresh(f"{e.array}_lanes", self.used)
            self.turned[e.array] = (name, [])
        return True

    def width(self, e: Load, around: tuple[For, ...]) -> Expr | None:
        """How many elements of a row the subscript ``[lane, column]`` walks over."""
        outside: dict[str, Loop] = {f.index: f for f in around}
        match e.index[1]:
            case Const(int(k)) if k >= 0:
                return Const(k + 1)
            case Var(column) if column in outside and outside[column].step == ONE:
                found = upper(outside[column].hi, outside)
            case _:
                return None
        if found is None or names(found) & written((self.loop,)):
            return None
        if any(isinstance(p, Load) for p in walk_expr(found)):
            return None
        if not isinstance(found, Extent):
            found = Call("max", (found, ZERO))
        return Call("min", (found, Extent(e.array, 1)))

    def widen(self, block: Block, around: tuple[For, ...]) -> None:
        """Note how much of each row is walked over, anywhere in the loop."""
        for s in block:
            inside = (*around, s) if isinstance(s, For) else around
            for top in exprs(s):
                for e in walk_expr(top):
                    if isinstance(e, Load) and e.array in self.turned:
                        if e.index[0] != Var(self.loop.index):
                            continue
                        width = self.width(e, inside)
                        if width is None:
                            raise _NotWorth
                        if width not in self.turned[e.array][1]:
                            self.turned[e.array][1].append(width)
            for b in blocks(s):
                self.widen(b, inside)

    def turn(self) -> Iterator[Stmt]:
        """The copies of rows with lanes as neighbours."""
        for array, (name, widths) in self.turned.items():
            width = widths[0] if len(widths) == 1 else Extent(array, 1)
            yield Alloc(name, (width, Const(self.cpu.lanes)), None, like(array))
            column = fresh("column", self.used)
            here = Load(name, (Var(column), Var(self.lane)))
            there = Load(array, (self.at(), Var(column)))
            # The loop itself need not read what it would find at every iteration.
            low = Call("max", (ZERO, Call("neg", (self.first,))))
            rows = Call("-", (Extent(array, 0), self.first))
            high = Call("min", (self.count, rows))
            inner = For(self.lane, low, high, ONE, (Assign(here, there),))
            yield For(column, ZERO, width, ONE, (inner,), loc=self.loop.loc)

    # ---------------------------------------------------------------- the lanes

    def at(self) -> Expr:
        return Call("+", (self.first, Var(self.lane)))

    def alone(self, s: Stmt) -> bool:
        """Is `s` done once for all lanes?"""
        match s:
            case For() | Alloc():
                return True
            case If(test):
                return not self.varies(test)
            case Assign(Var(name), _) | Add(Var(name), _):
                return name in self.private and name not in self.varying
            case _:
                return False

    def over_lanes(self, run: Block) -> Block:
        """A loop over the lanes, behind what all of them share."""
        before, rest = self.lifted(run)
        # In the last block, too, where what the lanes left over hold is lost.
        whole = all(map(self.confined, rest))
        count = Const(self.cpu.lanes) if whole else self.count
        body = self.laned(rest)
        return (*before, For(self.lane, ZERO, count, ONE, body, loc=run[0].loc))

    def kept(self, s: Stmt) -> Stmt:
        """What is done once for all lanes; an array has room for each of them."""
        if isinstance(s, Alloc):
            return replace(s, shape=(*s.shape, Const(self.cpu.lanes)))
        return s

    def lifted(self, block: Block) -> tuple[Block, Block]:
        """(what all lanes share, found once; `block` with the names of that).

        A store to a row may change any element for all that LLVM knows: in the loop
        over the lanes such a value would be found for each of them.
        """
        own = set(assigned_scalars(block))
        found: dict[Expr, Var] = {}

        def lift(e: Expr) -> Expr:
            if isinstance(e, (Load, Call)) and self.shared(e) and not names(e) & own:
                if e not in found:
                    what = e.array if isinstance(e, Load) else "value"
                    found[e] = Var(fresh(f"{what}_all", self.used))
                return found[e]
            match e:
                case Call("where", (test, a, b)):
                    return replace(e, args=(lift(test), a, b))
                case Call("and" | "or", (a, b)):
                    return replace(e, args=(lift(a), b))
                case Call(_, args):
                    return replace(e, args=tuple(map(lift, args)))
            return e

        rest = tuple(
            replace(s, value=lift(s.value)) if isinstance(s, (Assign, Add)) else s
            for s in block
        )
        loc = block[0].loc
        return tuple(Assign(v, e, loc=loc) for e, v in found.items()), rest

    def shared(self, e: Expr) -> bool:
        """Is `e` one value for all lanes, and more than arithmetic on numbers?"""
        most = self.cpu.reread_operations
        return not self.varies(e) and any(
            isinstance(p, Load) or (isinstance(p, Call) and cost_of(p) > most)
            for p in walk_expr(e)
        )

    def confined(self, s: Stmt) -> bool:
        """Can `s` run in any lane, since it reads and writes rows of this block alone?

        In the lanes that are left over it finds anything at all: so no subscripts are
        made of what is in them, and nothing traps.
        """
        if not isinstance(s, (Assign, Add)):
            return False
        if isinstance(s.target, Var) and s.target.name not in self.private:
            return False
        if isinstance(s.target, Load) and not self.in_row(s.target):
            return False
        parts = [p for top in exprs(s) for p in walk_expr(top)]
        return all(
            self.in_row(p) or not any(map(self.varies, p.index))
            for p in parts
            if isinstance(p, Load)
        ) and not any(isinstance(p, Call) and p.op in _TRAPS for p in parts)

    def in_row(self, e: Load) -> bool:
        """Is it an element per lane, in a place that all lanes agree upon?"""
        index = e.index
        if e.array in self.turned and index[0] == Var(self.loop.index):
            index = index[1:]
        elif e.array not in self.arrays:
            return False
        return not any(map(self.varies, index))

    def laned(self, block: Block) -> Block:
        lane = Var(self.lane)

        def element(e: Expr) -> Expr:
            match e:
                case Load(array, index) if array in self.arrays:
                    return replace(e, index=(*index, lane))
                case Load(array, (Var(at), column)) if (
                    array in self.turned and at == self.loop.index
                ):
                    return Load(self.turned[array][0], (column, lane), loc=e.loc)
            return e

        rows = {n: Load(row, (lane,)) for n, row in self.rows.items()}
        # Rows are put in before the index of the loop goes.
        return map_block(
            in_rows(map_block(block, element), rows, self.own),
            lambda e: self.at() if e == Var(self.loop.index) else e,
        )
