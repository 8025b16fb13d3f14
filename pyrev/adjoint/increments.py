"""What a statement adds to the adjoints of what its value reads: the chain rule.

One increment for each active leaf of the value, with the cotangent of the statement
times the partials on the way: a product without a branch where no test is needed. Terms
that may be infinite or nan where nothing is owed are selected, or zero.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import assert_never

from pyrev.adjoint.activity import flows
from pyrev.adjoint.discarded import finite, steady
from pyrev.adjoint.rules import RULES, implied, is_tame, partial, repeated
from pyrev.adjoint.slopes import refuse_drawn, refuse_second
from pyrev.adjoint.spared import guarded
from pyrev.analysis.value_ranges import UNKNOWN, ValueRanges
from pyrev.ir.dtypes import Floats, as_float, as_wide, expr_dtype
from pyrev.ir.nodes import (
    Add,
    Assign,
    Block,
    Call,
    Const,
    Expr,
    Extent,
    If,
    Load,
    Loc,
    Saved,
    Stmt,
    Var,
    blocks,
    fresh,
    map_expr,
    names,
    walk_expr,
    with_blocks,
)
from pyrev.ir.simplify import ZERO_F, is_leaf, mul, unsigned

_TRUTH = frozenset({"<", "<=", ">", ">=", "==", "!=", "not", "and", "or"})


@dataclass(slots=True)
class Increments:
    """The increments that the statements of a program owe, where the sweep is now."""

    active: frozenset[str]
    #: The name of the adjoint of each active name.
    d: Mapping[str, str]
    types: Floats
    taken: set[str]
    #: What values without a name are called.
    unnamed: str
    #: Scalars that are finite numbers for finite arguments.
    finite: frozenset[str]
    #: Products that are spared where a factor is zero.
    spared: frozenset[Expr]
    #: Arrays that are made in several places: their extents are those of one of them.
    several: frozenset[str]
    #: How the results of statements are read behind them, where a partial mentions it.
    results: Mapping[int, Expr]
    #: The indices of the loops around us.
    indices: list[str] = field(default_factory=list)
    #: The extents that are not zero where we are.
    positive: frozenset[Expr] = frozenset()
    #: Between what the values of names lie.
    ranges: ValueRanges = UNKNOWN
    #: Cotangents that are not zero where the present statement of the sweep runs.
    nonzero: frozenset[Expr] = frozenset()
    #: Primal subexpressions of the present statement that already have a name.
    held: dict[Expr, Expr] = field(default_factory=dict)

    def owed(
        self, stmt: Stmt, value: Expr, cotangent: Expr, may_be_discarded: bool
    ) -> list[Stmt]:
        """What `stmt` owes, which makes `value`: exactly nothing if the cotangent of
        what may be discarded is zero.
        """
        self.held.clear()
        if stmt.id in self.results:
            self.held[value] = self.results[stmt.id]
        made: list[Stmt] = []
        if may_be_discarded and not self.steady(value):
            self.unless_zero(value, cotangent, stmt.id, stmt.loc, made)
        else:
            self.contribute(value, cotangent, stmt.id, stmt.loc, made)
        return made

    def contribute(
        self, value: Expr, cotangent: Expr, at: int, loc: Loc, out: list[Stmt]
    ) -> None:
        """Emit ``d_leaf += cotangent * d value / d leaf`` for every active leaf."""
        match value:
            case Const() | Extent():
                return
            case Var(name) | Load(name, _):
                if name in self.active:
                    if isinstance(value, Var):
                        cotangent = as_wide(cotangent, self.types[name], self.types)
                    out.append(Add(self.d_of(value, at), cotangent, loc=loc))
            case Call("where", (test, a, b)):
                if (parts := guarded(value)) and parts[1] in self.spared:
                    self.contribute(parts[1], cotangent, at, loc, out)
                    return
                then: list[Stmt] = []
                orelse: list[Stmt] = []
                around, positive = dict(self.held), self.positive
                self.positive = positive | implied(test)
                self.contribute(a, cotangent, at, loc, then)
                self.held, self.positive = dict(around), positive
                self.contribute(b, cotangent, at, loc, orelse)
                self.held = around
                if then or orelse:
                    out.append(branch(self.decided(test, at), then, orelse, loc))
            case Call("and", (a, b)):
                self.contribute(Call("where", (a, b, a)), cotangent, at, loc, out)
            case Call("or", (a, b)):
                self.contribute(Call("where", (a, a, b)), cotangent, at, loc, out)
            case Call("by_rule", (x,)):
                if flows(x) & self.active:
                    raise refuse_second(loc)
            case Call("drawn"):
                if flows(value) & self.active:
                    raise refuse_drawn(loc)
            case Call("*", (a, b)) if a == b:
                square = Call("**", (a, Const(2)))
                self.contribute(square, cotangent, at, loc, out)
            case Call("*") if powers := repeated(value, self.types):
                self.product(powers, value, cotangent, at, loc, out)
            case Call(op, args):
                self.through(op, args, cotangent, at, loc, out)
            case Saved():
                raise AssertionError("the primal has no saved values")
            case _:
                assert_never(value)

    def product(
        self,
        powers: Mapping[Expr, int],
        value: Expr,
        cotangent: Expr,
        at: int,
        loc: Loc,
        out: list[Stmt],
    ) -> None:
        """A product in which a factor stands several times: one increment for each.

        ``d * c * b**2`` is what `c * b * b` owes to `c`, and ``2 * d * c * b`` to `b`.
        """
        live = [f for f in powers if flows(f) & self.active]
        if not live:
            return
        if not is_leaf(cotangent) and len(live) > 1:
            cotangent = self.hold(cotangent, loc, out)
        known = {
            f: as_float(self.named(f, at, loc, out), self.types, value) for f in powers
        }
        for f in live:
            passed = mul(Const(powers[f]), cotangent, self.types)
            for other, power in powers.items():
                for _ in range(power - (other == f)):
                    passed = mul(passed, known[other], self.types)
            self.contribute(f, passed, at, loc, out)

    def through(
        self,
        op: str,
        args: tuple[Expr, ...],
        cotangent: Expr,
        at: int,
        loc: Loc,
        out: list[Stmt],
    ) -> None:
        rule = RULES[op]
        live = [
            k
            for k, arg in enumerate(args)
            if rule.flows(k) and flows(arg) & self.active
        ]
        if not live:
            return
        singular = rule.singular and not is_tame(op, args, self.positive, self.ranges)
        singular = singular and unsigned(cotangent) not in self.nonzero
        shared = len(live) > 1 or any(_leaves(args[k]) > 1 for k in live)
        light = op in ("+", "-") and _is_light(cotangent)
        if not is_leaf(cotangent) and (singular or (shared and not light)):
            cotangent = self.hold(cotangent, loc, out)
        env = self.partial_arguments(op, args, live, at, loc, out)
        for k in live:
            slope = partial(op, args, k, env, self.types)
            if rule.selects(k):
                if not self.steady(args[k]):
                    self.only_if(slope, args[k], cotangent, at, loc, out)
                    continue
                passed: Expr = Call("where", (slope, cotangent, ZERO_F))
            else:
                passed = mul(cotangent, slope, self.types)
                if singular:
                    nonzero = Call("!=", (unsigned(cotangent), ZERO_F))
                    passed = Call("where", (nonzero, passed, ZERO_F))
            self.contribute(args[k], passed, at, loc, out)

    def partial_arguments(
        self,
        op: str,
        args: tuple[Expr, ...],
        live: list[int],
        at: int,
        loc: Loc,
        out: list[Stmt],
    ) -> dict[str, Expr]:
        """The primal values that the live partials mention, long ones given a name."""
        rule = RULES[op]
        needed = frozenset().union(*(names(rule.partials[k]) for k in live))
        env: dict[str, Expr] = {}
        for name, arg in zip(rule.args, args, strict=True):
            if name not in needed and "y" not in needed:
                continue
            if name in needed:
                env[name] = self.named(arg, at, loc, out)
            else:
                env[name] = self.held.get(arg, self.saved(arg, at))
        if "y" in needed:
            whole = Call(op, args)
            if whole in self.held:
                return env | {"y": self.held[whole]}
            y: Expr = Call(op, tuple(env[name] for name in rule.args))
            mentions = sum(
                isinstance(e, Var) and e.name == "y"
                for k in live
                for e in walk_expr(rule.partials[k])
            )
            if mentions > 1:
                held = Var(fresh(self.unnamed, self.taken))
                self.held[whole] = held
                out.append(Assign(held, y, loc=loc))
                y = held
            env["y"] = y
        return env

    def named(self, arg: Expr, at: int, loc: Loc, out: list[Stmt]) -> Expr:
        """A primal value as it was at statement `at`, by its name where it is long."""
        if arg in self.held:
            return self.held[arg]
        value = self.saved(arg, at)
        if is_leaf(arg):
            return value
        held = Var(fresh(self.unnamed, self.taken))
        self.held[arg] = held
        self.types[held.name] = expr_dtype(arg, self.types)
        out.append(Assign(held, value, loc=loc))
        return held

    def hold(self, cotangent: Expr, loc: Loc, out: list[Stmt]) -> Var:
        """A new name for a cotangent."""
        held = Var(fresh(f"d_{self.unnamed}", self.taken))
        self.types[held.name] = expr_dtype(cotangent, self.types)
        out.append(Assign(held, cotangent, loc=loc))
        return held

    # -------------------------------------------------------------- under a test

    def steady(self, value: Expr) -> bool:
        """Does a zero cotangent of `value` leave zeros, whatever the arguments are?"""
        return steady(value, self.active, self.finite, self.positive, self.ranges)

    def unless_zero(
        self, value: Expr, cotangent: Expr, at: int, loc: Loc, out: list[Stmt]
    ) -> None:
        """`contribute` of what may be discarded: a zero contributes exactly nothing."""
        made: list[Stmt] = []
        self.nonzero = frozenset({unsigned(cotangent)})
        self.contribute(value, cotangent, at, loc, made)
        self.nonzero = frozenset()
        test = Call("!=", (unsigned(cotangent), ZERO_F))
        known = self.finite
        for s in made:
            sure = isinstance(s, (Assign, Add)) and finite(
                map_expr(s.value, lambda e: ZERO_F if e == cotangent else e), known
            )
            if sure and isinstance(s, Assign) and isinstance(s.target, Var):
                known |= {s.target.name}
            out.append(s if sure else _selected(s, test))

    def only_if(
        self,
        test: Expr,
        value: Expr,
        cotangent: Expr,
        at: int,
        loc: Loc,
        out: list[Stmt],
    ) -> None:
        """`contribute` under a test: each term is selected, or zero.

        What the terms are made of is computed all the same: code without branches may
        run in vectors, and loops of increments may be turned into gathers.
        """
        made: list[Stmt] = []
        self.contribute(value, cotangent, at, loc, made)
        out += (_selected(s, test) for s in made)

    def if_finite(self, stmt: Stmt, unless: Expr) -> Block:
        """A statement that adds no term that is infinite or nan, unless `unless`.

        So the derivatives of a product that is spared are those of the product.
        """
        if isinstance(stmt, Add):
            held = Var(fresh(f"d_{self.unnamed}", self.taken))
            test = Call("or", (unless, Call("isfinite", (held,))))
            term = Call("where", (test, held, ZERO_F))
            return Assign(held, stmt.value, loc=stmt.loc), replace(stmt, value=term)
        inner = tuple(
            tuple(t for s in b for t in self.if_finite(s, unless)) for b in blocks(stmt)
        )
        return (with_blocks(stmt, inner),)

    # -------------------------------------------------------------- the primal

    def saved(self, expr: Expr, at: int) -> Expr:
        """`expr` as it was at statement `at`; indices of loops around us stay as they
        are.
        """
        match expr:
            case Var(name):
                return expr if name in self.indices else Saved(at, expr, loc=expr.loc)
            case Load():
                return Saved(at, expr, loc=expr.loc)
            case Extent(array) if array in self.several:
                return Saved(at, expr, loc=expr.loc)
            case Const() | Extent():
                return expr
            case Call(op, args):
                return Call(op, tuple(self.saved(a, at) for a in args), loc=expr.loc)
            case Saved():
                raise AssertionError("the primal has no saved values")
            case _:
                assert_never(expr)

    def decided(self, test: Expr, at: int) -> Expr:
        """How a test came out at statement `at`: one truth value, if need be."""
        if isinstance(test, Call) and test.op in _TRUTH:
            return Saved(at, test, loc=test.loc)
        return self.saved(test, at)

    def d_of(self, leaf: Var | Load, at: int) -> Var | Load:
        """The adjoint of a scalar or an array element."""
        match leaf:
            case Var(name):
                return Var(self.d[name])
            case Load(name, index):
                return Load(self.d[name], tuple(self.saved(e, at) for e in index))


def _selected(stmt: Stmt, test: Expr) -> Stmt:
    """A statement with zeros for the terms that it adds, unless `test` holds."""
    if isinstance(stmt, Add):
        return replace(stmt, value=Call("where", (test, stmt.value, ZERO_F)))
    inner = tuple(tuple(_selected(s, test) for s in b) for b in blocks(stmt))
    return with_blocks(stmt, inner)


def branch(test: Expr, then: list[Stmt], orelse: list[Stmt], loc: Loc) -> If:
    """A branch with at least one side that does something, which comes first."""
    if not then:
        return If(Call("not", (test,)), tuple(orelse), (), loc=loc)
    return If(test, tuple(then), tuple(orelse), loc=loc)


def _is_light(expr: Expr) -> bool:
    """At most one operation: cheap and short enough to be written for every leaf."""
    return sum(isinstance(e, Call) for e in walk_expr(expr)) <= 1


def _leaves(expr: Expr) -> int:
    return sum(isinstance(e, (Var, Load)) for e in walk_expr(expr))
