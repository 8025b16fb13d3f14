"""The reverse sweep: statements backwards, loops mirrored, increments transposed.

The result is an *unscheduled* adjoint: always legal to run as it stands, serially.
Every
primal value that it reads is a `Saved` node, and every reversed loop body begins with a
`Restart`; `schedule.storage` replaces both. Griewank and Walther 2008, ch. 6; the rule
for a partial overwrite (read the adjoint, zero it, then increment) is theirs and that
of Li et al. 2018, section 3.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import assert_never

from pyrev.adjoint.activity import activity, flows, returned, written_arrays
from pyrev.adjoint.discarded import discarded, finite_scalars
from pyrev.adjoint.increments import Increments, branch
from pyrev.adjoint.intermediates import assigned_again
from pyrev.adjoint.opaque_calls import group, witnesses
from pyrev.adjoint.result_forms import results
from pyrev.adjoint.rule_calls import Rules, elementwise
from pyrev.adjoint.rules import implied, nonempty
from pyrev.adjoint.spared import lifted
from pyrev.analysis.value_ranges import ValueRanges
from pyrev.ir.dtypes import Floats, expr_dtype, infer
from pyrev.ir.liveness import home
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
    Dtype,
    Expr,
    Extent,
    For,
    Grow,
    If,
    Load,
    Loop,
    Param,
    Program,
    Restart,
    Return,
    Saved,
    Stmt,
    Tell,
    Var,
    While,
    all_names,
    exprs,
    fresh,
    like,
    parts_of,
    unnamed,
    walk,
    written,
)
from pyrev.ir.opaque import Opaque
from pyrev.ir.renaming import rename
from pyrev.ir.simplify import ZERO_F

CALLABLE = "callable"  # the dtype of a parameter that is a function

FUNCTION = -1  # the id that stands for the whole function where a loop id is expected


@dataclass(frozen=True, slots=True)
class Adjoint:
    """An adjoint program and what its parameters and results mean.

    `cotangents` pairs each cotangent parameter with the output it belongs to: the name
    of a written array, or the position of a returned value.
    """

    program: Program
    wrt: tuple[str, ...]
    cotangents: tuple[tuple[str, str | int], ...]
    names: tuple[tuple[str, str], ...]  # (primal name, adjoint name)
    backward: tuple[tuple[int, str], ...]  # (id of a while, index of its reverse)

    @property
    def outputs(self) -> dict[str, str]:
        """The written array that each cotangent is of, which has its shape."""
        return {n: of for n, of in self.cotangents if isinstance(of, str)}


def reverse(program: Program, wrt: tuple[str, ...], avoid: frozenset[str]) -> Adjoint:
    """The adjoint of `program` with respect to the parameters `wrt`.

    Law: for all inputs, `<d_outputs, J v> == <reverse(d_outputs), v>`. In `wrt` may be
    local values, too, if `intermediates.why_not` has nothing against them. Names in
    `avoid` (the user's globals) are not used. It does not decide where saved values
    live, which loops run in parallel, or how a scatter becomes a gather.
    """
    return _Reverse(program, wrt, avoid).run()


class _Reverse:
    def __init__(
        self, program: Program, wrt: tuple[str, ...], avoid: frozenset[str]
    ) -> None:
        self.program = program
        self.wrt = wrt
        # What the user asks for the adjoint of counts as varying, whatever `wrt` is.
        self.active = activity(program, (*wrt, *_probed(program)))
        params = {p.name for p in program.params}
        #: The local values in `wrt`: their adjoints are there, if only as zeros.
        self.inner = frozenset(wrt) - params
        self.active |= self.inner
        #: Products that are spared where a factor is zero, and these factors.
        self.lifted = lifted(program)
        #: Statements whose cotangent may be zero because nothing was added to it. What
        #: a derivative has made of values that were discarded is so, too.
        self.discarded = (
            frozenset(s.id for s in walk(program.body))
            if self.lifted
            else discarded(program, self.active)
        )
        self.taken = set(all_names(program.body)) | set(avoid)
        self.taken |= {*program.callbacks, *(p.name for p in program.params)}
        self.allocs = {s.array: s for s in walk(program.body) if isinstance(s, Alloc)}
        self.arrays = {p.name: p.rank for p in program.params if p.rank}
        self.arrays |= {name: len(a.shape) for name, a in self.allocs.items()}
        self.params = {p.name: p for p in program.params}
        #: What has no dtype yet is a derivative.
        self.types = Floats(infer(program))
        #: The index of the reversed loop for each `while` that has none of its own.
        self.backward: dict[int, str] = {}
        # Adjoint names in order of appearance: parameters first, then locals.
        in_order = [p.name for p in program.params if p.name in self.active]
        in_order += [p for p in written_arrays(program) if p not in in_order]
        for stmt in walk(program.body):
            for name in sorted(written((stmt,)) & self.active, key=str):
                if name not in in_order:
                    in_order.append(name)
        for p in program.params:  # asked for, but without influence: zeros
            if p.name in wrt and p.name not in in_order:
                in_order.append(p.name)
        self.d = {name: fresh(f"d_{name}", self.taken) for name in in_order}
        self.types |= {d: self.types[name] for name, d in self.d.items()}
        #: Where the adjoints of these go before they are set to zero. The others never
        #: are: nothing would read the zero.
        self.last = {
            name: fresh(f"{self.d[name]}_last", self.taken)
            for name in wrt
            if name in self.inner and self.starts_over(name)
        }

        makes = Counter(s.array for s in walk(program.body) if isinstance(s, Alloc))
        self.increments = Increments(
            self.active,
            self.d,
            self.types,
            self.taken,
            unnamed(self.taken),
            finite=finite_scalars(program),
            ranges=ValueRanges(program, self.types),
            spared=frozenset(
                s.target
                for s in walk(program.body)
                if isinstance(s, Assign) and s.id in self.lifted
            ),
            several=frozenset(name for name, count in makes.items() if count > 1),
            results=results(program, self.active),
        )
        #: What calls of functions that run as they are owe to their arguments.
        self.rules = Rules(
            self.increments, self.allocs, self.last, witnesses(program), self.base_dtype
        )

    # -------------------------------------------------------------- the frame

    def run(self) -> Adjoint:
        program = self.program
        visible = [p for p in program.params if p.name not in program.captured]
        hidden = [p for p in program.params if p.name in program.captured]
        cotangents: list[tuple[Param, str | int]] = []
        outputs = written_arrays(program)
        for name in outputs:
            p = self.params[name]
            cotangents.append((Param(self.d[name], p.rank, p.dtype, loc=p.loc), name))
        result = returned(program)
        values = result.values if result is not None else ()
        for k, value in enumerate(values):
            single = result is not None and result.single
            name = fresh("d_result" if single else f"d_result_{k}", self.taken)
            rank = self.arrays.get(value.name, 0) if isinstance(value, Var) else 0
            cotangents.append((Param(name, rank, "float64", loc=program.loc), k))
            self.types[name] = expr_dtype(value, self.types)

        head: list[Stmt] = [Restart(FUNCTION)]
        head += self.initial_adjoints(outputs)
        head += self.scalar_inits(FUNCTION, program.body)
        seeds: list[Stmt] = []
        if result is not None:
            d_results = [p.name for p, of in cotangents if isinstance(of, int)]
            for name, value in zip(d_results, values, strict=True):
                self.seed(value, name, result, seeds)
        body = tuple(s for s in program.body if s is not result)
        main = self.local_adjoints(body) + seeds + self.backwards(body)
        tail: list[Stmt] = []
        renamed = self.own_cotangents(outputs, main, head, tail)
        values_out = tuple(
            Var(self.last.get(w, renamed.get(self.d[w], self.d[w])))
            if w in self.active or self.params[w].rank
            else Const(0.0)
            for w in self.wrt
        )
        tail.append(Return(values_out, single=False))
        callbacks = [Param(n, 0, CALLABLE, loc=program.loc) for n in program.callbacks]
        params = (*visible, *(p for p, _ in cotangents), *hidden, *callbacks)
        adjoint = Program(
            fresh(f"{program.name}_adjoint", self.taken),
            params,
            (*head, *main, *tail),
            captured=program.captured,
            loc=program.loc,
        )
        return Adjoint(
            adjoint,
            self.wrt,
            tuple((p.name, of) for p, of in cotangents),
            tuple((k, renamed.get(v, v)) for k, v in self.d.items()),
            tuple(self.backward.items()),
        )

    def initial_adjoints(self, outputs: tuple[str, ...]) -> list[Stmt]:
        """Zeros for the adjoints of parameters that are not themselves cotangents."""
        made: list[Stmt] = []
        for p in self.program.params:
            if p.name not in self.d or p.name in outputs:
                continue
            if p.rank:
                made.append(self.zeros_like(p.name, p.rank))
            elif p.name in self.active:
                made.append(Assign(Var(self.d[p.name]), ZERO_F))
        return made

    def zeros_like(self, name: str, rank: int) -> Alloc:
        shape = tuple(Extent(name, k) for k in range(rank))
        return Alloc(self.d[name], shape, ZERO_F, like(name))

    def own_cotangents(
        self,
        outputs: tuple[str, ...],
        main: list[Stmt],
        head: list[Stmt],
        tail: list[Stmt],
    ) -> dict[str, str]:
        """Copy the cotangents that the sweep changes or returns; the caller's stay."""
        changed = written(tuple(main))
        renamed: dict[str, str] = {}
        copies: list[Stmt] = []
        for name in outputs:
            d_name = self.d[name]
            if d_name not in changed and name not in self.wrt:
                continue
            own = fresh(d_name, self.taken)
            shape = tuple(Extent(d_name, k) for k in range(self.arrays[name]))
            copy = Alloc(own, shape, None, like(d_name), source=d_name)
            renamed[d_name] = own
            if d_name in changed:
                copies.append(copy)
                main[:] = [rename(s, {d_name: own}) for s in main]
            else:
                tail.append(copy)
        head[1:1] = copies
        return renamed

    def seed(self, value: Expr, d_result: str, at: Return, out: list[Stmt]) -> None:
        """The cotangent of one returned value enters the adjoint of what was
        returned.
        """
        if isinstance(value, Var) and value.name in self.arrays:
            if value.name not in self.active:
                return
            rank = self.arrays[value.name]
            out.append(
                elementwise(self.taken, self.d[value.name], d_result, rank, at.loc)
            )
        elif flows(value) & self.active:
            self.increments.contribute(value, Var(d_result), at.id, at.loc, out)

    # -------------------------------------------------------------- scalars

    def home(self, name: str) -> int:
        """The deepest loop to whose iterations scalar `name` is private, or
        FUNCTION.
        """
        if name in self.params:
            return FUNCTION
        _, loop = home(self.program.body, name)
        return FUNCTION if loop is None else loop.id

    def scalar_inits(self, loop: int, body: Block) -> list[Stmt]:
        """``d_s = 0.0`` for every active scalar whose home is `loop`."""
        seen: dict[str, None] = {}
        for stmt in walk(body):
            if isinstance(stmt, (Assign, Add)) and isinstance(stmt.target, Var):
                seen.setdefault(stmt.target.name)
        return [
            Assign(Var(self.d[s]), ZERO_F)
            for s in seen
            if s in self.active and s not in self.params and self.home(s) == loop
        ]

    # -------------------------------------------------------------- statements

    def where(self, positive: frozenset[Expr], block: Block) -> list[Stmt]:
        """The adjoint of a block in which these extents are not zero."""
        here = self.increments
        around, here.positive = here.positive, here.positive | positive
        made = self.block(block)
        here.positive = around
        return made

    def iteration(self, loop: Loop) -> Block:
        """One iteration of a reversed loop; nothing if it owes nothing."""
        here = self.increments
        if loop.index:
            here.indices.append(loop.index)
        inits = self.scalar_inits(loop.id, loop.body)
        body = self.where(nonempty(loop), loop.body)
        if loop.index:
            here.indices.pop()
        return (Restart(loop.id), *inits, *body) if body else ()

    def block(self, block: Block) -> list[Stmt]:
        return self.local_adjoints(block) + self.backwards(block)

    def local_adjoints(self, block: Block) -> list[Stmt]:
        """Zeros for the adjoints of the arrays that this very block allocates."""
        out: list[Stmt] = []
        for stmt in block:
            if isinstance(stmt, Alloc) and stmt.array in self.active:
                shape = tuple(self.increments.saved(e, stmt.id) for e in stmt.shape)
                d_name = self.d[stmt.array]
                dtype = self.base_dtype(stmt)
                out.append(Alloc(d_name, shape, ZERO_F, dtype, loc=stmt.loc))
                if stmt.array in self.last:
                    last = self.last[stmt.array]
                    out.append(Alloc(last, shape, ZERO_F, dtype, loc=stmt.loc))
        return out

    def starts_over(self, name: str) -> bool:
        """May the adjoint of local value `name` be needed after an assignment to it?"""
        made = self.allocs.get(name)
        if made is None:
            return False
        filled = (
            made.source is not None
            or made.fill is not None
            and bool(flows(made.fill) & self.active)
        )
        assigned = any(
            isinstance(s, Assign) and s.target_name == name
            for s in walk(self.program.body)
        )
        return assigned and (filled or assigned_again(self.program, name))

    def zero(self, stmt: Assign | Add, d_target: Var | Load, out: list[Stmt]) -> None:
        """What was assigned to a place hides what was there before."""
        name = stmt.target_name
        if name in self.inner and name not in self.last:
            return
        if name in self.last:
            assert isinstance(d_target, Load)
            last = Load(self.last[name], d_target.index)
            out.append(Add(last, d_target, loc=stmt.loc))
        out.append(Assign(d_target, ZERO_F, loc=stmt.loc))

    def backwards(self, block: Block) -> list[Stmt]:
        out: list[Stmt] = []
        done = len(block)
        for k in reversed(range(len(block))):
            if k >= done:
                continue
            match block[k]:
                case Alloc(opaque=Opaque()):
                    made = group(block, k)
                    done = k + 1 - len(made)
                    self.rules.backwards(made, out)
                case While() as loop:
                    # What stands behind it is where its total is read.
                    self.early(loop, block[k + 1].id, out)
                case stmt:
                    self.statement(stmt, out)
        return out

    def early(self, loop: While, after: int, out: list[Stmt]) -> None:
        """A loop that ended when its test failed: as many iterations, backwards."""
        body = self.iteration(loop)
        if not body:
            return
        count: Expr = Saved(after, Var(loop.count), loc=loop.loc)
        index = loop.index
        lo, step = (self.increments.saved(e, loop.id) for e in (loop.lo, loop.step))
        if loop.index:
            length = count if step == ONE else Call("*", (count, step))
            count = length if lo == ZERO else Call("+", (lo, length))
        else:
            index = self.backward[loop.id] = fresh("k", self.taken)
        out.append(For(index, lo, count, step, body, reverse=True, loc=loop.loc))

    def base_dtype(self, alloc: Alloc) -> Dtype:
        """The dtype of a local array in terms of parameters only."""
        dtype = alloc.dtype
        while True:
            match parts_of(dtype):
                case (Var(name),) if name in self.allocs:
                    dtype = self.allocs[name].dtype
                case (Var(name),) if name not in self.arrays:
                    # Made like a number: an adjoint is a float array whatever that
                    # number is.
                    known = self.params.get(name)
                    floating = known is not None and known.is_float
                    return known.dtype if known and floating else "float64"
                case _:
                    return dtype

    def statement(self, stmt: Stmt, out: list[Stmt]) -> None:
        match stmt:
            case Assign() | Add():
                self.tell(stmt, out)
                if stmt.target_name in self.active:
                    self.update(stmt, out)
            case Alloc():
                if stmt.array in self.active:
                    self.alloc(stmt, out)
            case For():
                if body := self.iteration(stmt):
                    saved = self.increments.saved
                    lo, hi, step = (saved(e, stmt.id) for e in exprs(stmt))
                    back = not stmt.reverse
                    out.append(
                        For(stmt.index, lo, hi, step, body, reverse=back, loc=stmt.loc)
                    )
            case If():
                then = self.where(implied(stmt.test), stmt.then)
                orelse = self.block(stmt.orelse)
                if then or orelse:
                    test = self.increments.decided(stmt.test, stmt.id)
                    out.append(branch(test, then, orelse, stmt.loc))
            case Check():
                pass
            case Grow() | While() | Tell() | Return() | Restart():
                raise AssertionError("only the last statement returns")
            case _:
                assert_never(stmt)

    def tell(self, stmt: Assign | Add, out: list[Stmt]) -> None:
        """What a probe passes on has all of its adjoint now: no output, no adjoint."""
        match stmt:
            case Assign(Var(name), Call("probe", (_, Const(int(which))))) if (
                self.program.callbacks
            ):
                found = Var(self.d[name]) if name in self.active else ZERO_F
                callback = self.program.callbacks[which]
                out.append(Tell(callback, found, loc=stmt.loc))

    def update(self, stmt: Assign | Add, out: list[Stmt]) -> None:
        """``target = value`` or ``target += value``: read, zero, increment."""
        d_target = self.increments.d_of(stmt.target, stmt.id)
        cotangent: Expr = d_target
        increment = stmt.value if isinstance(stmt, Add) else added(stmt)
        value = stmt.value if increment is None else increment
        reads_itself = stmt.target_name in flows(value)
        if reads_itself:
            cotangent = self.increments.hold(d_target, stmt.loc, out)
            if increment is None:
                self.zero(stmt, d_target, out)
        may_be_discarded = stmt.id in self.discarded
        made = self.increments.owed(stmt, value, cotangent, may_be_discarded)
        if stmt.id in self.lifted:
            d = self.increments.saved(self.lifted[stmt.id], stmt.id)
            nonzero = Call("!=", (d, ZERO_F))
            made = [t for s in made for t in self.increments.if_finite(s, nonzero)]
        out += made
        if not reads_itself and increment is None:
            self.zero(stmt, d_target, out)

    def alloc(self, stmt: Alloc, out: list[Stmt]) -> None:
        """What a new array's elements were copied from or filled with."""
        d_name = self.d[stmt.array]
        rank = len(stmt.shape)
        if stmt.array in self.last:
            last = self.last[stmt.array]
            out.append(elementwise(self.taken, last, d_name, rank, stmt.loc))
        if stmt.source is not None and stmt.source in self.active:
            out.append(
                elementwise(self.taken, self.d[stmt.source], d_name, rank, stmt.loc)
            )
        elif stmt.fill is not None and flows(stmt.fill) & self.active:
            scope = set(self.taken)
            index = tuple(Var(fresh(f"i{k}", scope)) for k in range(rank))
            # Every element may be overwritten.
            body = self.increments.owed(stmt, stmt.fill, Load(d_name, index), True)
            for k in reversed(range(rank)):
                extent = self.increments.saved(stmt.shape[k], stmt.id)
                body = [
                    For(index[k].name, ZERO, extent, ONE, tuple(body), loc=stmt.loc)
                ]
            out += body


def added(stmt: Assign) -> Expr | None:
    """What an assignment adds to its target, if it does no more: ``v = v + e`` owes to
    `e`, and the cotangent of `v` stays as it is.

    >>> from pyrev.parse import parse_text
    >>> from pyrev.ir.text import expr_text
    >>> f = parse_text("def f(v, a, b):\\n    v = a + v - 2 * b\\n    return v")
    >>> expr_text(added(f.body[0]))
    'a - 2 * b'
    """

    def rest(value: Expr) -> Expr | None:
        match value:
            case Call("+", (one, two)) if stmt.target in (one, two):
                return two if one == stmt.target else one
            case Call("-", (one, two)) if one == stmt.target:
                return Call("neg", (two,))
            case Call("+" | "-" as op, (one, two)):
                if (left := rest(one)) is not None:
                    return Call(op, (left, two))
                if op == "+" and (right := rest(two)) is not None:
                    return Call("+", (one, right))
        return None

    return rest(stmt.value)


def _probed(program: Program) -> tuple[str, ...]:
    """The scalars that hold what a probe passes on; none where no one is told."""
    if not program.callbacks:
        return ()
    return tuple(
        s.target_name
        for s in walk(program.body)
        if isinstance(s, Assign) and isinstance(s.value, Call) and s.value.op == "probe"
    )
