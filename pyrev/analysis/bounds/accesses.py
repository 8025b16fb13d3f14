"""Every access of a program, with the iterations in which it happens."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import NamedTuple

from pyrev.analysis.bounds.facts import Facts
from pyrev.analysis.bounds.terms import Context, Terms, Unknowns
from pyrev.analysis.dependence import OPAQUE
from pyrev.analysis.poly import TRUE_TEXT, conj
from pyrev.ir.affine import integer
from pyrev.ir.nodes import (
    Assign,
    Block,
    Call,
    Check,
    Expr,
    For,
    If,
    Load,
    Loop,
    Stmt,
    Var,
    While,
    exprs,
    map_block,
    names,
    written,
)
from pyrev.ir.renaming import guarded_leaves


class Accessed(NamedTuple):
    """A load or a store, the tests inside the expression that it stands in, and when.

    One in the test of a `while` is evaluated more than `once`.
    """

    stmt: Stmt
    load: Load
    path: tuple[Expr, ...]
    here: Context
    once: bool


def accessed(facts: Facts, blind: bool) -> Iterator[Accessed]:
    """All accesses, in order; `blind` to the tests of what float arithmetic made."""
    walk = _Walk(facts, Terms(facts), blind)
    free = {name: f"s{k}" for k, name in enumerate(sorted(facts.single))}
    start = Context(
        free, tuple(free.values()), TRUE_TEXT, True, frozenset(), facts.single
    )
    yield from walk.block(map_block(facts.program.body, facts.sized), start, 0)


@dataclass(frozen=True, slots=True)
class _Walk:
    """Goes through a program in its order, and collects what holds on the way."""

    facts: Facts
    terms: Terms
    blind: bool

    def block(self, block: Block, here: Context, depth: int) -> Iterator[Accessed]:
        """The accesses of a block that `depth` loops are around."""
        for stmt in block:
            yield from self._own(stmt, here, depth)
            match stmt:
                case For():
                    inner = self._inside(stmt, here, depth).without(written(stmt.body))
                    yield from self.block(stmt.body, inner, depth + 1)
                case While(test):
                    inner = self._inside(stmt, here, depth).without(written(stmt.body))
                    inner = self._under(test, inner)
                    yield from self.block(stmt.body, inner, depth + 1)
                case If(test, then, orelse):
                    yield from self.block(then, self._under(test, here), depth)
                    other = self._under(Call("not", (test,)), here)
                    yield from self.block(orelse, other, depth)
            here = self._behind(stmt, here)

    def _own(self, stmt: Stmt, here: Context, depth: int) -> Iterator[Accessed]:
        """The accesses that stand in a statement itself."""
        for expr in exprs(stmt):
            # The test of a `while` is evaluated again and again, inside its range.
            again = isinstance(stmt, While) and expr is stmt.test
            at = here
            if isinstance(stmt, While) and again:
                at = self._inside(stmt, here, depth)
            for path, e in guarded_leaves(expr, ()):
                if isinstance(e, Load):
                    under = at
                    for test in path:
                        under = self._under(test, under)
                    yield Accessed(stmt, e, path, under, not again)

    def _behind(self, stmt: Stmt, here: Context) -> Context:
        """What holds behind a statement."""
        match stmt:
            case Check(test):
                # Where it fails the call raises anyway: an opaque one makes nothing
                # inexact.
                here = replace(self._under(test, here), exact=here.exact)
            case Assign(Var(name), value) if name in self.facts.single:
                here = self._pinned(name, value, here)
            case Assign(Var(name), value) if self.facts.is_float(value):
                floor = self.terms.floor(value, here)
                here = here.without(frozenset({name}))
                if floor is None:
                    return here
                return replace(here, floors={**here.floors, name: floor})
        return here.without(written((stmt,)))

    def _pinned(self, name: str, value: Expr, here: Context) -> Context:
        """What holds behind the one assignment of scalar `name`, in its block."""
        if self.terms.free(value, here) or self.terms.overflows(value, here):
            return here
        extra = Unknowns(f"w{len(here.variables)}_")
        plain = self.terms.abstract(value, here, extra)
        env, known = {**here.env, **extra.env}, conj((here.formula, *extra.facts))
        text = self.facts.space.compare(here.env[name], "=", plain, env, known)
        if text is None:
            return here
        if extra.env:  # not its value, but what it lies between
            variables = (*here.variables, *extra.env.values())
            return replace(here, variables=variables, formula=conj((known, text)))
        wild = here.wild if names(value) & here.wild else here.wild - {name}
        return replace(
            here,
            formula=conj((here.formula, text)),
            pinned=here.pinned | {name},
            wild=wild,
        )

    def _inside(self, loop: Loop, here: Context, depth: int) -> Context:
        """What holds in each iteration of a loop."""
        if not loop.index:
            return replace(here, exact=False)
        name = f"v{depth}"
        sure = replace(
            loop,
            lo=OPAQUE if self.terms.overflows(loop.lo, here) else loop.lo,
            hi=OPAQUE if self.terms.overflows(loop.hi, here) else loop.hi,
        )
        text = self.facts.region.in_range(sure, name, here.env, here.formula)
        bounds, wild = (sure.lo, sure.hi), here.wild - {loop.index}
        exact = here.exact and isinstance(loop, For) and integer(loop.step) is not None
        for bound in bounds:
            known = self.facts.space.cases(bound, here.env, here.formula) is not None
            exact = exact and known and not self.terms.free(bound, here)
            if not known or names(bound) & here.wild:
                wild |= {loop.index}
        return replace(
            here,
            wild=wild,
            env={**here.env, loop.index: name},
            variables=(*here.variables, name),
            formula=conj((here.formula, text)),
            exact=exact,
        )

    def _under(self, test: Expr, here: Context) -> Context:
        """What holds where a test does."""
        if self.blind and names(test) & self.facts.of_floats:
            return replace(here, exact=False)
        formula, exact = here.formula, here.exact
        for part in _conjuncts(test):
            found = self.facts.space.formula(part, here.env, formula)
            if found is None or self.terms.overflows(part, here):
                exact = False
            else:
                formula = conj((formula, found))
                exact = exact and not self.terms.free(part, here)
        return replace(here, formula=formula, exact=exact)


def _conjuncts(test: Expr) -> Iterator[Expr]:
    match test:
        case Call("and", args):
            for a in args:
                yield from _conjuncts(a)
        case Call("not", (Call("or", args),)):
            for a in args:
                yield from _conjuncts(Call("not", (a,)))
        case _:
            yield test
