"""Which sizes, clamps and checks the loops around them decide before anything runs.

Slices are lowered with Python's full rules: bounds that clip, indices from the end,
lengths that must agree. Where the ranges of the loops and the sizes of the arrays
settle a case, what remains is what a person would have written.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace

from pyrev.ir.nodes import (
    ONE,
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
    Load,
    Param,
    Stmt,
    Var,
    While,
    blocks,
    map_expr,
    map_stmt_exprs,
    walk,
    walk_expr,
    with_blocks,
)
from pyrev.ir.ranges import Range, index_range
from pyrev.parse.views import linear, plain

_DEEP = 12  # steps of a proof


def settle_sizes(block: Block, params: tuple[Param, ...]) -> Block:
    """`block` without the clamps and the checks that always hold."""
    return Settler(block, params).block(block, {}, {})


_Ranges = Mapping[str, Range]
_Known = Mapping[Expr, Expr]


class Settler:
    """What is known of sizes in a block, and what is simpler with that."""

    def __init__(self, block: Block, params: tuple[Param, ...]) -> None:
        written = {n for s in walk(block) for n in _scalars(s)}
        self.steady = {p.name for p in params if not p.rank and p.name not in written}
        self.arrays = {p.name for p in params if p.rank}
        self.shapes: dict[str, tuple[Expr, ...]] = {}
        writes = Counter(n for s in walk(block) for n in _scalars(s))
        # A parameter that is assigned once has two values.
        own = {p.name for p in params}
        self.once = {n for n in writes if writes[n] == 1 and n not in own} | self.steady
        #: Where in the text a scalar gets its value, and an array is made.
        self.order: dict[str, int] = {}
        for k, s in enumerate(walk(block)):
            new = (s.array,) if isinstance(s, Alloc) else _scalars(s)
            self.order |= dict.fromkeys(new, k)
        self.first = {s.array for s in block if isinstance(s, Alloc)}
        allocs = [s for s in walk(block) if isinstance(s, Alloc)]
        made = Counter(s.array for s in allocs)
        self.single = {name for name in made if made[name] == 1}
        while True:
            more = {
                s.array: s.shape
                for s in allocs
                if s.array in self.single
                and s.array not in self.shapes
                and all(map(self.is_steady, s.shape))
            }
            if not more:
                break
            self.shapes |= more

    def is_steady(self, e: Expr) -> bool:
        """Does `e` have one value, from the beginning to the end?"""
        for part in walk_expr(e):
            match part:
                case Var(name) if name not in self.steady:
                    return False
                case Extent(name) if name not in self.arrays | self.shapes.keys():
                    return False
                case Load():
                    return False
        return True

    def is_set(self, name: str, alloc: Alloc) -> bool:
        """Has this number one value from an allocation to the end of the block?"""
        return name in self.steady or (
            name in self.once and self.order[name] < self.order[alloc.array]
        )

    def measure(self, alloc: Alloc, known: _Known) -> _Known:
        """The sizes of an array made in a loop, in terms of what they come from."""
        if alloc.array in self.first or alloc.array not in self.single:
            return known
        sizes: dict[Expr, Expr] = {}
        for k, length in enumerate(alloc.shape):
            if all(
                not isinstance(e, Load)
                and (not isinstance(e, Var) or self.is_set(e.name, alloc))
                for e in walk_expr(length)
            ):
                sizes[Extent(alloc.array, k)] = length
        return {**known, **sizes}

    # ---------------------------------------------------------------- statements

    def block(self, block: Block, ranges: _Ranges, known: _Known) -> Block:
        out: list[Stmt] = []
        for s in block:
            s = self.settled(s, ranges, known)
            match s:
                case Alloc():
                    known = self.measure(s, known)
                case Check(test):
                    test = self.test(test, ranges, known)
                    if test == Const(True):
                        continue
                    known = {**known, **self.learnt(test, known)}
                    s = replace(s, test=test)
                case For():
                    inner = {**ranges, s.index: self.range(s)}
                    s = replace(s, body=self.block(s.body, inner, known))
                case _:
                    s = with_blocks(
                        s, tuple(self.block(b, ranges, known) for b in blocks(s))
                    )
            out.append(s)
        return tuple(out)

    def settled(self, s: Stmt, ranges: _Ranges, known: _Known) -> Stmt:
        """`s` with its own subscripts, bounds and sizes settled."""

        def size(e: Expr) -> Expr:
            return self.size(e, ranges, known)

        def visit(e: Expr) -> Expr:
            if isinstance(e, Load):
                return replace(e, index=tuple(map(size, e.index)))
            if isinstance(e, Extent) and e.array not in self.first and e in known:
                return replace(known[e], loc=e.loc)
            return e

        inner = blocks(s)
        bare = with_blocks(s, tuple(() for _ in inner))
        new = map_stmt_exprs(bare, visit)
        match new:
            case For() | While():
                new = replace(new, lo=size(new.lo), hi=size(new.hi))
            case Alloc(shape=shape):
                new = replace(new, shape=tuple(map(size, shape)))
        return with_blocks(new, inner)

    def range(self, loop: For) -> Range:
        """Between what the index of a loop lies; itself if nothing is known of that."""
        found = index_range(loop)
        if found is None:
            return Range(Var(loop.index), Var(loop.index))
        return Range(plain(found.low), plain(found.high))

    def learnt(self, test: Expr, known: _Known) -> dict[Expr, Expr]:
        """What an equality of sizes says of the sizes after it."""
        match test:
            case Call("==", (a, b)) if self.is_steady(a) and self.is_steady(b):
                terms, constant = linear(self.norm(Call("-", (a, b)), known))
                for atom, factor in reversed(terms.items()):
                    others = [e for t in terms if t != atom for e in walk_expr(t)]
                    if (
                        isinstance(atom, Extent)
                        and abs(factor) == 1
                        and (atom not in others)
                    ):
                        rest: Expr = Const(-constant * factor)
                        for other, f in terms.items():
                            if other != atom:
                                scaled = Call("*", (Const(-f * factor), other))
                                rest = Call("+", (rest, scaled))
                        return {atom: plain(rest)}
        return {}

    # ---------------------------------------------------------------- expressions

    def norm(self, e: Expr, known: _Known) -> Expr:
        """`e` in terms of the sizes of parameters."""

        def visit(part: Expr) -> Expr:
            if isinstance(part, Extent):
                shape = self.shapes.get(part.array)
                if shape is not None:
                    return self.norm(shape[part.axis], known)
                if part in known:
                    return self.norm(known[part], known)
            return part

        return map_expr(e, visit)

    def size(self, e: Expr, ranges: _Ranges, known: _Known) -> Expr:
        """`e` without the clamps that do nothing."""

        def at_most(a: Expr, b: Expr) -> bool:
            return self.proved(Call("-", (b, a)), ranges, known)

        def visit(part: Expr) -> Expr:
            match part:
                case Call("where", (Call("<", (a, b)), yes, no)):
                    if at_most(b, a):
                        return no
                    if at_most(Call("+", (a, ONE)), b):
                        return yes
                case Call("min", (a, b)):
                    if at_most(a, b):
                        return a
                    if at_most(b, a):
                        return b
                case Call("max", (a, b)):
                    if at_most(b, a):
                        return a
                    if at_most(a, b):
                        return b
            return part

        new = map_expr(e, visit)
        return new if new == e else plain(new)

    def test(self, e: Expr, ranges: _Ranges, known: _Known) -> Expr:
        """A check, less what always holds."""
        match e:
            case Call("and", (a, b)):
                x, y = self.test(a, ranges, known), self.test(b, ranges, known)
                if x == Const(True):
                    return y
                return x if y == Const(True) else Call("and", (x, y), loc=e.loc)
            case Call("==" | "<" | "<=" | ">" as op, (a, b)) if self.sizes(a, b):
                a, b = self.size(a, ranges, known), self.size(b, ranges, known)
                gap: Expr = Call("-", (b, a))
                match op:
                    case "==":
                        holds = linear(self.norm(gap, known)) == ({}, 0)
                    case "<=":
                        holds = self.proved(gap, ranges, known)
                    case "<":
                        holds = self.proved(Call("-", (gap, ONE)), ranges, known)
                    case _:
                        gap = Call("-", (Call("-", (a, b)), ONE))
                        holds = self.proved(gap, ranges, known)
                return Const(True) if holds else Call(op, (a, b), loc=e.loc)
        return e

    def sizes(self, a: Expr, b: Expr) -> bool:
        """Are these sizes or indices, by what they are made of?"""
        return any(isinstance(e, Extent) for s in (a, b) for e in walk_expr(s))

    # ---------------------------------------------------------------- proofs

    def proved(self, e: Expr, ranges: _Ranges, known: _Known) -> bool:
        """Is the integer `e` certainly at least zero?"""
        return self.nonnegative(self.norm(e, known), ranges, known, _DEEP)

    def nonnegative(self, e: Expr, ranges: _Ranges, known: _Known, steps: int) -> bool:
        terms, constant = linear(e)
        if constant >= 0 and all(
            f > 0 and self.is_natural(t) for t, f in terms.items()
        ):
            return True
        if not steps:
            return False
        # The innermost index first: its bounds are in terms of the others.
        for name in reversed(list(ranges)):
            factor = terms.get(Var(name))
            if factor is not None:
                bound = ranges[name].low if factor > 0 else ranges[name].high
                if bound == Var(name):
                    return False
                less = self.replaced(e, Var(name), self.norm(bound, known))
                return self.nonnegative(less, ranges, known, steps - 1)
        for atom, factor in terms.items():
            match atom:
                case Call("min", parts) if factor < 0:
                    pass
                case Call("max", parts) if factor > 0:
                    pass
                case Call(("min" | "max"), parts):
                    # Both of them must do.
                    return all(
                        self.nonnegative(
                            self.replaced(e, atom, p), ranges, known, steps - 1
                        )
                        for p in parts
                    )
                case _:
                    continue
            if any(
                self.nonnegative(self.replaced(e, atom, p), ranges, known, steps - 1)
                for p in parts
            ):
                return True
        return False

    def is_natural(self, e: Expr) -> bool:
        match e:
            case Extent():
                return True
            case Call("max", (a, b)):
                return any(
                    linear(x)[1] >= 0 and not linear(x)[0] for x in (a, b)
                ) or any(map(self.is_natural, (a, b)))
            case Call("*" | "+" | "min", (a, b)):
                return self.is_natural(a) and self.is_natural(b)
            case Const(int() as value):
                return value >= 0
            case Call("//", (a, Const(int() as b))):
                return b > 0 and self.is_natural(a)
            case Call("%", (_, Const(int() as b))):
                return b > 0
        return False

    def replaced(self, e: Expr, old: Expr, new: Expr) -> Expr:
        """`e` with one of its linear terms replaced."""
        terms, constant = linear(e)
        result: Expr = Const(constant)
        for atom, factor in terms.items():
            value = new if atom == old else atom
            result = Call("+", (result, Call("*", (Const(factor), value))))
        return plain(result)


def _scalars(s: Stmt) -> tuple[str, ...]:
    """The scalars that a statement itself sets."""
    match s:
        case Assign(Var(name)) | Add(Var(name)):
            return (name,)
        case For(index=index) | While(index=index):
            return (index,)
    return ()
