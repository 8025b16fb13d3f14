"""Several iterations of an outer loop at once around an innermost one: register tiles.

A row loop such as ``for b: out[k, b] += x[b] * w[k]`` loads and stores as much as it
computes. Four `k` at a time share each `x[b]`; four terms of one element at a time
share its load and its store (unroll-and-jam: Callahan, Carr and Kennedy, PLDI 1990).
Which loop to take, and how often, follows from what a row loads, stores and computes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from pyrev.analysis.array_shapes import of_arguments
from pyrev.ir.affine import apart, from_linear, largest, linear, plus, slope
from pyrev.ir.liveness import live_inside, with_live
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
    For,
    If,
    Load,
    Stmt,
    Var,
    blocks,
    fresh,
    map_expr,
    map_stmt_exprs,
    names,
    walk,
    with_blocks,
    with_value,
    written,
)
from pyrev.ir.trip_counts import known_trips, linear_trips, trip_count
from pyrev.schedule.costs import CpuCosts
from pyrev.schedule.legality import free_order
from pyrev.schedule.rows.combine_increments import with_terms
from pyrev.schedule.scalars import cost_of
from pyrev.schedule.work import Choose

Arms = Callable[[Expr, tuple[Block, ...]], tuple[Block, ...]]


def tiled(
    block: Block,
    live: frozenset[str],
    integers: frozenset[str],
    types: Mapping[str, str],
    taken: set[str],
    choose: Choose,
    cpu: CpuCosts,
) -> Block:
    """`block` with register tiles where they pay.

    Law: every element gets the same values; increments of one element may come in
    another order, that does not depend on the number of threads. `live` is read after
    `block`; names that are made are added to `taken`.
    """
    made = [s for s in walk(block) if isinstance(s, Alloc) and s.source is None]
    once = Counter(s.array for s in made)
    shapes = {s.array: s.shape for s in made if once[s.array] == 1}
    tiler = _Tiler(integers, types, taken, choose, cpu, shapes)
    return tiler.block(block, (), live)


#: How many iterations of a loop at a time, by its index.
Plan = Mapping[str, int]


@dataclass(slots=True)
class _Tiler:
    integers: frozenset[str]
    types: Mapping[str, str]
    taken: set[str]
    choose: Choose
    cpu: CpuCosts
    shapes: Mapping[str, tuple[Expr, ...]]

    def block(
        self,
        block: Block,
        outer: tuple[For, ...],
        live: frozenset[str],
        plan: Plan | None = None,
    ) -> Block:
        result: list[Stmt] = []
        for s, after in with_live(block, live):
            if isinstance(s, For):
                result += self.loop(s, outer, after, plan)
            else:
                inner = tuple(self.block(b, outer, after, plan) for b in blocks(s))
                result.append(with_blocks(s, inner))
        return tuple(result)

    def loop(
        self,
        loop: For,
        outer: tuple[For, ...],
        live: frozenset[str],
        plan: Plan | None,
    ) -> Block:
        """`loop` with tiles of itself and of loops in it; `plan` says which."""
        if plan is None and self.jammable(loop):
            plan = self.plan(loop, outer, live)
        inside = live_inside(loop, live)
        factor = 1 if plan is None else plan.get(loop.index, 1)
        if factor == 1:
            inner = self.block(loop.body, (*outer, loop), inside, plan)
            return (replace(loop, body=inner),)
        assert plan is not None
        make = self.parallel if loop.parallel else self.serial
        return make(loop, factor, outer, inside, plan)

    # ---------------------------------------------------------------- which

    def plan(self, loop: For, outer: tuple[For, ...], live: frozenset[str]) -> Plan:
        """The loops in `loop`, or itself, to take several iterations of at a time."""
        cpu = self.cpu
        chosen: dict[str, int] = {}
        found_rows = self.rows(loop)
        if any(
            self.enough(trip_count(r), cpu.tiled_iterations) is False
            for r in found_rows
        ):
            return {}
        rows = [(r.body, r.index) for r in found_rows]
        path = self.candidates(_path(loop, found_rows[0]), outer, live)
        while len(chosen) < cpu.tiled_loops and (now := self.cost(rows)):
            found: list[tuple[float, int, int]] = []
            for depth, (f, _, _) in enumerate(path):
                if f.index in chosen:
                    continue
                for factor in (*cpu.tile_factors, *_whole(f)):
                    made = self.repeated(rows, f, factor)
                    several = factor > cpu.moving_rows and not f.parallel
                    if several and _moves(rows, f.index):
                        continue
                    if any(_registers(b, at) > cpu.tile_registers for b, at in made):
                        continue
                    gain = factor * now / self.cost(made)
                    if gain >= cpu.tile_gain:
                        found.append((gain, depth, factor))
            # Among equals the innermost, whose tile touches the least.
            for _, depth, factor in sorted(found, reverse=True):
                f, around, after = path[depth]
                if self.legal(f, around, after):
                    chosen[f.index] = factor
                    rows = self.repeated(rows, f, factor)
                    break
            else:
                break
        return chosen

    def jammable(self, loop: For) -> bool:
        """Is `loop` around rows, and its body the same for all iterations?"""
        if loop.step != ONE or loop.reverse:
            return False
        stored = written(loop.body) - _indices(loop)
        # The bounds are asked for again behind the tiles.
        if (names(loop.lo) | names(loop.hi)) & stored:
            return False
        statements = 0
        for s in walk(loop.body):
            match s:
                case For():
                    own: tuple[Expr, ...] = (s.lo, s.hi, s.step)
                    if s.reverse or any(names(e) & {*stored, loop.index} for e in own):
                        return False
                case If(test):
                    if names(test) & {*stored, loop.index}:
                        return False
                case Assign(Load(_, index)) | Add(Load(_, index)):
                    statements += 1
                    if any(names(k) & stored for k in index):
                        return False
                case _:
                    return False
        if statements > self.cpu.tiled_statements:
            return False
        least = self.cpu.tiled_iterations
        rows = _rows((loop,), frozenset(), lambda _, both: both, least)
        rows = [r for r in rows if r is not loop]
        return bool(rows) and not any(blocks(s) for r in rows for s in r.body)

    def candidates(
        self, path: list[For], outer: tuple[For, ...], live: frozenset[str]
    ) -> list[tuple[For, tuple[For, ...], frozenset[str]]]:
        """Those of nested loops that run long enough, and where they are."""
        found: list[tuple[For, tuple[For, ...], frozenset[str]]] = []
        around, after = outer, live
        for f in path:
            once = sum(g.index == f.index for g in (*outer, *_loops((path[0],)))) == 1
            if once and self.jammable(f) and not self.idle(f, (*outer, *path)):
                found.append((f, around, after))
            around, after = (*around, f), live_inside(f, after)
        return found

    def idle(self, f: For, path: Sequence[For]) -> bool:
        """Would too few iterations be left for all cores, or for a tile at all?"""
        most = self.cpu.tile_factors[0]
        if not f.parallel:
            return self.enough(trip_count(f), 2 * most) is False
        total: Expr = ONE
        for g in path:
            if g.parallel:
                total = Call("*", (total, trip_count(g)))
        return self.enough(total, self.cpu.tile_tasks * most) is not True

    def rows(self, loop: For) -> list[For]:
        """The rows in `loop`, without those of branches that are known to be idle."""

        def arms(test: Expr, both: tuple[Block, ...]) -> tuple[Block, ...]:
            match test:
                case Call(">=", (e, Const(int(k)))):
                    answer = self.enough(e, k)
                case _:
                    answer = None
            return both if answer is None else both[:1] if answer else both[1:]

        least = self.cpu.tiled_iterations
        return [r for r in _rows((loop,), frozenset(), arms, least) if r is not loop]

    def enough(self, count: Expr, least: int) -> bool | None:
        """Are there so many? None where that is not known before the call."""
        return self.choose(of_arguments(count, self.shapes), least)

    def legal(self, f: For, outer: tuple[For, ...], live: frozenset[str]) -> bool:
        """May iterations of `f` run side by side, statement by statement?"""
        if f.parallel:
            return True
        if any(isinstance(s, For) and s.parallel for s in walk(f.body)):
            return False
        sums = replace(f, body=tuple(map(_as_sum, f.body)))
        return free_order(sums, outer, live, self.integers)

    def cost(self, rows: Sequence[tuple[Block, str]]) -> float:
        return sum(_cost(body, at, self.cpu.far_element) for body, at in rows)

    def repeated(
        self, rows: Sequence[tuple[Block, str]], f: For, factor: int
    ) -> list[tuple[Block, str]]:
        """The statements of rows for `factor` iterations of `f`, merged."""
        values = [plus(Var(f.index), k) for k in range(factor)]
        return [(self.jammed(body, at, f.index, values), at) for body, at in rows]

    # ---------------------------------------------------------------- how

    def serial(
        self,
        loop: For,
        factor: int,
        outer: tuple[For, ...],
        inside: frozenset[str],
        plan: Plan,
    ) -> Block:
        """Tiles of `factor` iterations of `loop`, and the iterations that are left."""
        values = [plus(Var(loop.index), k) for k in range(factor)]
        body = self.jammed(loop.body, loop.index, loop.index, values)
        body = self.block(body, (*outer, loop), inside, plan)
        body = tuple(self.ordered(body))
        trips = linear_trips(loop)
        note = f"{factor} of {loop.index} at a time"
        made = replace(loop, step=Const(factor), body=body, note=note)
        if not trips.terms and trips.constant % factor == 0:
            return (made,)
        n = Call("*", (Call("//", (from_linear(trips), Const(factor))), Const(factor)))
        whole = n if loop.lo == ZERO else Call("+", (loop.lo, n))
        left = replace(loop, lo=largest((loop.lo, whole)), note="those that are left")
        return replace(made, hi=whole), left

    def parallel(
        self,
        loop: For,
        factor: int,
        outer: tuple[For, ...],
        inside: frozenset[str],
        plan: Plan,
    ) -> Block:
        """Tiles of a parallel loop; it stays one loop, which counts the tiles."""
        at = Var(fresh(f"{loop.index}_tile", self.taken))
        first = linear(loop.lo).plus(linear(at), factor)
        values = [
            from_linear(first.plus(linear(Const(k))), (at.name,)) for k in range(factor)
        ]
        trips = linear_trips(loop)
        up = from_linear(trips.plus(linear(Const(factor - 1))))
        count: Expr = Call("//", (up, Const(factor)))
        whole = not trips.terms and trips.constant % factor == 0
        if not trips.terms:
            count = Const(-(-trips.constant // factor))

        def go(block: Block, around: tuple[For, ...]) -> Block:
            match block:
                case (For(body=(For(), *_)) as f,) if (
                    f.parallel and plan.get(f.index, 1) == 1
                ):
                    return (replace(f, body=go(f.body, (*around, f))),)
            jammed = self.jammed(block, at.name, loop.index, values)
            jammed = tuple(self.ordered(self.block(jammed, around, inside, plan)))
            if whole:
                return jammed
            left = replace(loop, lo=values[0], parallel=None, body=block, note="")
            full = Call("<=", (plus(values[-1], 1), loop.hi))
            return (If(full, jammed, (left,), loc=loop.loc),)

        note = f"{factor} of {loop.index} at a time"
        made = replace(loop, index=at.name, lo=ZERO, hi=count, note=note)
        return (replace(made, body=go(loop.body, (*outer, made))),)

    def jammed(
        self, block: Block, around: str, index: str, values: Sequence[Expr]
    ) -> Block:
        """`block`, in the loop `around`, for all `values` of `index` side by side."""
        out: list[Stmt] = []
        for s in block:
            if isinstance(s, (For, If)):
                row = s.index if isinstance(s, For) else around
                inner = (self.jammed(b, row, index, values) for b in blocks(s))
                out.append(with_blocks(s, tuple(inner)))
            else:
                out += [_moved(s, index, v) for v in values]
        return _merged(out, around, self.types)

    def ordered(self, block: Block) -> Iterator[Stmt]:
        """What stays the same along a row or is shared loaded first, stores last.

        LLVM loads an element again after each store that might have been to it, and
        makes no vector code where it would have to tell too many apart.
        """
        for s in block:
            if isinstance(s, For) and not any(blocks(i) for i in s.body):
                yield from self.loads_first(s)
            else:
                yield with_blocks(s, tuple(tuple(self.ordered(b)) for b in blocks(s)))

    def loads_first(self, row: For) -> Block:
        stores = [s for s in row.body if isinstance(s, (Assign, Add))]
        if not stores or not _separate(stores, row.index):
            return (row,)
        changed = written((row,))
        # What a condition guards may not exist where it does not hold.
        sure = {e for s in stores for e in _loads(s.value, sure=True)}
        count = Counter(
            e
            for s in stores
            for e in _loads(s.value)
            if e in sure and not names(e) & (changed - {row.index})
        )
        fixed = {e: self.element(e) for e in count if _stays(e, row.index)}
        shared = {
            e: self.element(e)
            for e, uses in count.items()
            if uses > 1 and e not in fixed and len(stores) > 1
        }
        if len(stores) == 1 and len(fixed) < 2:
            return (row,)  # LLVM does that
        known = fixed | shared

        def there(e: Expr) -> Expr:
            return known.get(e, e) if isinstance(e, Load) else e

        sums: list[Stmt] = []
        last: list[Stmt] = []
        for s in stores:
            assert isinstance(s.target, Load)
            if len(stores) == 1:
                sums.append(replace(s, value=map_expr(s.value, there)))
                continue
            kept = Var(fresh(f"sum_{s.target.array}", self.taken))
            value = s.value if isinstance(s, Assign) else Call("+", (s.target, s.value))
            value = map_expr(value, there)
            sums.append(Assign(kept, value, loc=s.loc))
            last.append(Assign(s.target, kept, loc=s.loc, note=s.note))
        first = (Assign(v, e, loc=row.loc) for e, v in shared.items())
        made = replace(row, body=(*first, *sums, *last))
        if not fixed:
            return (made,)
        before = (Assign(v, e, loc=row.loc) for e, v in fixed.items())
        # The elements need not exist for a row that is empty.
        some = Call("<", (row.lo, row.hi))
        return (If(some, (*before, made), loc=row.loc),)

    def element(self, e: Load) -> Var:
        return Var(fresh(f"{e.array}_at", self.taken))


# -------------------------------------------------------------------- what may be


def _indices(loop: For) -> frozenset[str]:
    """The indices of the loops in `loop`, its own left out."""
    return frozenset(f.index for f in _loops(loop.body))


def _loops(block: Block) -> Iterator[For]:
    return (s for s in walk(block) if isinstance(s, For))


def _path(loop: For, row: For) -> list[For]:
    """The loops in `loop`, itself included, around `row`, outermost first."""
    return [f for f in _loops((loop,)) if any(s is row for s in walk(f.body))]


def _rows(block: Block, short: frozenset[str], arms: Arms, least: int) -> list[For]:
    """The innermost loops that may run `least` times; indices in `short` stay small.

    `arms` gives the blocks of a branch that matter.
    """
    found: list[For] = []
    for s in block:
        if isinstance(s, If):
            for b in arms(s.test, blocks(s)):
                found += _rows(b, short, arms, least)
        elif isinstance(s, For) and any(isinstance(i, For) for i in walk(s.body)):
            few = {s.index} if _few(s, short, least) else set()
            found += _rows(s.body, short | few, arms, least)
        elif isinstance(s, For) and not _few(s, short, least):
            found.append(s)
    return found


def _few(f: For, short: frozenset[str], least: int) -> bool:
    """Is it plain that `f` runs fewer than `least` times, `short` indices small?"""
    trips = linear_trips(f)
    return trips.constant < least and all(
        isinstance(atom, Var) and atom.name in short for atom, _ in trips.terms
    )


def _whole(f: For) -> tuple[int, ...]:
    """All the iterations of a loop of three."""
    return (3,) if known_trips(f) == 3 else ()


# -------------------------------------------------------------------- what it costs


def _cost(body: Block, row: str, far: int) -> float:
    """What one iteration of a row costs: the memory's share or the arithmetic's."""
    loads: set[Load] = set()
    stores: set[Load] = set()
    work = 0
    for s in body:
        assert isinstance(s, (Assign, Add)) and isinstance(s.target, Load)
        loads.update(_loads(s.value))
        if any(row in names(k) for k in s.target.index):
            stores.add(s.target)
            if isinstance(s, Add):
                loads.add(s.target)
        work += cost_of(s.value) + isinstance(s, Add)
    memory = sum(_reach(e, row, far) for e in (*loads, *stores))
    return max(float(memory), work / 2)


def _reach(e: Load, row: str, far: int) -> int:
    """What an access costs: one that stays where it is, is beside the last, or far."""
    *leading, last = e.index
    if any(row in names(k) for k in leading):
        return far
    step = slope(last, row)
    return step if step in (0, 1) else far


def _stays(e: Load, row: str) -> bool:
    """Is an access to the same element all along a row?"""
    return _reach(e, row, 1) == 0


def _moves(rows: Sequence[tuple[Block, str]], index: str) -> bool:
    """Do rows store elsewhere in each iteration of a loop?"""
    return any(
        isinstance(s, (Assign, Add))
        and isinstance(s.target, Load)
        and not _stays(s.target, at)
        and any(index in names(k) for k in s.target.index)
        for body, at in rows
        for s in body
    )


def _registers(body: Block, row: str) -> int:
    """The values that stay the same, and the sums that stay in their place."""
    kept: set[Load] = set()
    for s in body:
        assert isinstance(s, (Assign, Add)) and isinstance(s.target, Load)
        kept |= {e for e in (*_loads(s.value), s.target) if _stays(e, row)}
    return len(kept)


def _separate(stores: Sequence[Assign | Add], row: str) -> bool:
    """Does each statement of a row write an element that no other one touches?"""
    for s in stores:
        if not isinstance(s.target, Load) or _stays(s.target, row):
            return False
        for t in stores:
            if s is t:
                continue
            assert isinstance(t.target, Load)
            for e in (t.target, *_loads(t.value)):
                if e.array == s.target.array and not apart(s.target, e):
                    return False
    return True


def _loads(e: Expr, sure: bool = False) -> Iterator[Load]:
    """The elements that `e` reads, those in subscripts left out.

    With `sure` those only that it reads whatever its conditions are.
    """
    match e:
        case Load():
            yield e
        case Call("where" | "and" | "or", (first, *_)) if sure:
            yield from _loads(first, sure)
        case Call(_, args):
            for a in args:
                yield from _loads(a, sure)


# -------------------------------------------------------------------- statements


def _moved(s: Stmt, index: str, value: Expr) -> Stmt:
    """`s` for this value of `index`, the numbers in its subscripts added up."""

    def tidied(e: Expr) -> Expr:
        if isinstance(e, Load):
            return replace(e, index=tuple(from_linear(linear(k)) for k in e.index))
        return e

    (one,) = with_value((s,), index, value)
    return map_stmt_exprs(one, tidied)


def _merged(block: Sequence[Stmt], row: str, types: Mapping[str, str]) -> Block:
    """Terms of one element of a row, one after the other, as one statement."""
    out: list[Stmt] = []
    for s in block:
        whole = None
        match s:
            case Assign(Load() as t) | Add(Load() as t) if out and not _stays(t, row):
                whole = with_terms(out[-1], t, _terms(s), types)
        if whole is None:
            out.append(s)
        else:
            out[-1] = whole
    return tuple(out)


def _terms(s: Assign | Add) -> list[Expr]:
    """What `s` adds to its target, in the order in which it does."""
    if isinstance(s, Add):
        return [s.value]
    found: list[Expr] = []
    e = s.value
    while True:
        match e:
            case Call("+", (a, b)):
                found.insert(0, b)
                e = a
            case _:
                return found if e == s.target else []


def _term(s: Assign | Add) -> Expr | None:
    """What `s` adds to its target; None if it does something else."""
    terms = _terms(s)
    array = s.target_name
    if not terms or any(array in names(w) for w in terms):
        return None
    total = terms[0]
    for w in terms[1:]:
        total = Call("+", (total, w))
    return total


def _as_sum(s: Stmt) -> Stmt:
    """An assignment that adds to its target, as an increment: it commutes."""
    if isinstance(s, (For, If)):
        return with_blocks(s, tuple(tuple(map(_as_sum, b)) for b in blocks(s)))
    if isinstance(s, Assign) and isinstance(s.target, Load):
        rest = _term(s)
        if rest is not None:
            return Add(s.target, rest, loc=s.loc, id=s.id, note=s.note)
    return s
