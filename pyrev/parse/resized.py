"""Arrays whose lengths change in a loop: ``f = f[1:]``, the levels of a pyramid.

The array has room for the first one, and numbers say how long it is by now. While a
text is read its present lengths are `Extent`s, like those of any array; they become the
numbers when all is read.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

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
    map_whole,
    names,
    rebuild,
    walk_expr,
    with_blocks,
)
from pyrev.parse import views
from pyrev.parse.values import Array
from pyrev.parse.walk import Walk, Wanted
from pyrev.parse.whole_arrays import make

#: So many assignments are followed back.
_DEEP = 8

#: The length that an array was made with.
_ROOM = "room"


def ask_lengths(w: Walk, target: Array, whole: Array) -> None:
    """Let the next walk count the lengths of an array, if what it gets has others."""
    name = target.name
    if name is None or name not in w.storage.allocated:
        return
    pairs = zip(target.shape, whole.shape, strict=True)
    if any(not views.equal(a, b) and _varies(w, a, b, name) for a, b in pairs):
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
            w.emit.add(Check(test, "ValueError", message, loc=at))
            w.emit.add(Assign(w.storage.lengths[name][k], length, loc=at))

    def body(index: tuple[Expr, ...]) -> list[Stmt]:
        given = views.collected(whole.at(index))
        return [Assign(Load(name, index, loc=at), given, loc=at)]

    w.emit.nest(whole.shape, at, body)


def with_lengths(
    block: Sequence[Stmt], lengths: Mapping[str, tuple[Var, ...]]
) -> Block:
    """The block with numbers for the lengths that change."""
    if not lengths:
        return tuple(block)

    def number(e: Expr) -> Expr:
        match e:
            case Call(op, (Extent() as own,)) if op == _ROOM:
                return own
            case Extent(array, k) if array in lengths:
                return lengths[array][k]
        old = children(e)
        return rebuild(e, tuple(map(number, old))) if old else e

    made: list[Stmt] = []
    for stmt in block:
        inner = tuple(with_lengths(b, lengths) for b in blocks(stmt))
        bare = with_blocks(stmt, tuple(() for _ in inner))
        new = with_blocks(map_whole(bare, number), inner)
        match new:
            case Alloc(array, shape) if array in lengths:
                made.append(new)
                for size, n in zip(lengths[array], shape, strict=True):
                    made.append(Assign(size, n, loc=new.loc))
            case Alloc(array, shape, source=str(source)) if source in lengths:
                made.append(replace(new, source=None))
                made.append(_copied(array, source, shape, new.loc))
            case _:
                made.append(new)
    return tuple(made)


def _copied(array: str, source: str, shape: Sequence[Expr], at: Loc) -> Stmt:
    """Loops that copy the elements of one array into another."""
    index = tuple(Var(f"{array}_at{k}", loc=at) for k in range(len(shape)))
    made: Stmt = Assign(Load(array, index, loc=at), Load(source, index, loc=at), loc=at)
    for k, length in reversed([*zip(index, shape, strict=True)]):
        made = For(k.name, ZERO, length, ONE, (made,), loc=at)
    return made
