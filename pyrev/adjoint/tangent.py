"""The forward derivative of a program, from the same rule table as the reverse sweep.

Every statement is preceded by the one that moves its tangent; nothing has to be saved.
The dot-product tests compare this mode with the reverse sweep.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import assert_never

from pyrev.adjoint.activity import activity, flows, returned, written_arrays
from pyrev.adjoint.mild import is_mild, wild
from pyrev.adjoint.opaque_calls import following, no_rule
from pyrev.adjoint.rules import (
    RULES,
    implied,
    is_tame,
    nonempty,
    partial,
    repeated,
)
from pyrev.adjoint.slopes import refuse_drawn, refuse_second
from pyrev.adjoint.spared import spared
from pyrev.analysis.value_ranges import ValueRanges
from pyrev.ir.dtypes import Floats, as_float, as_wide, expr_dtype, infer
from pyrev.ir.nodes import (
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
    fresh,
    like,
    names,
    walk_expr,
)
from pyrev.ir.opaque import Opaque
from pyrev.ir.simplify import ZERO_F, add, is_leaf, mul, number, unsigned


@dataclass(frozen=True, slots=True)
class Tangent:
    """A tangent program; it takes the primal's parameters and one `dot_x` for each
    `wrt`.

    It mutates written arrays and their tangents, and returns (primal results, their
    tangents) if the primal returns something. `carried` are the parameters that have a
    tangent, `names` what the tangents of each name are called, one for a direction.
    """

    program: Program
    carried: tuple[str, ...]
    names: tuple[tuple[str, tuple[str, ...]], ...]


def tangent(
    program: Program,
    wrt: tuple[str, ...],
    avoid: frozenset[str],
    directions: int = 1,
    asserts: bool = True,
) -> Tangent:
    """The directional derivative of `program` along the parameters `wrt`.

    Law: `dot_y == J dot_x`, for each of several directions, which share the primal
    (vector forward mode: Griewank and Walther 2008, section 3.2). Written float arrays
    always have a tangent parameter, since they carry theirs out. Without `asserts` it
    does not test what the primal asserts.
    """
    return _Tangent(program, wrt, avoid, directions, asserts).run()


def partials(program: Program, wrt: tuple[str, ...], avoid: frozenset[str]) -> Tangent:
    """The program with the partial derivatives of what it writes beside it.

    Law: direction k is that in which all of ``wrt[k]``, which the program does not
    write, moves by one. Where each output depends on one element of it that is the
    partial derivative (mixed mode: Revels et al. 2018, section 3).
    """
    return _Partials(program, wrt, avoid, len(wrt), True).run()


class _Tangent:
    def __init__(
        self,
        program: Program,
        wrt: tuple[str, ...],
        avoid: frozenset[str],
        directions: int,
        asserts: bool,
    ) -> None:
        self.program, self.wrt, self.asserts = program, wrt, asserts
        #: What has no dtype is a derivative.
        self.types = Floats(infer(program))
        self.ranges = ValueRanges(program, self.types)
        self.spared, self.wild = spared(program), wild(program)
        #: What moves, in each of the directions.
        self.moving = [activity(program, wrt)] * directions
        every = self.active = self.moving[0]
        self.taken = set(all_names(program.body)) | set(avoid)
        self.taken |= {p.name for p in program.params}
        floats = {p.name for p in program.params if p.is_float}
        self.carried = tuple(
            p.name
            for p in program.params
            if p.name in wrt or (p.name in written_arrays(program) and p.name in floats)
        )
        order = [*self.carried, *sorted(every - set(self.carried))]
        ends = [f"_{k}" for k in range(directions)] if directions > 1 else [""]
        self.dots = [
            {name: fresh(f"dot_{name}{end}", self.taken) for name in order}
            for end in ends
        ]
        self.types |= {dot[n]: self.types[n] for dot in self.dots for n in dot}
        #: The tangents of the direction that is printed now.
        self.dot = self.dots[0]
        #: Where names for parts of a tangent are made, and for which line. None where a
        #: part may not be computed: a test says if it is.
        self.before: list[Stmt] | None = None
        self.loc = program.loc
        #: The extents that are not zero where we are.
        self.positive: frozenset[Expr] = frozenset()
        #: The value of the present statement, by the name that has it already.
        self.result: dict[Expr, Expr] = {}

    def run(self) -> Tangent:
        program = self.program
        visible = [p for p in program.params if p.name not in program.captured]
        hidden = [p for p in program.params if p.name in program.captured]
        of = {p.name: p for p in program.params}
        dots = [
            Param(dot[n], of[n].rank, of[n].dtype)
            for n in self.carried
            for dot in self.dots
        ]
        body: list[Stmt] = [*self.still(), *self.block(program.body)]
        result = returned(program)
        if result is not None:
            body.pop()
            values = list(result.values)
            self.before, self.loc = body, result.loc
            for k in range(len(self.dots)):
                self.turn(k)
                values += [self.of(v) for v in result.values]
            body.append(Return(tuple(values), single=False, loc=result.loc))
        made = Program(
            fresh(f"{program.name}_tangent", self.taken),
            (*visible, *dots, *hidden),
            tuple(body),
            captured=program.captured,
            loc=program.loc,
        )
        named = {n: tuple(dot[n] for dot in self.dots) for n in self.dots[0]}
        return Tangent(made, self.carried, tuple(named.items()))

    def still(self) -> Block:
        """Zeros for numbers that do not move at first, and are assigned what does."""
        return tuple(
            Assign(Var(dot[p.name]), ZERO_F, loc=p.loc)
            for p in self.program.params
            if not p.rank and p.name in self.dot
            if p.name not in (*self.carried, *self.wrt)
            for dot in self.dots
        )

    def turn(self, k: int) -> None:
        """What follows is about direction `k`."""
        self.dot, self.active = self.dots[k], self.moving[k]

    def block(self, block: Block, positive: frozenset[Expr] = frozenset()) -> Block:
        """The statements of a block in which these extents, too, are not zero."""
        around, self.positive = self.positive, self.positive | positive
        out: list[Stmt] = []
        done = 0
        for k, stmt in enumerate(block):
            if isinstance(stmt, Alloc) and stmt.opaque is not None:
                if k >= done:
                    made = following(block, k)
                    done = k + len(made)
                    out += self.opaque(made)
            else:
                out += self.statement(stmt)
        self.positive = around
        return tuple(out)

    def opaque(self, made: tuple[Alloc, ...]) -> Block:
        """The results of an opaque call, and their tangents by its rule."""
        out: list[Stmt] = [*made]
        first = made[0]
        call = first.opaque
        assert call is not None
        for k in range(len(self.dots)):
            self.turn(k)
            if not any(s.array in self.active for s in made):
                continue
            if not call.jvp:
                raise no_rule(call, first.loc, "forward")
            given = [*zip(call.arguments, call.ranks, strict=True)]
            for s in made:
                number = s.opaque is not None and s.opaque.number
                own: Expr = Load(s.array, (ZERO,)) if number else Var(s.array)
                given.append((own, 0 if number else len(s.shape)))
            for a, rank in zip(call.arguments, call.ranks, strict=True):
                given.append((self.moved_argument(a, rank, first, out), rank))
            rule = Opaque(
                call.jvp,
                tuple(a for a, _ in given),
                tuple(rank for _, rank in given),
                results=call.results,
            )
            for s in made:
                if s.array in self.active and s.opaque is not None:
                    one = replace(rule, which=s.opaque.which, number=s.opaque.number)
                    own_dot = self.dot[s.array]
                    tangent = replace(s, array=own_dot, opaque=one, id=-1)
                    out.append(replace(tangent, dtype=like(s.array)))
        return tuple(out)

    def moved_argument(self, a: Expr, rank: int, at: Alloc, out: list[Stmt]) -> Expr:
        """The tangent of an argument of an opaque call: zeros if it stays."""
        if not rank or not isinstance(a, Var):
            self.before, self.loc = out, at.loc
            return self.of(a)
        if a.name in self.active:
            return Var(self.dot[a.name])
        zeros = fresh(f"dot_{a.name}", self.taken)
        shape = tuple(Extent(a.name, j) for j in range(rank))
        out.append(Alloc(zeros, shape, ZERO_F, "float64", loc=at.loc))
        return Var(zeros)

    def statement(self, stmt: Stmt) -> Block:
        match stmt:
            case Assign(Var() as target, value) if self.tells(value, target):
                self.result = {value: target}
                moved = self.moved(stmt)
                self.result = {}
                return (stmt, *moved)
            case Assign() | Add() | Alloc():
                return (*self.moved(stmt), stmt)
            case For() | While():
                return (replace(stmt, body=self.block(stmt.body, nonempty(stmt))),)
            case If(test, then, orelse):
                sides = self.block(then, implied(test)), self.block(orelse)
                return (If(test, *sides, loc=stmt.loc),)
            case Check() if not self.asserts:
                return ()
            case Check() | Return():
                return (stmt,)
            case Grow() | Tell() | Restart():
                raise AssertionError("the primal has no tapes and no restarts")
            case _:
                assert_never(stmt)

    def moved(self, stmt: Assign | Add | Alloc) -> Block:
        """What moves the tangents of one statement."""
        moved: list[Stmt] = []
        self.before, self.loc = moved, stmt.loc
        name = stmt.array if isinstance(stmt, Alloc) else stmt.target_name
        for k in range(len(self.dots)):
            self.turn(k)
            match stmt:
                case _ if name not in self.active:
                    pass
                case Assign(target, value) | Add(target, value):
                    dot = self.of(value)
                    if isinstance(target, Var):
                        dot = as_wide(dot, self.types[name], self.types)
                    moved.append(type(stmt)(self.d(target), dot, loc=stmt.loc))
                case Alloc():
                    moved.append(self.made(stmt))
        return tuple(moved)

    def made(self, stmt: Alloc) -> Alloc:
        """The tangent of a new array."""
        own = self.dot[stmt.array]
        if stmt.source in self.active:
            source = self.dot[stmt.source]
            same = stmt.dtype == like(stmt.source)
            dtype = like(source) if same else stmt.dtype
            return Alloc(own, stmt.shape, None, dtype, source, loc=stmt.loc)
        fill = ZERO_F if stmt.fill is None else self.of(stmt.fill)
        return Alloc(own, stmt.shape, fill, stmt.dtype, loc=stmt.loc)

    def d(self, target: Var | Load) -> Var | Load:
        match target:
            case Var(name):
                return Var(self.dot[name])
            case Load(name, index):
                return Load(self.dot[name], index)

    def of(self, expr: Expr) -> Expr:
        """The tangent of an expression; 0.0 where nothing active flows in."""
        if not flows(expr) & self.active:
            return ZERO_F
        match expr:
            case Var() | Load():
                return self.at(expr)
            case Call("and", (a, b)):
                return self.of(Call("where", (a, b, a)))
            case Call("or", (a, b)):
                return self.of(Call("where", (a, a, b)))
            case Call("where", (test, a, b)):
                before, self.before = self.before, None
                if expr in self.spared:
                    test = self.also_moving(test)
                selected = Call("where", (test, self.of(a), self.of(b)))
                self.before = before
                return selected
            case Call("by_rule"):
                raise refuse_second(expr.loc)
            case Call("drawn"):
                raise refuse_drawn(expr.loc)
            case Call("*") if powers := repeated(expr, self.types):
                return self.product(powers, expr)
            case Call(op, args):
                return self.through(op, args)
            case Const() | Extent():
                return ZERO_F
            case Saved():
                raise AssertionError("the primal has no saved values")
            case _:
                assert_never(expr)

    def also_moving(self, test: Expr) -> Expr:
        """A test that spares products with zero, if that stays zero, too."""
        match test:
            case Call("!=" | "==" as op, (d, zero)):
                moved = self.of(d)
                if moved != ZERO_F:
                    both = "or" if op == "!=" else "and"
                    return Call(both, (test, Call(op, (moved, zero))))
        return test

    def at(self, place: Var | Load) -> Expr:
        """The tangent of what a place holds."""
        return self.d(place)

    def tells(self, value: Expr, target: Var) -> bool:
        """Is a partial of this operation told from its result, which `target` has?"""
        if not isinstance(value, Call) or target.name in names(value):
            return False
        rule = RULES.get(value.op)
        return rule is not None and any(
            "y" in names(rule.partials[k]) and bool(flows(arg) & moving)
            for k, arg in enumerate(value.args)
            for moving in self.moving
        )

    def product(self, powers: Mapping[Expr, int], value: Expr) -> Expr:
        """A product in which a factor stands several times: one term for each.

        The tangent of ``c * b * b`` is ``dot_c * b * b + 2 * dot_b * c * b``.
        """
        known = {f: as_float(f, self.types, value) for f in powers}
        total: Expr = Const(0)
        for f in powers:
            if not flows(f) & self.active:
                continue
            term = self.times(self.of(f), Const(powers[f]))
            for other, power in powers.items():
                for _ in range(power - (other == f)):
                    term = self.times(term, known[other])
            total = _sum(total, term)
        return total

    def through(self, op: str, args: tuple[Expr, ...]) -> Expr:
        rule = RULES[op]
        env: dict[str, Expr] = dict(zip(rule.args, args, strict=True))
        whole = Call(op, args)
        env["y"] = self.result.get(whole, whole)
        singular = rule.singular and not self.is_finite(op, args)
        total: Expr = Const(0)
        for k, arg in enumerate(args):
            if not rule.flows(k) or not flows(arg) & self.active:
                continue
            moved = self.of(arg)
            slope = partial(op, args, k, env, self.types)
            if rule.selects(k):
                term: Expr = Call("where", (slope, moved, ZERO_F))
            elif singular and names(slope) and moved != ONE_F:
                moved = self.named(moved)
                nonzero = Call("!=", (unsigned(moved), ZERO_F))
                term = mul(moved, slope, self.types)
                term = Call("where", (nonzero, term, ZERO_F))
            else:
                term = self.times(moved, slope)
            total = _sum(total, term)
        return total

    def is_finite(self, op: str, args: tuple[Expr, ...]) -> bool:
        """Is each partial of a singular rule a finite number here?"""
        if not is_tame(op, args, self.positive, self.ranges):
            return False
        return op == "/" or all(is_mild(a, self.wild) for a in args)

    def times(self, moved: Expr, slope: Expr) -> Expr:
        """The product of a tangent and a partial, which is not under a test."""
        match moved:
            case Call("where", (test, value, zero)) if (
                zero == ZERO_F and number(slope) is not None
            ):
                return Call("where", (test, mul(value, slope, self.types), zero))
        if _selects(moved) and names(slope):
            moved = self.named(moved)
        return mul(moved, slope, self.types)

    def named(self, moved: Expr) -> Expr:
        """A long part of a tangent, by a name of its own where that may be made."""
        if is_leaf(moved) or self.before is None:
            return moved
        held = Var(fresh("dot_v", self.taken))
        self.types[held.name] = expr_dtype(moved, self.types)
        self.before.append(Assign(held, moved, loc=self.loc))
        return held


def _selects(moved: Expr) -> bool:
    """Is there a test in it? Then it is hard to read as a factor."""
    return any(isinstance(e, Call) and e.op == "where" for e in walk_expr(moved))


def _sum(total: Expr, term: Expr) -> Expr:
    """``total + term``, as a difference where the term has a sign."""
    match term:
        case Call("neg", (Call("-", (a, b)),)) if number(total) == 0:
            return Call("-", (b, a))
        case _ if number(total) == 0:
            return term
        case Call("where", (test, value, zero)) if zero == ZERO_F:
            less = _opposite(value)
            if less is not None:
                return Call("-", (total, Call("where", (test, less, zero))))
        case _:
            less = _opposite(term)
            if less is not None:
                return Call("-", (total, less))
    return add(total, term)


def _opposite(term: Expr) -> Expr | None:
    """`x` if `term` is ``-x`` as written: by a sign, of a dividend or of a literal."""
    match term:
        case Call("neg", (x,)):
            return x
        case Call("/", (x, y)):
            less = _opposite(x)
            return None if less is None else Call("/", (less, y))
        case Call("*", (Const() as k, x)) if (value := number(k)) and value < 0:
            return x if value == -1 else Call("*", (Const(-value), x))
    return None


ONE_F = Const(1.0)


class _Partials(_Tangent):
    """Direction k moves all of one parameter by one.

    The tangents are no parameters but arrays that are made and returned: a name of the
    program is ``out_by_x`` for each parameter `x`.
    """

    def __init__(
        self,
        program: Program,
        wrt: tuple[str, ...],
        avoid: frozenset[str],
        directions: int,
        asserts: bool,
    ) -> None:
        super().__init__(program, wrt, avoid, directions, asserts)
        self.moving = [activity(program, (name,)) for name in wrt]
        self.dots = [
            {n: fresh(f"{n}_by_{x}", self.taken) for n in self.dots[0]} for x in wrt
        ]
        self.carried = tuple(n for n in self.carried if n not in wrt)

    def run(self) -> Tangent:
        program = self.program
        of = {p.name: p for p in program.params}
        arrays = [(n, dot[n]) for n in self.carried for dot in self.dots]
        made: list[Stmt] = []
        for name, own in arrays:
            shape = tuple(Extent(name, k) for k in range(of[name].rank))
            loc = program.loc
            made.append(Alloc(own, shape, ZERO_F, like(name), loc=loc))
        body = [*self.still(), *self.block(program.body)]
        result = returned(program)
        values: tuple[Expr, ...] = ()
        if result is not None:
            body.pop()
            values = result.values
        values += tuple(Var(own) for _, own in arrays)
        end = Return(values, single=False, loc=program.loc)
        whole = replace(
            program,
            name=fresh(f"{program.name}_partials", self.taken),
            body=(*made, *body, end),
        )
        named = {n: tuple(dot[n] for dot in self.dots) for n in self.carried}
        return Tangent(whole, self.carried, tuple(named.items()))

    def at(self, place: Var | Load) -> Expr:
        name = place.name if isinstance(place, Var) else place.array
        return ONE_F if name in self.wrt else self.d(place)
