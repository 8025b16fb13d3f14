"""Statements over chunks in a form that blocks can share, with the same meaning.

What a nest writes into an array in one piece becomes a sum: zero first, then each block
adds what it has. A nest in which one statement reads at other elements what another one
writes becomes several.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import replace

from pyrev.analysis.dependence import Leaf, Region
from pyrev.bridges.chunked.boxes import known_integer, known_test
from pyrev.ir.affine import tidy
from pyrev.ir.dtypes import is_float
from pyrev.ir.nodes import (
    ONE,
    ZERO,
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
    If,
    Load,
    Stmt,
    Var,
    While,
    all_names,
    blocks,
    exprs,
    fresh,
    loop_indices,
    map_expr,
    map_whole,
    names,
    substitute,
    walk,
    walk_expr,
    with_blocks,
    written,
)
from pyrev.schedule.groups import distribute
from pyrev.schedule.restrict import restrict
from pyrev.schedule.scalars import inline_integers

#: The dtypes of what may be a sum.
NUMBERS = ("float64", "float32", "int64", "int32")


def zero_of(dtype: str) -> Expr:
    """A zero that leaves what is added to it in its dtype."""
    zero = Const(0.0) if is_float(dtype) else ZERO
    return zero if dtype in ("float64", "int64") else Call(dtype, (zero,))


def resolved(
    body: Block, integers: Mapping[str, int], shapes: Mapping[str, Sequence[int]]
) -> Block:
    """A block without the tests and checks that sizes and integer arguments decide.

    An integer that changes on the way is what it is there; `integers` are what they
    are before.
    """
    return _resolved(body, dict(integers), dict(shapes))


def _resolved(
    body: Block, known: dict[str, int], shapes: dict[str, Sequence[int]]
) -> Block:
    found: list[Stmt] = []
    changing = written(body)

    def number(e: Expr) -> Expr:
        """A size that names an integer which changes, as what it is."""
        value = known_integer(e, known, shapes)
        return Const(value) if value is not None and names(e) & changing else e

    for s in body:
        new: Mapping[str, int] = {}
        match s:
            case If(test, then, orelse):
                holds = known_test(test, known, shapes)
                if holds is not None:
                    found += _resolved(then if holds else orelse, known, shapes)
                    continue
                parts = [_resolved(b, dict(known), dict(shapes)) for b in blocks(s)]
                s = with_blocks(s, tuple(parts))
            case Check(test) if known_test(test, known, shapes):
                continue
            case For() | While():
                own = written((s,))
                inside = {n: v for n, v in known.items() if n not in own}
                made = {t.array for t in walk(s.body) if isinstance(t, Alloc)}
                sizes = {a: n for a, n in shapes.items() if a not in made}
                body_of = _resolved(s.body, inside, sizes)
                if isinstance(s, For):
                    s = replace(s, lo=number(s.lo), hi=number(s.hi))
                s = with_blocks(s, (body_of,))
            case Alloc():
                s = replace(s, shape=tuple(map(number, s.shape)))
            case Assign(Var(name), value):
                integer = known_integer(value, known, shapes)
                new = {} if integer is None else {name: integer}
        for name in written((s,)):
            known.pop(name, None)
        for t in walk((s,)):
            if isinstance(t, Alloc):
                shapes.pop(t.array, None)
        if isinstance(s, Alloc):
            sizes_of = [known_integer(e, known, shapes) for e in s.shape]
            if all(n is not None for n in sizes_of):
                shapes[s.array] = tuple(n for n in sizes_of if n is not None)
        known.update(new)
        found.append(s)
    return tuple(found)


def apart(
    s: Stmt,
    tracked: Set[str],
    dtypes: dict[str, str],
    taken: set[str],
) -> Block:
    """A statement in no loop that gives nothing to chunks, with the elements of
    `tracked` arrays that it reads as numbers of their own, read before it.

    They get names that are not `taken`, and a dtype in `dtypes`.
    """
    if any(isinstance(t, (For, While, Alloc)) for t in walk((s,))):
        return (s,)
    if written((s,)) & tracked:
        return (s,)
    read: dict[Load, str] = {}

    def element(e: Expr) -> Expr:
        if not isinstance(e, Load) or e.array not in tracked:
            return e
        if dtypes.get(e.array) not in NUMBERS:
            return e
        if isinstance(s, If) and names(e) & written((s,)):
            return e  # which one it is, is only known inside
        if e not in read:
            read[e] = fresh(f"{e.array}_at", taken)
            dtypes[read[e]] = dtypes[e.array]
        return Var(read[e])

    match s:
        case Assign(Var(), Load()):
            return (s,)  # it is one already
    new = map_whole(s, lambda e: map_expr(e, element))
    return (*(Assign(Var(n), e, loc=s.loc) for e, n in read.items()), new)


def separated(nest: Stmt, tracked: Set[str], live: frozenset[str]) -> Block:
    """A nest as several, where a leaf reads others' elements of `tracked` arrays.

    `live` are the names that matter after it. What adds to one array stays in one nest,
    so that the terms come in the order of the program.
    """
    if not isinstance(nest, For):
        return (nest,)
    region = Region((nest,), live)
    if not any(_shifted(region, name) for name in sorted(written((nest,)) & tracked)):
        return (nest,)
    return parted(nest, live)


def parted(nest: Stmt, live: frozenset[str]) -> Block:
    """A nest as several, as many as may be; those that add to one array stay one."""
    if not isinstance(nest, For):
        return (nest,)
    parts = tuple(g.nest for g in distribute(nest, live_out=live))
    made = {s.array for s in walk((nest,)) if isinstance(s, Alloc)}
    added = [
        {
            s.target_name
            for s in walk(p)
            if isinstance(s, Add)
            and s.target_name not in made
            and (isinstance(s.target, Load) or s.target_name in live)
        }
        for p in parts
    ]
    if sum(map(len, added)) > len(frozenset[str]().union(*added)):
        return (nest,)
    return tuple(s for p in parts for s in p)


def placed(
    s: Stmt,
    axes: Mapping[str, Sequence[int]],
    known: Mapping[str, int],
    shapes: Mapping[str, Sequence[int]],
    times: Set[str],
    live: frozenset[str],
    taken: set[str],
) -> Block:
    """A statement that writes to one place of chunked axes, as the loop along them.

    Then the blocks that have the place run it, and the others nothing. What writes to
    several places is several statements, where it can be; else it stays as it is.
    Places may depend on indices of loops over time around it, the `times`.
    """

    def place(e: Expr) -> Expr | None:
        at = known_integer(e, known, shapes)
        if at is not None:
            return Const(at)
        return e if names(e) and names(e) <= known.keys() | times else None

    found = _places(s, axes, place)
    if len(found) > 1:
        parts = parted(s, live)
        if len(parts) == 1:
            return (s,)
        return tuple(
            t for p in parts for t in placed(p, axes, known, shapes, times, live, taken)
        )
    for one in found:
        for k, at in one:
            index = fresh(f"at_{k}", taken)
            body = _through(s, axes, k, index)
            s = For(index, at, tidy(Call("+", (at, ONE))), ONE, (body,))
    return (s,)


def _places(
    s: Stmt,
    axes: Mapping[str, Sequence[int]],
    place: Callable[[Expr], Expr | None],
) -> set[tuple[tuple[int, Expr], ...]]:
    """The places along chunked axes that a statement writes to: of each write the axes
    with a subscript that no loop changes, with that.
    """
    found = set[tuple[tuple[int, Expr], ...]]()
    for t in walk((s,)):
        if isinstance(t, (Assign, Add)) and isinstance(t.target, Load):
            own = list[tuple[int, Expr]]()
            for k in axes.get(t.target_name, ()):
                at = place(t.target.index[k])
                if at is not None:
                    own.append((k, at))
            if t.target_name in axes:
                found.add(tuple(own))
    return found


def _through(s: Stmt, axes: Mapping[str, Sequence[int]], axis: int, index: str) -> Stmt:
    """A statement whose writes have an index as the subscript of a chunked axis."""
    if isinstance(s, (Assign, Add)) and isinstance(s.target, Load):
        if axis in axes.get(s.target_name, ()):
            at = [*s.target.index]
            at[axis] = Var(index)
            return replace(s, target=replace(s.target, index=tuple(at)))
        return s
    inner = tuple(tuple(_through(t, axes, axis, index) for t in b) for b in blocks(s))
    return with_blocks(s, inner)


def with_subscripts(
    nest: Stmt, axes: Mapping[str, Sequence[int]], live: frozenset[str]
) -> Stmt:
    """A nest with the integers written out that are subscripts of chunked axes."""
    if not isinstance(nest, For):
        return nest
    own = written((nest,)) - loop_indices((nest,))
    for s in walk((nest,)):
        for top in exprs(s):
            for e in walk_expr(top):
                if isinstance(e, Load) and any(
                    names(e.index[k]) & own for k in axes.get(e.array, ())
                ):
                    chosen = with_blocks(nest, (_choices(nest.body, own),))
                    assert isinstance(chosen, For)
                    return inline_integers(chosen, (), live, frozenset())
    return nest


def _choices(body: Block, own: Set[str]) -> Block:
    """A block in which ``if test: k = e`` behind ``k = d`` is one choice, for integers
    among some names.
    """
    found: list[Stmt] = []
    for s in body:
        s = with_blocks(s, tuple(_choices(b, own) for b in blocks(s)))
        match s:
            case If(test, (Assign(Var(name), then),), (Assign(Var(other), value),)):
                if name == other and name in own and _of_integers(then, value):
                    s = Assign(Var(name), Call("where", (test, then, value)), loc=s.loc)
            case If(test, (Assign(Var(name)) | Add(Var(name)) as then,), ()):
                last = found[-1] if found else None
                if (
                    name in own
                    and isinstance(last, Assign)
                    and last.target == Var(name)
                    and _of_integers(last.value, then.value)
                ):
                    known = {name: last.value}
                    new = substitute(then.value, known)
                    if isinstance(then, Add):
                        new = Call("+", (last.value, new))
                    choice = substitute(test, known), new, last.value
                    s = Assign(Var(name), Call("where", choice), loc=s.loc)
                    found.pop()
        found.append(s)
    return tuple(found)


def _of_integers(*row: Expr) -> bool:
    """Are expressions made of names, sizes and integers only?"""
    return all(
        isinstance(p, (Var, Extent, Call))
        or (isinstance(p, Const) and type(p.value) is int)
        for e in row
        for p in walk_expr(e)
    )


def _shifted(region: Region, name: str) -> bool:
    """Is an element of an array read by one leaf and another one written by others?"""
    stored = {
        (leaf.number, a.index)
        for leaf in region.leaves
        for a in leaf.accesses
        if a.name == name and a.kind != "read"
    }
    return any(
        leaf.number != number and a.index != index
        for leaf in region.leaves
        for a in leaf.accesses
        if a.name == name and a.kind == "read"
        for number, index in stored
    )


def as_sums(
    stmt: Stmt,
    lost: Set[str],
    tracked: Set[str],
    live: frozenset[str],
    dtypes: Mapping[str, str],
) -> Block | None:
    """A statement that writes to names in one piece: zeros, and what is added to them.

    None if that is another program: where an element is written twice, or read, or
    where it depends on chunks which elements are written.
    """
    region = Region((stmt,), live)
    own = [leaf for leaf in region.leaves if _target(leaf) in lost]
    if {_target(leaf) for leaf in own} != lost:
        return None
    touching = [
        (leaf, a) for leaf in region.leaves for a in leaf.accesses if a.name in lost
    ]
    for leaf, a in touching:
        if a.kind != "write" or dtypes.get(a.name) not in NUMBERS:
            return None
        if any(region.depends(leaf, o) for o, b in touching if b.name == a.name):
            return None
    if any(isinstance(s, While) for s in walk((stmt,))):
        return None
    zeros = _zeroed(restrict((stmt,), {leaf.number for leaf in own}), dtypes)
    known_names = all_names(zeros) - loop_indices(zeros) - lost
    if known_names & (tracked | written((stmt,))):
        return None
    return (*zeros, _adding(stmt, lost))


def _target(leaf: Leaf) -> str:
    return leaf.stmt.target_name if isinstance(leaf.stmt, (Assign, Add)) else ""


def _zeroed(block: Block, dtypes: Mapping[str, str]) -> Block:
    """The writes of a block, of zeros."""
    found: list[Stmt] = []
    for s in block:
        if isinstance(s, Assign):
            zero = zero_of(dtypes[s.target_name])
            found.append(Assign(s.target, zero, loc=s.loc))
        else:
            inner = tuple(_zeroed(b, dtypes) for b in blocks(s))
            found.append(with_blocks(s, inner))
    return tuple(found)


def _adding(s: Stmt, targets: Set[str]) -> Stmt:
    """The statement with its writes to some names as increments."""
    if isinstance(s, Assign) and s.target_name in targets:
        return Add(s.target, s.value, loc=s.loc)
    inner = tuple(tuple(_adding(t, targets) for t in b) for b in blocks(s))
    return with_blocks(s, inner)
