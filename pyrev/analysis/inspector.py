"""The program that runs before a call, where data decides if accesses stay inside.

It is the part of the function that computes subscripts, on copies of what it writes,
with a test before every access that nothing else has shown to be inside. After the
first finding, and after a `Check` that fails, nothing more is computed: what would
follow rests on a value that the function never sees.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from pyrev.ir.affine import integer
from pyrev.ir.dtypes import expr_dtype, is_float
from pyrev.ir.liveness import exposed
from pyrev.ir.nodes import (
    ONE,
    TRUE,
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
    If,
    Load,
    Program,
    Return,
    Stmt,
    Var,
    While,
    all_names,
    assigned_scalars,
    blocks,
    exprs,
    fresh,
    like,
    loop_indices,
    map_expr,
    map_stmt_exprs,
    names,
    resembled,
    walk,
    walk_expr,
    with_blocks,
    written,
)
from pyrev.ir.renaming import rename


@dataclass(frozen=True, slots=True)
class Probe:
    """A subscript to be tested whenever its statement is about to evaluate it.

    `path` are the tests that must hold first; `watched` asks if it was ever negative;
    all but those in the test of a `while` are evaluated `once`, before their statement.
    """

    at: int
    index: Expr
    array: str
    axis: int
    rank: int
    path: tuple[Expr, ...]
    watched: bool
    once: bool


def from_end(index: Expr, extent: Expr) -> Expr:
    """Where `index` points, as in Python: a negative one counts from the end."""
    literal = integer(index)
    if literal is not None and literal < 0:
        return Call("-", (extent, Const(-literal)))
    moved = Call("+", (index, extent))
    return Call("where", (Call("<", (index, ZERO)), moved, index))


def clamped(index: Expr, extent: Expr, signed: bool) -> Expr:
    """A subscript that never leaves its array, and that is `index` where that does not.

    If not `signed`, `index` is known not to be negative where it is inside.
    """
    below = Call("min", (index, Call("-", (extent, ONE))))
    return Call("max", (below, Call("neg", (extent,)) if signed else ZERO))


def inspector(
    program: Program, probes: Sequence[Probe], unasked: frozenset[int] | None = None
) -> Program:
    """The program that makes `probes`, of the parameters of `program`.

    It returns a tuple: 1 + the number of the first probe that was outside, 0 if none
    was and -1 if a `Check` failed first; then, for each watched probe in order, 1 if it
    was negative and else 0.

    With `unasked` tests (`loosened`) it makes the probes on both sides of these, and
    returns one number: 0 if no `Check` failed, nothing is outside, and no watched probe
    negative. Anything else may be about what the function never comes to.
    """
    return _Inspector(program, probes, unasked).build()


def loosened(
    program: Program, probes: Sequence[Probe], types: Mapping[str, str]
) -> tuple[list[Probe], frozenset[int]]:
    """The probes without their tests that take float arithmetic, and the `If`s with
    such tests in which nothing happens but probes of scalars.

    It often takes most of a function to know which side of such a test is taken, and
    both sides are inside. Where more than a scalar would have to be computed on a side
    that is not taken, a loop run or an array made, the test is asked.
    """
    made = {
        n
        for n in {*assigned_scalars(program.body), *written(program.body)}
        if is_float(types[n])
    }
    bare = [
        replace(one, path=())
        if _is_scalar(one.index) and any(names(t) & made for t in one.path)
        else one
        for one in probes
    ]
    dear = {one.at for one in bare if one.path or not _is_scalar(one.index)}
    unasked = {
        s.id: s
        for s in walk(program.body)
        if isinstance(s, If)
        and names(s.test) & made
        and not any(
            isinstance(inner, (For, While, Check, Alloc)) or inner.id in dear
            for side in blocks(s)
            for inner in walk(side)
        )
    }
    while True:
        keep = _needed(program, bare, True, frozenset(unasked))
        decides = {
            k
            for k, stmt in unasked.items()
            if any(s.id in keep for side in blocks(stmt) for s in walk(side))
        }
        if not decides:
            return bare, frozenset(unasked)
        for k in decides:
            del unasked[k]


def _is_scalar(index: Expr) -> bool:
    """Is a subscript made of scalars and sizes, by what never fails?"""
    return all(
        isinstance(e, (Var, Const, Extent))
        or isinstance(e, Call)
        and e.op in ("+", "-")
        for e in walk_expr(index)
    )


def rounds(
    program: Program,
    probe: Probe,
    types: Mapping[str, str],
    unasked: frozenset[int] = frozenset(),
) -> bool:
    """Does it take float arithmetic to know where `probe` points?

    Then two programs that compute it in another order may disagree.
    """
    keep = _needed(program, (probe,), False, unasked)
    kept = [s for s in walk(program.body) if s.id in keep]
    if any(isinstance(s, Add) and is_float(types[s.target_name]) for s in kept):
        return True
    return any(
        isinstance(e, Call) and e.op not in _EXACT and is_float(expr_dtype(e, types))
        for top in (probe.index, *probe.path, *(e for s in kept for e in exprs(s)))
        for e in walk_expr(top)
    )


#: What neither rounds nor can be put in another order.
_EXACT = frozenset(
    {
        *("where", "and", "or", "not", "min", "max", "minimum", "maximum", "fmin"),
        *("fmax", "neg", "abs", "sign", "floor", "ceil", "trunc", "round"),
        *("float", "float32", "float64"),
    }
)


def _needed(
    program: Program,
    probes: Sequence[Probe],
    checks: bool,
    unasked: frozenset[int] = frozenset(),
) -> set[int]:
    """The statements that decide where `probes` point, and if a `Check` fails.

    Which side of `unasked` tests is taken makes no difference.
    """
    around: dict[int, tuple[Stmt, ...]] = {}
    by_name: dict[str, list[Stmt]] = {}
    found: list[Check] = []

    def scan(block: Block, outer: tuple[Stmt, ...]) -> None:
        for s in block:
            around[s.id] = outer
            match s:
                case Assign() | Add():
                    by_name.setdefault(s.target_name, []).append(s)
                case Alloc(array):
                    by_name.setdefault(array, []).append(s)
                case Check():
                    found.append(s)
            for b in blocks(s):
                scan(b, (*outer, s))

    scan(program.body, ())
    keep: set[int] = set()
    todo: list[str] = []
    measured: list[str] = []

    def use(e: Expr) -> None:
        for part in walk_expr(e):
            match part:
                case Var(name) | Load(name, _):
                    todo.append(name)
                case Extent(name):
                    measured.append(name)

    def enter(stmt: Stmt) -> None:
        if stmt.id not in keep and stmt.id not in unasked:
            keep.add(stmt.id)
            for e in exprs(stmt):
                use(e)
            if isinstance(stmt, Alloc):
                todo.extend(resembled(stmt.dtype))
                todo.extend(stmt.sources)

    for probe in probes:
        for control in around[probe.at]:
            enter(control)
        for e in (probe.index, *probe.path, Extent(probe.array, 0)):
            use(e)
    for check in found if checks else ():
        for stmt in (*around[check.id], check):
            enter(stmt)
    done: set[tuple[str, bool]] = set()
    while todo or measured:
        whole = bool(todo)
        name = (todo or measured).pop()
        if (name, whole) not in done:
            done.add((name, whole))
            for s in by_name.get(name, ()):
                if whole or isinstance(s, Alloc):
                    for stmt in (*around[s.id], s):
                        enter(stmt)
    return keep


class _Inspector:
    def __init__(
        self,
        program: Program,
        probes: Sequence[Probe],
        unasked: frozenset[int] | None,
    ) -> None:
        self.program, self.unasked = program, unasked or frozenset()
        self.needed = _needed(program, probes, True, self.unasked)
        self.probes: dict[int, list[tuple[int, Probe]]] = {}
        for k, one in enumerate(probes):
            self.probes.setdefault(one.at, []).append((k, one))
        self.numbers = {p.name for p in program.params if not p.rank}
        self.taken = set(all_names(program.body)) | {p.name for p in program.params}
        self.bad = fresh("bad", self.taken)
        #: Is one answer enough for all of them?
        self.one = unasked is not None
        self.below = {
            k: fresh("below", self.taken)
            for k, one in enumerate(probes)
            if one.watched and not self.one
        }
        self.fine = Call("==", (Var(self.bad), ZERO))
        #: What was probed already, where we are, with values that it still has.
        self.probed: frozenset[tuple[Expr, Expr, bool]] = frozenset()

    def build(self) -> Program:
        flags = [self.bad, *self.below.values()]
        body: list[Stmt] = [Assign(Var(flag), ZERO) for flag in flags]
        body += self._block(self.program.body, False)
        body.append(Return(tuple(map(Var, flags)), single=False))
        arrays = [p for p in self.program.params if p.rank]
        changed = written(tuple(body))
        new = {p.name: fresh(p.name, self.taken) for p in arrays if p.name in changed}
        copies = [
            Alloc(
                new[p.name],
                tuple(Extent(p.name, k) for k in range(p.rank)),
                None,
                like(p.name),
                source=p.name,
            )
            for p in arrays
            if p.name in new
        ]
        renamed = tuple(rename(s, new, extents=False) for s in body)
        name = fresh(f"{self.program.name}_indices", self.taken)
        return replace(self.program, name=name, body=(*copies, *renamed))

    # ---------------------------------------------------------------- what is made

    def _finds(self, stmt: Stmt) -> bool:
        """May `stmt` end the inspection?"""
        return any(isinstance(s, Check) or s.id in self.probes for s in walk((stmt,)))

    def _block(self, block: Block, again: bool) -> Block:
        """What is kept of `block`, with its probes.

        If `again`, something may have been found before the block is entered.
        """
        made = _Sequence(self.fine, again)
        around = self.probed
        for stmt in block:
            self._forget(stmt)
            early = [p for p in self.probes.get(stmt.id, ()) if p[1].once]
            for k, probe in early:
                self._probe(k, probe, made)
            if stmt.id in self.unasked:
                for side in blocks(stmt):
                    for one in self._block(side, False):
                        made.add(one, True)
                continue
            if stmt.id not in self.needed:
                continue
            match stmt:
                case While():
                    self._while(stmt, made)
                case Check(test):
                    stop = (Assign(Var(self.bad), Const(-1)),)
                    failed = Call("not", (self._safe(test, stmt.id),))
                    made.add(If(failed, stop, loc=stmt.loc), True)
                case For() if self.one and self._at_both_ends(stmt, made):
                    pass
                case For(index, reverse=False) if self._finds(stmt):
                    # A loop over poisoned bounds must not go on for ever, empty.
                    bare = self._safe_stmt(stmt)
                    assert isinstance(bare, For)
                    inside = self._block(stmt.body, False)
                    bounds = (bare.lo, self._reached(bare), bare.step)
                    found: Stmt = While(self.fine, inside, index, *bounds, loc=stmt.loc)
                    if bare.step == ONE and self._says_it_once(index, inside):
                        runs = Call("<", bounds[:2])
                        found = If(runs, inside, loc=stmt.loc)
                    made.add(found, True)
                case _:
                    finds = self._finds(stmt)
                    inner = tuple(
                        self._block(b, finds and isinstance(stmt, For))
                        for b in blocks(stmt)
                    )
                    made.add(with_blocks(self._safe_stmt(stmt), inner), finds)
            self._forget(stmt)
        self.probed = frozenset(p for p in self.probed if p in around)
        return made.done()

    def _forget(self, stmt: Stmt) -> None:
        """What a statement changes has to be probed anew."""
        changed = {
            *assigned_scalars((stmt,)),
            *written((stmt,)),
            *loop_indices((stmt,)),
        }
        self.probed = frozenset(
            p for p in self.probed if not (names(p[0]) | names(p[1])) & changed
        )

    def _at_both_ends(self, loop: For, made: _Sequence) -> bool:
        """Probe only the first and the last iteration of a loop, if the places in
        between lie between theirs; was that done?
        """
        inside = [*walk(loop.body)]
        found = [(k, p) for s in inside for k, p in self.probes.get(s.id, ())]
        if loop.step != ONE or any(s.id in self.needed for s in inside):
            return False
        if any(
            probe.path or not probe.once or not _is_between(probe.index, loop.index)
            for _, probe in found
        ):
            return False
        bare = self._safe_stmt(loop)
        assert isinstance(bare, For)
        lo, hi = bare.lo, bare.hi
        before, out = self.probed, _Sequence(self.fine, False)
        for first, last in ((lo, Call("+", (lo, ONE))), (Call("-", (hi, ONE)), hi)):
            once = _Sequence(self.fine, False)
            for k, probe in found:
                self._probe(k, probe, once)
            # What follows the index goes around where there are very many.
            out.add(For(loop.index, first, last, ONE, once.done(), loc=loop.loc), True)
            self.probed = before
        for k, probe in found:
            if loop.index in names(probe.index):
                many = Call("*", (Const(2), Extent(probe.array, probe.axis)))
                trips = Call("-", (hi, lo))
                wide = Call("or", (Call(">", (trips, many)), Call("<", (trips, ZERO))))
                out.add(If(wide, (Assign(Var(self.bad), Const(k + 1)),)), True)
        if found:
            made.add(If(Call("<", (lo, hi)), out.done(), loc=loop.loc), True)
        return True

    def _says_it_once(self, index: str, block: Block) -> bool:
        """Does every iteration of a loop find what its first one does?"""
        flags = {self.bad, *self.below.values()}
        changed = written(block)
        own = set(assigned_scalars(block)) - flags
        return (
            index not in all_names(block)
            and not changed - flags - own - loop_indices(block)
            and not any(exposed(block, n)[0] for n in own)
        )

    def _reached(self, loop: For) -> Expr:
        """The end of a range, at most 2**63 - 1 from its start: no count goes around.

        Whatever is further is outside all arrays.
        """
        data = (names(loop.lo) | names(loop.hi)) - self.numbers
        if loop.step != ONE or not data:
            return loop.hi
        far = Call("+", (loop.lo, Const(2**63 - 1)))
        near = Call("min", (loop.hi, far))
        return Call("where", (Call("<", (loop.lo, ZERO)), near, loop.hi))

    def _while(self, stmt: While, made: _Sequence) -> None:
        """The loop with its test at the start of the body, after the test's probes."""
        finds = self._finds(stmt)
        go = fresh("go", self.taken)
        body = _Sequence(self.fine, False)
        for k, probe in self.probes.get(stmt.id, ()):
            if not probe.once:
                self._probe(k, probe, body)
        body.add(Assign(Var(go), self._safe(stmt.test, stmt.id)), False)
        body.add(If(Var(go), self._block(stmt.body, False)), finds)
        test = Call("and", (self.fine, Var(go))) if finds else Var(go)
        loop = self._safe_stmt(stmt)
        assert isinstance(loop, While)
        made.add(Assign(Var(go), TRUE), False)
        made.add(replace(loop, test=test, body=body.done()), finds)

    def _probe(self, k: int, one: Probe, made: _Sequence) -> None:
        index = self._safe(one.index, one.at)
        size = Extent(one.array, one.axis)
        alone = self.one and one.watched
        if self.one and not one.path:
            if (index, size, alone) in self.probed:
                return
            self.probed |= {(index, size, alone)}
        lowest = ZERO if alone else Call("neg", (size,))
        outside = Call("or", (Call("<", (index, lowest)), Call(">=", (index, size))))
        found: Block = (If(outside, (Assign(Var(self.bad), Const(k + 1)),)),)
        if k in self.below:
            below = Assign(Var(self.below[k]), ONE)
            found = (*found, If(Call("<", (index, ZERO)), (below,)))
        for test in reversed(one.path):
            found = (If(self._safe(test, one.at), found),)
        for stmt in found:
            made.add(stmt, True)

    def _safe_stmt(self, stmt: Stmt) -> Stmt:
        bare = with_blocks(stmt, tuple(() for _ in blocks(stmt)))
        return map_stmt_exprs(bare, lambda e: self._clamped(e, stmt.id))

    def _safe(self, expr: Expr, at: int) -> Expr:
        return map_expr(expr, lambda e: self._clamped(e, at))

    def _clamped(self, e: Expr, at: int) -> Expr:
        """A probed read, kept inside its array: what it returns then no longer matters.

        Subscripts under it have been made safe before, so it is found by array and
        axis.
        """
        if not isinstance(e, Load):
            return e
        axes = {
            one.axis
            for _, one in self.probes.get(at, ())
            if one.array == e.array and one.rank == len(e.index)
        }
        if not axes:
            return e
        index = tuple(
            clamped(from_end(k, Extent(e.array, axis)), Extent(e.array, axis), False)
            if axis in axes
            else k
            for axis, k in enumerate(e.index)
        )
        return replace(e, index=index)


def _is_between(e: Expr, index: str) -> bool:
    """Does an expression go up, or down, or stand still with a loop's index?"""
    match e:
        case Call("+" | "-", (a, b)) if a == Var(index):
            return index not in names(b)
        case Call("+" | "-", (a, b)) if b == Var(index):
            return index not in names(a)
    return e == Var(index) or index not in names(e)


class _Sequence:
    """Statements of which those after a finding do not run."""

    def __init__(self, fine: Expr, again: bool) -> None:
        self.fine, self.guarded = fine, again
        self.out: list[Stmt] = []
        self.run: list[Stmt] = []

    def add(self, stmt: Stmt, finds: bool) -> None:
        """Append `stmt`; `finds` if it may end the inspection."""
        self.run.append(stmt)
        if finds:
            self._flush()
            self.guarded = True

    def _flush(self) -> None:
        if self.run and self.guarded:
            self.out.append(If(self.fine, tuple(self.run)))
        else:
            self.out += self.run
        self.run = []

    def done(self) -> Block:
        """The statements so far."""
        self._flush()
        return tuple(self.out)
