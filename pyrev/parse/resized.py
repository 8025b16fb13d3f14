"""Arrays whose lengths change in a loop: ``f = f[1:]``, the levels of a pyramid.

The array has room for the first one, and numbers say how long it is by now. While a
text is read its present lengths are `Extent`s, like those of any array; they become the
numbers when all is read.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from pyrev.ir.affine import Linear, linear
from pyrev.ir.nodes import (
    ONE,
    ZERO,
    Alloc,
    Assign,
    Block,
    Call,
    Check,
    Expr,
    Extent,
    For,
    Load,
    Loc,
    Stmt,
    Var,
    blocks,
    children,
    map_expr,
    map_whole,
    names,
    rebuild,
    walk_expr,
    with_blocks,
)
from pyrev.parse import views
from pyrev.parse.capacity import Lengths, Room, is_length, rooms
from pyrev.parse.values import Array
from pyrev.parse.walk import Walk, Wanted
from pyrev.parse.whole_arrays import make

#: So many assignments are followed back.
_DEEP = 8

#: The length that an array was made with.
_ROOM = "room"


def ask_lengths(
    w: Walk, target: Array, whole: Array, others: Sequence[Array] = ()
) -> None:
    """Let the next walk count the lengths of an array, if what it gets has others: than
    it has now, or than the `others` that it gets elsewhere.
    """
    name = target.name
    if name is None or name not in w.storage.allocated:
        return
    pairs = [*zip(target.shape, whole.shape, strict=True)]
    unlike = any(
        _differ(w, a, b, name)
        for other in others or (target,)
        if other.rank == whole.rank
        for a, b in zip(other.shape, whole.shape, strict=True)
    )
    if unlike or any(
        not views.equal(a, b) and _varies(w, a, b, name) for a, b in pairs
    ):
        w.ask(Wanted(name, w.storage.allocated[name], "lengths", target.rank))


def _varies(w: Walk, mine: Expr, length: Expr, array: str) -> bool:
    """Is a length made of that of the array itself, counted, or changed in a loop?"""
    found = _resolved(w, length, array, _DEEP)
    if found is None:
        return True
    if views.equal(mine, found):
        return False
    numbers = {e for own in w.storage.lengths.values() for e in own}
    return any(
        isinstance(e, Extent)
        and (e.array == array or e.array in w.storage.lengths)
        or isinstance(e, Var)
        and (e in numbers or e.name in w.storage.counts)
        for e in walk_expr(found)
    )


def _differ(w: Walk, one: Expr, other: Expr, array: str) -> bool:
    """Are these lengths surely unequal, or only if there is nothing?

    One that is written out is taken for another than a number that the text gives a
    name: what is returned early has a length of its own. That of an argument may be
    meant by it, but not by nothing.
    """
    a, b = (_resolved(w, e, array, _DEEP) for e in (one, other))
    if a is None or b is None:
        return False
    left, right = linear(a), linear(b)
    gap = left.plus(right, -1)
    if bool(left.terms) != bool(right.terms):
        number, sum_ = (right, left) if left.terms else (left, right)
        named = any(isinstance(e, Var) for t, _ in sum_.terms for e in walk_expr(t))
        return named or not number.constant
    both = dict(left.terms).keys() & dict(right.terms).keys()
    return all(atom in both for atom, _ in gap.terms) and gap != Linear((), 0)


def _resolved(w: Walk, length: Expr, own: str, depth: int) -> Expr | None:
    """A length in terms of what its scalars and arrays were made of, but for the array
    `own`; None if it is made of itself, as a number that loops count with.
    """
    match length:
        case Extent(array, k) if array != own:
            known = w.storage.sizes.get(array, ())
            made = known[k] if k < len(known) else length
        case Var(name) if name not in w.storage.counts:
            made = w.emit.scalars.get(name, length)
        case _:
            made = length
    if made is not length and made != length:
        if not depth or made in (length,) or names(made) & names(length):
            return None
        return _resolved(w, made, own, depth - 1)
    new = [_resolved(w, e, own, depth) for e in children(length)]
    if any(e is None for e in new):
        return None
    return rebuild(length, tuple(e for e in new if e is not None)) if new else length


def resize(w: Walk, target: Array, whole: Array, at: Loc) -> None:
    """``f = whole``: the array has these elements from here on, and their number."""
    name = target.name
    assert name is not None
    parts = [e for top in (whole.element, *whole.shape) for e in walk_expr(top)]
    before = {*(Extent(name, k) for k in range(whole.rank)), *w.storage.lengths[name]}
    if name in whole.reads() or any(e in before for e in parts):
        # Which elements are meant is said in terms of the lengths before.
        whole = make(w, replace(whole, view=False), "value", at)
    message = "an array grows in this loop: make it as long as it gets before"
    for k, length in enumerate(whole.shape):
        own = Extent(name, k, loc=at)
        if not views.equal(length, own):
            test = Call("<=", (length, Call(_ROOM, (own,), loc=at)), loc=at)
            refuse_negative(w, length, at)
            w.emit.add(Check(test, "ValueError", message, loc=at))
            w.emit.add(Assign(w.storage.lengths[name][k], length, loc=at))
    if ZERO in whole.shape:
        return  # nothing is in it

    def body(index: tuple[Expr, ...]) -> list[Stmt]:
        given = views.collected(whole.at(index))
        return [Assign(Load(name, index, loc=at), given, loc=at)]

    w.emit.nest(whole.shape, at, body)


def refuse_negative(w: Walk, length: Expr, at: Loc) -> None:
    """What is no length raises what NumPy raises."""
    for test in _tests((length,), at):
        w.emit.add(test)


def with_lengths(block: Sequence[Stmt], lengths: Lengths) -> Block:
    """The block with numbers for the lengths that change, and room for them."""
    if not lengths:
        return tuple(block)
    return _with_numbers(block, lengths, rooms(tuple(block), lengths))


def _with_numbers(
    block: Sequence[Stmt], lengths: Lengths, known: Mapping[tuple[str, int], Room]
) -> Block:
    def number(e: Expr) -> Expr:
        match e:
            case Call(op, (Extent() as own,)) if op == _ROOM:
                return own
            case Extent(array, k) if k < len(lengths.get(array, ())):
                # Where more axes are asked for, ranks do not fit, which is told.
                return lengths[array][k]
        old = children(e)
        return rebuild(e, tuple(map(number, old))) if old else e

    made: list[Stmt] = []
    for stmt in block:
        match stmt:
            case Check(Call("<=", (length, Call(op, (Extent(array, k),))))) if (
                op == _ROOM and (array, k) in known and length in known[array, k].held
            ):
                continue
        inner = tuple(_with_numbers(b, lengths, known) for b in blocks(stmt))
        bare = with_blocks(stmt, tuple(() for _ in inner))
        new = with_blocks(map_whole(bare, number), inner)
        match new:
            case Alloc(array, shape) if array in lengths:
                room = tuple(
                    map_expr(known[array, k].at_least(n), number)
                    if (array, k) in known
                    else n
                    for k, n in enumerate(shape)
                )
                if room != shape:
                    made += _tests(shape, new.loc)
                if new.places or new.opaque is not None:
                    # As many as there are, into room for more.
                    few = replace(new, array=f"{array}_places")
                    made.append(few)
                    new = replace(new, source=few.array, places="", opaque=None)
                apart = room != shape or new.source in lengths
                source = None if apart else new.source
                made.append(replace(new, shape=room, source=source))
                for size, n in zip(lengths[array], shape, strict=True):
                    made.append(Assign(size, n, loc=new.loc))
                if apart and new.source is not None:
                    made.append(_copied(array, new.source, shape, new.loc))
            case Alloc(array, shape, source=str(source)) if (
                source in lengths and new.opaque is None
            ):
                assert not new.places  # they are those of a copy: `read_order`
                made.append(replace(new, source=None))
                made.append(_copied(array, source, shape, new.loc))
            case _:
                made.append(new)
    return tuple(made)


def _tests(shape: Sequence[Expr], at: Loc) -> list[Stmt]:
    """What raises where an array would have been made of a negative size."""
    message = "negative dimensions are not allowed"
    tests = [Call("<=", (ZERO, n), loc=at) for n in shape if not is_length(n)]
    return [Check(t, "ValueError", message, loc=at) for t in tests]


def _copied(array: str, source: str, shape: Sequence[Expr], at: Loc) -> Stmt:
    """Loops that copy the elements of one array into another."""
    index = tuple(Var(f"{array}_at{k}", loc=at) for k in range(len(shape)))
    made: Stmt = Assign(Load(array, index, loc=at), Load(source, index, loc=at), loc=at)
    for k, length in reversed([*zip(index, shape, strict=True)]):
        made = For(k.name, ZERO, length, ONE, (made,), loc=at)
    return made
