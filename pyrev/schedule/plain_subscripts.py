"""Subscripts and tests in terms of loop indices, without names for parts of them.

``p = y + j - 1`` and then ``if 0 <= p < n: total += u[p, x]``: whoever looks at a
subscript, or at a test around it, sees a name of which nothing is known. Written out,
the passes that follow see a shifted element, and an edge that matters in one place.
"""

from __future__ import annotations

from collections.abc import Mapping, Set
from dataclasses import replace

from pyrev.ir.affine import linear
from pyrev.ir.dtypes import WEAK_INT, expr_dtype
from pyrev.ir.nodes import (
    Add,
    Alloc,
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
    While,
    assignments,
    blocks,
    children,
    exprs,
    loop_indices,
    map_whole,
    mentioned,
    names,
    resembled,
    substitute,
    walk,
    walk_expr,
    with_blocks,
    written,
)

_COUNTS = frozenset((WEAK_INT, "int64"))


def plain_subscripts(program: Program, types: Mapping[str, str]) -> Program:
    """`program` with scalars written out that stand for sums of indices and sizes.

    Law: the same values. `types` are the dtypes of the names.

    >>> from pyrev.parse import parse_text
    >>> from pyrev.ir.text import program_text
    >>> f = parse_text('''
    ... def f(u, out):
    ...     for x in range(u.shape[0]):
    ...         q = x - 1
    ...         if q >= 0:
    ...             out[x] = u[q]
    ... ''')
    >>> types = {"q": "int64", "x": "int64", "u": "float64", "out": "float64"}
    >>> print(program_text(plain_subscripts(f, types)))
    def f(u, out):
        for x in range(u.shape[0]):
            if x - 1 >= 0:
                out[x] = u[x - 1]
    """
    work = _Writer(program, types)
    gone = work.wanted & _reads(program.body)[1]
    while gone:
        body = work.block(program.body, {}, gone)
        left = gone & _reads(body)[0]
        if not left:
            return replace(program, body=body)
        gone -= left  # and what they are made of may be read where they are set
    return program


class _Writer:
    def __init__(self, program: Program, types: Mapping[str, str]) -> None:
        self.types = types
        times = assignments(program.body)
        self.indices = loop_indices(program.body) - times.keys()
        params = {p.name for p in program.params}
        #: Integers that no statement changes.
        self.steady = frozenset(
            n for n in params if types.get(n) in _COUNTS and n not in times
        )
        self.wanted = frozenset(
            n for n in times if n not in params and types.get(n) in _COUNTS
        )
        self.wanted -= loop_indices(program.body)

    def block(
        self, block: Block, known: Mapping[str, Expr], gone: frozenset[str]
    ) -> Block:
        """A block in which scalars have the values `known`, without those in `gone`."""
        known = dict(known)
        out: list[Stmt] = []
        for s in block:
            if isinstance(s, (For, While)):
                # What an iteration before has left is not known.
                inside = _without(known, written((s,)))
                top = known if isinstance(s, For) else inside
            else:
                inside = top = known
            made = _written_out(s, {n: e for n, e in top.items() if n in gone})
            bodies = tuple(self.block(b, inside, gone) for b in blocks(s))
            match s:
                case Assign(Var(name)) if name in gone:
                    pass
                case _:
                    out.append(with_blocks(made, bodies))
            value = self.value(s, known)
            known = _without(known, written((s,)))
            if value is not None:
                known[s.target_name] = value  # type: ignore[union-attr]
        return tuple(out)

    def value(self, s: Stmt, known: Mapping[str, Expr]) -> Expr | None:
        """What a scalar stands for from `s` on, if that is such a sum."""
        match s:
            case Assign(Var(name), value) if name in self.wanted:
                value = substitute(value, known)
                if name not in names(value) and self.plain(value):
                    return value if self.alike(name, value) else None
        return None

    def alike(self, name: str, value: Expr) -> bool:
        return expr_dtype(value, self.types) == self.types[name]

    def plain(self, e: Expr) -> bool:
        """Is `e` a sum of indices and sizes, each times a number, or one of a few?"""
        if isinstance(e, Call) and e.op in ("min", "max"):
            return all(map(self.plain, e.args))
        if any(isinstance(p, Const) and type(p.value) is not int for p in walk_expr(e)):
            return False
        return all(
            isinstance(atom, Extent)
            or (isinstance(atom, Var) and atom.name in self.indices | self.steady)
            for atom, _ in linear(e).terms
        )


def _without(known: Mapping[str, Expr], changed: Set[str]) -> dict[str, Expr]:
    return {
        n: e
        for n, e in known.items()
        if n not in changed and changed.isdisjoint(mentioned(e))
    }


def _written_out(s: Stmt, known: Mapping[str, Expr]) -> Stmt:
    """`s` with what it reads itself written out; its blocks are left out."""
    s = with_blocks(s, tuple(() for _ in blocks(s)))
    if not known:
        return s
    if isinstance(s, (Assign, Add)) and isinstance(s.target, Var):
        return replace(s, value=substitute(s.value, known))
    return map_whole(s, lambda e: substitute(e, known))


def _reads(block: Block) -> tuple[set[str], set[str]]:
    """The names that a block reads, and those that subscripts and tests read."""
    read: set[str] = set()
    places: set[str] = set()
    for s in walk(block):
        parts = exprs(s)
        if isinstance(s, (Assign, Add)):
            target, value = parts
            parts = (*children(target), value)
            places.update(*map(names, children(target)))
            if isinstance(s, Add):
                read |= names(target)
        if isinstance(s, If):
            places |= names(s.test)
        for e in parts:
            read.update(mentioned(e))
            for p in walk_expr(e):
                if isinstance(p, Load):
                    places.update(*map(names, p.index))
        if isinstance(s, Alloc):
            read |= set(resembled(s.dtype))
    return read, places
