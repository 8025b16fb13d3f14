"""Every access of a program, with the iterations in which it happens."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from pyrev.analysis.bounds.facts import Facts, renewed
from pyrev.analysis.bounds.terms import HELD, Context, Terms, Unknowns
from pyrev.analysis.dependence import OPAQUE
from pyrev.analysis.poly import TRUE_TEXT, conj, disj, some
from pyrev.ir.affine import integer
from pyrev.ir.liveness import live_before
from pyrev.ir.nodes import (
    Alloc,
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
    map_expr,
    names,
    walk,
    walk_expr,
)
from pyrev.ir.renaming import guarded_leaves

#: Characters of the formula of what holds somewhere, from which on the tests that are
#: passed on the way add nothing to it.
_MOST_KNOWN = 2400
#: A scalar with more assignments is not followed.
_MOST_VALUES = 8


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
    follow = _Walk(facts, Terms(facts), blind)
    free = {name: f"s{k}" for k, name in enumerate(sorted(facts.single))}
    start = Context(
        free, tuple(free.values()), TRUE_TEXT, True, frozenset(), facts.single
    )
    body = map_block(facts.program.body, facts.sized)
    start = replace(start, held=follow.held(body, start))
    for stmt, here, depth in follow.block(body, start, 0):
        yield from follow.own(stmt, here, depth)


@dataclass(frozen=True, slots=True)
class _Walk:
    """Goes through a program in its order, and collects what holds on the way."""

    facts: Facts
    terms: Terms
    blind: bool

    def held(self, body: Block, start: Context) -> dict[str, str]:
        """What scalars that are assigned in several places lie between: each time they
        are read they have a value of one of their assignments.

        ``best = 0``, and ``best = k`` in a loop under a test of data: formulas of
        `HELD`, for those whose assignments are made of indices and sizes.
        """
        wanted = self.facts.several & _in_subscripts(body)
        assigned: dict[str, list[tuple[Expr, Context]]] = {n: [] for n in wanted}
        if not wanted:
            return {}
        for stmt, here, _ in self.block(body, start, 0):
            match stmt:
                case Assign(Var(name), value) if name in assigned:
                    assigned[name].append((value, here))
        found = {n: self._either(values) for n, values in assigned.items()}
        return {n: formula for n, formula in found.items() if formula is not None}

    def _either(self, values: Sequence[tuple[Expr, Context]]) -> str | None:
        """That `HELD` is one of these values; None where one of them is opaque."""
        if len(values) > _MOST_VALUES:
            return None
        parts = []
        for value, here in values:
            value = map_expr(value, here.sized)
            text = self.facts.space.compare(HELD, "=", value, here.env, here.formula)
            if text is None or names(value) & here.wild:
                return None
            formula = conj((here.formula, text))
            for v in here.variables:  # those around a use have the same names
                formula = re.sub(rf"\b{v}\b", f"h{v}", formula)
            parts.append(some([f"h{v}" for v in here.variables], formula))
        return disj(parts)

    def block(
        self, block: Block, here: Context, depth: int
    ) -> Iterator[tuple[Stmt, Context, int]]:
        """The statements of a block that `depth` loops are around, parents first."""
        for stmt in block:
            here = self._bound(stmt, here)
            yield stmt, here, depth
            match stmt:
                case For():
                    inner = self._inside(stmt, here, depth)
                    yield from self.block(stmt.body, inner, depth + 1)
                case While(test):
                    inner = self._inside(stmt, here, depth)
                    inner = self._under(test, inner)
                    yield from self.block(stmt.body, inner, depth + 1)
                case If(test, then, orelse):
                    yield from self.block(then, self._under(test, here), depth)
                    other = self._under(Call("not", (test,)), here)
                    yield from self.block(orelse, other, depth)
            here = self._behind(stmt, here)

    def _bound(self, stmt: Stmt, here: Context) -> Context:
        """The context of a statement with the scalars it uses that are `held`: each has
        one value until it is assigned again.
        """
        read = live_before((stmt,), frozenset())
        for name in sorted((here.held.keys() - here.env.keys()) & read):
            value = f"w{len(here.variables)}_"
            known = re.sub(rf"\b{HELD}\b", value, here.held[name])
            here = replace(
                here,
                env={**here.env, name: value},
                variables=(*here.variables, value),
                formula=conj((here.formula, known)),
            )
        return here

    def own(self, stmt: Stmt, here: Context, depth: int) -> Iterator[Accessed]:
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
            case Check() if len(here.formula) > _MOST_KNOWN:
                pass  # less is known: each question takes longer the more there is
            case Check(test):
                # Where it fails the call raises anyway: an opaque one makes nothing
                # inexact.
                here = replace(self._under(test, here), exact=here.exact)
            case Assign(Var(name), value) if name in self.facts.single:
                here = self._pinned(name, value, here)
            case Alloc(array, shape) if array not in self.facts.shapes:
                here = here.without(frozenset({array}))
                sizes = tuple(map_expr(n, here.sized) for n in shape)
                if any(self.terms.overflows(n, here) for n in sizes):
                    return here
                return replace(here, sizes={**here.sizes, array: sizes})
            case Assign(Var(name), value) if self.facts.is_float(value):
                floor = self.terms.floor(value, here)
                here = here.without(frozenset({name}))
                if floor is None:
                    return here
                return replace(here, floors={**here.floors, name: floor})
        return here.without(renewed(stmt))

    def _pinned(self, name: str, value: Expr, here: Context) -> Context:
        """What holds behind the one assignment of scalar `name`, in its block."""
        value = map_expr(value, here.sized)
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
            return replace(here, exact=False).without(renewed(loop))
        name = f"v{depth}"
        lo, hi = (map_expr(e, here.sized) for e in (loop.lo, loop.hi))
        sure = replace(
            loop,
            lo=OPAQUE if self.terms.overflows(lo, here) else lo,
            hi=OPAQUE if self.terms.overflows(hi, here) else hi,
        )
        text = self.facts.region.in_range(sure, name, here.env, here.formula)
        bounds, wild = (sure.lo, sure.hi), here.wild - {loop.index}
        exact = here.exact and isinstance(loop, For) and integer(loop.step) is not None
        for bound in bounds:
            known = self.facts.space.cases(bound, here.env, here.formula) is not None
            exact = exact and known and not self.terms.roams(bound, here)
            if not known or names(bound) & here.wild:
                wild |= {loop.index}
        return replace(
            here,
            wild=wild,
            env={**here.env, loop.index: name},
            variables=(*here.variables, name),
            formula=conj((here.formula, text)),
            exact=exact,
        ).without(renewed(loop))

    def _under(self, test: Expr, here: Context) -> Context:
        """What holds where a test does."""
        test = map_expr(test, here.sized)
        if self.blind and names(test) & self.facts.of_floats:
            return replace(here, exact=False)
        formula, exact = here.formula, here.exact
        for part in _conjuncts(test):
            found = self.facts.space.formula(part, here.env, formula)
            if found is None or self.terms.overflows(part, here):
                exact = False
            else:
                formula = conj((formula, found))
                exact = exact and not self.terms.roams(part, here)
        return replace(here, formula=formula, exact=exact)


def _in_subscripts(body: Block) -> frozenset[str]:
    """The scalars in subscripts and in ranges of loops."""
    found: set[str] = set()
    for s in walk(body):
        if isinstance(s, (For, While)):
            found |= names(s.lo) | names(s.hi)
        for top in exprs(s):
            for e in walk_expr(top):
                if isinstance(e, Load):
                    found.update(*map(names, e.index))
    return frozenset(found)


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
