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
    plus,
    slope,
)
from pyrev.ir.dtypes import NARROW, expr_dtype, is_float
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
    blocks,
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
        or not all(isinstance(s, (Assign, Add, If)) for s in body)
        or _short(loop, cpu.unrolled_iterations)
        or (names(loop.lo) | names(loop.hi)) & (written(loop.body) | {loop.index})
    ):
        return (loop,)
    found = _Edges(loop, types, counts)
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
    low, high = _parts("max", loop.lo), _parts("min", loop.hi)
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


def _parts(op: str, e: Expr) -> list[Expr]:
    """The arguments of nested ``max`` or ``min``."""
    match e:
        case Call(name, args) if name == op:
            return [p for a in args for p in _parts(op, a)]
    return [e]


def _short(loop: For, most: int) -> bool:
    match loop.lo, loop.hi:
        case Const(lo), Const(hi):
            return hi - lo <= most
    return False


@dataclass(frozen=True)
class _Side:
    """``x >= bound`` (`low`) or ``x < bound``: where an expression is `inner`."""

    low: bool
    bound: Expr
    inner: Expr


class _Edges:
    """The bounds between which the clamps and tests of a loop's body do nothing."""

    def __init__(
        self, loop: For, types: Mapping[str, str], counts: frozenset[str]
    ) -> None:
        self.loop, self.types, self.counts = loop, types, counts
        self.changed = written(loop.body) | {loop.index}
        self.known: dict[Expr, _Side | None] = {}
        #: The body between the edges; all that was taken for known is in `known` now.
        self.inner = self.cleared(loop.body)
        sides = [s for s in self.known.values() if s is not None]
        self.low = list(dict.fromkeys(s.bound for s in sides if s.low))
        self.high = list(dict.fromkeys(s.bound for s in sides if not s.low))

    def seen(self, e: Expr) -> Expr:
        """The inner form of one expression whose parts have theirs."""
        if not isinstance(e, Call) or len(e.args) != 2:
            return e
        if e not in self.known:
            self.known[e] = self.side(e)
        side = self.known[e]
        return e if side is None else side.inner

    def side(self, e: Call) -> _Side | None:
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
        bound = from_linear(gap)
        if upward:
            bound = plus(bound, 1) if strict else bound
        else:
            bound = bound if strict else plus(bound, 1)
        inner = moving if e.op in ("min", "max") else Const(True)
        return _Side(upward, bound, inner)

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
