"""What the results of calls owe whose functions run as they are: the user's rules."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Set
from dataclasses import dataclass, replace

from pyrev.adjoint.activity import flows
from pyrev.adjoint.increments import Increments
from pyrev.adjoint.opaque_calls import Witness, no_rule
from pyrev.ir.nodes import (
    ONE,
    ZERO,
    Add,
    Alloc,
    Assign,
    Dtype,
    Expr,
    Extent,
    For,
    Load,
    Loc,
    Restart,
    Saved,
    Stmt,
    Var,
    fresh,
    like,
)
from pyrev.ir.opaque import Opaque
from pyrev.ir.simplify import ZERO_F


def elementwise(taken: Set[str], target: str, source: str, rank: int, loc: Loc) -> Stmt:
    """``target[...] += source[...]`` over every element, as loops."""
    scope = set(taken)
    index = tuple(Var(fresh(f"i{k}", scope)) for k in range(rank))
    stmt: Stmt = Add(Load(target, index), Load(source, index), loc=loc)
    for k in reversed(range(rank)):
        stmt = For(index[k].name, ZERO, Extent(target, k), ONE, (stmt,), loc=loc)
    return stmt


@dataclass(frozen=True, slots=True)
class Rules:
    """The reverse of such calls, one after the other.

    `last` are the arrays whose adjoints go elsewhere before they are zero, `witnesses`
    the copies that say when the sweep asks for an array; `base_dtype` gives the dtype
    of a local array in terms of parameters.
    """

    increments: Increments
    allocs: Mapping[str, Alloc]
    last: Mapping[str, str]
    witnesses: Mapping[int, Witness]
    base_dtype: Callable[[Alloc], Dtype]

    @property
    def taken(self) -> set[str]:
        """The names in use."""
        return self.increments.taken

    def backwards(self, made: tuple[Alloc, ...], out: list[Stmt]) -> None:
        """What the results of an opaque call owe to its arguments, by its rule."""
        first = made[0]
        call = first.opaque
        assert call is not None
        if not any(s.array in self.increments.active for s in made):
            return
        if not call.vjp:
            raise no_rule(call, first.loc, "reverse")
        for s in made:
            if s.array in self.last:
                d, rank = self.increments.d[s.array], len(s.shape)
                out.append(elementwise(self.taken, self.last[s.array], d, rank, s.loc))
        stores = dict(call.seen)
        pairs = [*zip(call.arguments, call.ranks, strict=True)]
        given: list[tuple[Expr, int]] = []
        new = {a: self.again(a, stores[a], out) for a in call.arrays}
        for a, rank in pairs:
            if rank and isinstance(a, Var):
                given.append((Var(new[a.name]), rank))
            else:
                given.append((self.increments.saved(a, first.id), 0))
        for s in made:
            assert s.opaque is not None
            if s.opaque.number:
                at = stores[s.array]
                value = Saved(at, Load(s.array, (ZERO,)), loc=s.loc)
                given.append((value, 0))
            else:
                own = self.again(s.array, stores[s.array], out)
                given.append((Var(own), len(s.shape)))
        for s in made:
            given.append(self.owed_to(s, out))
        rule = Opaque(
            call.vjp,
            tuple(e for e, _ in given),
            tuple(rank for _, rank in given),
            results=len(pairs),
        )
        self.by_rule(rule, pairs, first, out)

    def owed_to(self, s: Alloc, out: list[Stmt]) -> tuple[Expr, int]:
        """The cotangent of one result, zeros where nothing depends on it."""
        assert s.opaque is not None
        if s.array in self.increments.active:
            d = self.increments.d[s.array]
            if s.opaque.number:
                return Load(d, (ZERO,)), 0
            return Var(d), len(s.shape)
        if s.opaque.number:
            return ZERO_F, 0
        zeros = fresh(f"d_{s.array}", self.taken)
        shape = tuple(self.increments.saved(e, s.id) for e in s.shape)
        out.append(Alloc(zeros, shape, ZERO_F, "float64", loc=s.loc))
        return Var(zeros), len(shape)

    def again(self, array: str, store: int, out: list[Stmt]) -> str:
        """An array as it was where the primal has a copy of it."""
        seen = self.witnesses[store]
        own = fresh(f"{array}_again", self.taken)
        load = seen.store.value
        assert isinstance(load, Load) and isinstance(seen.store.target, Load)
        copy = self.allocs[seen.store.target.array]
        shape = tuple(self.increments.saved(e, copy.id) for e in copy.shape)
        out.append(Alloc(own, shape, None, self.base_dtype(copy), loc=copy.loc))
        value = Saved(store, load, loc=copy.loc)
        inner: Stmt = Assign(Load(own, load.index), value, loc=copy.loc)
        for loop in reversed(seen.loops):
            hi = self.increments.saved(loop.hi, loop.id)
            body = (Restart(loop.id), inner)
            inner = For(loop.index, ZERO, hi, ONE, body, reverse=True, loc=copy.loc)
        out.append(inner)
        return own

    def by_rule(
        self,
        rule: Opaque,
        pairs: list[tuple[Expr, int]],
        at: Alloc,
        out: list[Stmt],
    ) -> None:
        """The call of a rule, and what it gives added to the adjoints."""
        parts: list[Alloc] = []
        adds: list[Stmt] = []
        for k, (a, rank) in enumerate(pairs):
            if not flows(a) & self.increments.active:
                continue
            first = rule.arrays[0]
            name = self.increments.d[a.name] if isinstance(a, Var) else "d_number"
            own = fresh(f"{name}_part", self.taken)
            one = replace(rule, which=k, number=not rank)
            shape: tuple[Expr, ...] = (ONE,)
            dtype: Dtype = "float64"
            if rank and isinstance(a, Var):
                shape = tuple(Extent(self.increments.d[a.name], j) for j in range(rank))
                dtype = like(self.increments.d[a.name])
                adds.append(
                    elementwise(
                        self.taken, self.increments.d[a.name], own, rank, at.loc
                    )
                )
            else:
                self.increments.contribute(a, Load(own, (ZERO,)), at.id, at.loc, adds)
            parts.append(Alloc(own, shape, None, dtype, first, opaque=one, loc=at.loc))
        out += [*parts, *adds]
