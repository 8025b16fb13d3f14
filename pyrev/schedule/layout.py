"""Arrays whose neighbours in memory are not what an iteration uses get another layout.

``grid[channel, z, y, x]``, read at a place that data decides, for each of a few
channels, brings a cache line for every channel. In ``grid_turned[z, y, x, channel]``
they share one. The copy is made where the nest reads so often that it pays, and what a
nest adds to is summed in that layout and copied back (data layout transformation:
O'Boyle and Knijnenburg, "Nonsingular Data Transformations", IJPP 27, 1999).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from pyrev.analysis.array_shapes import of_arguments
from pyrev.ir.liveness import occurs
from pyrev.ir.nodes import (
    ONE,
    ZERO,
    Alloc,
    Assign,
    Block,
    Call,
    Const,
    Expr,
    Extent,
    For,
    Grow,
    Load,
    Program,
    Return,
    Stmt,
    Var,
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
from pyrev.ir.trip_counts import fixed_trip, most_trips
from pyrev.schedule.costs import CpuCosts
from pyrev.schedule.work import Choose, product

# Subscripts, and the loops around them.
_Use = tuple[tuple[Expr, ...], tuple[For, ...]]


@dataclass(frozen=True, slots=True)
class _Turn:
    """The axes of `array` in the order of another layout: `order[k]` becomes `k`."""

    array: str
    name: str
    order: tuple[int, ...]

    def of(self, index: tuple[Expr, ...]) -> tuple[Expr, ...]:
        return tuple(index[k] for k in self.order)


def turned(program: Program, taken: set[str], choose: Choose, cpu: CpuCosts) -> Program:
    """`program` with copies of arrays in the layout that its nests want.

    Law: every element has the same value, summed in the same order. Names that it makes
    are added to `taken`; `choose` answers for sizes as in `schedule_cpu`.
    """
    return replace(program, body=_Turner(program, taken, choose, cpu).run())


class _Turner:
    def __init__(
        self, program: Program, taken: set[str], choose: Choose, cpu: CpuCosts
    ) -> None:
        self.taken, self.choose, self.cpu = taken, choose, cpu
        self.body = program.body
        self.params = {p.name for p in program.params}
        #: The shapes of local arrays.
        self.local = {s.array: s.shape for s in self.body if isinstance(s, Alloc)}
        makers = [s.array for s in walk(self.body) if isinstance(s, (Alloc, Grow))]
        ranks = {p.name: p.rank for p in program.params if p.rank}
        ranks |= {n: len(shape) for n, shape in self.local.items()}
        #: The arrays that are made once, and their ranks.
        self.ranks = {
            n: rank
            for n, rank in ranks.items()
            if makers.count(n) == (n not in self.params)
        }
        most = max(self.ranks.values(), default=0)
        #: The indices of loops that copy, one after the other.
        self.axes = [fresh(f"axis{k}", taken) for k in range(most)]

    def run(self) -> Block:
        out: list[Stmt] = []
        for s in self.body:
            if isinstance(s, For):
                out += self.nest(s, out)
            else:
                out.append(s)
        return tuple(out)

    def nest(self, nest: For, done: list[Stmt]) -> list[Stmt]:
        """`nest` with what it needs before and after it; `done` is what ran before."""
        before: list[Stmt] = []
        after: list[Stmt] = []
        changed = written((nest,))
        for array in sorted(self.ranks):
            # What a caller's array holds when an error ends the loop is defined.
            if array in changed & self.params:
                continue
            order = self.wanted(nest, array)
            if order is None:
                continue
            turn = _Turn(array, fresh(f"{array}_turned", self.taken), order)
            shape = tuple(Extent(array, k) for k in order)
            room = Alloc(turn.name, shape, None, like(array), loc=nest.loc)
            made = _only_filled(done, array) if array in changed else None
            if made is None:
                before += (room, self.copied(turn, nest, back=False))
            else:
                done[done.index(made)] = replace(made, fill=None)
                before.append(replace(room, fill=made.fill))
            nest = _with(nest, turn)
            if array in changed:
                after.append(self.copied(turn, nest, back=True))
        return [*before, nest, *after]

    def wanted(self, nest: For, array: str) -> tuple[int, ...] | None:
        """The order of axes that puts records last, if that is worth two copies."""
        found = list(_uses(nest, array, ()))
        if not found or not _by_element(nest, array):
            return None
        free = set(assigned_scalars((nest,)))
        if not all(names(k[-1]) & free or _loads(k[-1]) for k, _ in found):
            return None
        axes = range(self.ranks[array])
        longest = self.cpu.record_iterations
        record = [_in_record(k, found, longest) for k in axes]
        if not any(record):
            return None
        size = self.known(product(Extent(array, k) for k in axes))
        if self.choose(size, self.cpu.turned_elements) is not True:
            return None
        enough = Call("*", (Const(self.cpu.turned_accesses), size))
        counts = dict.fromkeys(_count(loops) for _, loops in found)
        for count in counts:
            gap = None if count is None else Call("-", (self.known(count), enough))
            if gap is not None and self.choose(gap, 0) is True:
                rest = (k for k in axes if not record[k])
                return (*rest, *(k for k in axes if record[k]))
        return None

    def known(self, count: Expr) -> Expr:
        return of_arguments(count, self.local)

    def copied(self, turn: _Turn, nest: For, *, back: bool) -> For:
        """The loops that fill the other layout, or that bring its elements back."""
        axes = self.axes[: len(turn.order)]
        index: tuple[Expr, ...] = tuple(map(Var, axes))
        plain, other = Load(turn.array, index), Load(turn.name, turn.of(index))
        target, value = (plain, other) if back else (other, plain)
        stmt: Stmt = Assign(target, value, loc=nest.loc)
        for k in reversed(turn.order):
            end = Extent(turn.array, k)
            stmt = For(axes[k], ZERO, end, ONE, (stmt,), loc=nest.loc)
        assert isinstance(stmt, For)
        return stmt


def _only_filled(done: list[Stmt], array: str) -> Alloc | None:
    """The statement that makes `array`, if nothing else happened to it."""
    users = [s for s in done if occurs((s,), array)]
    match users:
        case [Alloc(name, _, Const(), source=None) as made] if name == array:
            return made
    return None


def _by_element(nest: For, array: str) -> bool:
    """Does `nest` use single elements of `array` only?"""
    return not any(
        isinstance(s, (Return, Grow)) or (isinstance(s, Alloc) and array in s.sources)
        for s in walk((nest,))
    )


def _in_record(axis: int, found: list[_Use], longest: int) -> bool:
    """Do a few numbers, all of which go with one place, stand on this axis?"""
    if not all(names(k[axis]) <= _inside(k[-1], loops, longest) for k, loops in found):
        return False
    return bool(names(found[0][0][axis])) or len({k[axis] for k, _ in found}) > 1


def _inside(place: Expr, loops: tuple[For, ...], longest: int) -> set[str]:
    """The loops of at most `longest` iterations in which `place` stays the same."""
    read = names(place)
    return {
        f.index
        for f in loops
        if _short(f, longest) and not read & {f.index, *assigned_scalars(f.body)}
    }


def _uses(s: Stmt, array: str, loops: tuple[For, ...]) -> Iterator[_Use]:
    """The subscripts of `array` in `s`, with the loops around each."""
    for top in exprs(s):
        for e in walk_expr(top):
            if isinstance(e, Load) and e.array == array:
                yield e.index, loops
    around = (*loops, s) if isinstance(s, For) else loops
    for block in blocks(s):
        for inner in block:
            yield from _uses(inner, array, around)


def _short(f: For, longest: int) -> bool:
    return 0 < (fixed_trip(f) or 0) <= longest


def _loads(e: Expr) -> bool:
    return any(isinstance(k, Load) for k in walk_expr(e))


def _count(loops: tuple[For, ...]) -> Expr | None:
    """How often what is inside these loops runs, at most."""
    trips = [most_trips(f, loops[:k]) for k, f in enumerate(loops)]
    known = [t for t in trips if t is not None]
    return product(known) if len(known) == len(trips) else None


def _with(nest: For, turn: _Turn) -> For:
    def access(e: Expr) -> Expr:
        if isinstance(e, Load) and e.array == turn.array:
            return replace(e, array=turn.name, index=turn.of(e.index))
        return e

    (made,) = map_block((nest,), access)
    assert isinstance(made, For)
    return made
