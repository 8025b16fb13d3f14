"""Loops over tables of constants, written out: the places around an element, say.

``for dy, dx in ((-1, 0), (1, 0))`` reads its numbers from an array that is filled
before it. Which elements ``v[y + dy, x + dx]`` are is known then, and nothing that
data decides, once the few iterations are written one after the other.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from pyrev.bridges.chunked.boxes import known_integer, known_range
from pyrev.bridges.chunked.layout import loads_in
from pyrev.ir.liveness import live_before
from pyrev.ir.nodes import (
    Alloc,
    Assign,
    Block,
    Const,
    Expr,
    For,
    Load,
    Stmt,
    Var,
    all_names,
    blocks,
    fresh,
    map_block,
    map_expr,
    names,
    substitute,
    walk,
    walk_expr,
    with_blocks,
    written,
)

#: Loops of so many iterations are written out at most.
MOST = 32

_INTEGERS = ("int64", "int32")

#: The elements of tables, by array and place.
Known = dict[str, dict[tuple[int, ...], int]]


def without_tables(body: Block) -> Block:
    """A program in which tables of integers are read by no subscript."""
    return _Unrolled(body).block(body, {})


class _Unrolled:
    """A program whose loops over tables are written out."""

    def __init__(self, program: Block) -> None:
        self.program, self.taken = program, {*all_names(program)}
        #: How long tables are.
        self.shapes: dict[str, tuple[int, ...]] = {}

    def block(self, body: Block, known: Known) -> Block:
        """A block, at the beginning of which these tables are `known`."""
        found: list[Stmt] = []
        known = dict(known)
        for s in body:
            if isinstance(s, Alloc):
                known.pop(s.array, None)
                sizes = [known_integer(e, {}, {}) for e in s.shape]
                if s.source is None and None not in sizes and s.dtype in _INTEGERS:
                    known[s.array] = {}
                    self.shapes[s.array] = tuple(n for n in sizes if n is not None)
            elif isinstance(s, Assign) and isinstance(s.target, Load):
                _note(s, known)
            else:
                own = {t.array for t in walk((s,)) if isinstance(t, Alloc)}
                for name in (written((s,)) | own) & known.keys():
                    del known[name]
            if isinstance(s, For) and (copies := self._copies(s, known)) is not None:
                found += self.block(copies, known)
                continue
            inner = tuple(self.block(b, known) for b in blocks(s))
            found.append(with_blocks(s, inner))
        return tuple(found)

    def _copies(self, loop: For, known: Known) -> Block | None:
        """The iterations of a loop one by one, if that says what its subscripts are."""
        shapes = {n: self.shapes[n] for n in known}
        values = known_range(loop, {}, shapes)
        if values is None or len(values) > MOST:
            return None
        if loop.index in written(loop.body) or not _by_tables(loop, known):
            return None
        plain = _plain(loop)
        carried = live_before(loop.body, frozenset())
        own = plain - _read_outside(loop, self.program) - carried
        found: list[Stmt] = []
        for k in values[::-1] if loop.reverse else values:
            at: dict[str, Expr] = {loop.index: Const(k)}
            for s in loop.body:
                new = _numbered(s, at, known)
                if isinstance(new, Assign) and isinstance(new.target, Var):
                    name = new.target.name
                    at.pop(name, None)
                    if name in plain and known_integer(new.value, {}, {}) is not None:
                        at[name] = new.value
                        if name in own:
                            continue
                    elif name in own:
                        # Each iteration has its own: then it is one expression.
                        one = Var(fresh(name, self.taken))
                        new, at[name] = replace(new, target=one), one
                found.append(new)
        return tuple(found)


def _note(s: Assign, known: Known) -> None:
    """Note what is written into a table; it is none if that is not a constant."""
    assert isinstance(s.target, Load)
    table = s.target.array
    if table not in known:
        return
    place = [known_integer(e, {}, {}) for e in s.target.index]
    value = known_integer(s.value, {}, {})
    if value is None or None in place:
        del known[table]
        return
    own = {**known[table], tuple(k for k in place if k is not None): value}
    known[table] = own


def _plain(loop: For) -> frozenset[str]:
    """The integers that only statements of the loop itself give a value, none of those
    inside others, and none that adds to them.
    """
    own = [s for s in loop.body if isinstance(s, Assign) and isinstance(s.target, Var)]
    rest = [s for s in loop.body if s not in own]
    return frozenset(s.target_name for s in own) - written(tuple(rest))


def _numbered(s: Stmt, at: Mapping[str, Expr], known: Known) -> Stmt:
    """A statement with some names, and the elements of tables, as numbers."""
    if isinstance(s, Assign) and isinstance(s.target, Var):
        return replace(s, value=_number(substitute(s.value, at), known))
    (new,) = map_block((s,), lambda e: _number(substitute(e, at), known))
    return new


def _number(e: Expr, known: Mapping[str, Any]) -> Expr:
    """An expression with the elements of tables as numbers."""

    def node(e: Expr) -> Expr:
        if isinstance(e, Load) and e.array in known:
            place = tuple(known_integer(i, {}, {}) for i in e.index)
            if place in known[e.array]:
                return Const(known[e.array][place])
        return e

    return map_expr(e, node)


def _by_tables(loop: For, known: Known) -> bool:
    """Do subscripts in a loop depend on what its index reads from tables?"""
    made: set[str] = set()
    for _ in range(3):  # through names of names
        for s in walk(loop.body):
            if isinstance(s, Assign) and isinstance(s.target, Var):
                if _reads_table(s.value, loop, known) or names(s.value) & made:
                    made.add(s.target.name)
    for e in loads_in(loop.body):
        for i in e.index:
            if names(i) & made or _reads_table(i, loop, known):
                return True
    return False


def _reads_table(e: Expr, loop: For, known: Known) -> bool:
    return any(
        isinstance(p, Load)
        and p.array in known
        and any(loop.index in names(i) for i in p.index)
        for p in walk_expr(e)
    )


def _read_outside(loop: For, program: Block) -> frozenset[str]:
    """The names that a program has outside of a loop."""

    def of(body: Block) -> frozenset[str]:
        found: frozenset[str] = frozenset()
        for s in body:
            if s is loop or isinstance(s, For) and s.id == loop.id:
                continue
            inner = blocks(s)
            found |= all_names((with_blocks(s, tuple(() for _ in inner)),))
            for b in inner:
                found |= of(b)
        return found

    return of(program)
