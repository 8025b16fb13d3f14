"""Innermost loops without the clamps and tests that only matter near their ends."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace

from pyrev.ir.affine import (
    Linear,
    beyond,
    from_linear,
    integer,
    largest,
    least,
    linear,
    parts_of,
    plus,
    slope,
)
from pyrev.ir.dtypes import NARROW, expr_dtype, is_float
from pyrev.ir.liveness import flow_of
from pyrev.ir.nodes import (
    ONE,
    Add,
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
    Stmt,
    Var,
    assigned_scalars,
    blocks,
    exprs,
    map_expr,
    map_stmt_exprs,
    names,
    walk,
    walk_expr,
    written,
)
from pyrev.schedule.costs import CpuCosts


def counted(program: Program) -> frozenset[str]:
    """The integers that a call was checked for: one more does not pass 64 bits.

    What was read from an array may be the largest integer there is.
    """
    found = {p.name for p in program.params if not p.rank}
    stmts = tuple(walk(program.body))
    times = Counter(n for s in stmts for n in written((s,)) if not blocks(s))
    found = {n for n in found if not times[n]}
    for s in stmts:
        match s:
            case For(index) if not times[index]:
                found.add(index)
            case Assign(Var(name), value) if times[name] == 1:
                parts = tuple(walk_expr(value))
                plain = all(isinstance(e, (Const, Var, Extent, Call)) for e in parts)
                if plain and names(value) <= found:
                    found.add(name)
    return frozenset(found)


def peeled(
    loop: For, types: Mapping[str, str], counts: frozenset[str], cpu: CpuCosts
) -> Block:
    """`loop` in up to three parts, of which the middle one has no edges."""
    body = tuple(walk(loop.body))
    if (
        loop.step != ONE
        or len(body) > cpu.peeled_statements
        or not all(_simple(s, cpu.unrolled_iterations) for s in body)
        or _short(loop, cpu.unrolled_iterations)
        or not _walks(loop)
        or (names(loop.lo) | names(loop.hi)) & (written(loop.body) | {loop.index})
    ):
        return (loop,)
    found = _Edges(loop, types, counts, cpu.unrolled_iterations)
    if not found.low and not found.high:
        return (loop,)
    inner = found.inner
    if inner == loop.body:
        return (loop,)
    found.low = [e for e in found.low if not beyond(loop.lo, e)]
    found.high = [e for e in found.high if not beyond(e, loop.hi)]
    start, stop = largest((loop.lo, *found.low)), least((loop.hi, *found.high))
    edge = replace(loop, parallel=None, note="")
    parts: list[For] = []
    if found.low:
        note = f"the first {loop.index}, where clamps or tests act"
        parts.append(replace(edge, hi=least((start, loop.hi)), note=note))
    parts.append(replace(loop, lo=start, hi=stop, body=inner))
    if found.high:
        note = f"the last {loop.index}"
        parts.append(replace(edge, lo=largest((start, stop)), note=note))
    return tuple(reversed(parts) if loop.reverse else parts)


def opened(loop: For, most: int) -> For:
    """A loop of few iterations around others, with tests for what its bounds say.

    It has at most `most`:
    ``for j in range(max(0, u - n + 1), min(3, u + 1))`` becomes ``for j in range(3)``,
    which LLVM unrolls; as it stands it would keep the loops inside scalar.
    """
    if (
        loop.step != ONE
        or loop.parallel
        or not any(isinstance(s, For) for s in walk(loop.body))
    ):
        return loop
    low, high = parts_of("max", loop.lo), parts_of("min", loop.hi)
    first = max((k for e in low if (k := integer(e)) is not None), default=None)
    end = min((k for e in high if (k := integer(e)) is not None), default=None)
    if first is None or end is None or not 0 < end - first <= most:
        return loop
    index = Var(loop.index)
    tests = [Call(">=", (index, e)) for e in low if integer(e) is None]
    tests += [Call("<", (index, e)) for e in high if integer(e) is None]
    if not tests or {loop.index} & frozenset().union(*map(names, (*low, *high))):
        return loop
    changed = written(loop.body)
    if any(names(e) & changed for e in (*low, *high)):
        return loop
    body: Block = loop.body
    for test in reversed(tests):
        body = (If(test, body, loc=loop.loc),)
    return replace(loop, lo=Const(first), hi=Const(end), body=body)


def _simple(s: Stmt, most: int) -> bool:
    """A statement of an innermost loop, or a loop of few iterations, which is as good
    as its iterations written out.
    """
    if isinstance(s, For):
        return s.step == ONE and not s.parallel and _range(s, most) is not None
    return isinstance(s, (Assign, Add, If))


def _walks(loop: For) -> bool:
    """Does `loop`, and not one inside of it, go from neighbour to neighbour?"""
    if not any(isinstance(s, For) for s in walk(loop.body)):
        return True
    return any(
        isinstance(e, Load) and abs(slope(e.index[-1], loop.index) or 0) == 1
        for s in walk(loop.body)
        for whole in exprs(s)
        for e in walk_expr(whole)
    )


def _range(loop: For, most: int) -> tuple[int, int] | None:
    """The first and the last of at most so many numbers that an index runs over."""
    match loop.lo, loop.hi:
        case Const(int(lo)), Const(int(hi)) if 0 < hi - lo <= most:
            return lo, hi - 1
    return None


def _ranges(block: Block, most: int) -> dict[str, tuple[int, int]]:
    """Between what the indices of the short loops of a block lie wherever it reads
    them.
    """
    found: dict[str, tuple[int, int]] = {}
    for s in walk(block):
        if isinstance(s, For) and (ends := _range(s, most)) is not None:
            low, high = found.get(s.index, ends)
            found[s.index] = min(low, ends[0]), max(high, ends[1])
    others = {*assigned_scalars(block), *flow_of(block)[0]}
    return {n: ends for n, ends in found.items() if n not in others}


def _short(loop: For, most: int) -> bool:
    match loop.lo, loop.hi:
        case Const(lo), Const(hi):
            return hi - lo <= most
    return False


@dataclass(frozen=True)
class _Side:
    """Where an expression is `inner`: ``low <= x < high``, without what is None."""

    low: Expr | None
    high: Expr | None
    inner: Expr


class _Edges:
    """The bounds between which the clamps and tests of a loop's body do nothing."""

    def __init__(
        self,
        loop: For,
        types: Mapping[str, str],
        counts: frozenset[str],
        most: int,
    ) -> None:
        self.loop, self.types = loop, types
        self.ranges = _ranges(loop.body, most)
        self.changed = (written(loop.body) | {loop.index}) - self.ranges.keys()
        self.counts = counts | self.ranges.keys()
        self.known: dict[Expr, _Side | None] = {}
        #: The body between the edges; all that was taken for known is in `known` now.
        self.inner = self.cleared(loop.body)
        sides = [s for s in self.known.values() if s is not None]
        self.low = list(dict.fromkeys(s.low for s in sides if s.low is not None))
        self.high = list(dict.fromkeys(s.high for s in sides if s.high is not None))

    def seen(self, e: Expr) -> Expr:
        """The inner form of one expression whose parts have theirs."""
        if not isinstance(e, Call) or len(e.args) != 2:
            return e
        if e not in self.known:
            self.known[e] = self.side(e)
        side = self.known[e]
        return e if side is None else side.inner

    def side(self, e: Call) -> _Side | None:
        if e.op == "%":
            return self.wrapped(e)
        if e.op not in ("min", "max", "<", "<=", ">", ">="):
            return None
        kinds = {expr_dtype(a, self.types) for a in e.args}
        if any(map(is_float, kinds)) or kinds & NARROW:
            return None
        slopes = [slope(a, self.loop.index) for a in e.args]
        if sorted(map(str, slopes)) not in (["0", "1"], ["-1", "0"]):
            return None
        k = 0 if slopes[0] else 1
        moving, other = e.args[k], e.args[1 - k]
        factor = slopes[k]
        assert factor is not None
        rest = linear(moving).without(Var(self.loop.index))
        if not self.fixed(other) or not self.fixed(from_linear(rest)):
            return None
        op = e.op if k == 0 or e.op in ("min", "max") else _FLIPPED[e.op]
        # moving `op` other, with moving = factor * x + rest
        upward = op in ("max", ">", ">=")
        gap = linear(other).plus(rest, -1)
        if factor == -1:
            gap, upward = Linear((), 0).plus(gap, -1), not upward
        strict = op in ("<", ">")
        bound = self.everywhere(gap, upward)
        if bound is None:
            return None
        if upward:
            bound = plus(bound, 1) if strict else bound
        else:
            bound = bound if strict else plus(bound, 1)
        inner = moving if e.op in ("min", "max") else Const(True)
        if upward:
            return _Side(bound, None, inner)
        return _Side(None, bound, inner)

    def wrapped(self, e: Call) -> _Side | None:
        """Where ``(x + c) % n`` is ``x + c``: there it is not negative, and less than
        `n`, which is no zero then. Where nothing is, or `n` is negative, all stays.
        """
        moving, count = e.args
        kinds = {expr_dtype(a, self.types) for a in e.args}
        if any(map(is_float, kinds)) or kinds & NARROW:
            return None
        if slope(moving, self.loop.index) != 1 or not self.fixed(count):
            return None
        rest = from_linear(linear(moving).without(Var(self.loop.index)))
        if not self.fixed(rest) or not self.goes_round_once(count):
            return None
        start = Linear((), 0).plus(linear(rest), -1)
        low = self.everywhere(start, upward=True)
        high = self.everywhere(start.plus(linear(count)), upward=False)
        return None if low is None or high is None else _Side(low, high, moving)

    def goes_round_once(self, count: Expr) -> bool:
        """Is a circle of `count` about as long as the loop, as far as sizes tell? Else
        most iterations would be at an edge.
        """
        end = self.loop.hi
        if isinstance(end, Extent) and isinstance(count, Extent):
            return True
        return any(
            not linear(part).plus(linear(count), -1).terms
            for part in parts_of("min", end)
        )

    def everywhere(self, bound: Linear, upward: bool) -> Expr | None:
        """A bound that holds in all iterations of the short loops inside: the largest
        if what is not below it is meant (`upward`), else the least.
        """
        total = Linear((), bound.constant)
        for term, factor in bound.terms:
            ends = self.ranges.get(term.name) if isinstance(term, Var) else None
            if ends is not None:
                total = total.plus(Linear((), factor * ends[(factor > 0) == upward]))
            elif names(term) & self.ranges.keys():
                return None
            else:
                total = total.plus(Linear(((term, factor),), 0))
        return from_linear(total)

    def fixed(self, e: Expr) -> bool:
        return names(e) <= self.counts - self.changed and not any(
            isinstance(part, Load)
            or (isinstance(part, Call) and part.op not in ("+", "-", "*", "neg"))
            for part in walk_expr(e)
        )

    def cleared(self, block: Block) -> Block:
        """The body as it is between the edges."""
        out: list[Stmt] = []
        for stmt in block:
            match stmt:
                case If(test, then, orelse):
                    held = map_expr(test, lambda e: _known(self.seen(e)))
                    if held == Const(True):
                        out += self.cleared(then)
                        continue
                    if held == Const(False):
                        out += self.cleared(orelse)
                        continue
                    then, orelse = self.cleared(then), self.cleared(orelse)
                    out.append(replace(stmt, test=held, then=then, orelse=orelse))
                case For(body=body):
                    out.append(replace(stmt, body=self.cleared(body)))
                case _:
                    out.append(map_stmt_exprs(stmt, lambda e: _known(self.seen(e))))
        return tuple(out)


_FLIPPED = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}


def _known(e: Expr) -> Expr:
    """Without tests whose outcome is known."""
    match e:
        case Call("and", (Const(True), a)) | Call("and", (a, Const(True))):
            return a
        case Call("or", (Const(True), _)) | Call("or", (_, Const(True))):
            return Const(True)
        case Call("and", (Const(False), _)) | Call("and", (_, Const(False))):
            return Const(False)
        case Call("or", (Const(False), a)) | Call("or", (a, Const(False))):
            return a
        case Call("where", (Const(True), a, _)) | Call("where", (Const(False), _, a)):
            return a
        case Call("not", (Const(bool(value)),)):
            return Const(not value)
    return e
