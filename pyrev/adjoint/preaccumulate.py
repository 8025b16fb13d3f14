"""Local preaccumulation: partials of straight-line code, multiplied out beforehand.

Between the reads of array elements and the writes there is scalar code. Its derivative
may as well be found once, from what it reads to what it leaves, by vertex elimination
(`elimination`): several directions share the products, and a reverse sweep needs the
few partials instead of all that they are made from (Griewank and Walther 2008, section
10.2; Jakob's Enoki does the same to graphs). Whether that pays is counted, not guessed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from pyrev.adjoint.activity import activity
from pyrev.adjoint.elimination import (
    Eliminated,
    LocalGraph,
    Pair,
    Run,
    eliminate,
    is_sign,
    local_graph,
    runs,
    selects,
)
from pyrev.adjoint.rules import RULES, implied, is_tame, nonempty
from pyrev.analysis.value_ranges import ValueRanges
from pyrev.ir.dtypes import infer
from pyrev.ir.nodes import (
    Add,
    Assign,
    Block,
    Call,
    Expr,
    For,
    If,
    Load,
    Program,
    Stmt,
    Var,
    While,
    all_names,
    blocks,
    exprs,
    fresh,
    loop_indices,
    names,
    substitute,
    unnamed,
    walk,
    walk_expr,
    with_blocks,
)
from pyrev.ir.simplify import ZERO_F
from pyrev.parse.shapes import number

#: Operations whose sides are only computed where a test says so, or that say something
#: of derivatives themselves: a run with one of them is left as it is.
_APART = frozenset(
    "where and or along along_steep once value by_rule probe stop_gradient"
    " drawn".split()
)


@dataclass(frozen=True, slots=True)
class Counts:
    """Products of partials that derivatives of all runs take, without and with it."""

    without: int = 0
    with_it: int = 0

    def __add__(self, other: Counts) -> Counts:
        return Counts(self.without + other.without, self.with_it + other.with_it)


def preaccumulated(
    program: Program,
    wrt: tuple[str, ...],
    avoid: frozenset[str],
    directions: int | None = None,
) -> tuple[Program, Counts]:
    """`program` with the partials of runs beside what these leave (`slopes`), counted.

    Law: the same values, and the same derivatives up to rounding. A run is changed
    where that takes fewer products for so many `directions`; with None (for a reverse
    sweep) where any vertex is eliminated. The counts are of the runs that changed.
    """
    made = _Pass(program, wrt, avoid, directions)
    body = made.block(program.body)
    if made.counts == Counts():
        return program, made.counts
    return replace(program, body=number(body)), made.counts


@dataclass(frozen=True, slots=True)
class _Left:
    """What a run leaves: the statement, where, and the scalar that holds the value."""

    stmt: Assign | Add
    target: Var | Load
    held: str

    @property
    def name(self) -> str:
        return self.stmt.target_name


class _Pass:
    def __init__(
        self,
        program: Program,
        wrt: tuple[str, ...],
        avoid: frozenset[str],
        directions: int | None,
    ) -> None:
        self.directions = directions
        self.active = activity(program, wrt)
        self.types = infer(program)
        self.silent = loop_indices(program.body)
        self.taken = set(all_names(program.body)) | set(avoid)
        self.taken |= {p.name for p in program.params}
        self.ranges = ValueRanges(program, self.types)
        self.unnamed = unnamed(self.taken)
        self.params = {p.name for p in program.params}
        #: How often each name is read in the whole program.
        self.reads = _reads(program.body)
        self.counts = Counts()
        #: The extents that are not zero where we are.
        self.positive: frozenset[Expr] = frozenset()

    def block(self, block: Block) -> Block:
        found: list[Stmt] = []
        waiting = list(runs(block))
        at = 0
        while at < len(block):
            if waiting and block[at] is waiting[0][0]:
                run = waiting.pop(0)
                found += self.run(run)
                at += len(run)
                continue
            stmt = block[at]
            if isinstance(stmt, (For, While, If)):
                around = self.positive
                first = implied(stmt.test) if isinstance(stmt, If) else nonempty(stmt)
                inner: tuple[Block, ...] = ()
                for b in blocks(stmt):
                    self.positive, first = around | first, frozenset()
                    inner += (self.block(b),)
                self.positive = around
                stmt = with_blocks(stmt, inner)
            found.append(stmt)
            at += 1
        return tuple(found)

    def run(self, run: Run) -> Block:
        """The run with slopes; as it is where that is no shorter or not possible."""
        planned = self.planned(run)
        if planned is None:
            return run
        inner, left = planned
        active = self.active | {o.held for o in left if o.name in self.active}
        live = frozenset(o.held for o in left)
        graph = local_graph(inner, active, live, self.silent, self.types)
        if [name for name, _ in graph.names] != [s.target_name for s in inner]:
            return run  # a name has several values in it
        steep = frozenset(
            p for p in graph.edges if _is_steep(graph, p, self.positive, self.ranges)
        )
        done = eliminate(graph, frozenset(self.taken), steep)
        counts = self.counted(graph, done, steep)
        if counts is None:
            return run
        taken = set(self.taken)
        self.taken |= {name for name, _ in done.steps}
        made: list[Stmt] = [
            Assign(Var(name), value, loc=s.loc)
            for (name, value), s in zip(graph.names, inner, strict=True)
        ]
        loc = run[0].loc
        made += [Assign(Var(name), e, loc=loc) for name, e in done.steps]
        ends: list[Assign | Add] = []
        for o in left:
            value = self.sloped(graph, done, o.held)
            ends.append(replace(o.stmt, target=o.target, value=value))
        ordered = _ordered(ends)
        if ordered is None:
            self.taken = taken
            return run
        self.counts += counts
        return (*made, *ordered)

    def planned(self, run: Run) -> tuple[Run, list[_Left]] | None:
        """The run with a scalar for all that it leaves, and what that is. None where
        its statements have to keep their order.
        """
        if len({s.target_name for s in run if isinstance(s.target, Var)}) < sum(
            isinstance(s.target, Var) for s in run
        ):
            return None
        here = _reads(run)
        read: set[str] = set()
        stored: set[str] = set()
        values: dict[str, Expr] = {}
        inner: list[Assign | Add] = []
        left: list[_Left] = []
        for s in run:
            parts = [s.value]
            if isinstance(s.target, Load):
                parts += s.target.index
            for e in (e for top in parts for e in walk_expr(top)):
                if isinstance(e, Call) and e.op in _APART:
                    return None
                if isinstance(e, Load) and e.array in stored:
                    return None
            found = [substitute(top, values) for top in parts]
            name = s.target_name
            own = name
            if isinstance(s.target, Load):
                stored.add(name)
                own = fresh(self.unnamed, self.taken)
                left.append(_Left(s, Load(name, tuple(found[1:])), own))
            elif isinstance(s, Add):
                if here.get(name, 0) > 1:  # its own increment reads it once
                    return None
                own = fresh(self.unnamed, self.taken)
                left.append(_Left(s, s.target, own))
            elif (
                name in self.params
                or name in read
                or self.reads.get(name, 0) > here.get(name, 0)
            ):
                own = fresh(name, self.taken)
                values[name] = Var(own)
                left.append(_Left(s, s.target, own))
            inner.append(Assign(Var(own), found[0], loc=s.loc))
            for top in parts:
                read |= {e.name for e in walk_expr(top) if isinstance(e, Var)}
        return tuple(inner), left

    def counted(
        self, graph: LocalGraph, done: Eliminated, steep: frozenset[Pair]
    ) -> Counts | None:
        """The products of derivatives of a run; None if it stays as it is."""
        if not done.order:
            return None
        before = sum(_cost(e) + (p in steep) for p, e in graph.edges.items())
        after = sum(_cost(e) + (p in done.steep) for p, e in done.edges.items())
        once = done.multiplications + done.guards
        if self.directions is None:
            return Counts(before, once + after)
        counts = Counts(self.directions * before, once + self.directions * after)
        return counts if counts.with_it < counts.without else None

    def sloped(self, graph: LocalGraph, done: Eliminated, name: str) -> Expr:
        """The value of the scalar `name` with its derivatives."""
        outputs = [
            k
            for k, v in enumerate(graph.vertices)
            if v.kind == "output" and v.place == Var(name)
        ]  # none for a constant
        value: Expr = Call("value", (Var(name),))
        for (source, end), partial in done.edges.items():
            if end not in outputs:
                continue
            place = graph.vertices[source].place
            assert place is not None
            moved: Expr = place
            if (source, end) in done.when:
                moved = Call("where", (done.when[source, end], place, ZERO_F))
            op = "along_steep" if (source, end) in done.steep else "along"
            value = Call(op, (value, partial, moved))
        return value


def _ordered(ends: Sequence[Assign | Add]) -> Block | None:
    """Statements in an order in which none reads what an earlier one wrote; None if
    there is none that keeps those with one target in theirs.
    """

    def mentions(s: Assign | Add) -> frozenset[str]:
        index = s.target.index if isinstance(s.target, Load) else ()
        return names(s.value).union(*map(names, index))

    waiting = list(ends)
    found: list[Stmt] = []
    while waiting:
        for s in waiting:
            others = [o for o in waiting if o is not s]
            if not any(s.target_name in mentions(o) for o in others):
                break
        else:
            return None
        if any(o.target_name == s.target_name for o in waiting[: waiting.index(s)]):
            return None
        waiting = [o for o in waiting if o is not s]
        found.append(s)
    return tuple(found)


def _cost(partial: Expr) -> int:
    """Products that a partial costs: a sign or a choice is none."""
    return 0 if is_sign(partial) or selects(partial) else 1


def _is_steep(
    graph: LocalGraph, pair: Pair, positive: frozenset[Expr], ranges: ValueRanges
) -> bool:
    """May a partial be infinite where the function is not?"""
    operation = graph.vertices[pair[1]].operation
    value = graph.vertices[pair[1]].value
    if operation is None or not isinstance(value, Call) or value.op != operation.op:
        return False
    return RULES[value.op].singular and not is_tame(
        value.op, value.args, positive, ranges
    )


def _reads(block: Block) -> dict[str, int]:
    """How often names are read, an increment counting as a read of what it adds to."""
    found: dict[str, int] = {}

    def note(names_: Iterator[str]) -> None:
        for n in names_:
            found[n] = found.get(n, 0) + 1

    for s in walk(block):
        parts = list(exprs(s))
        if isinstance(s, (Assign, Add)):
            parts = [s.value]
            if isinstance(s.target, Load):
                parts += s.target.index
            elif isinstance(s, Add):
                parts.append(s.target)
        for top in parts:
            note(e.name for e in walk_expr(top) if isinstance(e, Var))
    return found
