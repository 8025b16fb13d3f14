"""Which values may be discarded: computed, and on some path never read by an output.

A value that a branch leaves out, that a loop without iterations does not read, or that
is overwritten before anybody reads it has no influence, and its cotangent in the
reverse sweep is zero: nothing was added to it. Times a partial that is infinite or nan
that zero would be nan. So `reverse` guards what is made of such a cotangent; this says
where that can be needed. Scalars are followed through the text, arrays by ISL.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product

from pyrev.adjoint.activity import flows, written_arrays
from pyrev.adjoint.rules import RULES, implied, is_tame, nonempty
from pyrev.analysis.array_shapes import ArrayShapes
from pyrev.analysis.dependence import Access, Leaf, Near, Region, remade
from pyrev.analysis.poly import TRUE_TEXT, Case, conj, disj, is_empty, negated, some
from pyrev.analysis.value_ranges import UNKNOWN, ValueRanges
from pyrev.ir.affine import integer
from pyrev.ir.liveness import live_out
from pyrev.ir.nodes import (
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
    Program,
    Return,
    Stmt,
    Var,
    While,
    all_names,
    blocks,
    free_ids,
    fresh,
    loop_indices,
    map_block,
    map_expr,
    names,
    substitute,
    walk,
    walk_expr,
    with_blocks,
    written,
)
from pyrev.ir.simplify import fold

#: Operations of ISL for a question: a guard too many is cheap, and most take fewer.
_BUDGET = 500_000


def discarded(program: Program, active: frozenset[str]) -> frozenset[int]:
    """The ids of statements whose value may have no influence on any output.

    Law: the cotangent of what any other statement assigns, or adds, has got a term from
    every run of it, be that a zero. It may list too many, never too few.

    >>> from pyrev.parse import parse_text
    >>> f = parse_text('''
    ... def f(x, y):
    ...     s = 0.0
    ...     for i in range(len(x)):
    ...         d = x[i] - y[i]
    ...         e = x[i] * y[i]
    ...         if y[i] > 0:
    ...             s += d
    ...         s += e
    ...     return s
    ... ''')
    >>> gone = discarded(f, frozenset("xdes"))
    >>> [s.target_name for s in walk(f.body) if getattr(s, "id", 0) in gone]
    ['d']
    """
    return _Analysis(program, active).run()


def sure(expr: Expr) -> Iterator[Var | Load]:
    """The leaves whose derivative passes into `expr` whatever its tests say.

    >>> from pyrev.parse import parse_expr
    >>> sorted(e.name for e in sure(parse_expr("a * b + (c if t else c * d)")))
    ['a', 'b', 'c']
    """
    match expr:
        case Var() | Load():
            yield expr
        case Call("where", (_, a, b)):
            yield from _both(a, b)
        case Call("and" | "or", (a, b)):
            yield from _both(a, b)
        case Call(op, args):
            rule = RULES[op]
            through = [a for k, a in enumerate(args) if rule.flows(k)]
            if any(rule.selects(k) for k in range(len(args))):
                # One of them is the result; with more of the same in both it is used.
                if len(through) == 2:
                    yield from _both(*through)
                return
            for a in through:
                yield from sure(a)


def _both(a: Expr, b: Expr) -> Iterator[Var | Load]:
    others = set(sure(b))
    yield from (e for e in sure(a) if e in others)


def finite(
    partial: Expr,
    known: frozenset[str],
    positive: frozenset[Expr] = frozenset(),
    ranges: ValueRanges = UNKNOWN,
) -> bool:
    """Is this a finite number whatever the arguments are, as the scalars `known`?

    The extents that are `positive` are not zero.
    """
    match partial:
        case Const() | Extent():
            return True
        case Var(name):
            return name in known
        case Call("where", (_, *args)):
            pass
        case Call("+" | "-" | "*" | "neg" | "float" | "float32" | "float64", args):
            pass
        case Call("/", args) if is_tame("/", args, positive, ranges):
            pass
        case _:
            return False
    return all(finite(a, known, positive, ranges) for a in args)


def steady(
    value: Expr,
    active: frozenset[str],
    known: frozenset[str],
    positive: frozenset[Expr] = frozenset(),
    ranges: ValueRanges = UNKNOWN,
) -> bool:
    """Are the partials of `value` by its active leaves finite, or choices, all?

    Then a zero cotangent of it leaves zeros, whatever the arguments are.
    """
    match value:
        case Call("where", (_, a, b)):
            return all(steady(e, active, known, positive, ranges) for e in (a, b))
        case Call("and" | "or", args):
            return all(steady(a, active, known, positive, ranges) for a in args)
        case Call(op, args):
            rule = RULES[op]
            env = dict(zip(rule.args, args, strict=True))
            constants = {k: v for k, v in env.items() if isinstance(v, Const)}
            for k, arg in enumerate(args):
                if not rule.flows(k) or not flows(arg) & active:
                    continue
                if not steady(arg, active, known, positive, ranges):
                    return False
                partial = fold(substitute(rule.partials[k], constants))
                if not rule.selects(k) and not finite(
                    substitute(partial, env | {"y": value}), known, positive, ranges
                ):
                    return False
    return True


def finite_scalars(program: Program) -> frozenset[str]:
    """The scalars that hold finite numbers in any call: made of indices and sizes.

    >>> from pyrev.parse import parse_text
    >>> f = parse_text('''
    ... def f(x):
    ...     for i in range(x.shape[0]):
    ...         t = (i + 0.5) / x.shape[0] - 0.5
    ...         w = 1.0 - t
    ...         s = t * x[i]
    ... ''')
    >>> sorted(finite_scalars(f))
    ['i', 't', 'w']
    """
    values: dict[str, list[tuple[Expr, frozenset[Expr]]]] = {}

    def collect(block: Block, positive: frozenset[Expr]) -> None:
        for s in block:
            match s:
                case Assign(Var(name), value):
                    values.setdefault(name, []).append((value, positive))
                case Add(Var(name)):  # a sum grows
                    values.setdefault(name, []).append((s.target, positive))
                case For(body=body) | While(body=body):
                    collect(body, positive | nonempty(s))
                case If(test, then, orelse):
                    collect(then, positive | implied(test))
                    collect(orelse, positive)

    collect(program.body, frozenset())
    numbers = {p.name for p in program.params if not p.rank and "int" in p.dtype}
    found = frozenset(loop_indices(program.body) | numbers) - values.keys()
    while more := {
        name
        for name, every in values.items()
        if name not in found and all(finite(e, found, p) for e, p in every)
    }:
        found |= more
    return found


#: What a loop runs over: where it starts, ends, and the step.
Range = tuple[Expr, Expr, Expr]

#: Scalars that are used, whatever comes or (with a range) if that is not empty.
Used = frozenset[tuple[str, Range | None]]


@dataclass
class _Array:
    """The accesses of one array, by statement."""

    writes: Sequence[tuple[Leaf, Access]]
    kills: Near
    reads: Near


def _surely_gone(
    write: tuple[Leaf, Access], kills: Sequence[tuple[Leaf, Access]]
) -> int | None:
    """The number of the first statement after one that runs once, and writes at a
    literal place, that overwrites the same in any case; None if there is none.

    What is behind it has nothing to do with the value.
    """
    s, a = write
    if s.depth or not a.index or any(integer(k) is None for k in a.index):
        return None
    return min(
        (
            b.number
            for t, b in kills
            if b.number > a.number and not t.depth and not t.tests
            if b.index == a.index
        ),
        default=None,
    )


def _until(
    end: int, write: Access, accesses: Sequence[tuple[Leaf, Access]]
) -> tuple[tuple[Leaf, Access], ...]:
    """Those behind `write` and not behind `end`."""
    return tuple(x for x in accesses if write.number < x[1].number <= end)


class _Analysis:
    def __init__(self, program: Program, active: frozenset[str]) -> None:
        #: What the program says of each copy of a whole array is no statement of it.
        self.own = frozenset(s.id for s in walk(program.body))
        body = _measured(_by_elements(program.body))
        self.program = program = replace(program, body=body)
        self.active = active
        self.gone: set[int] = set()
        result = program.body[-1] if program.body else None
        values = result.values if isinstance(result, Return) else ()
        returned = {e.name for e in values if isinstance(e, Var)}
        self.outputs = {*written_arrays(program), *returned}
        self.arrays = {p.name for p in program.params if p.rank}
        self.arrays |= {s.array for s in walk(program.body) if isinstance(s, Alloc)}
        #: Names of which neither value nor size is one number throughout.
        self.changing = frozenset(
            s.target.name
            for s in walk(program.body)
            if isinstance(s, (Assign, Add)) and isinstance(s.target, Var)
        )
        self.changing |= loop_indices(program.body) | remade(program.body)
        self.shapes = ArrayShapes(program)
        self._region: Region | None = None

    def run(self) -> frozenset[int]:
        pending = sorted(self.arrays & self.active)
        known: dict[str, tuple[frozenset[int], frozenset[int]]] = {}
        while True:
            before = len(self.gone)
            self.block(self.program.body, frozenset(), ())
            for name in pending:
                asked = self.readers(name), frozenset(self.gone)
                if name in known and known[name][0] == asked[0]:
                    continue
                known[name] = asked
                self.array(name)
            if len(self.gone) == before:
                return self.own & self.gone

    def kept(self, stmt: Assign | Add) -> bool:
        return stmt.target_name in self.active and stmt.id not in self.gone

    # ---------------------------------------------------------------- scalars

    def block(self, block: Block, used: Used, around: tuple[Range, ...]) -> Used:
        """The scalars whose value is used on all paths from the start of `block`.

        Those in `used` are from its end on. What is not is noted.
        """
        for stmt in reversed(block):
            used = self.statement(stmt, used, around)
        return used

    def statement(self, stmt: Stmt, used: Used, around: tuple[Range, ...]) -> Used:
        match stmt:
            case Assign(target, value) | Add(target, value):
                if isinstance(target, Var):
                    if not any((target.name, r) in used for r in (None, *around)):
                        self.gone.add(stmt.id)
                    if isinstance(stmt, Assign):
                        used = frozenset(u for u in used if u[0] != target.name)
                return used | self.scalars(value) if self.kept(stmt) else used
            case If(_, then, orelse):
                one = self.block(then, used, around)
                return _meet(one, self.block(orelse, used, around))
            case For() | While():
                of = self.range(stmt)
                inside = around if of is None else (*around, of)
                end = used
                while True:
                    begin = self.block(stmt.body, end, inside)
                    both = _meet(end, begin)
                    if both == end:
                        break
                    end = both
                if of is not None and (of in around or _sure_range(of)):
                    return begin
                within = {(n, of) for n, r in begin if r is None and of is not None}
                return _meet(begin, used) | within
            case Return(values):
                return used.union(*(self.scalars(v) for v in values))
        return used

    def scalars(self, value: Expr) -> Used:
        return frozenset((e.name, None) for e in sure(value) if isinstance(e, Var))

    def range(self, loop: For | While) -> Range | None:
        """The bounds of a loop that is not left early, if they never change."""
        if not isinstance(loop, For):
            return None
        bounds = loop.lo, loop.hi, loop.step
        parts = [e for b in bounds for e in walk_expr(b)]
        if any(isinstance(e, Load) for e in parts):
            return None
        read = {e.name for e in parts if isinstance(e, Var)}
        measured = {e.array for e in parts if isinstance(e, Extent)}
        return None if (read | measured) & self.changing else bounds

    # ---------------------------------------------------------------- arrays

    @property
    def region(self) -> Region:
        if self._region is None:
            self._region = Region(self.program.body, live_out(self.program))
        return self._region

    def readers(self, name: str) -> frozenset[int]:
        """The statements that surely pass on what they read of an array."""
        return frozenset(
            s.id
            for s in walk(self.program.body)
            if isinstance(s, (Assign, Add))
            and self.kept(s)
            and any(isinstance(e, Load) and e.array == name for e in sure(s.value))
        )

    def array(self, name: str) -> None:
        """Note the writes of an array that may be overwritten or never be read."""
        own = [
            s
            for s in walk(self.program.body)
            if isinstance(s, (Assign, Add)) and s.target_name == name
        ]
        makes = [
            s
            for s in walk(self.program.body)
            if isinstance(s, Alloc) and s.array == name
        ]
        if name in self.outputs and len(makes) < 2:
            if not any(isinstance(s, Assign) for s in own):
                return
        found = self.accesses(name)
        for write in found.writes:
            if write[0].stmt.id not in self.gone and not self.lives(name, write, found):
                self.gone.add(write[0].stmt.id)

    def accesses(self, name: str) -> _Array:
        writes: list[tuple[Leaf, Access]] = []
        kills: list[tuple[Leaf, Access]] = []
        reads: list[tuple[Leaf, Access]] = []
        region = self.region
        for leaf in region.touching().get(name, ()):
            for a in region.changed(leaf)[name]:
                stmt = leaf.stmt
                if a.kind != "read" and not isinstance(stmt, Alloc):
                    writes.append((leaf, a))
                if a.kind == "write":
                    kills.append((leaf, a))
                if a.kind == "read" and self.passes(leaf, a):
                    reads.append((leaf, a))
        return _Array(writes, Near(kills), Near(reads))

    def passes(self, leaf: Leaf, read: Access) -> bool:
        """Is this a read, of elements that are known, whose value is passed on?"""
        stmt, region = leaf.stmt, self.region
        if not region.exact(leaf) or region.opaque_tests(leaf):
            return False
        if read.index is None:
            return isinstance(stmt, Return)
        match stmt:
            case Assign() | Add() if self.kept(stmt):
                values: tuple[Expr, ...] = (stmt.value,)
            case Return():
                values = stmt.values
            case _:
                return False
        if read.number != leaf.number:
            return False
        elements = region.elements(leaf, read, "c")
        if elements is None or any(e is None for e in elements):
            return False
        return any(
            isinstance(e, Load) and (e.array, e.index) == (read.name, read.index)
            for value in values
            for e in sure(value)
        )

    def lives(self, name: str, write: tuple[Leaf, Access], found: _Array) -> bool:
        """Is each value that a statement writes read before it is overwritten?"""
        region = self.region
        s, a = write
        somewhere, inside = self.anywhere(write)
        kills, reads = tuple(found.kills.to(a)), tuple(found.reads.to(a))
        end = _surely_gone(write, kills)
        if end is not None:
            kills = _until(end, a, kills)
            reads = _until(end, a, reads)
        for t, b in kills:
            ways = self.before(write, (t, b), "a", "b")
            same = region.same_element(s, a, t, b) if ways else None
            if same is None:
                continue
            between = disj(self.read(write, r, (t, b)) for r in reads)
            where = conj((region.domain(s, "a"), region.domain(t, "b"), inside))
            text = conj((where, same, disj(ways), negated(between)))
            variables = (
                *region.variables(s, "a"),
                *region.variables(t, "b"),
                *somewhere,
            )
            if not is_empty(region.space, variables, text, _BUDGET):
                return False
        if name in self.outputs or end is not None:
            return True
        later = disj(self.read(write, r, None) for r in reads)
        text = conj((region.domain(s, "a"), inside, negated(later)))
        variables = (*region.variables(s, "a"), *somewhere)
        return is_empty(region.space, variables, text, _BUDGET)

    def before(
        self,
        one: tuple[Leaf, Access],
        two: tuple[Leaf, Access],
        p: str,
        q: str,
        or_same: bool = False,
    ) -> tuple[str, ...]:
        """Formulas for `one` to come before `two`: branches of one `if` exclude."""
        (s, a), (t, b) = one, two
        ways = self.region.before(s, a, t, b, or_same, p, q)
        if _apart(s, t) and (a.number < b.number or or_same and a.number == b.number):
            return ways[:-1]
        return ways

    def read(
        self,
        write: tuple[Leaf, Access],
        read: tuple[Leaf, Access],
        kill: tuple[Leaf, Access] | None,
    ) -> str:
        """The formula for a read of what was written, before it is overwritten."""
        region = self.region
        r, c = read
        ways = self.before(write, read, "a", "c")
        same = self.surely_same(write, read) if ways else None
        if same is None:
            return "false"
        parts = [region.domain(r, "c"), same, disj(ways)]
        if kill is not None:
            parts.append(disj(self.before(read, kill, "c", "b", or_same=True)))
        return some(region.variables(r, "c"), conj(parts))

    def surely_same(
        self, write: tuple[Leaf, Access], read: tuple[Leaf, Access]
    ) -> str | None:
        """The formula for a read of the very element that is written; None if that is
        not known. Where data decides which it is, that is any: ``e<axis>``.
        """
        region = self.region
        (s, a), (r, c) = write, read
        p, q = region.private_depth(s, a.name), region.private_depth(r, c.name)
        if p != q or p > region.common(s, r):
            return None
        both = conj(f"a{k} = c{k}" for k in range(p))
        one, two = region.elements(s, a, "a"), region.elements(r, c, "c")
        if two is None:  # all of it
            return both
        if one is None or len(one) != len(two):
            return None
        parts = [both]
        for k, (x, y) in enumerate(zip(one[p:], two[p:], strict=True)):
            if y is None:
                return None
            cases = (Case(TRUE_TEXT, f"e{k}"),) if x is None else x
            met = (
                conj((m.when, n.when, f"{m.term} = {n.term}"))
                for m, n in product(cases, y)
            )
            parts.append(disj(met))
        return conj(parts)

    def anywhere(self, write: tuple[Leaf, Access]) -> tuple[tuple[str, ...], str]:
        """The variables for what data decides of an element that is written, and the
        formula for that to be inside of the array.
        """
        region = self.region
        s, a = write
        found = region.elements(s, a, "a")
        own = [] if found is None else found[region.private_depth(s, a.name) :]
        unknown = [k for k, x in enumerate(own) if x is None]
        shape = self.shapes.of(a.name)
        parts = []
        for k in unknown:
            parts.append(f"e{k} >= 0")
            extent = shape[k] if len(shape) == len(own) else None
            if extent is not None:
                below = region.space.compare(f"e{k}", "<", extent, {}, TRUE_TEXT)
                parts += [] if below is None else [below]
        return tuple(f"e{k}" for k in unknown), conj(parts)


def _apart(s: Leaf, t: Leaf) -> bool:
    """Do two leaves stand in two branches of one `if`?"""
    holds = {test.number: test.holds for test in s.tests}
    return any(holds.get(u.number, u.holds) != u.holds for u in t.tests)


def _by_elements(body: Block) -> Block:
    """`body` with copies of arrays as loops: of each element it may be that nobody
    reads what it was copied to.
    """
    taken = {*all_names(body)}
    ids = free_ids(body)

    def visit(s: Stmt) -> Block:
        s = with_blocks(s, tuple(_joined(map(visit, b)) for b in blocks(s)))
        if not isinstance(s, Alloc) or s.copied is None:
            return (s,)
        index = tuple(Var(fresh(f"k{k}", taken)) for k in range(len(s.shape)))
        copied: Stmt = Assign(
            Load(s.array, index), Load(s.copied, index), loc=s.loc, id=next(ids)
        )
        for k, size in zip(reversed(index), reversed(s.shape), strict=True):
            inner = (copied,)
            copied = For(k.name, Const(0), size, Const(1), inner, id=next(ids))
        return replace(s, source=None), copied

    return _joined(map(visit, body))


def _joined(parts: Iterable[Block]) -> Block:
    return tuple(s for part in parts for s in part)


def _measured(body: Block) -> Block:
    """`body` with the sizes of local arrays written as what they were made of."""
    makes = [s for s in walk(body) if isinstance(s, Alloc)]
    count = Counter(s.array for s in makes)
    changing = written(body)
    known: dict[Expr, Expr] = {}
    for s in makes:
        for axis, size in enumerate(s.shape) if count[s.array] == 1 else ():
            size = map_expr(size, lambda e: known.get(e, e))
            parts = list(walk_expr(size))
            if any(isinstance(e, Load) for e in parts) or names(size) & changing:
                continue
            if any(isinstance(e, Extent) and count[e.array] for e in parts):
                continue
            known[Extent(s.array, axis)] = size
    return map_block(body, lambda e: known.get(e, e)) if known else body


def _sure_range(of: Range) -> bool:
    """Has a range of numbers one at all?"""
    lo, hi, step = map(integer, of)
    if lo is None or hi is None or not step:
        return False
    return len(range(lo, hi, step)) > 0


def _meet(one: Used, two: Used) -> Used:
    """What is used on both of two paths."""
    found = one & two
    found |= {u for u in one if (u[0], None) in two}
    return found | {u for u in two if (u[0], None) in one}
