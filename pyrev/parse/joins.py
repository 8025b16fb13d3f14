"""Names of arrays where paths meet: behind an `if`, at the end of an iteration.

Each name that is live there must stand for one array. A name that was bound to another
array has the elements copied into the array that it had before, where nobody else can
see that one; where others can, it gets a copy of its own before the loop or the branch.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace

import gast

from pyrev.ir.nodes import FALSE, TRUE, Assign, Call, Check, Extent, Loc, Var, like
from pyrev.parse import views
from pyrev.parse.copies import keep_elements, note_copy
from pyrev.parse.names import array_name
from pyrev.parse.points_to import origins_of, shares, turned
from pyrev.parse.resized import ask_lengths, resize
from pyrev.parse.rooms import allocate_room, refuse_rebinding
from pyrev.parse.scopes import Scope
from pyrev.parse.values import Array, Operand, same, whole_array
from pyrev.parse.walk import Compound, Room, Walk, Wanted
from pyrev.parse.whole_arrays import assign_elements, count_lengths, make

#: The arrays that names stand for.
Arrays = Mapping[str, Array]
#: The same, and in which blocks the names were bound to them.
Bindings = tuple[dict[str, Array], dict[str, tuple[int, ...]]]


def bind_array(w: Walk, name: str, value: Array, scope: Scope) -> None:
    """From here on, in this block, `name` stands for this array."""
    scope.bound[name] = value
    scope.paths[name] = w.emit.path
    scope.retired.discard(name)


def array_bindings(scope: Scope) -> Bindings:
    """Which arrays the names stand for, and since where."""
    arrays = {n: e for n, e in scope.bound.items() if isinstance(e, Array)}
    return arrays, {n: p for n, p in scope.paths.items() if n in arrays}


def rebind_arrays(scope: Scope, then: Bindings) -> Bindings:
    """Back to what the names stood for; what they stand for now comes back."""
    now = array_bindings(scope)
    for name in now[0]:
        scope.bound.pop(name)
        scope.paths.pop(name, None)
    scope.bound |= then[0]
    scope.paths |= then[1]
    return now


def join_bindings(scope: Scope, before: Bindings, then: Bindings) -> None:
    """After two branches: what only the first of them bound is bound there."""
    for name, value in then[0].items():
        if name not in before[0] and name not in scope.bound:
            scope.bound[name] = value
            if name in then[1]:
                scope.paths[name] = then[1][name]


def visible_arrays(w: Walk, scope: Scope) -> Bindings:
    """The arrays that names stand for here, whatever blocks were run before."""
    arrays, paths = array_bindings(scope)
    block = w.emit.path
    seen = {n for n in arrays if block[: len(p := paths.get(n, ()))] == p}
    seen -= scope.unset.keys() - paths.keys()  # no array yet
    return (
        {n: e for n, e in arrays.items() if n in seen},
        {n: p for n, p in paths.items() if n in seen},
    )


def compound_at(w: Walk, bound: tuple[int, ...]) -> Compound | None:
    """The outermost loop or branch inside the block `bound`."""
    for compound in w.env.compounds:
        if compound.around == bound:
            return compound
    return None


def ask_copy(w: Walk, name: str, bound: tuple[int, ...], own: bool) -> bool:
    """Let the next walk copy an array before the loop; False if this one has."""
    compound = compound_at(w, bound)
    if own or compound is None or w.wants(Wanted(name, compound.at)):
        return False
    w.ask(Wanted(name, compound.at))
    return True


def gives_arrays(w: Walk, name: str, scope: Scope) -> bool:
    """Is this the name of what early `return`s give, and do they give arrays?"""
    return w.wants(Wanted(name, scope.source.loc(scope.source.node), "result"))


def lends_back(w: Walk, place: int, value: Array, at: Loc) -> bool:
    """Is this result a parameter, of which the caller is to get the object?"""
    captured = {c.name for c in w.found.captures.values()}
    if value.name != value.base or value.base in captured:
        return False
    w.found.lent_back.append((place, at))
    return True


def refuse_paths(w: Walk, at: Loc, because: str) -> None:
    """Paths that return unlike things."""
    w.refuse(
        "P110",
        at,
        because,
        "return one array on every path: the paths may fill it",
    )


def is_deeper(w: Walk, name: str, scope: Scope) -> bool:
    """Is this a loop or a branch inside the block where the name was bound?"""
    bound = scope.paths.get(name, scope.start)
    path = w.emit.path
    return len(path) > len(bound) and path[: len(bound)] == bound


def take_over(
    w: Walk,
    target: Array,
    whole: Array,
    name: str,
    at: Loc,
    others: Sequence[Array] = (),
) -> bool:
    """Can `target` hold these elements? Lengths are checked when it runs.

    `name` is what it is called in the text, "" for what several paths return, of which
    the `others` have been read.
    """
    if target.rank != whole.rank:
        refuse_rebinding(w, name or "result", at, "`{}` has other axes before")
        return False
    assert target.name is not None
    room = w.env.rooms.get(target.name)
    message = (
        f"`{name}` has another shape than before this loop or branch: give the new"
        " array a name of its own"
        if name and not (room is not None and room.result)
        else "the paths of a function return arrays of different shapes"
    )
    ask_lengths(w, target, whole, others if room is None else room.wholes)
    counted = target.name in w.storage.lengths
    for mine, theirs in zip(target.shape, whole.shape, strict=True):
        if not counted and not views.equal(mine, theirs):
            test = Call("==", (mine, theirs), loc=at)
            w.emit.add(Check(test, "ValueError", message, loc=at))
    if room is not None:
        room.wholes.append(whole)
        room.filled.append(w.emit.path)
        if room.flag is not None:
            w.emit.add(Assign(room.flag, TRUE, loc=at))
    dtype = whole.dtype or views.dtype_of(views.kinds(whole.element))
    w.found.alike_kinds.append((target.name, dtype, at))
    return True


def replace_elements(w: Walk, target: Array, value: Array, at: Loc) -> None:
    """The array of a name gets the elements of another one, which has its shape or
    whose lengths are counted.
    """
    if target.name in w.storage.lengths:
        resize(w, target, value, at)
    else:
        assign_elements(w, target, value, at, replaces=True)


@contextmanager
def inside_compound(w: Walk, scope: Scope, node: gast.AST) -> Iterator[Compound]:
    """A loop or a branch, in which names of arrays may be bound again."""
    at = scope.source.loc(node)
    for name, place, what, _ in sorted(w.known.wanted):
        value = scope.bound.get(name)
        if what != "copy" or place != at or not isinstance(value, Array):
            continue
        if w.wants(Wanted(name, at, "apart")):
            continue
        copy = w.aliases.copies.get(value.name or "")
        if copy is not None and copy.name == name and copy.scope is scope:
            if not any(
                shares(e, {value.name or ""})
                for n, e in scope.bound.items()
                if n != name
            ):
                continue  # a loop around this one has made its copy
        copied = replace(value, view=False)
        if value.name is not None:
            copied = replace(copied, dtype=like(value.name), like=value.name)
        made = make(w, copied, name, at)
        own = made.name or ""
        note_copy(w, own, name, value, scope, at)
        scope.owned.add(own)
        bind_array(w, name, made, scope)
    rooms = reserve_rooms(w, scope, at)
    mark, opened = w.emit.mark, w.emit.opened
    compound = Compound(w.emit.path, at, node, scope, len(w.storage.changed))
    w.env.compounds.append(compound)
    try:
        yield compound
    finally:
        w.env.compounds.pop()
    for block in range(opened + 1, w.emit.opened + 1):
        w.env.compound_of.setdefault(block, at)
    allocate_rooms(w, rooms, at, mark)


def allocate_rooms(w: Walk, rooms: Sequence[Room], at: Loc, mark: int) -> None:
    """Make the `rooms` in front of what follows `mark`, which has filled them.

    The shape of one may be that of another.
    """
    rooms = [r for r in rooms if r.wholes]  # others are not needed any more
    left = [*rooms]
    while left:
        free = [r for r in left if allocate_room(w, r.name, r.wholes, at, mark)]
        mark += len(free)
        left = [r for r in left if r not in free]
        if not free:
            because = "`{}` has no shape that is known before"
            refuse_rebinding(w, left[0].user, at, because)
            return
    for room in rooms:
        if room.flag is not None:
            w.emit.extend([Assign(room.flag, FALSE, loc=at), *w.emit.take(mark)])


def reserve_rooms(w: Walk, scope: Scope, at: Loc) -> list[Room]:
    """The arrays of names that the loop or branch at `at` binds first."""
    rooms: list[Room] = []
    if any(e.what == "apart" and e.at == at for e in w.known.wanted):
        return rooms  # what follows is read in each of the branches
    loops = [
        c
        for c in w.env.compounds
        if c.scope is scope and not isinstance(c.node, gast.If)
    ]
    for name, place, what, rank in sorted(w.known.wanted):
        if what != "room" or place != at or name in visible_arrays(w, scope)[0]:
            continue
        if name in scope.numbers or name in scope.helpers:
            continue
        if name not in scope.local:
            continue  # of another call of this helper, in which it has this name
        own = array_name(w, name, scope)
        result = gives_arrays(w, name, scope)
        # What was in it before the name is None again is not read.
        since = scope.unset.get(name, ())
        loop = next((c.at for c in loops if c.around[: len(since)] == since), None)
        proven = name in scope.unset
        room = w.env.rooms[own] = Room(own, name, at, loop, result, proven)
        if w.wants(Wanted(name, at, "flag")):
            room.flag = Var(w.emit.fresh(f"{name}_known"), loc=at)
        rooms.append(room)
        w.storage.allocated[own] = at
        w.storage.made_in[own] = w.emit.path
        w.storage.sizes[own] = tuple(Extent(own, k) for k in range(rank))
        count_lengths(w, own, rank, at)
        scope.owned.add(own)
        bind_array(w, name, whole_array(own, rank, at), scope)
    return rooms


def restore_bindings(w: Walk, scope: Scope, entry: Bindings, around: Compound) -> None:
    """At the end of a block: names stand for the arrays that they had at `entry`.

    But for names that changed places: what is done with them differs from loops to
    branches. What nobody reads any more stays behind.
    """
    arrays, paths = entry
    changed = [n for n, e in arrays.items() if not same(scope.bound.get(n), e)]
    needed = [n for n in changed if around.is_live(n)]
    turning = permuted_names(arrays, scope.bound, changed)
    turning = turning or permuted_names(arrays, scope.bound, needed)
    if not turning.intersection(needed):
        turning = frozenset()
    moved = [n for n in needed if n not in turning]
    if moved:
        copy_back(w, moved, arrays, scope, around)
    scope.bound |= {n: arrays[n] for n in changed if n not in turning}
    for n in arrays:  # one that stands for its own array again may be used behind
        scope.paths.pop(n, None)
    scope.paths |= {n: paths[n] for n in arrays if n in paths}


def permuted_names(
    entry: Arrays, now: Mapping[str, Operand], changed: Sequence[str]
) -> frozenset[str]:
    """The names that stand for each other's arrays."""
    old = {n: entry[n].name for n in changed if n in now}
    new = {n: e.name if isinstance(e := now[n], Array) else None for n in old}
    left = {n for n, array in old.items() if array is not None}
    while True:
        both = {old[n] for n in left} & {new[n] for n in left}
        kept = {n for n in left if old[n] in both and new[n] in both}
        if kept == left:
            break
        left = kept
    if len({old[n] for n in left}) < len(left):
        return frozenset()
    return frozenset(left)


def copy_back(
    w: Walk, moved: Sequence[str], entry: Arrays, scope: Scope, around: Compound
) -> None:
    """The elements of other arrays go into those that the names had before."""
    at = around.at
    todo: dict[str, tuple[Array, Array]] = {}
    # Of all of them, before the first is a new array.
    values = {n: scope.bound[n] for n in moved}
    origins = {
        n: origins_of(w, v.base if isinstance(v, Array) else None)
        for n, v in values.items()
    }
    for name in moved:
        target, value = entry[name], values[name]
        if not isinstance(value, Array):
            refuse_rebinding(w, name, at, "`{}` is a number or an array before")
            return
        own = target.name in scope.owned - {*w.storage.iterated} and not any(
            m != name and around.is_live(m) and shares(e, {target.name or ""})
            for m, e in entry.items()
        )
        if target.name is None or not own or target.name in turned(w):
            if not ask_copy(w, name, around.around, False):
                refuse_rebinding(w, name, at, "`{}` names another array before")
                return
            continue
        others = {
            m: e
            for m in entry
            if m != name and around.is_live(m)
            if value.base is not None and shares(e := scope.bound[m], {value.base})
        }
        if not take_over(w, target, value, name, at):
            return
        may_be = origins[name]
        keep_elements(w, target.name, value, may_be, bool(others), scope, at)
        todo[name] = target, value
    while todo:
        # First what no other value is read from.
        read = {n: v.reads() for n, (_, v) in todo.items()}
        free = [
            n
            for n, (target, _) in todo.items()
            if not any(target.name in r for m, r in read.items() if m != n)
        ]
        if not free:
            first = next(iter(todo))
            target, value = todo[first]
            todo[first] = target, make(w, replace(value, view=False), first, at)
            continue
        target, value = todo.pop(free[0])
        replace_elements(w, target, value, at)
        assert target.name is not None
        w.aliases.replaced.append((target.name, w.emit.path[len(scope.start) :]))
