"""An inverse index: terms in the order of the elements that they are added to.

Where data decides what an increment meets, atomics add in any order. Instead each
iteration writes its term, and beside it the number of the element; the host sorts the
terms by these numbers, and a thread for each element adds its own. The sort keeps what
is equal in its order, so the bits are the same in every run. It takes memory for the
terms, twice, and for their numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from pyrev.ir.dtypes import concrete, expr_dtype, promote
from pyrev.ir.nodes import (
    ONE,
    ZERO,
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
    Loc,
    Stmt,
    Var,
    While,
    blocks,
    loop_indices,
    names,
    risky,
    with_blocks,
    written,
)
from pyrev.ir.trip_counts import iteration, iterations
from pyrev.schedule.work import product

#: Gives a new name for an array, and notes its dtype.
NewName = Callable[[str, str], str]


@dataclass(frozen=True, slots=True)
class Inverse:
    """The host's part: `ordered` are the `terms` sorted by their `places`.

    Those of element e of `array` are ``ordered[starts[e]:starts[e + 1]]``.
    """

    array: str
    places: str
    terms: str
    ordered: str
    starts: str


@dataclass(frozen=True, slots=True)
class Inverted:
    """A nest that writes terms, where it writes them, and what adds them up."""

    made: tuple[Alloc, ...]
    nest: For
    inverses: tuple[Inverse, ...]
    sums: tuple[For, ...]


def inverted(
    chain: tuple[For, ...],
    arrays: frozenset[str],
    types: dict[str, str],
    known: Callable[[Expr], bool],
    new: NewName,
) -> Inverted | None:
    """The nest of `chain` with terms for what is added to `arrays`.

    `chain` are loops directly in each other whose ranges are a box; the body only adds
    to `arrays`. None where the number of terms is not known on the host.
    """
    body = chain[-1].body
    made: list[Alloc] = []
    inverses: list[Inverse] = []
    sums: list[For] = []
    for array in sorted(arrays):
        found: list[tuple[Add, tuple[For, ...], bool]] = []
        for one in _adds(body, array):
            if one is None:
                return None
            found.append(one)
        if len({tuple(map(id, path)) for _, path, _ in found}) != 1:
            return None  # no order of slots would be that of the program
        loops = (*chain, *found[0][1])
        inner = loops[len(chain) :]
        if not all(_box(f, chain, known) for f in inner):
            return None
        kind = concrete(types[array])
        for add, _, _ in found:
            kind = promote(kind, concrete(expr_dtype(add.value, types)))
        places, terms = new(f"{array}_places", "int64"), new(f"{array}_terms", kind)
        ordered, starts = new(f"{array}_sorted", kind), new(f"{array}_starts", "int64")
        shape = tuple(iterations(f, clamped=True) for f in loops)
        shape += (Const(len(found)),) if len(found) > 1 else ()
        (first, *_) = found[0]
        assert isinstance(first.target, Load)
        rank, loc = len(first.target.index), first.loc
        size = product(Extent(array, k) for k in range(rank))
        tested = any(under for *_, under in found)
        made.append(Alloc(places, shape, size if tested else None, "int64", loc=loc))
        made.append(Alloc(terms, shape, None, kind, loc=loc))
        numbers = tuple(iteration(f.index, f.lo, f.step) for f in loops)
        slots: dict[int, tuple[Load, Load]] = {}
        for k, (add, _, _) in enumerate(found):
            at = (*numbers, Const(k)) if len(found) > 1 else numbers
            slots[id(add)] = Load(places, at), Load(terms, at)
        body = _replaced(body, slots, frozenset(f.index for f in loops))
        inverses.append(Inverse(array, places, terms, ordered, starts))
        sums.append(_sum(array, rank, ordered, starts, new, loc))
    # What the loops write is not what their proofs are about.
    nest = replace(chain[-1], body=body, parallel=None)
    for f in reversed(chain[:-1]):
        nest = replace(f, body=(nest,), parallel=None)
    return Inverted(tuple(made), nest, tuple(inverses), tuple(sums))


def _adds(
    block: Block, array: str, path: tuple[For, ...] = (), tested: bool = False
) -> Iterator[tuple[Add, tuple[For, ...], bool] | None]:
    """What adds to `array`, the loops around it, and whether a test decides of it.

    None for what a `while` repeats.
    """
    for s in block:
        match s:
            case Add() if s.target_name == array:
                yield s, path, tested
            case For(body=body):
                yield from _adds(body, array, (*path, s), tested)
            case If(_, then, orelse):
                yield from _adds((*then, *orelse), array, path, True)
            case While() if any(True for _ in _adds(s.body, array)):
                yield None


def _box(f: For, chain: tuple[For, ...], known: Callable[[Expr], bool]) -> bool:
    """Does `f`, inside `chain`, run as often in every iteration?"""
    bounds = (f.lo, f.hi, f.step)
    moved = written(chain) | loop_indices(chain)
    return all(known(e) and not risky(e) and not names(e) & moved for e in bounds)


def _flat(array: str, index: Sequence[Expr]) -> Expr:
    """The number of an element."""
    place = index[0]
    for k, e in enumerate(index[1:], 1):
        place = Call("+", (Call("*", (place, Extent(array, k))), e))
    return place


def _natural(array: str, axis: int, e: Expr, indices: frozenset[str]) -> Expr:
    """A subscript that may count from the end, from the start."""
    if isinstance(e, Const) and e.value >= 0:
        return e
    if isinstance(e, Var) and e.name in indices:  # `analysis.bounds` has seen to it
        return e
    behind = Call("+", (e, Extent(array, axis)))
    return Call("where", (Call("<", (e, ZERO)), behind, e))


def _replaced(
    block: Block, slots: Mapping[int, tuple[Load, Load]], indices: frozenset[str]
) -> Block:
    """The block with what is added written to its slot instead."""
    out: list[Stmt] = []
    for s in block:
        if isinstance(s, Add) and id(s) in slots:
            place, term = slots[id(s)]
            assert isinstance(s.target, Load)
            array = s.target.array
            index = enumerate(s.target.index)
            number = _flat(array, [_natural(array, k, e, indices) for k, e in index])
            out.append(Assign(place, number, loc=s.loc))
            out.append(Assign(term, s.value, loc=s.loc))
        else:
            inner = tuple(_replaced(b, slots, indices) for b in blocks(s))
            made = with_blocks(s, inner)
            if isinstance(made, For) and inner != blocks(s):
                made = replace(made, parallel=None)
            out.append(made)
    return tuple(out)


def _sum(
    array: str, rank: int, ordered: str, starts: str, new: NewName, loc: Loc
) -> For:
    """Each element of `array` with its terms added."""
    indices = [Var(new(f"k{k}", "weak int")) for k in range(rank)]
    place = _flat(array, indices)
    k = new("term", "weak int")
    body: Block = (
        For(
            k,
            Load(starts, (place,)),
            Load(starts, (Call("+", (place, ONE)),)),
            ONE,
            (Add(Load(array, tuple(indices)), Load(ordered, (Var(k),)), loc=loc),),
            loc=loc,
        ),
    )
    for axis, i in reversed(list(enumerate(indices))):
        body = (For(i.name, ZERO, Extent(array, axis), ONE, body, loc=loc),)
    (nest,) = body
    assert isinstance(nest, For)
    return nest
