"""Subscripts that are inside because an array is as long as what is counted.

Where data decides how long an array is, no test of the parameters knows its length, and
none is needed: what a mask selects is counted, the array is made as long, and filled in
a loop that counts again::

    count = 0                             place = 0
    for i in range(n):                    for i in range(n):
        if x[i] > t:                          if x[i] > t:
            count += 1                            selected[place] = x[i]
    selected = np.empty(count)                    place += 1

and other loops run as far as an array that is as long: ``for j in
range(selected.shape[0])``. That is followed here from statement to statement.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

from pyrev.ir.counting import step_of
from pyrev.ir.dtypes import expr_dtype, is_float
from pyrev.ir.nodes import (
    ONE,
    ZERO,
    Alloc,
    Assign,
    Block,
    Call,
    Check,
    Const,
    Expr,
    Extent,
    For,
    Grow,
    If,
    Load,
    Program,
    Stmt,
    Var,
    While,
    assignments,
    blocks,
    exprs,
    map_expr,
    substitute,
    walk,
    walk_expr,
    written,
)

#: A subscript: the number of its statement, the access, and the axis.
Site = tuple[int, Load, int]

#: The loops and tests around an increment, outermost first, their indices by number.
_Path = tuple[tuple[Expr, ...], ...]


@dataclass(frozen=True, slots=True)
class _Known:
    """What holds in front of a statement."""

    #: What extents and scalars are equal to.
    same: Mapping[Expr, Expr] = field(default_factory=dict)
    #: Indices of loops: not negative, and less than this.
    below: Mapping[str, Expr] = field(default_factory=dict)
    #: Scalars that say how often a path is taken.
    counts: Mapping[str, _Path] = field(default_factory=dict)

    def without(self, changed: frozenset[str]) -> _Known:
        """What still holds behind a change of these."""

        def stays(*parts: Expr) -> bool:
            return not any(changed & _rests_on(e) for e in parts)

        return _Known(
            {k: v for k, v in self.same.items() if stays(k, v)},
            {k: v for k, v in self.below.items() if k not in changed and stays(v)},
            {
                k: path
                for k, path in self.counts.items()
                if k not in changed and stays(*(e for one in path for e in one))
            },
        )

    def value(self, e: Expr) -> Expr:
        """An expression in terms of what was known first."""

        def known(part: Expr) -> Expr:
            while part in self.same:
                part = self.same[part]
            return part

        return map_expr(e, known)

    def equal(self, a: Expr, b: Expr) -> _Known:
        """The same, where two expressions are equal."""
        a, b = self.value(a), self.value(b)
        if a == b or not isinstance(a, (Extent, Var)):
            a, b = b, a
        if a == b or not isinstance(a, (Extent, Var)) or a in {*walk_expr(b)}:
            return self
        return replace(self, same={**self.same, a: b})


def inside(program: Program, types: Mapping[str, str]) -> frozenset[Site]:
    """The subscripts that are inside their arrays, and not negative, for all data."""
    if not any(isinstance(s, Alloc) for s in walk(program.body)):
        return frozenset()
    found = _Lengths(types)
    found.block(program.body, _Known())
    return frozenset(found.sites)


class _Lengths:
    def __init__(self, types: Mapping[str, str]) -> None:
        self.types = types
        self.sites: set[Site] = set()

    def block(self, block: Block, known: _Known) -> None:
        for stmt in block:
            changed = _changed_by(stmt)
            again = isinstance(stmt, While)  # what it asks, it asks again
            self.accesses(stmt, known.without(changed) if again else known)
            match stmt:
                case For(index, lo, hi):
                    inner = known.without(changed)
                    end = known.value(hi)
                    steady = self.is_exact(end) and not changed & _rests_on(end)
                    if stmt.step == ONE and _is_natural(lo) and steady:
                        inner = replace(inner, below={**inner.below, index: end})
                    self.filled(stmt, known)
                    self.block(stmt.body, inner)
                    counts = self.counted(stmt, known)
                    known = known.without(changed)
                    known = replace(known, counts={**known.counts, **counts})
                case While() | If():
                    behind = known.without(changed)
                    for b in blocks(stmt):
                        self.block(b, behind if again else known)
                    known = behind
                case Alloc(array, shape):
                    sizes = [known.value(n) for n in shape]
                    known = known.without(changed)
                    for k, n in enumerate(sizes):
                        if not changed & _rests_on(n):
                            known = known.equal(Extent(array, k), n)
                case Check(Call("==", (Extent() as a, b) | (b, Extent() as a))):
                    known = known.equal(a, b)
                case Assign(Var(name), value):
                    made = known.value(value)
                    known = known.without(changed)
                    if made == ZERO:
                        known = known.equal(Var(name), ZERO)
                case _:
                    known = known.without(changed)

    def accesses(self, stmt: Stmt, known: _Known) -> None:
        """Note what a statement accesses by the index of a loop that ends in time."""
        for load in _loads(stmt):
            for axis, index in enumerate(load.index):
                if isinstance(index, Var) and index.name in known.below:
                    end = known.below[index.name]
                    if end == known.value(Extent(load.array, axis)):
                        self.sites.add((stmt.id, load, axis))

    # ---------------------------------------------------------------- counters

    def counted(self, loop: For, known: _Known) -> dict[str, _Path]:
        """The scalars that, from zero on, say how often a path in a loop was taken."""
        return {
            name: path
            for name, path, _, _ in self.increments(loop, known)
            if known.value(Var(name)) == ZERO
        }

    def filled(self, loop: For, known: _Known) -> None:
        """What is read and written by the number of an increment that comes behind it,
        where the same path was counted before.
        """
        if not known.counts:
            return
        inner = known.without(_changed_by(loop))
        for name, path, block, at in self.increments(loop, known):
            lengths = [Var(n) for n, other in inner.counts.items() if other == path]
            if not lengths or known.value(Var(name)) != ZERO:
                continue
            for s in walk(block[:at]):
                for load in _loads(s):
                    for axis, index in enumerate(load.index):
                        end = inner.value(Extent(load.array, axis))
                        if index == Var(name) and end in lengths:
                            self.sites.add((s.id, load, axis))

    def increments(
        self, loop: For, known: _Known
    ) -> Iterator[tuple[str, _Path, Block, int]]:
        """The scalars that go up by one, each in one place of a loop alone, with the
        way there; and the block and the place in it.
        """
        times, changed = assignments((loop,)), _changed_by(loop)

        def visit(
            stmt: Stmt, path: _Path, indices: Mapping[str, Expr]
        ) -> Iterator[tuple[str, _Path, Block, int]]:
            match stmt:
                case For(index, lo, hi, step) if self.is_exact(lo) and self.is_exact(
                    hi
                ):
                    part = (*map(known.value, (lo, hi)), step, Const(stmt.reverse))
                    indices = {**indices, index: Var(f"@{len(path)}")}
                    inner = stmt.body
                case If(test, inner, ()) if self.is_exact(test):
                    part = (known.value(test),)
                case _:
                    return
            part = tuple(substitute(e, indices) for e in part)
            if any(changed & _rests_on(e) for e in part):
                return
            path = (*path, part)
            for k, s in enumerate(inner):
                match step_of(s):
                    case (name, 1) if times[name] == 1:
                        yield name, path, inner, k
                yield from visit(s, path, indices)

        yield from visit(loop, (), {})

    def is_exact(self, e: Expr) -> bool:
        """Is it the same wherever it is computed: is nothing rounded?"""
        return not any(
            isinstance(part, Call) and is_float(expr_dtype(part, self.types))
            for part in walk_expr(e)
        )


def _rests_on(e: Expr) -> frozenset[str]:
    """The names whose values an expression rests on, and ``len(name)`` for extents."""
    return frozenset(
        f"len({part.array})"
        if isinstance(part, Extent)
        else part.name
        if isinstance(part, Var)
        else part.array
        for part in walk_expr(e)
        if isinstance(part, (Extent, Var, Load))
    )


def _changed_by(stmt: Stmt) -> frozenset[str]:
    """The names whose values a statement changes, and ``len(name)`` of new arrays."""
    new = (s.array for s in walk((stmt,)) if isinstance(s, (Alloc, Grow)))
    return written((stmt,)).union(f"len({array})" for array in new)


def _loads(stmt: Stmt) -> Iterator[Load]:
    for top in exprs(stmt):
        for e in walk_expr(top):
            if isinstance(e, Load):
                yield e


def _is_natural(e: Expr) -> bool:
    return isinstance(e, Const) and isinstance(e.value, int) and e.value >= 0
