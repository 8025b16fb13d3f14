"""The places that a loop only adds to, to be summed up beside it, in which order."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from pyrev.ir.affine import apart
from pyrev.ir.dtypes import concrete, expr_dtype, is_float, promote
from pyrev.ir.liveness import flow_of
from pyrev.ir.nodes import (
    Add,
    Assign,
    Block,
    Expr,
    Extent,
    For,
    If,
    Load,
    Stmt,
    Var,
    assigned_scalars,
    blocks,
    children,
    exprs,
    mentioned,
    names,
    walk,
    walk_expr,
    written,
)
from pyrev.ir.reductions import reductions
from pyrev.ir.renaming import guarded_leaves
from pyrev.ir.trip_counts import fixed_trip, iterations
from pyrev.schedule.legality import least_of_chunk


def sums_of(f: For) -> list[Var | Load]:
    """The places that a loop itself only adds to, each the same throughout."""
    if not all(isinstance(s, (Assign, Add, For, If)) for s in walk(f.body)):
        return []
    changed = written(f.body) | {f.index}
    alone = reductions((f,))
    own = [s for s in f.body if isinstance(s, Add)]
    out: dict[Var | Load, None] = {}
    for s in own:
        if changed & frozenset().union(*map(names, children(s.target))):
            continue
        # Counted, since an increment in a loop inside may be equal to one of these.
        here = sum(other.target_name == s.target_name for other in own)
        adds = alone.get(s.target_name, ())
        if len(adds) == here and all(
            add.target == s.target or apart(add.target, s.target) for add in adds
        ):
            out[s.target] = None
    return list(out)


@dataclass(frozen=True, slots=True)
class Reassociation:
    """What decides whether a loop of a program may sum up in any order."""

    types: Mapping[str, str]
    #: May evaluating an expression raise?
    fails: Callable[[Expr], bool]
    #: How often the whole program mentions each name.
    mentions: Mapping[str, int]
    #: By the identity of each loop of the program: what is read behind it.
    live: Mapping[int, frozenset[str]]
    #: Loops of so few iterations are unrolled: no order is faster than theirs.
    unrolled: int
    #: Are that many iterations enough to be told from neighbours in memory?
    enough: Callable[[Expr], bool | None]

    def allowed(self, f: For, inner: For, targets: Sequence[Var | Load]) -> bool:
        """May the sums of `f` into `targets` be taken in any order?

        `inner` is the loop with its sums in locals.
        """
        rest = _rest(f, targets)
        return (
            all(map(_is_scalar, rest))
            and self._summed(f, inner, targets)
            # What an iteration hands on is no sum, and the next loop may go on from it.
            and self.keeps(f, rest)
        )

    def beside(self, f: For, inner: For, targets: Sequence[Var | Load]) -> bool:
        """May they be, though the loop writes elements of arrays besides?

        Only where nothing else keeps the iterations from being taken several at a time.
        """
        rest = tuple(_rest(f, targets))
        adds = [s for s in f.body if isinstance(s, Add) and s.target in targets]
        leaves = [s for s in walk(rest) if not isinstance(s, If)]
        places = [s.target for s in leaves if isinstance(s, (Assign, Add))]
        if len(places) < len(leaves):
            return False
        own = {t.array: t for t in places if isinstance(t, Load)}
        return (
            bool(own)
            and all(own[t.array] == t for t in places if isinstance(t, Load))
            and all(f.index in names(t) for t in own.values())
            and all(map(self._holds, adds))
            and all(
                own.get(e.array, e) == e
                for s in walk(inner.body)
                for whole in exprs(s)
                for e in walk_expr(whole)
                if isinstance(e, Load)
            )
            and self._summed(f, inner, targets)
            and flow_of(inner.body)[0].isdisjoint(assigned_scalars(rest))
            and not self._reads_at_times(inner.body)
        )

    def many(self, f: For) -> bool | None:
        """Are there enough iterations for the order not to depend on how far apart the
        arrays lie in memory, if the loop writes some? None if that is not known.
        """
        known = self.enough(iterations(f, clamped=True))
        least = least_of_chunk(f)
        if known is None and least is not None:
            return True if self.enough(least) else None
        return known

    def _reads_at_times(self, block: Block) -> bool:
        """Do indices or sizes decide whether a loop reads an element?

        What LLVM takes for the first of them may lie outside of the array. (A test of
        data is not there to keep a subscript inside.)
        """
        reads = [(path, e) for path, e in _guarded(block, ()) if isinstance(e, Load)]
        always = {e for path, e in reads if not path}
        return any(
            e not in always
            and any(self._is_integer(n) for t in path for n in _outside(t))
            for path, e in reads
        )

    def _is_integer(self, e: Expr) -> bool:
        """Is it a scalar or a size that is no float?"""
        return isinstance(e, (Var, Extent)) and not is_float(expr_dtype(e, self.types))

    def _holds(self, s: Add) -> bool:
        """Is what is added of the precision that it is added in?"""
        kind = concrete(expr_dtype(s.target, self.types))
        return promote(kind, expr_dtype(s.value, self.types)) == kind

    def _summed(self, f: For, inner: For, targets: Sequence[Var | Load]) -> bool:
        trip = fixed_trip(f)
        if trip is not None and trip <= self.unrolled:
            return False
        if not all(is_float(expr_dtype(t, self.types)) for t in targets):
            return False
        return not any(self.fails(e) for s in walk(inner.body) for e in exprs(s))

    def keeps(self, f: For, block: Sequence[Stmt]) -> bool:
        """Are the scalars of `block` made and used up in one iteration of `f`?"""
        scalars = assigned_scalars(tuple(block))
        if not flow_of(f.body)[0].isdisjoint(scalars):
            return False
        live = self.live.get(id(f))
        if live is not None:
            return live.isdisjoint(scalars)
        inside = occurrences((f,))  # the loop was made after the program
        return all(self.mentions[n] == inside[n] for n in scalars)


def _guarded(
    block: Block, path: tuple[Expr, ...]
) -> Iterator[tuple[tuple[Expr, ...], Expr]]:
    """Every expression of a block with the tests that must hold for it to be read."""
    for s in block:
        for whole in exprs(s):
            yield from guarded_leaves(whole, path)
        for inner in blocks(s):
            yield from _guarded(inner, (*path, *exprs(s)))


def _outside(e: Expr) -> Iterator[Expr]:
    """The parts of `e` outside of subscripts."""
    yield e
    for part in () if isinstance(e, Load) else children(e):
        yield from _outside(part)


def occurrences(block: Block) -> dict[str, int]:
    """How often a block mentions each name."""
    out: dict[str, int] = {}
    for s in walk(block):
        for e in exprs(s):
            for n in mentioned(e):
                out[n] = out.get(n, 0) + 1
    return out


def _rest(f: For, targets: Sequence[Var | Load]) -> list[Stmt]:
    """What a loop does besides its sums."""
    return [s for s in f.body if not (isinstance(s, Add) and s.target in targets)]


def _is_scalar(s: Stmt) -> bool:
    return isinstance(s, Assign) and isinstance(s.target, Var)
