"""Room for arrays that are made in a loop, a branch or a path, and read behind it.

It is made in front, in the shape of the first array that goes there; the others are
checked when the program runs.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from pyrev.ir.liveness import exposed
from pyrev.ir.nodes import (
    Alloc,
    Block,
    Check,
    Expr,
    Extent,
    Load,
    Loc,
    Var,
    assignments,
    children,
    map_expr,
    rebuild,
    walk,
    walk_expr,
    written,
)
from pyrev.parse import views
from pyrev.parse.capacity import as_length, is_steady
from pyrev.parse.scopes import Scope
from pyrev.parse.shapes import RankFact
from pyrev.parse.values import Array, Operand
from pyrev.parse.walk import Walk, Wanted


def ask_room(w: Walk, name: str, path: tuple[int, ...], scope: Scope) -> bool:
    """Let the next walk make the array in front of the loop or branch that binds it.

    False if the last one was asked already.
    """
    outside = 0
    while path[: outside + 1] == w.emit.path[: outside + 1]:
        outside += 1
    at, value = w.env.compound_of.get(path[outside]), scope.bound[name]
    if at is None or not isinstance(value, Array):
        return False
    wanted = Wanted(name, at, "room", value.rank)
    if w.wants(wanted):
        return False
    w.ask(wanted)
    return True


def check_filled(w: Walk, value: Operand) -> None:
    """Reading a name that may have no array yet raises what CPython raises."""
    room = w.env.rooms.get(value.base or "") if isinstance(value, Array) else None
    if room is None or room.result or room.is_filled(w.emit.path):
        return
    if room.loop is not None:
        # It may have the array of an iteration before.
        rank = w.storage.axes(room.name)
        w.ask(Wanted(room.user, room.loop, "room", rank))
        return
    if room.proven:
        return
    if room.flag is None:
        w.ask(Wanted(room.user, room.at, "flag"))
        return
    message = f"cannot access local variable '{room.user}' where it has no value"
    w.emit.add(Check(room.flag, "UnboundLocalError", message, loc=room.at))
    room.filled.append(w.emit.path)


def allocate_room(
    w: Walk, name: str, wholes: Sequence[Array], at: Loc, mark: int
) -> bool:
    """Allocate the array that receives the `wholes` in front of what follows `mark`.

    False if none of them has a shape that is known there.
    """
    found = _known_before(w, wholes, w.emit.since(mark))
    if found is None:
        return False
    whole, shape = found
    if name in w.storage.lengths:
        # On the path that is taken it may be another.
        shape = tuple(map(as_length, shape))
    else:
        w.storage.sizes[name] = shape
    dtype = whole.dtype or views.dtype_of(views.kinds(whole.element))
    room = Alloc(name, shape, None, dtype, loc=at)
    w.found.facts.append(RankFact(name, whole.rank, at))
    w.emit.extend([room, *w.emit.take(mark)])
    return True


def shape_before(
    w: Walk, wholes: Sequence[Array], block: Block
) -> tuple[Expr, ...] | None:
    """The shape of the first of the `wholes` whose shape is known in front of a block;
    None if there is none.
    """
    found = _known_before(w, wholes, block)
    if found is None:
        return None
    parts = [e for n in found[1] for e in walk_expr(n)]
    if any(isinstance(e, Extent) and e.array in w.storage.lengths for e in parts):
        return None  # which changes
    return found[1]


def _known_before(
    w: Walk, wholes: Sequence[Array], block: Block
) -> tuple[Array, tuple[Expr, ...]] | None:
    new = written(block)
    made = {s.array for s in walk(block) if isinstance(s, Alloc)}
    times = assignments(block)

    def value(scalar: str) -> Expr | None:
        found = w.emit.scalars.get(scalar)
        if found is None or times[scalar] != 1 or exposed(block, scalar)[0]:
            return None
        # On another path than that of the array it may raise.
        return found if is_steady(found, frozenset()) else None

    def known(e: Expr) -> Expr:
        if isinstance(e, Extent) and e.array in new and e.array in w.storage.sizes:
            size = w.storage.sizes[e.array][e.axis]
            return e if size == e else map_expr(size, known)
        return e

    for whole in wholes:
        shape = tuple(_with_values(map_expr(n, known), value) for n in whole.shape)
        parts = [e for n in shape for e in walk_expr(n)]
        # The lengths of an array stay, whatever is written to it.
        lengths = {e.array for e in parts if isinstance(e, Extent)}
        others = {e.name for e in parts if isinstance(e, Var)}
        others |= {e.array for e in parts if isinstance(e, Load)}
        if not (lengths & made or others & new):
            return whole, shape
    return None


def _with_values(
    e: Expr, value: Callable[[str], Expr | None], around: tuple[str, ...] = ()
) -> Expr:
    """An expression with what its scalars stand for, where they have a value."""
    if isinstance(e, Var) and e.name not in around:
        found = value(e.name)
        return e if found is None else _with_values(found, value, (*around, e.name))
    old = children(e)
    if not old:
        return e
    return rebuild(e, tuple(_with_values(a, value, around) for a in old))


def refuse_rebinding(w: Walk, name: str, at: Loc, because: str) -> None:
    """A name that stands for one thing or another where paths meet."""
    w.refuse(
        "P206",
        at,
        because.format(name) + " this loop or branch",
        f"use another name, or assign the elements, as in `{name}[:] = ...`",
    )
