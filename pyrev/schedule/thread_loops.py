"""Which loops of a nest the threads of a GPU may share out, and what they add up.

Legality only: what is worth it, `pyrev.schedule.launch_policy` says. A loop may be
shared out if its iterations are independent, which is what its proof says, if it has
one already, or what `prove_parallel` finds; increments of an array that the nest does
nothing else with may be left out of the question, since they commute, and are
then sums or atomic.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from pyrev.ir.liveness import live_inside
from pyrev.ir.nodes import (
    Add,
    Assign,
    Block,
    Const,
    Expr,
    For,
    Load,
    Proof,
    Stmt,
    Var,
    all_names,
    assigned_scalars,
    blocks,
    fresh,
    names,
    risky,
    walk,
    walk_expr,
    with_blocks,
    written,
)
from pyrev.ir.reductions import reductions
from pyrev.schedule.host_values import host_knows
from pyrev.schedule.legality import prove_parallel, restated

#: What the hardware adds to atomically.
ATOMIC = frozenset({"float32", "float64", "int32", "uint32", "int64"})


@dataclass(frozen=True, slots=True)
class Shared:
    """A perfect nest whose loops are independent once some reductions are set apart.

    `chain` are its loops, outermost first. The first `free` of them carry no dependence
    at all, as `proof` says of the outermost. In all of them iterations meet only in
    what they add: to each of `sums`, one element for each iteration of the loops in
    `owners`; to the arrays and scalars in `others`, any element.
    """

    chain: tuple[For, ...]
    free: int
    proof: Proof | None = None
    sums: tuple[Var | Load, ...] = ()
    owners: frozenset[str] = frozenset()
    others: frozenset[str] = frozenset()
    #: May the hardware add to all of `others`?
    atomic: bool = True

    @property
    def independent(self) -> tuple[For, ...]:
        """The loops that carry no dependence."""
        return self.chain[: self.free]

    @property
    def owning(self) -> tuple[For, ...]:
        """The loops whose iterations have an element of each sum to themselves."""
        return tuple(f for f in self.chain if f.index in self.owners)

    @property
    def reduced(self) -> tuple[For, ...]:
        """The loops whose iterations add to the same elements of the sums."""
        return tuple(f for f in self.chain if f.index not in self.owners)


class Nests:
    """Questions about nests: which of their loops threads may share out."""

    def __init__(
        self,
        types: Mapping[str, str],
        integers: frozenset[str],
        numbers: frozenset[str],
    ) -> None:
        self.types, self.integers, self.numbers = types, integers, numbers

    def known(self, e: Expr) -> bool:
        """Does the host know the value of `e`?"""
        return host_knows(e, self.numbers)

    def shared(
        self, loop: For, outer: tuple[For, ...], live: frozenset[str]
    ) -> Shared | None:
        """How threads may share out the nest of `loop`; None if its order matters."""
        chain = self.chain(loop)
        added = frozenset(reductions(chain[-1].body if chain else ()))
        proofs = self.proofs(chain, added, outer, live)
        if not proofs:
            return None
        depth = len(proofs)
        chain = chain[:depth]
        if added:
            proofs = self.proofs(chain, frozenset(), outer, live)
        free, proof = len(proofs), next(iter(proofs), None)
        if free == depth:
            return Shared(chain, free, proof)
        met = frozenset(
            a
            for a in added
            if len(self.proofs(chain, added - {a}, outer, live)) < depth
        )
        sums, owners = self.sums(chain, met)
        others = met - {t.name if isinstance(t, Var) else t.array for t in sums}
        atomic = self.atomic(chain, others)
        return Shared(chain, free, proof, sums, owners, others, atomic)

    def atomic(self, chain: tuple[For, ...], added: frozenset[str]) -> bool:
        """Can the hardware add to `added`: to elements, of dtypes that it knows?"""
        scalars = set(assigned_scalars(chain[-1].body))
        return not added & scalars and all(self.types[a] in ATOMIC for a in added)

    def chain(self, loop: For) -> tuple[For, ...]:
        """The loops of a perfect nest whose iteration space is a box the host knows."""
        found: list[For] = []
        changed = written((loop,))
        while True:
            bounds = (loop.lo, loop.hi, loop.step)
            if not all(map(self.known, bounds)):
                break
            if found and any(map(risky, bounds)):
                break  # where the loops around it are empty nothing asks for it
            if changed & frozenset().union(*map(names, bounds)):
                break
            found.append(replace(loop, reverse=False))
            match loop.body:
                case (For() as inner,):
                    loop = inner
                case _:
                    break
        return tuple(found)

    def proofs(
        self,
        chain: tuple[For, ...],
        reductions: frozenset[str],
        outer: tuple[For, ...],
        live: frozenset[str],
    ) -> list[Proof]:
        """Proofs that the loops of `chain` are parallel, from the outermost on until
        one is not, if increments of `reductions` carry no dependence.

        A loop that has a proof is not asked again: leaving increments out takes
        nothing from it.
        """
        found: list[Proof] = []
        dummy = fresh("term", set(all_names(chain)))
        for f in chain:
            if f.parallel:
                proof: Proof | None = restated(f.parallel, f)
            else:
                plain = replace(f, body=_stripped(f.body, reductions, dummy))
                proof = prove_parallel(plain, outer, live, self.integers)
            if proof is None:
                break
            found.append(proof)
            outer, live = (*outer, f), live_inside(f, live)
        return found

    def sums(
        self, chain: tuple[For, ...], met: frozenset[str]
    ) -> tuple[tuple[Var | Load, ...], frozenset[str]]:
        """The reductions among `met` that a block of threads can make, and the loops
        that own them.

        Their elements are the same in all iterations of the other loops, differ between
        those of the owners, and one set of owners serves all.
        """
        indices = {f.index for f in chain}
        body = chain[-1].body
        inside = written(body)
        owners: frozenset[str] | None = None
        found: list[Var | Load] = []
        for array in sorted(met):
            targets = {
                s.target: None
                for s in walk(body)
                if isinstance(s, Add) and s.target_name == array
            }
            used: set[str] = set()
            for t in targets:
                if isinstance(t, Load):
                    used |= {n for e in t.index for n in names(e)}
            own = frozenset(used & indices)
            parts = (e for t in targets if isinstance(t, Load) for e in t.index)
            if any(isinstance(e, Load) for p in parts for e in walk_expr(p)):
                continue  # where nothing is added there may be no such element
            if used & inside or len(own) == len(indices):
                continue
            if own and len({_owned(t, own) for t in targets}) > 1:
                continue  # an element may have several owners
            if owners is not None and own != owners:
                continue
            if own and not self.apart(chain, own, next(iter(targets))):
                continue
            owners = own
            found += targets
        return tuple(found), owners or frozenset()

    def apart(
        self, chain: tuple[For, ...], own: frozenset[str], target: Var | Load
    ) -> bool:
        """Is `target` another element for every iteration of the loops in `own`?"""
        loops = [f for f in chain if f.index in own]
        body: Block = (Add(target, Const(1.0)),)
        for f in reversed(loops):
            body = (replace(f, body=body, parallel=None),)
        (whole,) = body
        assert isinstance(whole, For)
        live = frozenset({target.array}) if isinstance(target, Load) else frozenset()
        found = self.proofs(self.chain(whole), frozenset(), (), live)
        return len(found) == len(loops)


def _stripped(block: Block, without: frozenset[str], dummy: str) -> Block:
    """The block with the increments of `without` made assignments of a private scalar,
    so that what they read stays in the question and what they add to does not.
    """
    out: list[Stmt] = []
    for s in block:
        if isinstance(s, Add) and s.target_name in without:
            parts = [s.value]
            if isinstance(s.target, Load):
                parts += s.target.index
            out += [Assign(Var(dummy), e, loc=s.loc) for e in parts]
        else:
            inner = tuple(_stripped(b, without, dummy) for b in blocks(s))
            out.append(with_blocks(s, inner))
    return tuple(out)


def _owned(target: Var | Load, own: frozenset[str]) -> tuple[Expr | None, ...]:
    """The subscripts of `target` that the loops in `own` decide."""
    if isinstance(target, Var):
        return ()
    return tuple(e if names(e) & own else None for e in target.index)
