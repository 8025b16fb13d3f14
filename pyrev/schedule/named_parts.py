"""Names for the integers that branch, where they are written again and again.

The slice ``x[k:]`` begins at ``max(n + k, 0) if k < 0 else k``, which then stands in
the range of its loop and in every subscript. A person writes ``start = ...`` above the
loop; compilers, too, take it out of a loop only if it is a name. This is done to a
program that is about to be printed: the passes before know such integers as what they
are, not by name.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from pyrev.ir.dtypes import WEAK_INT
from pyrev.ir.nodes import (
    Alloc,
    Assign,
    Block,
    Call,
    Const,
    Expr,
    Extent,
    For,
    Grow,
    Load,
    Program,
    Stmt,
    Var,
    While,
    all_names,
    assignments,
    blocks,
    children,
    exprs,
    fresh,
    loop_indices,
    map_whole,
    mentioned,
    rebuild,
    walk,
    walk_expr,
    with_blocks,
    with_value,
)

#: The kinds of what is counted with.
_COUNTS = frozenset((WEAK_INT, "int64"))

#: The operations of such integers: none of them fails.
_OPS = frozenset(
    ("+", "-", "*", "neg", "min", "max", "where", "and", "or", "not")
    + ("<", "<=", ">", ">=", "==", "!=")
)


class Named(NamedTuple):
    """A program with names for parts of it, and what they stand for."""

    program: Program
    parts: Mapping[str, Expr]


def name_parts(program: Program, types: Mapping[str, str]) -> Named:
    """`program` with a name for each integer that branches and is needed repeatedly.

    Law: the same values. What is named is made of indices, sizes and scalars that have
    one value, does not fail, and gets its name where all that it is made of is known.
    """
    if not any(True for _ in _parts(program.body)):
        return Named(program, {})
    work = _Namer(program, types)
    body = work.block(program.body, work.known)
    return Named(replace(program, body=body), work.parts)


class _Namer:
    def __init__(self, program: Program, types: Mapping[str, str]) -> None:
        self.taken = {*all_names(program.body), *(p.name for p in program.params)}
        self.times = times = assignments(program.body)
        self.mentions = _mentions(program.body)
        #: Scalars that have one value, from where they are assigned on.
        self.once = frozenset(
            s.target.name
            for s in walk(program.body)
            if isinstance(s, Assign)
            and isinstance(s.target, Var)
            and times[s.target.name] == 1
            and types[s.target.name] in _COUNTS
        )
        self.indices = loop_indices(program.body) - frozenset(times)
        made = Counter(
            s.array for s in walk(program.body) if isinstance(s, (Alloc, Grow))
        )
        params = {p.name for p in program.params}
        #: The arrays that are made in one place, and keep their shape from there on.
        self.made = frozenset(n for n, k in made.items() if k == 1 and n not in params)
        #: The parameters that stay what they are, and arrays that keep their shape.
        self.known = frozenset(
            p.name
            for p in program.params
            if p.name not in times
            and p.name not in made
            and (p.rank or types[p.name] in _COUNTS)
        )
        self.parts: dict[str, Expr] = {}

    def block(self, block: Block, known: frozenset[str]) -> Block:
        """A block in which the names `known` have one value each."""
        out: list[Stmt] = []
        rest = list(block)
        while rest:
            wanted = self.wanted(rest, known)
            if wanted is not None:
                rest = self.with_name(wanted, rest)
                continue
            first, *rest = rest
            match first:
                case Assign(Var(other), Var(part)) if part in self.parts:
                    if self.is_read_in(rest, other):
                        rest = list(with_value(rest, other, Var(part)))
                        continue
            inner = known
            if isinstance(first, (For, While)) and first.index in self.indices:
                inner = known | {first.index}
            bodies = tuple(self.block(b, inner) for b in blocks(first))
            out.append(with_blocks(first, bodies))
            match first:
                case Assign(Var(name)) if name in self.once:
                    known |= {name}
                case Alloc(name) if name in self.made:
                    known |= {name}
        return tuple(out)

    def wanted(self, rest: Sequence[Stmt], known: frozenset[str]) -> Expr | None:
        """The largest part of the first statement that deserves a name before it."""
        here = {e for e, _ in _parts(rest[:1]) if known.issuperset(mentioned(e))}
        if not here:
            return None
        count: Counter[Expr] = Counter()
        for e, repeated in _parts(rest):
            if e in here:
                count[e] += 2 if repeated else 1
        match rest[0]:
            case Assign(Var(name), value) if name in self.once and value in count:
                if count[value] == 1:
                    del count[value]
        often = [e for e, n in count.items() if n > 1]
        return max(often, key=_size, default=None)

    def is_read_in(self, block: Sequence[Stmt], name: str) -> bool:
        """Is a scalar assigned once, and read in `block` alone?"""
        if self.times[name] != 1:
            return False
        return _mentions(block)[name] == self.mentions[name] - 1

    def with_name(self, e: Expr, rest: Sequence[Stmt]) -> list[Stmt]:
        """Statements in which `e`, a part of the first, has a name."""
        match rest[0]:
            case Assign(Var(name), value) if name in self.once and value == e:
                given, rest = rest[0], rest[1:]
            case _:
                name = fresh(_role(e, rest), self.taken)
                given = Assign(Var(name), e, loc=rest[0].loc)
                self.once |= {name}
        self.parts[name] = e
        return [given, *(map_whole(s, lambda t: _with(t, e, Var(name))) for s in rest)]


def _parts(block: Sequence[Stmt], inside: bool = False) -> Iterator[tuple[Expr, bool]]:
    """What branches in a block, and is it evaluated in a loop of it?"""
    for s in block:
        again = inside or isinstance(s, While)
        for whole in exprs(s):
            for e in walk_expr(whole):
                if _branches(e):
                    yield e, again
        deeper = inside or isinstance(s, (For, While))
        for b in blocks(s):
            yield from _parts(b, deeper)


def _branches(e: Expr) -> bool:
    """Is it an integer made of sizes and scalars, by cases?"""
    if not isinstance(e, Call) or e.op in ("and", "or", "not", "<", "<=", ">", ">="):
        return False
    found = False
    for part in walk_expr(e):
        match part:
            case Call(op):
                if op not in _OPS:
                    return False
                found |= op == "where"
            case Const() | Var() | Extent():
                pass
            case _:
                return False
    return found


def _mentions(block: Sequence[Stmt]) -> Counter[str]:
    """How often a block mentions each name, where it is assigned too."""
    found: Counter[str] = Counter()
    for s in walk(tuple(block)):
        for e in exprs(s):
            found.update(mentioned(e))
    return found


def _size(e: Expr) -> int:
    return sum(1 for _ in walk_expr(e))


def _with(whole: Expr, part: Expr, name: Var) -> Expr:
    if whole == part:
        return name
    inner = children(whole)
    return (
        rebuild(whole, tuple(_with(e, part, name) for e in inner)) if inner else whole
    )


def _role(e: Expr, block: Sequence[Stmt]) -> str:
    """What to call it: by the first place where it stands."""
    for s in walk(tuple(block)):
        if isinstance(s, For) and e in (s.lo, s.hi):
            return "count" if e == s.hi and s.lo == Const(0) else "stop"
        for whole in exprs(s):
            for part in walk_expr(whole):
                match part:
                    case Call("/", (_, divisor)) if divisor == e:
                        return "divisor"
                    case Load(_, index) if any(e in walk_expr(k) for k in index):
                        return "start"
    return "part"
