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

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace

from pyrev.adjoint.algebra import add_int, sub_int
from pyrev.adjoint.reverse import FUNCTION, Adjoint, exposed
from pyrev.diagnostics import Finding, UnsupportedError
from pyrev.ir import (
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
    Loc,
    Program,
    Restart,
    Saved,
    Stmt,
    Var,
    all_names,
    blocks,
    exprs,
    fresh,
    rebuild,
    walk,
    walk_expr,
    with_blocks,
    written,
)
from pyrev.rename import guarded_leaves, rename

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
    kind: str  # "live", "recomputed" or "taped"
    shape: tuple[Expr, ...]
    level: str
    loc: Loc

    def to_dict(self) -> dict[str, object]:
        from pyrev.show import expr_text

        shape = [expr_text(e) for e in self.shape]
        line = self.loc.line
        return {
            "name": self.name,
            "kind": self.kind,
            "shape": shape,
            "level": self.level,
            "line": line,
        }


@dataclass(frozen=True, slots=True)
class Place:
    """A statement of the primal: the loops around it and its span in textual order."""

    stmt: Stmt
    loops: tuple[For, ...]
    first: int
    last: int


@dataclass(slots=True)
class Level:
    """What the primal statements executed again at one level have to produce."""

    roots: dict[str, None] = field(default_factory=dict)
    records: list[Record] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Record:
    """``target = leaf`` just before statement `at`; `alloc` makes room for the
    target.
    """

    at: int
    leaf: Leaf
    target: Var | Load
    alloc: Alloc | None


def store(
    primal: Program,
    adjoint: Adjoint,
    lost: Lost,
    dtype_of: Callable[[str], str],
    avoid: frozenset[str],
) -> tuple[Program, tuple[Stored, ...]]:
    """Replace every `Saved` and `Restart` of an adjoint program.

    `lost(body, at, load)` says whether the element that statement `at` reads may be
    written at or after it; `dtype_of` gives the dtype name of a scalar or array.
    """
    return _Storage(primal, adjoint, lost, dtype_of, avoid).run()


class _Storage:
    def __init__(
        self,
        primal: Program,
        adjoint: Adjoint,
        lost: Lost,
        dtype_of: Callable[[str], str],
        avoid: frozenset[str],
    ) -> None:
        self.primal, self.adjoint = primal, adjoint
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
        self.plans: dict[tuple[int, Leaf], Expr] = {}
        self.slices: dict[tuple[int, str], frozenset[tuple[int, str]] | None] = {}
        self.lost_memo: dict[tuple[int, int, Load], bool] = {}
        self.kept_from: dict[str, str] = {}
        self.decisions: dict[tuple[str, str, tuple[Expr, ...], str, int], Stored] = {}

    def _index(self, block: Block, loops: tuple[For, ...], clock: int = 0) -> int:
        for stmt in block:
            first, clock = clock, clock + 1
            inner = (*loops, stmt) if isinstance(stmt, For) else loops
            for b in blocks(stmt):
                clock = self._index(b, inner, clock)
            self.places[stmt.id] = Place(stmt, loops, first, clock)
        return clock

    # ---------------------------------------------------------------- driver

    def run(self) -> tuple[Program, tuple[Stored, ...]]:
        body = tuple(self.resolve_stmt(s) for s in self.adjoint.program.body)
        # Inner levels first: building one may ask an outer level for more.
        done: dict[int, Block] = {}
        while True:
            open_levels = [k for k in self.levels if k not in done]
            if not open_levels:
                break
            level = max(open_levels, key=self.depth)
            done[level] = self.build(level)
        body = self.fill(body, done)
        program = replace(self.adjoint.program, body=body)
        return self.own_copies(program), tuple(self.decisions.values())

    def depth(self, level: int) -> int:
        return -1 if level == FUNCTION else len(self.places[level].loops)

    def fill(self, block: Block, done: dict[int, Block]) -> Block:
        out: list[Stmt] = []
        for stmt in block:
            if isinstance(stmt, Restart):
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
                copies.append(Alloc(own, shape, None, f"like:{p.name}", source=p.name))
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
        for loop in reversed(place.loops):
            if self.contains_writes(loop.id, name):
                needs = self.slice(loop.id, name)
                if needs is None:
                    continue
                for level, outer in sorted(needs):
                    self.level(level).roots[outer] = None
                if not self.clobbered(loop.id, at, leaf):
                    self.level(loop.id).roots[name] = None
                    self.note(name, "recomputed", (), loop.index, place)
                    return read
                return self.tape(loop.id, at, leaf, name)
        if self.steady(at, leaf):
            self.level(FUNCTION).roots[name] = None
            self.note(name, "live", (), "", place)
            return read
        return self.tape(FUNCTION, at, leaf, name)

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
        self, name: str, kind: str, shape: tuple[Expr, ...], level: str, place: Place
    ) -> None:
        key = (name, kind, shape, level, place.stmt.loc.line)
        self.decisions.setdefault(key, Stored(name, kind, shape, level, place.stmt.loc))

    def level(self, level: int) -> Level:
        return self.levels.setdefault(level, Level())

    # ---------------------------------------------------------------- order

    def body_of(self, level: int) -> Block:
        if level == FUNCTION:
            return self.primal.body
        loop = self.places[level].stmt
        assert isinstance(loop, For)
        return loop.body

    def inside(self, level: int, at: int) -> bool:
        if level == FUNCTION:
            return True
        outer, inner = self.places[level], self.places[at]
        return outer.first < inner.first and inner.last <= outer.last

    def is_alloc(self, at: int) -> bool:
        return isinstance(self.places[at].stmt, Alloc)

    def contains_writes(self, level: int, name: str) -> bool:
        """Are all writes of `name` (for an array its allocation too) inside `level`?"""
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
                if any(self.inside(level, w) for w in self.writes[read]):
                    if read not in seen:
                        if not self.contains_writes(level, read):
                            return None
                        seen.add(read)
                        todo.append(read)
                    continue
                found = self.steady_level(level, at, leaf)
                if found is None:
                    return None
                needs |= found
        return frozenset(needs)

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
            if isinstance(stmt, Alloc) and stmt.source is not None:
                rank = len(stmt.shape)
                anywhere = tuple(Var(f"?{k}") for k in range(rank))
                yield at, Load(stmt.source, anywhere)

    def controls(self, level: int, at: int) -> list[int]:
        """The loops and branches inside `level` around statement `at`."""
        here = self.places[at]
        return [
            k
            for k, p in self.places.items()
            if p.first < here.first
            and here.last <= p.last
            and self.inside(level, k)
            and isinstance(p.stmt, (For, If))
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

    def tape(self, level: int, at: int, leaf: Leaf, name: str) -> Expr:
        """Record `leaf` at `at`, over the loops between `level` and `at`."""
        place = self.places[at]
        loops = [loop for loop in place.loops if self.inside(level, loop.id)]
        if not loops:
            kept = Var(fresh(f"{name}_kept", self.taken))
            self.kept_from[kept.name] = name
            self.level(level).records.append(Record(at, leaf, kept, None))
            self.note(name, "taped", (), self.index_of(level), place)
            return kept
        target = fresh(f"{name}_tape", self.taken)
        shape = tuple(self.extent(loop, loops, level) for loop in loops)
        dtype = "int64" if isinstance(leaf, Extent) else self.dtype_of(name)
        alloc = Alloc(target, shape, None, dtype, loc=place.stmt.loc)
        forward = tuple(iteration(loop, loop.lo, loop.step) for loop in loops)
        backward = tuple(
            iteration(
                loop, self.saved(loop.lo, loop.id), self.saved(loop.step, loop.id)
            )
            for loop in loops
        )
        record = Record(at, leaf, Load(target, forward), alloc)
        self.level(level).records.append(record)
        self.note(name, "taped", shape, self.index_of(level), place)
        return Load(target, backward)

    def index_of(self, level: int) -> str:
        if level == FUNCTION:
            return ""
        loop = self.places[level].stmt
        assert isinstance(loop, For)
        return loop.index

    def extent(self, loop: For, around: list[For], level: int) -> Expr:
        """An upper bound of the trip count of `loop` over all iterations around it."""
        outer = {f.index: f for f in around if self.outside(f.id, loop.id)}
        top = around[0].id
        bound = upper(trip_count(loop), outer)
        steady = bound is not None and not any(
            isinstance(e, (Var, Load))
            and any(
                w == top or self.inside(top, w)
                for w in self.writes.get(e.name if isinstance(e, Var) else e.array, ())
            )
            for e in walk_expr(bound)
        )
        if bound is None or not steady:
            raise UnsupportedError(
                (
                    Finding(
                        "P303",
                        loop.loc,
                        f"values inside this loop over `{loop.index}` must be recorded,"
                        " and how often it runs is data",
                        "give the loop a bound made of sizes and test inside it",
                    ),
                )
            )
        return bound

    # ---------------------------------------------------------------- building

    def build(self, level: int) -> Block:
        """The primal statements that run again at `level`, with the records in them."""
        want = self.levels[level]
        keep: set[int] = set()
        names: dict[str, None] = dict(want.roots)
        records: dict[int, list[Record]] = {}
        todo: list[int] = []
        for record in want.records:
            records.setdefault(record.at, []).append(record)
            todo += self.controls(level, record.at)
            for e in self.record_reads(record):
                self.require(level, record.at, e, names)
        while True:
            for name in names:
                todo += [w for w in self.writes.get(name, ()) if self.inside(level, w)]
            new = [at for at in todo if at not in keep]
            todo = []
            if not new:
                break
            for at in new:
                if at in keep:
                    continue
                keep.add(at)
                todo += self.controls(level, at)
                for where, leaf in self.reads_of(level, [at]):
                    self.require(level, where, leaf, names)
        out: list[Stmt] = []
        for stmt in self.body_of(level):
            for s in walk((stmt,)):
                made = (r.alloc for r in records.get(s.id, ()))
                out += [alloc for alloc in made if alloc is not None]
            out += self.copy((stmt,), keep, records)
        return (*self.defined(want, tuple(out)), *out)

    def defined(self, want: Level, block: Block) -> Iterator[Stmt]:
        """Zeros for scalars that `block` makes on some paths only.

        The reverse sweep reads such a scalar on the same paths only, but under a test
        of
        its own: without a value before it, no analysis could see that.
        """
        kept = [r.target.name for r in want.records if isinstance(r.target, Var)]
        made = written(block)
        for name in dict.fromkeys([*want.roots, *kept]):
            scalar = name in kept or any(
                isinstance(self.places[w].stmt, (Assign, Add))
                and isinstance(self.places[w].stmt.target, Var)  # type: ignore[union-attr]
                for w in self.writes.get(name, ())
            )
            if not scalar or name in self.params() or name not in made:
                continue
            if not exposed(block, name)[1]:
                source = name if name in self.writes else self.kept_from[name]
                dtype = self.dtype_of(source)
                zero: bool | int | float = 0.0 if dtype.startswith("float") else 0
                yield Assign(Var(name), Const(False if dtype == "bool" else zero))

    def record_reads(self, record: Record) -> Iterator[Leaf]:
        sources: list[Expr] = [record.leaf]
        if isinstance(record.target, Load):
            sources += record.target.index
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
        if level == FUNCTION or any(self.inside(level, w) for w in self.writes[name]):
            names[name] = None
            return
        found = self.steady_level(level, at, leaf)
        assert found is not None, f"{name} is not available at level {level}"
        for outer, needed in sorted(found):
            self.level(outer).roots[needed] = None

    def copy(
        self, block: Block, keep: set[int], records: dict[int, list[Record]]
    ) -> Block:
        out: list[Stmt] = []
        for stmt in block:
            for record in records.get(stmt.id, ()):
                out += self.record(record)
            if stmt.id in keep:
                inner = tuple(self.copy(b, keep, records) for b in blocks(stmt))
                out.append(with_blocks(stmt, inner))
        return tuple(out)

    def record(self, record: Record) -> Block:
        """The recording statement, under the tests that guard the read it repeats."""
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

    def guards(self, record: Record) -> list[tuple[Expr, ...]]:
        """The tests under which statement `at` evaluates the leaf, one path per
        occurrence.
        """
        paths: dict[tuple[Expr, ...], None] = {}
        for expr in exprs(self.places[record.at].stmt):
            for path, e in guarded_leaves(expr, ()):
                if e == record.leaf:
                    paths[path] = None
        return list(paths) or [()]


def iteration(loop: For, lo: Expr, step: Expr) -> Expr:
    """The number of the present iteration of `loop`, from 0 in the order of its
    range.
    """
    distance = sub_int(Var(loop.index), lo) if lo != ZERO else Var(loop.index)
    if step == ONE:
        return distance
    if step == Const(-1):
        return sub_int(lo, Var(loop.index))
    return Call("//", (distance, step))


def trip_count(loop: For) -> Expr:
    """How often `loop` runs; never negative."""
    lo, hi, step = loop.lo, loop.hi, loop.step
    if lo == ZERO and step == ONE and isinstance(hi, Extent):
        return hi
    if not (isinstance(step, Const) and isinstance(step.value, int)):
        count: Expr = Call(
            "+", (Call("//", (Call("-", (sub_int(hi, lo), ONE)), step)), ONE)
        )
    elif step.value > 0:
        length = sub_int(hi, lo) if lo != ZERO else hi
        count = length
        if step.value > 1:
            count = Call("//", (add_int(length, step.value - 1), step))
    else:
        length = sub_int(lo, hi)
        count = length
        if step.value < -1:
            width = -step.value
            count = Call("//", (add_int(length, width - 1), Const(width)))
    return Call("max", (count, ZERO))


def upper(expr: Expr, outer: dict[str, For]) -> Expr | None:
    """An upper bound of an integer expression over the iterations of the `outer`
    loops.
    """
    return _bound(expr, outer, True)


def _bound(expr: Expr, outer: dict[str, For], high: bool) -> Expr | None:
    def go(e: Expr, h: bool = high) -> Expr | None:
        return _bound(e, outer, h)

    match expr:
        case Const() | Extent():
            return expr
        case Var(name) if name in outer:
            loop = outer[name]
            if not (isinstance(loop.step, Const) and isinstance(loop.step.value, int)):
                return None
            first, past = loop.lo, loop.hi
            if loop.step.value > 0:
                end = go(add_int(past, -1)) if high else go(first)
            else:
                end = go(first) if high else go(add_int(past, 1))
            return end
        case Var():
            return expr
        case Call("+", (a, b)):
            return _both("+", go(a), go(b))
        case Call("-", (a, b)):
            return _both("-", go(a), go(b, not high))
        case Call("neg", (a,)):
            x = go(a, not high)
            return None if x is None else Call("neg", (x,))
        case Call("*", (Const(k), a)) | Call("*", (a, Const(k))) if isinstance(k, int):
            return _both("*", go(a, high if k >= 0 else not high), Const(k))
        case Call("//", (a, Const(k))) if isinstance(k, int) and k > 0:
            return _both("//", go(a), Const(k))
        case Call("min" | "max" as op, (a, b)):
            return _both(op, go(a), go(b))
    mentioned = {e.name for e in walk_expr(expr) if isinstance(e, Var)}
    loads = any(isinstance(e, Load) for e in walk_expr(expr))
    return expr if not loads and not mentioned & set(outer) else None


def _both(op: str, a: Expr | None, b: Expr | None) -> Expr | None:
    if a is None or b is None:
        return None
    if op == "-":
        return sub_int(a, b)
    if op == "+" and isinstance(b, Const) and isinstance(b.value, int):
        return add_int(a, b.value)
    return Call(op, (a, b))


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
        case If():
            return replace(stmt, test=f(stmt.test))
    if isinstance(stmt, Restart):
        return stmt
    return replace(stmt, values=tuple(map(f, stmt.values)))
