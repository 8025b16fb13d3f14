"""The timeline of a primal: where each value is made, changed, and read once more.

Statements are numbered in the order of the text. A *level* is a loop, by its id, or
FUNCTION: one run of a level is one iteration of that loop, or the whole forward sweep.
The live range of a value ends where its name is written next, or where the run of the
level ends in which it was made. Nothing is decided here.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from pyrev.adjoint.reverse import FUNCTION, Adjoint
from pyrev.ir.accesses import whole_reads
from pyrev.ir.liveness import flow_of
from pyrev.ir.nodes import (
    Add,
    Alloc,
    Assign,
    Block,
    Call,
    Expr,
    Extent,
    For,
    If,
    Load,
    Loop,
    Program,
    Saved,
    Stmt,
    Var,
    While,
    all_names,
    blocks,
    exprs,
    resembled,
    walk,
    walk_expr,
)
from pyrev.ir.renaming import guarded_leaves


class Lost(Protocol):
    """May the element that a statement of a block reads be written at or after it?

    Not `or_same`: after it.
    """

    def __call__(
        self, body: Block, stmt_id: int, load: Load, or_same: bool = True
    ) -> bool: ...


#: What reads a name: the value of a scalar, an element, the extent of an array.
Leaf = Var | Load | Extent


@dataclass(frozen=True, slots=True)
class Place:
    """A statement of the primal: the loops around it and its span in textual order."""

    stmt: Stmt
    loops: tuple[Loop, ...]
    first: int
    last: int
    #: When the block begins in which it stands.
    block: int
    #: The loops and branches around it, the innermost first.
    around: tuple[int, ...] = ()

    def counts(self, name: str) -> bool:
        """Is `name` the index of a loop around it? The reverse sweep has it, too."""
        return any(loop.index == name for loop in self.loops)


@dataclass(frozen=True, slots=True)
class Demand:
    """The reverse sweep reads `value` as it was just before primal statement `at`."""

    at: int
    value: Expr


@dataclass(frozen=True, slots=True)
class Timeline:
    """The primal's statements in order, and what the reverse sweep reads of them.

    `demands` are in the order in which the reverse sweep's text has them; `backward` is
    the index of the reverse of a `while`, by its id. `lost` answers for single elements
    what the order of statements cannot; `dtype_of` gives the dtype of a name.
    """

    primal: Program
    places: Mapping[int, Place]
    #: The statements that write a name; for an array also those that make it.
    writes: Mapping[str, tuple[int, ...]]
    demands: tuple[Demand, ...]
    #: The first statement that makes a local name.
    makers: Mapping[str, int]
    params: frozenset[str]
    ranks: Mapping[str, int]
    backward: Mapping[int, str]
    #: All names in use.
    names: frozenset[str]
    lost: Lost
    dtype_of: Callable[[str], str]
    #: What each statement reads, as far as that was asked.
    _reads: dict[int, tuple[Leaf, ...]] = field(default_factory=dict)
    #: Where the writes of a name begin, as far as that was asked.
    _writes_at: dict[str, list[int]] = field(default_factory=dict)
    #: Where a scalar is stored in an element of an array, by its name.
    stores: Mapping[str, Sequence[int]] = field(default_factory=dict)
    #: What is demanded of the statements in each loop or branch.
    demands_in: Mapping[int, Sequence[Demand]] = field(default_factory=dict)
    #: The parameters that are arrays, or numbers that keep what the call gave.
    fixed: frozenset[str] = frozenset()

    @property
    def end(self) -> int:
        """After all that the primal does."""
        return len(self.places) + 1

    # ---------------------------------------------------------------- levels

    def loop(self, level: int) -> Loop:
        """The loop that a level is."""
        loop = self.places[level].stmt
        assert isinstance(loop, (For, While))
        return loop

    def body_of(self, level: int) -> Block:
        """The statements of one run of a level."""
        return self.primal.body if level == FUNCTION else self.loop(level).body

    def depth(self, level: int) -> int:
        """How many loops are around a level; FUNCTION is outside of all."""
        return -1 if level == FUNCTION else len(self.places[level].loops)

    def index_of(self, level: int) -> str:
        """What the iterations of a level are called, "" for FUNCTION."""
        if level == FUNCTION:
            return ""
        return self.loop(level).index or self.backward.get(level, "")

    def inside(self, level: int, at: int) -> bool:
        """Is statement `at` in the body of `level`?"""
        if level == FUNCTION:
            return True
        outer, inner = self.places[level], self.places[at]
        return outer.first < inner.first and inner.last <= outer.last

    def encloses(self, loop: int, level: int) -> bool:
        """Is `loop` around `level`, and another?"""
        return loop != level and self.inside(loop, level)

    def loops_within(self, level: int, at: int) -> list[Loop]:
        """The loops inside `level` that are around statement `at`, outermost first."""
        return [f for f in self.places[at].loops if self.inside(level, f.id)]

    def controls(self, level: int, at: int) -> list[int]:
        """The loops and branches inside `level` around statement `at`."""
        return [k for k in self.places[at].around if self.inside(level, k)]

    def exclusive(self, a: int, b: int) -> bool:
        """Do two statements stand on different sides of a test?"""
        one, other = self.places[a].first, self.places[b].first
        for k in self.controls(FUNCTION, a):
            place = self.places[k]
            if isinstance(place.stmt, If) and place.first < other < place.last:
                ends = [self.places[s.id].last for s in place.stmt.then]
                middle = max(ends, default=place.first + 1)
                if (one < middle) is not (other < middle):
                    return True
        return False

    def top(self, level: int, at: int) -> int:
        """The statement of the body of `level` itself that holds statement `at`.

        What is recorded of `at` in one run of the level has its tape made before it.
        """
        here = self.places[at].first
        for stmt in self.body_of(level):
            place = self.places[stmt.id]
            if place.first <= here < place.last:
                return stmt.id
        raise AssertionError(f"statement {at} is not in level {level}")

    def until(self, level: int, at: int) -> int:
        """When the last instance of statement `at` in one run of `level` is over."""
        around = self.loops_within(level, at)
        return self.places[around[0].id if around else at].last + 1

    # ---------------------------------------------------------------- writes

    def makes(self, at: int) -> bool:
        """Does statement `at` make an array?"""
        return isinstance(self.places[at].stmt, Alloc)

    def writes_in(self, level: int, name: str) -> list[int]:
        """The statements inside `level` that write `name`."""
        return [w for w in self.writes.get(name, ()) if self.inside(level, w)]

    def writes_scalar(self, at: int) -> bool:
        """Does statement `at` assign a scalar?"""
        stmt = self.places[at].stmt
        return isinstance(stmt, (Assign, Add)) and isinstance(stmt.target, Var)

    def constant(self, leaf: Leaf) -> bool:
        """Does nothing in the primal change what `leaf` reads?"""
        name = name_of(leaf)
        # What is written to the elements of an argument does not measure it.
        measured = isinstance(leaf, Extent) and name in self.params
        return measured or name not in self.writes

    def moves(self, level: int, name: str) -> bool:
        """May `name` have changed since an iteration of loop `level` began?"""
        begin = self.places[level].first
        written = self._written_at(name)
        return bool(written) and written[-1] > begin

    def made_before(self, loop: Stmt, level: int = FUNCTION) -> frozenset[str]:
        """What a run of `level` has made on all paths when `loop` starts; arguments are
        there for FUNCTION.
        """
        made = set(self.params) if level == FUNCTION else set()
        block = self.body_of(level)
        while True:
            here = next(k for k, stmt in enumerate(block) if self._holds(stmt, loop))
            made |= flow_of(block[:here])[1]
            if block[here] is loop:
                return frozenset(made)
            block = next(
                b
                for b in blocks(block[here])
                if any(self._holds(stmt, loop) for stmt in b)
            )

    def _holds(self, stmt: Stmt, inner: Stmt) -> bool:
        """Is a statement another one, or around it?"""
        return stmt is inner or stmt.id in self.places[inner.id].around

    def _written_at(self, name: str) -> list[int]:
        """Where the writes of a name begin, in order."""
        found = self._writes_at.get(name)
        if found is None:
            found = sorted(self.places[w].first for w in self.writes.get(name, ()))
            self._writes_at[name] = found
        return found

    def unchanged(self, name: str, recorded: int, at: int) -> bool:
        """Is the value that a scalar has at a statement the one it has at another?

        Where `at` is run, `recorded` is run as often: it stands in the same block, or
        outside branches in which `at` stands.
        """
        there, here = self.places[recorded], self.places[at]
        if [f.id for f in there.loops] != [f.id for f in here.loops]:
            return False
        since, until = sorted((there.first, here.first))
        written = self._written_at(name)
        behind = bisect_left(written, since)
        if behind < len(written) and written[behind] < until:
            return False
        return there.block == here.block or any(
            p.block == there.block and p.first <= here.first < p.last
            for p in self.places.values()
        )

    # ---------------------------------------------------------------- reads

    def reads_of(self, level: int, stmts: Iterable[int]) -> Iterator[tuple[int, Leaf]]:
        """(statement, leaf) for all reads of statements and of the control around them.

        Their control is what is inside `level`.
        """
        around: dict[int, None] = {}
        for at in stmts:
            around[at] = None
            for control in self.controls(level, at):
                around[control] = None
        for at in around:
            found = self._reads.get(at)
            if found is None:
                found = self._reads[at] = tuple(self._own_reads(self.places[at].stmt))
            for leaf in found:
                yield at, leaf

    def _own_reads(self, stmt: Stmt) -> Iterator[Leaf]:
        """What a statement reads, without the blocks in it."""
        for expr in exprs(stmt):
            for e in walk_expr(expr):
                own_target = isinstance(stmt, Assign) and e is stmt.target
                if isinstance(e, (Var, Load, Extent)) and not own_target:
                    yield e
        if isinstance(stmt, Alloc):
            # The dtype of a number is that of its value.
            for name in resembled(stmt.dtype):
                if name in self.writes and name not in self.ranks:
                    yield Var(name)
            yield from whole_reads(stmt)

    def demanded(self, expr: Expr) -> Demand | None:
        """What an expression of the reverse sweep itself asks for, if it does."""
        return _demand(expr, self.makers)

    def paths(self, at: int, leaf: Expr) -> list[tuple[Expr, ...]]:
        """The tests under which statement `at` evaluates `leaf`, for each time."""
        paths: dict[tuple[Expr, ...], None] = {}
        for expr in exprs(self.places[at].stmt):
            for path, e in guarded_leaves(expr, ()):
                if e == leaf:
                    paths[path] = None
        return list(paths) or [()]


def name_of(leaf: Leaf) -> str:
    """The name that a leaf reads."""
    return leaf.name if isinstance(leaf, Var) else leaf.array


def timeline(
    primal: Program, adjoint: Adjoint, lost: Lost, dtype_of: Callable[[str], str]
) -> Timeline:
    """The timeline of `primal`, with what `adjoint` reads of it."""
    places: dict[int, Place] = {}
    _number(primal.body, (), 0, (), places)
    writes: dict[str, list[int]] = {}
    ranks = {p.name: p.rank for p in primal.params}
    for stmt in walk(primal.body):
        match stmt:
            case Assign() | Add():
                writes.setdefault(stmt.target_name, []).append(stmt.id)
            case Alloc(array, shape):
                writes.setdefault(array, []).append(stmt.id)
                ranks[array] = len(shape)
    params = frozenset(p.name for p in primal.params)
    makers = {n: found[0] for n, found in writes.items() if n not in params}
    stores: dict[str, list[int]] = {}
    for k, place in places.items():
        match place.stmt:
            case Assign(Load(), Var(name)):
                stores.setdefault(name, []).append(k)
    demands = tuple(d for s in adjoint.program.body for d in _demands(s, makers))
    demands_in: dict[int, list[Demand]] = {}
    for demand in demands:
        for k in places[demand.at].around:
            demands_in.setdefault(k, []).append(demand)
    return Timeline(
        primal,
        places,
        {n: tuple(found) for n, found in writes.items()},
        demands,
        makers,
        params,
        ranks,
        dict(adjoint.backward),
        frozenset(
            {
                *all_names(primal.body),
                *all_names(adjoint.program.body),
                *(p.name for p in adjoint.program.params),
            }
        ),
        lost,
        dtype_of,
        stores=stores,
        demands_in=demands_in,
        fixed=frozenset(n for n in params if ranks[n] or n not in writes),
    )


def _number(
    block: Block,
    loops: tuple[Loop, ...],
    clock: int,
    around: tuple[int, ...],
    places: dict[int, Place],
) -> int:
    """Find the places of all statements of a block, inner ones first."""
    begin = clock
    for stmt in block:
        first, clock = clock, clock + 1
        inner = (*loops, stmt) if isinstance(stmt, (For, While)) else loops
        for b in blocks(stmt):
            clock = _number(b, inner, clock, (stmt.id, *around), places)
        places[stmt.id] = Place(stmt, loops, first, clock, begin, around)
    return clock


def _demands(stmt: Stmt, makers: Mapping[str, int]) -> Iterator[Demand]:
    for block in blocks(stmt):
        for s in block:
            yield from _demands(s, makers)
    for e in exprs(stmt):
        yield from _demanded(e, makers)


def _demanded(expr: Expr, makers: Mapping[str, int]) -> Iterator[Demand]:
    demand = _demand(expr, makers)
    if demand is not None:
        yield demand
    elif isinstance(expr, Load):
        for k in expr.index:
            yield from _demanded(k, makers)
    elif isinstance(expr, Call):
        for a in expr.args:
            yield from _demanded(a, makers)


def _demand(expr: Expr, makers: Mapping[str, int]) -> Demand | None:
    """What `expr` asks for: a saved value, or the extent of a local array.

    The extents of arrays that the primal makes are as their first maker finds them.
    """
    match expr:
        case Saved(at, value):
            return Demand(at, value)
        case Extent(array) if array in makers:
            return Demand(makers[array], expr)
    return None
