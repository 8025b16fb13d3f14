"""Where a primal value lives that the reverse sweep needs: live, recomputed, or taped.

For every `Saved` value the cheapest legal place is taken, in this order:

live        nothing overwrites it after its use: the reverse sweep reads it where it is;
recomputed  it belongs to one iteration of a loop, and all that iteration starts from is
            still there: the statements that make it run again in the reversed
            iteration;
taped       it is recorded where it is used, in an array over the loops around that use.

A level is a loop id, or FUNCTION: the place whose primal statements run again before
the
reverse of that level's body. At FUNCTION those statements are the forward sweep. Values
taped at an inner level live for one iteration of it. Which values are needed is not
decided here: `adjoint.reverse` asks, and it derives that from the rule table.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import assert_never

from pyrev.adjoint.reverse import FUNCTION, Adjoint
from pyrev.analysis.dependence import from_polynomial, polynomial
from pyrev.ir.diagnostics import Finding, UnsupportedError
from pyrev.ir.dtypes import concrete, infer
from pyrev.ir.liveness import exposed, flow_of
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
    Loc,
    Loop,
    Program,
    Restart,
    Return,
    Saved,
    Stmt,
    Tell,
    Var,
    While,
    accesses,
    all_names,
    anywhere,
    assigned_scalars,
    blocks,
    exprs,
    fresh,
    like,
    map_expr,
    map_stmt_exprs,
    mentioned,
    rebuild,
    resembled,
    walk,
    walk_expr,
    with_blocks,
    with_value,
    written,
)
from pyrev.ir.renaming import guarded_leaves, rename
from pyrev.ir.simplify import divides, sub_int
from pyrev.ir.text import expr_text
from pyrev.schedule.checkpoint import Names, Part, array_bytes, back_to, names_for, room
from pyrev.schedule.trip_counts import iteration, trip_count, trip_count_of, upper

#: How many elements a tape of unknown length has room for at first.
_ROOM = 64

Lost = Callable[[Block, int, Load], bool]
Leaf = Var | Load | Extent


@dataclass(frozen=True, slots=True)
class Stored:
    """One decision: where the value of `name`, used by statement `at`, is kept.

    `shape` is the text of a tape's extents, outermost first; `level` is "" for the
    whole
    function or the index of the loop whose iterations recompute the value.
    """

    name: str
    kind: str  # "live", "recomputed", "taped" or "checkpointed"
    shape: tuple[Expr, ...]
    level: str
    loc: Loc
    dtype: str = ""

    def to_dict(self) -> dict[str, object]:
        shape = [expr_text(e) for e in self.shape]
        line = self.loc.line
        return {
            "name": self.name,
            "kind": self.kind,
            "shape": shape,
            "dtype": self.dtype,
            "level": self.level,
            "line": line,
        }


@dataclass(frozen=True, slots=True)
class Place:
    """A statement of the primal: the loops around it and its span in textual order."""

    stmt: Stmt
    loops: tuple[Loop, ...]
    first: int
    last: int


@dataclass(slots=True)
class Level:
    """What the primal statements executed again at one level have to produce."""

    roots: dict[str, None] = field(default_factory=dict)
    records: list[Record] = field(default_factory=list)
    #: The scalar that numbers the iterations of a loop, by the loop's id.
    places: dict[int, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Record:
    """``target = leaf`` just before statement `at`; `alloc` makes room for the
    target.

    A target over loop `grows`, whose length is not known, grows in it.
    """

    at: int
    leaf: Expr
    target: Var | Load
    alloc: Alloc | None
    grows: int | None = None
    whole: bool = False  # the whole array that `leaf` is of
    early: bool = False  # before a loop all of whose reads are this one


@dataclass(frozen=True, slots=True)
class _Start:
    """What a checkpointed loop begins with: its first state is kept."""

    parts: tuple[Part, ...]
    names: Names
    head: Block
    reads: tuple[str, ...]


#: Stands for the bytes of all other arrays until they are known.
_OTHERS = Var("bytes of all other arrays")


@dataclass(frozen=True, slots=True)
class _Axes:
    """How a tape over some loops is indexed, going forward and coming back.

    `room` are its extents when it is made, `shape` those that it has in the end.
    """

    forward: tuple[Expr, ...]
    backward: tuple[Expr, ...]
    room: tuple[Expr, ...]
    shape: tuple[Expr, ...]
    grows: int | None


def store(
    primal: Program,
    adjoint: Adjoint,
    lost: Lost,
    dtype_of: Callable[[str], str],
    avoid: frozenset[str],
    memory: int | None = None,
    kept: frozenset[str] = frozenset(),
) -> tuple[Program, tuple[Stored, ...]]:
    """Replace every `Saved` and `Restart` of an adjoint program.

    `memory` bounds the bytes of the arrays that the result makes: loops whose values
    would be taped are checkpointed. So are the loops that ask for it. The values of the
    names in `kept` are not made again, where nothing is checkpointed.

    `lost(body, at, load)` says whether the element that statement `at` reads may be
    written at or after it; `dtype_of` gives the dtype name of a scalar or array.
    """
    asked: dict[int, int | None] = {
        s.id: s.slots for s in primal.body if isinstance(s, For) and s.slots is not None
    }

    def made(loops: dict[int, int | None]) -> _Storage:
        return _Storage(primal, adjoint, lost, dtype_of, avoid, loops, memory, kept)

    first = made(asked)
    result = first.run()
    if memory is None:
        return result
    # Checkpointing one loop may ask for values of another.
    loops = dict(asked)
    while more := [k for k in first.taped_loops() if k not in loops]:
        loops |= dict.fromkeys(more)
        first = made(loops)
        result = first.run()
    return result


def store_apart(
    primal: Program,
    adjoint: Adjoint,
    lost: Lost,
    dtype_of: Callable[[str], str],
    avoid: frozenset[str],
    kept: frozenset[str] = frozenset(),
) -> tuple[Block, Block]:
    """The same as two blocks that run one after the other: forward, and back.

    The first does all that the primal does, in the caller's arrays, but for its
    `Return`; nothing is checkpointed.
    """
    return _Storage(primal, adjoint, lost, dtype_of, avoid, {}, None, kept).apart()


class _Storage:
    def __init__(
        self,
        primal: Program,
        adjoint: Adjoint,
        lost: Lost,
        dtype_of: Callable[[str], str],
        avoid: frozenset[str],
        checkpointed: Mapping[int, int | None],
        memory: int | None,
        kept: frozenset[str],
    ) -> None:
        self.primal, self.adjoint = primal, adjoint
        self.kept = frozenset() if checkpointed else kept
        self.checkpointed, self.memory = checkpointed, memory
        self.starts: dict[int, _Start] = {}
        #: Scalars of a state that first get a value in the loop: they start as zeros.
        self.first: dict[str, None] = {}
        self.backward = dict(adjoint.backward)
        #: What the forward sweep does though no value is needed of it.
        self.ends: list[int] = []
        self.lost, self.dtype_of = lost, dtype_of
        self.places: dict[int, Place] = {}
        self._index(primal.body, ())
        self.writes: dict[str, list[int]] = {}
        for stmt in walk(primal.body):
            match stmt:
                case Assign() | Add():
                    self.writes.setdefault(stmt.target_name, []).append(stmt.id)
                case Alloc(array):
                    self.writes.setdefault(array, []).append(stmt.id)
        self.taken = set(all_names(primal.body)) | set(avoid)
        self.taken |= set(all_names(adjoint.program.body))
        self.taken |= {p.name for p in adjoint.program.params}
        self.levels: dict[int, Level] = {}
        self.plans: dict[tuple[int, Expr], Expr] = {}
        self.slices: dict[tuple[int, str], frozenset[tuple[int, str]] | None] = {}
        self.lost_memo: dict[tuple[int, int, Load], bool] = {}
        self.dtypes: dict[str, str] = {}
        #: What was recorded before a loop, for all that is read in it.
        self.taped: dict[tuple[int, int, Expr], Expr] = {}
        #: (level, nest, array): the copy made before the nest, and how it is indexed.
        self.snapshots: dict[tuple[int, int, str], tuple[str, tuple[Expr, ...]]] = {}
        #: (level, statement): what it reads from copies where it runs again there.
        self.from_copies: dict[tuple[int, int], dict[Leaf, Expr]] = {}
        self.decisions: dict[tuple[str, str, tuple[Expr, ...], str, int], Stored] = {}

    def _index(self, block: Block, loops: tuple[Loop, ...], clock: int = 0) -> int:
        for stmt in block:
            first, clock = clock, clock + 1
            inner = (*loops, stmt) if isinstance(stmt, (For, While)) else loops
            for b in blocks(stmt):
                clock = self._index(b, inner, clock)
            self.places[stmt.id] = Place(stmt, loops, first, clock)
        return clock

    # ---------------------------------------------------------------- driver

    def run(self) -> tuple[Program, tuple[Stored, ...]]:
        body, done = self.built()
        program = replace(self.adjoint.program, body=self.fill(body, done))
        program = self.own_copies(program)
        return self.within_budget(program), tuple(self.decisions.values())

    def apart(self) -> tuple[Block, Block]:
        """What runs again at FUNCTION, with all that the primal does, and the rest."""
        outputs = self.level(FUNCTION).roots
        for p in self.primal.params:
            if p.rank and p.name in self.writes:
                outputs[p.name] = None
        for s in walk(self.primal.body):
            match s:
                case Return(values):
                    outputs |= dict.fromkeys(n for e in values for n in mentioned(e))
                case Check():
                    self.ends.append(s.id)
        body, done = self.built()
        forward = done.pop(FUNCTION)
        return forward, self.fill(body, done)

    def built(self) -> tuple[Block, dict[int, Block]]:
        """The reverse sweep, and what runs again at each level in it."""
        body = tuple(self.resolve_stmt(s) for s in self.adjoint.program.body)
        # Inner levels first: building one may ask an outer level for more.
        done: dict[int, Block] = {}
        while True:
            open_levels = [k for k in self.levels if k not in done]
            if not open_levels:
                return body, done
            level = max(open_levels, key=self.depth)
            done[level] = self.build(level)

    def taped_loops(self) -> list[int]:
        """The loops of the function itself that values are taped over."""
        found = self.levels.get(FUNCTION, Level()).records
        loops = [self.places[r.at].loops for r in found]
        return list(dict.fromkeys(around[0].id for around in loops if around))

    def within_budget(self, program: Program) -> Program:
        """Say what the arrays beside the kept states take, once they are known."""
        if self.memory is None or not self.starts:
            return program
        kept = {p.kept for s in self.starts.values() for p in s.parts}
        kept |= {s.names.steps for s in self.starts.values()}
        shapes: dict[str, tuple[Expr, ...]] = {}
        total: Expr = ZERO
        steady = {p.name for p in program.params}
        steady -= frozenset(assigned_scalars(program.body))
        types = self.types_of(program)

        def sized(e: Expr) -> Expr:
            if isinstance(e, Extent) and e.array in shapes:
                return shapes[e.array][e.axis]
            return e

        for s in walk(program.body):
            if isinstance(s, Grow):
                raise self.unbounded(s.array, s.loc)
            if not isinstance(s, Alloc) or s.array in kept:
                continue
            shape = tuple(map_expr(n, sized) for n in s.shape)
            outside = {n for e in shape for n in mentioned(e) if n not in steady}
            if outside:
                raise self.unbounded(s.array, s.loc)
            shapes[s.array] = shape
            own = array_bytes(shape, types[s.array])
            total = own if total == ZERO else Call("+", (total, own))
        total = from_polynomial(polynomial(total))
        body = tuple(
            map_stmt_exprs(s, lambda e: total if e == _OTHERS else e)
            for s in program.body
        )
        return replace(program, body=body)

    def unbounded(self, array: str, loc: Loc) -> UnsupportedError:
        return UnsupportedError(
            (
                Finding(
                    "P303",
                    loc,
                    f"the size of `{array}`, which the derivative needs, is not known"
                    " before it is made",
                    "leave out `memory`, or give the loop a bound made of sizes",
                ),
            )
        )

    def types_of(self, program: Program) -> dict[str, str]:
        found = infer(program, {p.name: p.dtype for p in program.params})
        return {name: concrete(kind) for name, kind in found.items()}

    def depth(self, level: int) -> int:
        return -1 if level == FUNCTION else len(self.places[level].loops)

    def fill(self, block: Block, done: dict[int, Block]) -> Block:
        out: list[Stmt] = []
        for stmt in block:
            if isinstance(stmt, Restart):
                for level in self.levels.values():
                    if stmt.loop in level.places:
                        # The iterations come back from the last one.
                        place = Var(level.places[stmt.loop])
                        out.append(Add(place, Const(-1), loc=stmt.loc))
                out += done.get(stmt.loop, ())
            else:
                inner = tuple(self.fill(b, done) for b in blocks(stmt))
                out.append(with_blocks(stmt, inner))
        return tuple(out)

    def own_copies(self, program: Program) -> Program:
        """The forward sweep writes copies of the caller's arrays, never the arrays."""
        arrays = {p.name for p in self.primal.params if p.rank}
        touched = written(program.body)
        copies: list[Stmt] = []
        new: dict[str, str] = {}
        for p in self.primal.params:
            if p.name in arrays and p.name in touched:
                own = new[p.name] = fresh(p.name, self.taken)
                shape = tuple(Extent(p.name, k) for k in range(p.rank))
                copies.append(Alloc(own, shape, None, like(p.name), source=p.name))
        body = tuple(rename(s, new, extents=False) for s in program.body)
        return replace(program, body=(*copies, *body))

    # ---------------------------------------------------------------- needs

    def resolve_stmt(self, stmt: Stmt) -> Stmt:
        return map_stmt_exprs_top_down(stmt, self.resolve)

    def resolve(self, expr: Expr) -> Expr:
        """Replace the saved values in an expression of the reverse sweep."""
        match expr:
            case Saved(at, Var() | Load() | Extent() as leaf):
                return self.place(at, leaf)
            case Saved(at, test):
                return self.decided(at, test)
            case Extent(array) if array in self.writes and array not in self.params():
                owner = self.writes[array][0]
                return self.place(owner, expr)
            case Load(_, index):
                return replace(expr, index=tuple(map(self.resolve, index)))
            case Call(_, args):
                return replace(expr, args=tuple(map(self.resolve, args)))
        return expr

    def params(self) -> frozenset[str]:
        return frozenset(p.name for p in self.primal.params)

    def place(self, at: int, leaf: Leaf) -> Expr:
        """The expression by which the reverse sweep reads `leaf` as it was at `at`."""
        key = (at, leaf)
        if key not in self.plans:
            self.plans[key] = self.decide(at, leaf)
        return self.plans[key]

    def decided(self, at: int, test: Expr) -> Expr:
        """How `test` came out at `at`: its operands where they are kept, or one bit."""
        key = (at, test)
        if key in self.plans:
            return self.plans[key]
        level = self.tape_level(at, test)
        if level is None:
            self.plans[key] = self.saved(test, at)
        else:
            self.plans[key] = self.tape(level, at, test, "test")
        return self.plans[key]

    def tape_level(self, at: int, test: Expr) -> int | None:
        """The level at which `test` has to be recorded, None if it need not be."""
        found: int | None = None
        for e in walk_expr(test):
            if isinstance(e, (Var, Load)):
                level = self.taped_at(at, e)
                if level is not None and (
                    found is None or self.depth(level) < self.depth(found)
                ):
                    found = level
        if found is None or found == FUNCTION or self.recordable(found, at, test):
            return found
        return FUNCTION

    def taped_at(self, at: int, leaf: Var | Load) -> int | None:
        """The level at which `decide` would record `leaf`; None if it would not."""
        name = leaf.name if isinstance(leaf, Var) else leaf.array
        place = self.places[at]
        if any(loop.index == name for loop in place.loops) or name not in self.writes:
            return None
        for loop in self.makers_of(place, name):
            if self.contains_writes(loop.id, name):
                if self.slice(loop.id, name) is None:
                    continue
                if not self.clobbered(loop.id, at, leaf):
                    return None
                if self.recordable(loop.id, at, leaf):
                    return loop.id
        return None if self.steady(at, leaf) else FUNCTION

    def recordable(self, level: int, at: int, leaf: Expr) -> bool:
        """Can what leads to statement `at`, in one run of `level`, run again there?"""
        reads = [
            (control, e)
            for control in self.controls(level, at)
            for top in exprs(self.places[control].stmt)
            for e in walk_expr(top)
        ]
        reads += [(at, e) for e in walk_expr(leaf)]
        # A record repeats the tests under which the statement evaluates the value.
        tests = [t for path in self.paths(at, leaf) for t in path]
        reads += [(at, e) for test in tests for e in walk_expr(test)]
        for where, e in reads:
            if not isinstance(e, (Var, Load)):
                continue
            name = e.name if isinstance(e, Var) else e.array
            loops = self.places[where].loops
            if name not in self.writes or any(f.index == name for f in loops):
                continue
            if any(self.inside(level, w) for w in self.writes[name]):
                if not self.contains_writes(level, name):
                    return False
                if self.slice(level, name) is None:
                    return False
            elif self.steady_level(level, where, e) is None:
                return False
        return True

    def decide(self, at: int, leaf: Leaf) -> Expr:
        place = self.places[at]
        name = leaf.name if isinstance(leaf, Var) else leaf.array
        if any(loop.index == name for loop in place.loops):
            return leaf
        if isinstance(leaf, Extent):
            return self.decide_extent(at, leaf)
        read = self.with_saved_indices(at, leaf)
        if name not in self.writes:
            return read
        for loop in self.makers_of(place, name):
            if self.contains_writes(loop.id, name):
                needs = self.slice(loop.id, name)
                if needs is None:
                    continue
                clobbered = self.clobbered(loop.id, at, leaf)
                if clobbered and not self.recordable(loop.id, at, leaf):
                    continue
                dear = None if clobbered else self.made_beside(loop, at, leaf, name)
                if dear is not None:
                    return self.tape(dear, at, leaf, name)
                for level, outer in sorted(needs):
                    self.level(level).roots[outer] = None
                if not clobbered:
                    self.level(loop.id).roots[name] = None
                    self.note(name, "recomputed", (), loop.index, place)
                    return read
                return self.tape(loop.id, at, leaf, name)
        if self.steady(at, leaf):
            self.level(FUNCTION).roots[name] = None
            self.note(name, "live", (), "", place)
            return read
        return self.tape(FUNCTION, at, leaf, name)

    def makers_of(self, place: Place, name: str) -> Sequence[Loop]:
        """The loops around `place` whose iterations may make `name` again."""
        return () if name in self.kept else place.loops[::-1]

    def made_beside(self, loop: Loop, at: int, leaf: Leaf, name: str) -> int | None:
        """The loop around `loop` whose iterations make `name` again anyway, if any.

        What takes a loop to make is not made twice then but recorded there, unless
        memory is what is short.
        """
        if self.memory is not None or self.checkpointed:
            return None
        makers = [w for w in self.writes[name] if self.inside(loop.id, w)]
        if not any(
            self.inside(loop.id, f.id) for w in makers for f in self.places[w].loops
        ):
            return None
        for around in reversed(self.places[at].loops):
            level = around.id
            if level not in self.levels or not self.inside(level, loop.id):
                continue
            loops = [f for f in self.places[at].loops if self.inside(level, f.id)]
            needs = self.slice(level, name)
            if (
                needs is not None
                and name in self.made_again(level)
                and self.recordable(level, at, leaf)
                and all(self.extent(f, loops, level) is not None for f in loops)
            ):
                for outer, other in sorted(needs):
                    self.level(outer).roots[other] = None
                return level
        return None

    def made_again(self, level: int) -> set[str]:
        """The names whose values, as far as is known, an iteration makes again."""
        want = self.levels[level]
        todo = [*want.roots, *(n for r in want.records for n in mentioned(r.leaf))]
        found: set[str] = set()
        while todo:
            name = todo.pop()
            if name not in found:
                found.add(name)
                own = [w for w in self.writes.get(name, ()) if self.inside(level, w)]
                todo += [n for _, e in self.reads_of(level, own) for n in mentioned(e)]
        return found

    def decide_extent(self, at: int, leaf: Extent) -> Expr:
        """The extent of a local array: its `Alloc` must run again where it is
        private.
        """
        name = leaf.array
        if name not in self.writes or name in self.params():
            return leaf
        place = self.places[at]
        for loop in reversed(place.loops):
            if self.contains_writes(loop.id, name):
                needs = self.slice(loop.id, name)
                if needs is not None:
                    for level, outer in sorted(needs):
                        self.level(level).roots[outer] = None
                    self.level(loop.id).roots[name] = None
                    return leaf
        if any(self.places[w].loops for w in self.writes[name] if self.is_alloc(w)):
            if isinstance(place.stmt, Alloc) and place.stmt.array == name:
                return self.saved(place.stmt.shape[leaf.axis], at)
            return self.tape(FUNCTION, at, leaf, name)
        self.level(FUNCTION).roots[name] = None
        return leaf

    def with_saved_indices(self, at: int, leaf: Var | Load) -> Expr:
        if isinstance(leaf, Var):
            return leaf
        return replace(leaf, index=tuple(self.saved(e, at) for e in leaf.index))

    def saved(self, expr: Expr, at: int) -> Expr:
        """Every value that `expr` reads, as it was at statement `at`."""
        match expr:
            case Var() | Load() | Extent():
                return self.place(at, expr)
            case Call(_, args):
                return rebuild(expr, tuple(self.saved(a, at) for a in args))
        return expr

    def note(
        self,
        name: str,
        kind: str,
        shape: tuple[Expr, ...],
        level: str,
        place: Place,
        dtype: str = "",
    ) -> None:
        loc = place.stmt.loc
        if loc.line:
            key = (name, kind, shape, level, loc.line)
            stored = Stored(name, kind, shape, level, loc, dtype)
            self.decisions.setdefault(key, stored)

    def level(self, level: int) -> Level:
        return self.levels.setdefault(level, Level())

    # ---------------------------------------------------------------- order

    def body_of(self, level: int) -> Block:
        if level == FUNCTION:
            return self.primal.body
        loop = self.places[level].stmt
        assert isinstance(loop, (For, While))
        return loop.body

    def inside(self, level: int, at: int) -> bool:
        if level == FUNCTION:
            return True
        outer, inner = self.places[level], self.places[at]
        return outer.first < inner.first and inner.last <= outer.last

    def is_alloc(self, at: int) -> bool:
        return isinstance(self.places[at].stmt, Alloc)

    def moves(self, level: int, name: str) -> bool:
        """May `name` have changed since an iteration of loop `level` began?"""
        begin = self.places[level].first
        return any(self.places[w].first > begin for w in self.writes.get(name, ()))

    def contains_writes(self, level: int, name: str) -> bool:
        """Are all writes of `name` (for an array its allocation too) inside `level`?"""
        if level in self.checkpointed:
            return self.moves(level, name)
        if name in self.params():
            return False
        return all(self.inside(level, w) for w in self.writes[name])

    def clobbered(self, level: int, at: int, leaf: Var | Load) -> bool:
        """May `leaf` change between statement `at` and the end of one run of
        `level`?
        """
        name = leaf.name if isinstance(leaf, Var) else leaf.array
        here = self.places[at]
        later = False
        for w in self.writes.get(name, ()):
            if not self.inside(level, w):
                continue
            there = self.places[w]
            after = (
                there.first >= here.first
            )  # its own write, its body, or what follows
            together = any(
                loop in there.loops and self.inside(level, loop.id)
                for loop in here.loops
            )
            later = later or after or together
        if later and isinstance(leaf, Load):
            return self.element_lost(level, at, leaf)
        return later

    def element_lost(self, level: int, at: int, leaf: Load) -> bool:
        """Element-wise answer from the dependence analysis of the level's body."""
        key = (level, at, leaf)
        if key not in self.lost_memo:
            self.lost_memo[key] = self.lost(self.body_of(level), at, leaf)
        return self.lost_memo[key]

    def steady(self, at: int, leaf: Var | Load) -> bool:
        """Does `leaf` still have, after the forward sweep, the value it had at `at`?"""
        name = leaf.name if isinstance(leaf, Var) else leaf.array
        if name not in self.writes:
            return True
        if isinstance(leaf, Load) and any(
            self.is_alloc(w) and self.places[w].loops for w in self.writes[name]
        ):
            return False
        return not self.clobbered(FUNCTION, at, leaf)

    # ---------------------------------------------------------------- slices

    def slice(self, level: int, name: str) -> frozenset[tuple[int, str]] | None:
        """May the statements that make `name` run again in one iteration of `level`?

        The answer is what they need from outer levels, as (level, name); None for no.
        """
        if level in self.checkpointed:
            return frozenset()
        key = (level, name)
        if key not in self.slices:
            self.slices[key] = None  # a cycle through outer levels is a no
            self.slices[key] = self.try_slice(level, name)
        return self.slices[key]

    def try_slice(self, level: int, root: str) -> frozenset[tuple[int, str]] | None:
        body = self.body_of(level)
        needs: set[tuple[int, str]] = set()
        todo, seen = [root], {root}
        while todo:
            name = todo.pop()
            if exposed(body, name)[0]:
                return None
            own = [w for w in self.writes[name] if self.inside(level, w)]
            is_array = not any(
                isinstance(s, (Assign, Add)) and isinstance(s.target, Var)
                for s in (self.places[w].stmt for w in own)
            )
            if is_array and not any(self.is_alloc(w) for w in own):
                return None  # running it again would change an array that others read
            for at, leaf in self.reads_of(level, own):
                read = leaf.name if isinstance(leaf, Var) else leaf.array
                if any(loop.index == read for loop in self.places[at].loops):
                    continue
                if read not in self.writes:
                    continue
                if isinstance(leaf, Extent) and read in self.params():
                    continue  # what is written to its elements does not measure it
                if any(self.inside(level, w) for w in self.writes[read]):
                    if read not in seen:
                        if not self.contains_writes(level, read):
                            return None
                        seen.add(read)
                        todo.append(read)
                    continue
                found = self.steady_level(level, at, leaf)
                if found is None and not self.copyable(level, at, leaf):
                    return None
                needs |= found or frozenset()
        return frozenset(needs)

    def copyable(self, level: int, at: int, leaf: Leaf) -> bool:
        """Can statement `at`, run again at `level`, read `leaf` from a copy of its
        array?

        The copy is made before a nest around `level` that does not write the array.
        """
        if not isinstance(leaf, Load) or not self.plain(leaf, at):
            return False
        if any(self.inside(level, f.id) for f in self.places[at].loops):
            return False  # a sum over a loop: its value is kept instead
        outer = self.taped_at(at, leaf)
        if outer is None:
            return False
        loops = [f for f in self.places[at].loops if self.inside(outer, f.id)]
        nest = self.copied_before(outer, at, leaf, loops)
        return nest is not None and (nest == level or self.inside(nest, level))

    def plain(self, leaf: Load, at: int) -> bool:
        """Are its subscripts made of loop indices and of what never changes?"""
        indices = {loop.index for loop in self.places[at].loops}
        return all(
            not isinstance(e, (Var, Load, Extent))
            or mentioned(e)[0] in indices
            or mentioned(e)[0] not in self.writes
            or (isinstance(e, Extent) and e.array in self.params())
            for k in leaf.index
            for e in walk_expr(k)
        )

    def reads_of(self, level: int, stmts: Iterable[int]) -> Iterator[tuple[int, Leaf]]:
        """(statement, leaf) for all reads of these statements and the control around
        them.
        """
        around: dict[int, None] = {}
        for at in stmts:
            around[at] = None
            for control in self.controls(level, at):
                around[control] = None
        for at in around:
            stmt = self.places[at].stmt
            for expr in exprs(stmt):
                for e in walk_expr(expr):
                    own_target = isinstance(stmt, Assign) and e is stmt.target
                    if isinstance(e, (Var, Load, Extent)) and not own_target:
                        yield at, e
            if isinstance(stmt, Alloc):
                # The dtype of a number is that of its value.
                for name in resembled(stmt.dtype):
                    if name in self.writes and name not in self.ranks():
                        yield at, Var(name)
            if isinstance(stmt, Alloc) and stmt.source is not None:
                yield at, Load(stmt.source, anywhere(stmt))

    def controls(self, level: int, at: int) -> list[int]:
        """The loops and branches inside `level` around statement `at`."""
        here = self.places[at]
        return [
            k
            for k, p in self.places.items()
            if p.first < here.first
            and here.last <= p.last
            and self.inside(level, k)
            and isinstance(p.stmt, (For, While, If))
        ]

    def steady_level(
        self, level: int, at: int, leaf: Leaf
    ) -> frozenset[tuple[int, str]] | None:
        """Where outside `level` the value that `leaf` has at `at` can be read, if
        anywhere.
        """
        name = leaf.name if isinstance(leaf, Var) else leaf.array
        if isinstance(leaf, Extent):
            if name in self.params():
                return frozenset()
            makers = [w for w in self.writes[name] if self.is_alloc(w)]
            if len(makers) == 1 and not self.places[makers[0]].loops:
                return frozenset({(FUNCTION, name)})  # whatever becomes of its elements
            leaf = Load(name, ())
        outer = [loop for loop in self.places[at].loops if self.outside(loop.id, level)]
        for loop in reversed(outer):
            if self.contains_writes(loop.id, name):
                needs = self.slice(loop.id, name)
                if needs is not None and not self.clobbered(loop.id, at, leaf):
                    return needs | {(loop.id, name)}
        if self.steady(at, leaf):
            return frozenset({(FUNCTION, name)})
        return None

    def outside(self, loop: int, level: int) -> bool:
        return loop != level and self.inside(loop, level)

    # ---------------------------------------------------------------- tapes

    def tape(self, level: int, at: int, leaf: Expr, name: str) -> Expr:
        """Record `leaf` at `at`, over the loops between `level` and `at`.

        Loops whose lengths are known before they begin give the tape an axis each;
        where a length is not, all iterations up to that loop are numbered through, and
        the tape grows.
        """
        place = self.places[at]
        what = expr_text(leaf) if isinstance(leaf, Call) else name
        loops = [loop for loop in place.loops if self.inside(level, loop.id)]
        early = False
        if isinstance(leaf, Var):
            # Loops that do not write it all read one value: the one before them.
            for k, loop in enumerate(loops):
                if not any(self.inside(loop.id, w) for w in self.writes[name]):
                    at, loops, early = loop.id, loops[:k], True
                    break
            if early and (level, at, leaf) in self.taped:
                return self.taped[level, at, leaf]
            if early:
                self.level(level).roots[name] = None
        read = self.recorded(level, at, leaf, name, what, loops, early)
        if early:
            self.taped[level, at, leaf] = read
        return read

    def recorded(
        self,
        level: int,
        at: int,
        leaf: Expr,
        name: str,
        what: str,
        loops: list[Loop],
        early: bool,
    ) -> Expr:
        """Record `leaf` before statement `at`, which stands in `loops` of `level`."""
        place = self.places[at]
        if not loops:
            kept = Var(fresh(f"{name}_kept", self.taken))
            self.dtypes[kept.name] = self.kind_of(leaf, name)
            record = Record(at, leaf, kept, None, early=early)
            self.level(level).records.append(record)
            self.note(
                what, "taped", (), self.index_of(level), place, self.kind_of(leaf, name)
            )
            return kept
        if isinstance(leaf, Load):
            found = self.snapshot(level, at, leaf, loops)
            if found is not None:
                return found
        target = fresh(f"{name}_tape", self.taken)
        kind = self.kind_of(leaf, name)
        axes = self.axes(level, loops)
        self.dtypes[target] = kind
        alloc = Alloc(target, axes.room, None, kind, loc=place.stmt.loc)
        record = Record(
            at, leaf, Load(target, axes.forward), alloc, axes.grows, early=early
        )
        self.level(level).records.append(record)
        self.note(what, "taped", axes.shape, self.index_of(level), place, kind)
        return Load(target, axes.backward)

    def axes(self, level: int, loops: list[Loop]) -> _Axes:
        """The axes of a tape over `loops`, in the order of their iterations."""
        known: list[Expr] = []
        rest = list(loops)
        while rest and rest[-1].index:
            extent = self.extent(rest[-1], loops, level)
            if extent is None:
                break
            known.insert(0, extent)
            rest.pop()
        inner = loops[len(rest) :]
        shape = tuple(known)
        forward = tuple(iteration(loop.index, loop.lo, loop.step) for loop in inner)
        backward = tuple(
            iteration(
                loop.index,
                self.saved(loop.lo, loop.id),
                self.saved(loop.step, loop.id),
            )
            for loop in inner
        )
        if not rest:
            return _Axes(forward, backward, shape, shape, None)
        there, back, length = self.numbered(level, rest)
        room = Const(_ROOM if not known else 1)
        return _Axes(
            (there, *forward),
            (back, *backward),
            (room, *shape),
            (length, *shape),
            rest[-1].id,
        )

    def snapshot(
        self, level: int, at: int, leaf: Load, loops: list[Loop]
    ) -> Expr | None:
        """`leaf` from a copy of its array, made before a nest that does not write it.

        One copy serves all that the nest reads; None where it reads one element or
        fewer than the array has axes.
        """
        nest = self.copied_before(level, at, leaf, loops)
        own = self.shape_at(level, at, leaf.array)
        if nest is None or own is None:
            return None
        key = (level, nest, leaf.array)
        if key not in self.snapshots:
            k = next(k for k, loop in enumerate(loops) if loop.id == nest)
            self.snapshots[key] = self.copied(
                level, loops[k], leaf.array, loops[:k], own
            )
        target, prefix = self.snapshots[key]
        index = tuple(self.saved(e, at) for e in leaf.index)
        return Load(target, (*prefix, *index))

    def copied_before(
        self, level: int, at: int, leaf: Load, loops: Sequence[Loop]
    ) -> int | None:
        """The nest before which a copy of the array is made for `leaf`, if any is."""
        array = leaf.array
        writes = self.writes[array]
        if self.shape_at(level, at, array) is None:
            return None
        k = next(
            (
                k
                for k, loop in enumerate(loops)
                if not any(self.inside(loop.id, w) for w in writes)
            ),
            None,
        )
        if k is None or self.ranks()[array] > len(loops) - k:
            return None
        nest = loops[k]
        return nest.id if len(set(accesses((nest,), array))) > 1 else None

    def shape_at(self, level: int, at: int, array: str) -> tuple[Expr, ...] | None:
        """The extents of `array` as they can be told where a tape for `at` is made."""
        top = self.top(level, at)
        made = [w for w in self.writes[array] if self.is_alloc(w)]
        if not any(w == top or self.inside(top, w) for w in made):
            return tuple(Extent(array, k) for k in range(self.ranks()[array]))
        stmt = self.places[made[0]].stmt
        assert isinstance(stmt, Alloc)
        fixed = self.params() - frozenset(assigned_scalars(self.primal.body))
        steady = all(
            not isinstance(e, Load)
            and (not isinstance(e, (Var, Extent)) or mentioned(e)[0] in fixed)
            for n in stmt.shape
            for e in walk_expr(n)
        )
        if len(made) > 1 or not steady or any(map(divides, stmt.shape)):
            return None
        return tuple(
            n if isinstance(n, (Const, Extent)) else Call("max", (n, ZERO))
            for n in stmt.shape
        )

    def copied(
        self,
        level: int,
        nest: Loop,
        array: str,
        loops: list[Loop],
        own: tuple[Expr, ...],
    ) -> tuple[str, tuple[Expr, ...]]:
        """A copy of `array` as it is before `nest`, one for each iteration around."""
        target = fresh(f"{array}_before", self.taken)
        self.dtypes[target] = kind = self.dtype_of(array)
        leaf = Load(array, ())
        place = self.places[nest.id]
        guarded = any(
            isinstance(self.places[c].stmt, If) for c in self.controls(level, nest.id)
        )
        if not loops and guarded:
            # Made on every path, filled on this one.
            alloc = Alloc(target, own, None, kind, loc=nest.loc)
            record = Record(nest.id, leaf, Load(target, ()), alloc, whole=True)
            self.level(level).records.append(record)
            self.note(array, "taped", own, self.index_of(level), place, kind)
            return target, ()
        if not loops:
            record = Record(nest.id, leaf, Var(target), None, whole=True)
            self.level(level).records.append(record)
            self.note(array, "taped", own, self.index_of(level), place, kind)
            return target, ()
        axes = self.axes(level, loops)
        alloc = Alloc(target, (*axes.room, *own), None, kind, loc=nest.loc)
        record = Record(
            nest.id, leaf, Load(target, axes.forward), alloc, axes.grows, whole=True
        )
        self.level(level).records.append(record)
        shape = (*axes.shape, *own)
        self.note(array, "taped", shape, self.index_of(level), place, kind)
        return target, axes.backward

    def kind_of(self, leaf: Expr, name: str) -> str:
        """The dtype in which a value is kept."""
        if isinstance(leaf, Extent):
            return "int64"
        return "bool" if isinstance(leaf, Call) else self.dtype_of(name)

    def numbered(self, level: int, loops: list[Loop]) -> tuple[Expr, Expr, Expr]:
        """The number of an iteration of the last of `loops`, all of them counted.

        As the forward and as the reverse sweep write it, and how many there are.
        """
        loop = loops[-1]
        if len(loops) == 1:
            count = getattr(loop, "count", "")
            if isinstance(loop, While) and not loop.index:
                self.level(level).roots[count] = None
                return Var(count), Var(self.backward[loop.id]), Var(count)
            lo, step = self.saved(loop.lo, loop.id), self.saved(loop.step, loop.id)
            length = Var(count) if count else trip_count_of(loop)
            there = iteration(loop.index, loop.lo, loop.step)
            return there, iteration(loop.index, lo, step), length
        places = self.level(level).places
        if loop.id not in places:
            places[loop.id] = fresh("place", self.taken)
        place = Var(places[loop.id])
        return place, place, place

    def index_of(self, level: int) -> str:
        if level == FUNCTION:
            return ""
        loop = self.places[level].stmt
        assert isinstance(loop, (For, While))
        return loop.index or self.backward.get(level, "")

    def top(self, level: int, at: int) -> int:
        """The statement of `level` itself that holds statement `at`: tapes are made
        before it.
        """
        here = self.places[at].first
        for stmt in self.body_of(level):
            place = self.places[stmt.id]
            if place.first <= here < place.last:
                return stmt.id
        raise AssertionError(f"statement {at} is not in level {level}")

    def extent(self, loop: Loop, around: list[Loop], level: int) -> Expr | None:
        """An upper bound of the trip count of `loop` over all iterations around it.

        None if there is none that is known before the outermost of them begins.
        """
        outer = {f.index: f for f in around if f.index and self.outside(f.id, loop.id)}
        top = self.top(level, around[0].id)
        bound = upper(trip_count(loop), outer)
        steady = bound is not None and not any(
            isinstance(e, (Var, Load, Extent))
            and any(
                w == top or self.inside(top, w)
                for w in self.writes.get(e.name if isinstance(e, Var) else e.array, ())
                # An array keeps its shape unless it is made again.
                if not isinstance(e, Extent) or self.is_alloc(w)
            )
            for e in walk_expr(bound)
        )
        # Where the loop does not come to run, its bound must not be evaluated.
        steady = steady and not divides(bound or ZERO)
        indices = {f.index for f in around if f.index}
        steady = steady and not any(
            isinstance(e, Var) and e.name in indices for e in walk_expr(bound or ZERO)
        )
        return bound if steady else None

    # ---------------------------------------------------------------- building

    def build(self, level: int) -> Block:
        """The primal statements that run again at `level`, with the records in them."""
        want = self.levels[level]
        records: dict[int, list[Record]] = {}
        for record in want.records:
            records.setdefault(record.at, []).append(record)
        roots = dict.fromkeys(want.roots, len(self.places) + 1)
        before: dict[int, Block] = {}
        around: list[int] = []
        if level == FUNCTION:
            around += self.ends
            for loop, start in self.starts.items():
                before[loop] = start.head
                around += self.controls(FUNCTION, loop)
                for name in start.reads:
                    roots.setdefault(name, self.places[loop].first)
        keep = self.closure(level, roots, want.records, around)
        growing: dict[int, list[Record]] = {}
        for record in want.records:
            if record.grows is not None:
                growing.setdefault(record.grows, []).append(record)
        copier = _Copier(self, level, keep, records, growing, want.places, before)
        out: list[Stmt] = [Assign(Var(n), ZERO) for n in want.places.values()]
        if level == FUNCTION:
            out += [Assign(Var(n), self.zero_of(n)) for n in self.first]
        for stmt in self.body_of(level):
            for s in walk((stmt,)):
                made = (r.alloc for r in records.get(s.id, ()))
                out += [alloc for alloc in made if alloc is not None]
            out += copier.block((stmt,))
        again: Block = tuple(out)
        state: Block = ()
        restored: tuple[str, ...] = ()
        if level in self.checkpointed:
            restored, state = self.state(level, want, again)
        return (*state, *self.defined(want, again, restored), *again)

    def closure(
        self,
        level: int,
        roots: Mapping[str, int],
        records: Iterable[Record],
        around: Iterable[int] = (),
    ) -> set[int]:
        """The statements in `level` that the records, the roots and `around` need.

        A root is a name with the time up to which its writes count.
        """
        keep: set[int] = set()
        names: dict[str, int] = dict(roots)
        todo: list[int] = list(around)

        def read(at: int, where: int, leaf: Leaf) -> None:
            found: dict[str, None] = {}
            self.require(level, where, leaf, found)
            for name in found:
                names[name] = max(names.get(name, 0), self.until(level, at))

        for record in records:
            todo += self.controls(level, record.at)
            for e in self.record_reads(record):
                read(record.at, record.at, e)
        while True:
            for name, end in names.items():
                todo += [
                    w
                    for w in self.writes.get(name, ())
                    if self.inside(level, w) and self.places[w].first < end
                ]
            new = [at for at in todo if at not in keep]
            todo = []
            if not new:
                return keep
            for at in new:
                if at in keep:
                    continue
                keep.add(at)
                todo += self.controls(level, at)
                for where, leaf in self.reads_of(level, [at]):
                    read(at, where, leaf)

    def until(self, level: int, at: int) -> int:
        """When the last instance of statement `at` in one run of `level` is over."""
        around = [f for f in self.places[at].loops if self.inside(level, f.id)]
        return self.places[around[0].id if around else at].last + 1

    # ---------------------------------------------------------------- checkpoints

    def state(
        self, level: int, want: Level, again: Block
    ) -> tuple[tuple[str, ...], Block]:
        """Make the state in which iteration of `level` began that runs `again` now.

        Also gives its names: what `again` reads before it sets it, and what the reverse
        sweep wants that `again` does not set on all paths.
        """
        loop = self.places[level].stmt
        assert isinstance(loop, (For, While))
        inside = [n for n in self.writes if self.moves(level, n)]
        ranks, before = self.ranks(), self.made_before(loop)
        names: list[str] = []
        for n in inside:
            read, made = exposed(again, n)
            # An array that there was none of before the loop is read where it is made.
            carried = n in before or not ranks.get(n)
            if read or (n in want.roots and not made and carried):
                names.append(n)
        while True:
            keep = self.closure(level, dict.fromkeys(names, len(self.places) + 1), ())
            advance = _Copier(self, level, keep, {}, {}, {}, {}).block(loop.body)
            more = [n for n in inside if n not in names and exposed(advance, n)[0]]
            if not more:
                break
            names += more
        self.first.update(dict.fromkeys(n for n in names if n not in before))
        parts = tuple(
            Part(
                n,
                fresh(f"{n}_kept", self.taken),
                tuple(Extent(n, k) for k in range(ranks.get(n, 0))),
                self.dtype_of(n),
            )
            for n in names
        )
        taken = self.taken
        own = names_for(taken)
        loc = loop.loc
        trips = None if isinstance(loop, While) and not loop.index else trip_count(loop)
        slots = self.checkpointed[level] or None
        head = room(
            parts,
            own,
            None if slots is not None else self.memory,
            _OTHERS,
            trips,
            slots,
            loc,
        )
        reads = list(names)
        if trips is not None:
            reads += [e.name for e in walk_expr(trips) if isinstance(e, Var)]
        self.starts[level] = _Start(parts, own, head, tuple(reads))
        self.level(FUNCTION)
        index = fresh(loop.index or "k", taken)
        if loop.index:
            lo, step = self.saved(loop.lo, loop.id), self.saved(loop.step, loop.id)
            last = None
            if isinstance(loop, For) and loop.reverse:
                assert trips is not None
                last = sub_int(self.saved(trips, loop.id), ONE)
            place: Expr = Var(index) if last is None else Call("-", (last, Var(index)))
            if step != ONE:
                place = Call("*", (place, step))
            if lo != ZERO:
                place = Call("+", (lo, place))
            advance = with_value(advance, loop.index, place)
            number = iteration(loop.index, lo, step)
            if last is not None:
                number = Call("-", (last, number))
        else:
            number = Var(self.backward[level])
        for part in parts:
            self.note(
                part.name,
                "checkpointed",
                (Var(own.slots), *part.shape),
                "",
                self.places[level],
                part.dtype,
            )
        return tuple(names), back_to(number, parts, own, advance, index, taken, loc)

    def made_before(self, loop: Stmt) -> frozenset[str]:
        """What exists on all paths when `loop` starts."""
        made = set(self.params())
        block = self.primal.body
        while True:
            here = [any(s is loop for s in walk((stmt,))) for stmt in block].index(True)
            made |= flow_of(block[:here])[1]
            if block[here] is loop:
                return frozenset(made)
            block = next(
                b for b in blocks(block[here]) if any(s is loop for s in walk(b))
            )

    def ranks(self) -> dict[str, int]:
        found = {p.name: p.rank for p in self.primal.params}
        for s in walk(self.primal.body):
            if isinstance(s, Alloc):
                found[s.array] = len(s.shape)
        return found

    def defined(
        self, want: Level, block: Block, restored: Sequence[str]
    ) -> Iterator[Stmt]:
        """Zeros for scalars that `block` makes on some paths only.

        The reverse sweep reads such a scalar on the same paths only, but under a test
        of
        its own: without a value before it, no analysis could see that.
        """
        kept = [
            r.target.name
            for r in want.records
            if isinstance(r.target, Var) and not r.whole
        ]
        made = written(block)
        for name in dict.fromkeys([*want.roots, *kept]):
            scalar = name in kept or any(
                isinstance(self.places[w].stmt, (Assign, Add))
                and isinstance(self.places[w].stmt.target, Var)  # type: ignore[union-attr]
                for w in self.writes.get(name, ())
            )
            if not scalar or name in self.params() or name not in made:
                continue
            if name in restored:
                continue
            if not exposed(block, name)[1]:
                yield Assign(Var(name), self.zero_of(name))

    def zero_of(self, name: str) -> Const:
        known = self.dtypes.get(name)
        dtype = known if known is not None else self.dtype_of(name)
        zero: bool | int | float = 0.0 if dtype.startswith("float") else 0
        return Const(False if dtype == "bool" else zero)

    def record_reads(self, record: Record) -> Iterator[Leaf]:
        sources: list[Expr] = [record.leaf]
        if isinstance(record.target, Load):
            sources += record.target.index
        if not record.whole:
            sources += [t for path in self.guards(record) for t in path]
        if record.alloc is not None:
            sources += record.alloc.shape
        for source in sources:
            for e in walk_expr(source):
                if isinstance(e, (Var, Load, Extent)):
                    yield e

    def require(self, level: int, at: int, leaf: Leaf, names: dict[str, None]) -> None:
        """A statement run again at `level` reads `leaf`: see that it is there."""
        name = leaf.name if isinstance(leaf, Var) else leaf.array
        if name not in self.writes:
            return
        if isinstance(leaf, Extent) and name in self.params():
            return  # what is written to its elements is not needed to measure it
        kept = level in self.checkpointed and self.moves(level, name)
        inside = any(self.inside(level, w) for w in self.writes[name])
        if level == FUNCTION or kept or inside:
            names[name] = None
            return
        found = self.steady_level(level, at, leaf)
        if found is None:
            assert self.copyable(level, at, leaf), f"{name} is lost at level {level}"
            self.from_copies.setdefault((level, at), {})[leaf] = self.place(at, leaf)
            return
        for outer, needed in sorted(found):
            self.level(outer).roots[needed] = None

    def record(self, record: Record) -> Block:
        """The recording statement, under the tests that guard the read it repeats."""
        if record.whole:
            return self.whole(record)
        paths = self.guards(record)
        write: Stmt = Assign(
            record.target, record.leaf, loc=self.places[record.at].stmt.loc
        )
        if any(not path for path in paths):
            return (write,)
        made: list[Stmt] = []
        for path in paths:
            guarded: Stmt = write
            for test in reversed(path):
                guarded = If(test, (guarded,))
            made.append(guarded)
        return tuple(made)

    def whole(self, record: Record) -> Block:
        """Copy a whole array into its place on a tape, or as an array of its own."""
        assert isinstance(record.leaf, Load)
        array, loc = record.leaf.array, self.places[record.at].stmt.loc
        rank = self.ranks()[array]
        shape = tuple(Extent(array, k) for k in range(rank))
        if isinstance(record.target, Var):
            own = record.target.name
            return (Alloc(own, shape, None, like(array), array, loc=loc),)
        return self.elements(record.target, Load(array, ()), shape, loc)

    def copy_of(self, kept: Expr, made: Alloc) -> Block:
        """``made`` as a copy of what was `kept` of the array that it is a copy of."""
        assert isinstance(kept, Load)
        index = anywhere(made)
        around = kept.index[: -len(index)]
        if not around:
            return (replace(made, source=kept.array),)
        shape = tuple(Extent(made.array, k) for k in range(len(index)))
        whole = Load(made.array, ())
        filled = self.elements(whole, replace(kept, index=around), shape, made.loc)
        return (replace(made, source=None), *filled)

    def elements(
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

    def guards(self, record: Record) -> list[tuple[Expr, ...]]:
        """The tests under which statement `at` evaluates the leaf, one path per
        occurrence.
        """
        return [()] if record.early else self.paths(record.at, record.leaf)

    def paths(self, at: int, leaf: Expr) -> list[tuple[Expr, ...]]:
        """The tests under which statement `at` evaluates `leaf`, for each time."""
        paths: dict[tuple[Expr, ...], None] = {}
        for expr in exprs(self.places[at].stmt):
            for path, e in guarded_leaves(expr, ()):
                if e == leaf:
                    paths[path] = None
        return list(paths) or [()]


class _Copier:
    """Copies primal statements with the records, and the counting, that tapes need."""

    def __init__(
        self,
        storage: _Storage,
        level: int,
        keep: set[int],
        records: dict[int, list[Record]],
        growing: dict[int, list[Record]],
        places: dict[int, str],
        before: Mapping[int, Block],
    ) -> None:
        self.storage, self.level = storage, level
        self.keep, self.records = keep, records
        self.growing, self.places, self.before = growing, places, before

    def block(self, block: Block) -> Block:
        out: list[Stmt] = []
        for stmt in block:
            out += self.before.get(stmt.id, ())
            for record in self.records.get(stmt.id, ()):
                out += self.storage.record(record)
            if stmt.id in self.keep:
                out += self.statement(stmt)
        return tuple(out)

    def statement(self, stmt: Stmt) -> Block:
        inner = tuple(self.block(b) for b in blocks(stmt))
        if isinstance(stmt, (For, While)):
            (body,) = inner
            room = tuple(self.room(r) for r in self.growing.get(stmt.id, ()))
            number = self.places.get(stmt.id)
            count = () if number is None else (Add(Var(number), ONE),)
            inner = ((*room, *body, *count),)
        copies = self.storage.from_copies.get((self.level, stmt.id))
        if copies:

            def instead(e: Expr) -> Expr:
                return copies[e] if isinstance(e, Load) and e in copies else e

            bare = with_blocks(stmt, tuple(() for _ in blocks(stmt)))
            stmt = map_stmt_exprs(bare, instead)
            if isinstance(stmt, Alloc) and stmt.source is not None:
                kept = copies.get(Load(stmt.source, anywhere(stmt)))
                if kept is not None:
                    return self.storage.copy_of(kept, stmt)
        return (with_blocks(stmt, inner),)

    def room(self, record: Record) -> Stmt:
        """``if k == tape.shape[0]: tape = np.concatenate(...)``"""
        assert isinstance(record.target, Load)
        tape, place = record.target.array, record.target.index[0]
        loc = self.storage.places[record.at].stmt.loc
        full = Call("==", (place, Extent(tape, 0)))
        return If(full, (Grow(tape, loc=loc),), loc=loc)


def map_stmt_exprs_top_down(stmt: Stmt, f: Callable[[Expr], Expr]) -> Stmt:
    """Apply `f` once to every whole expression of `stmt`, nested blocks included."""
    inner = tuple(tuple(map_stmt_exprs_top_down(s, f) for s in b) for b in blocks(stmt))
    stmt = with_blocks(stmt, inner)
    match stmt:
        case Assign() | Add():
            target = f(stmt.target)
            assert isinstance(target, (Var, Load))
            return replace(stmt, target=target, value=f(stmt.value))
        case Alloc():
            fill = None if stmt.fill is None else f(stmt.fill)
            return replace(stmt, shape=tuple(map(f, stmt.shape)), fill=fill)
        case For():
            return replace(stmt, lo=f(stmt.lo), hi=f(stmt.hi), step=f(stmt.step))
        case If() | Check():
            return replace(stmt, test=f(stmt.test))
        case Tell():
            return replace(stmt, value=f(stmt.value))
        case Return():
            return replace(stmt, values=tuple(map(f, stmt.values)))
        case Restart():
            return stmt
        case While() | Grow():
            raise AssertionError("the reverse sweep has neither until it is stored")
        case _:
            assert_never(stmt)
