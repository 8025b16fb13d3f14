"""Which array a name may stand for in Python: the points-to sets of copies.

A name of Python's is a reference; an array of the program is storage. A copy that
stands for another array until its name is bound again (`Copy`), and what a helper
returns depending on the run, may be another array in Python. A write to either is right
if nobody reads the other behind it. Where the other is read the two are made equal
again behind the statement that writes, if the program knows when it runs which array
the copy is. The rest is refused. Nothing is emitted here: that is done in `copies`.
"""

from __future__ import annotations

from collections.abc import Sequence, Set

import gast

from pyrev.ir.nodes import ZERO, Call, Const, Expr, Load, Loc, walk_expr
from pyrev.parse.bindings import Reads, nodes_of
from pyrev.parse.scopes import Scope
from pyrev.parse.values import Array, Operand
from pyrev.parse.walk import Copy, Due, Exchange, Place, Walk, Wanted


def shares(bound: Operand, arrays: Set[str]) -> bool:
    """Is this one of the arrays, or a view of one?"""
    return isinstance(bound, Array) and bound.view and bound.base in arrays


def is_reachable(w: Walk, array: str, but: Scope | None = None) -> bool:
    """Does a name stand for the array, or a part of it? Those of `but` do not count.

    The caller of the whole function has names for its arguments.
    """
    if array not in w.storage.allocated:
        return True
    return any(
        isinstance(e, Array) and e.base == array
        for s in w.env.running
        if s is not but
        for e in s.bound.values()
    )


def running_places(w: Walk) -> tuple[Place, ...]:
    """Where the functions are that are running."""
    innermost = w.env.running[-1:]
    return tuple(
        Place(s, s.current, dict(s.bound), any(s is i for i in innermost))
        for s in w.env.running
    )


def is_new(w: Walk, array: str) -> bool:
    """Has this copy been bound to a new array on every path to here?"""
    path = w.emit.path
    return any(path[: len(p)] == p for p in w.aliases.copies[array].paths)


def origins_of(w: Walk, array: str | None) -> frozenset[str]:
    """What this array may be in Python besides itself."""
    if array is None or array not in w.aliases.copies or is_new(w, array):
        return frozenset()
    return w.aliases.copies[array].points_to


def outer_origins(w: Walk, arrays: Set[str]) -> frozenset[str]:
    """What these may be in Python that was there before the present function."""
    origins = [w.aliases.copies[a].points_to for a in arrays if a in w.aliases.copies]
    inner = list(w.storage.allocated)[w.storage.first :]
    return frozenset(arrays).union(*origins).difference(inner)


def own_arrays(w: Walk) -> set[str]:
    """The arrays that the present function has made."""
    return set(list(w.storage.allocated)[w.storage.first :])


def note_may_be(w: Walk, array: str, origins: Set[str], scope: Scope, at: Loc) -> None:
    """From here on `array` may be one of these in Python."""
    every = frozenset(origins).union(*(origins_of(w, o) for o in origins)) - {array}
    if array in w.aliases.copies:
        copy = w.aliases.copies[array]
        copy.selector = None
        copy.points_to |= every
        copy.paths.clear()
        copy.known = False
    elif every:
        made = Copy(
            array, at, None, every, scope, len(w.storage.allocated), known=False
        )
        w.aliases.copies[array] = made
    loop = loop_around(w, array)
    if loop is not None:
        # What was its own array in an iteration is another one's in the next.
        for other, since in w.aliases.reused:
            if other in every and since >= loop:
                forget_identity(w, array, other)
        for kept in sorted(w.aliases.kept_in.get(array, set()) - {array}):
            known = w.aliases.copies.get(kept)
            if known is None or not every - {kept} <= known.points_to:
                note_may_be(w, kept, every - {kept}, scope, at)
    # What another iteration writes once more it writes as what it is then.
    first = writes_before(w, array)
    if array in w.storage.changed[first:] and any(is_reachable(w, a) for a in every):
        refuse_unsure(w, array, w.storage.changed_at[array])
    for other in sorted(every):
        since = max(first, writes_before(w, other))
        for k, written in enumerate(w.storage.changed[since:], since):
            if written == other:
                at = w.storage.changed_at[other]
                is_stale(w, array, other, at, w.storage.changed_in[k])


def note_reuse(w: Walk, array: str) -> None:
    """From here on the storage of `array` is that of a new object.

    A copy that may be the old one is not in step with it any more.
    """
    w.aliases.reused.append((array, len(w.storage.changed)))
    for own, copy in w.aliases.copies.items():
        if own != array and array in copy.points_to and not is_new(w, own):
            forget_identity(w, own, array)


def forget_identity(w: Walk, own: str, array: str) -> None:
    """A copy may be what `array` was: it is not known any more what it is."""
    copy = w.aliases.copies[own]
    copy.selector, copy.known = None, False
    if copy.source is not None and copy.source.base == array:
        copy.source = None


def note_new_behind(w: Walk, path: tuple[int, ...], *ways: tuple[int, ...]) -> None:
    """One of the blocks `ways` was run: what each makes new is new in `path`."""
    for copy in w.aliases.copies.values():
        if all(way in copy.paths for way in ways):
            copy.paths.append(path)
    for room in w.env.rooms.values():
        if all(map(room.is_filled, ways)):
            room.filled.append(path)


def mix_origins(
    w: Walk, arrays: Sequence[str], scope: Scope, at: Loc
) -> dict[str, int]:
    """Arrays change places: what one of them may be in Python each may be."""
    copies = [
        w.aliases.copies[a]
        for a in arrays
        if a in w.aliases.copies and not is_new(w, a)
    ]
    origins = frozenset(o for one in copies for o in one.points_to)
    for array in arrays if copies else ():
        if array in w.aliases.copies:
            w.aliases.copies[array].selector = None
            w.aliases.copies[array].points_to |= origins
            w.aliases.copies[array].paths.clear()
        else:
            made = Copy(array, at, None, origins, scope, len(w.storage.allocated))
            w.aliases.copies[array] = made
    return {a: writes_before(w, a) for a in origins}


def writes_before(w: Walk, array: str) -> int:
    """How many writes there were that cannot come again while `array` is there.

    They have filled it before it gets further names.
    """
    loop = loop_around(w, array)
    return len(w.storage.changed) if loop is None else loop


def loop_around(w: Walk, array: str) -> int | None:
    """How many writes there were before the outermost loop in which `array` lasts."""
    depth = len(w.storage.made_in.get(array, ()))
    again = (
        c.since
        for c in w.env.compounds
        if not isinstance(c.node, gast.If) and depth <= len(c.around)
    )
    return next(again, None)


def outlives(w: Walk, base: str | None, array: str) -> bool:
    """Is `base` there as long as `array`, and no copy of another one?"""
    made, own = w.storage.made_in.get(base or "", ()), w.storage.made_in.get(array, ())
    return (
        base is not None and base not in w.aliases.copies and own[: len(made)] == made
    )


def is_clean(w: Walk, array: str) -> bool:
    """Was nothing written to this copy since its elements were put back?"""
    copy = w.aliases.copies[array]
    path = w.emit.path
    return (
        array not in w.storage.changed[copy.clean :]
        and path[: len(copy.cleaned)] == copy.cleaned
    )


def note_write(
    w: Walk,
    array: str,
    at: Loc,
    but: str = "",
    over: Scope | None = None,
    place: Load | Array | None = None,
) -> None:
    """Elements of `array` are written here, those of `place` if that is known; for
    the rest see `check_aliases`.
    """
    w.storage.place = place
    w.storage.changed.append(array)
    w.storage.changed_at[array] = at
    w.storage.changed_in.append(running_places(w))
    check_aliases(w, array, at, but, over)
    if any(c.name == array for c in w.found.captures.values()):
        w.refuse(
            "P112",
            at,
            f"`{array}` is not a parameter",
            "pass the array as a parameter to write to it",
        )


def check_aliases(
    w: Walk, array: str, at: Loc, but: str = "", over: Scope | None = None
) -> None:
    """Elements of `array` are written: are all that it is in Python the same?

    `but` is the array that they are from. They may have been written anywhere
    in `over`, a function that has come to its end.
    """
    places = running_places(w)
    if any(
        is_stale(w, own, array, at, places, over, now=over is None)
        for own in list(w.aliases.copies)
        if own not in (but, array)
    ):
        return
    found = w.aliases.copies.get(array)
    if found is None or is_new(w, array) or but in found.points_to:
        return
    if not found.known:
        if any(is_reachable(w, a) for a in found.points_to):
            if over is not None or not is_due(w, array, "", at):
                refuse_unsure(w, array, at)
        return
    fixed = {c.name for c in w.found.captures.values()} | {*w.storage.iterated}
    # A function that was defined around, and given to this one, may read it here.
    enclosed = any(
        s.text.enclosed(n)
        for s in w.env.running
        for n, e in s.bound.items()
        if shares(e, found.points_to)
    )
    if enclosed or found.points_to & fixed:
        w.refuse("P206", at, *CALLERS)
        return
    if is_read(found.points_to, present_places(w), over):
        if over is not None or not is_due(w, array, "", at):
            w.refuse("P206", at, *CALLERS)
        return
    for other in exchanged_with(w, array) & w.aliases.copies.keys():
        copy = w.aliases.copies[other]
        if copy.source is not None and copy.fresh is None:
            w.ask(Wanted(copy.name, copy.at, "back"))


def is_stale(
    w: Walk,
    own: str,
    array: str,
    at: Loc,
    places: Sequence[Place],
    over: Scope | None = None,
    now: bool = False,
) -> bool:
    """Is a copy read later that may be `array`, which is written? It is refused.

    If it is written `now`, the copy can be made equal behind it.
    """
    copy = w.aliases.copies[own]
    written = exchanged_with(w, array) | origins_of(w, array)
    if not copy.points_to & written or is_new(w, own):
        return False
    names_ = exchanged_with(w, own) - {array}
    if not (is_read(names_, places, over) or in_flight(w, own)):
        # What is put back later must not have the elements of before.
        source = copy.source.base if copy.source is not None else None
        if not now or copy.fresh is None or source != array:
            return False
    if now and is_due(w, own, array, at):
        return False
    if not copy.known:
        refuse_unsure(w, own, at)
        return True
    because = (
        f"`{copy.name}` may stand for the array that is written here, or for a new one",
        "give the new array a name of its own, or begin with a copy:"
        f" `{copy.name} = {copy.name}.copy()`",
    )
    w.refuse("P206", at, *because)
    return True


def refuse_unsure(w: Walk, own: str, at: Loc) -> None:
    """It depends on the run what a copy is in Python. It may be known in each way of
    the branch that decides it: where nothing else helps, what follows is read apart.
    """
    w.refuse("P206", at, *UNSURE)
    room = w.env.rooms.get(own)
    if room is not None:
        w.found.apart.add(Wanted(room.user, room.at, "apart"))


def possible_sources(w: Walk, own: str) -> list[tuple[Expr, Array]]:
    """The arrays that a copy may be, each with the test that says so, if it is
    known when the program runs.
    """
    copy = w.aliases.copies[own]
    if not copy.known:
        key = Wanted(copy.name, copy.at, "selector")
        if copy.selector is None and not w.wants(key):
            w.ask(key)
        found = enumerate(copy.choices if copy.selector is not None else ())
        return [
            (Call("==", (copy.selector, Const(k))), whole)
            for k, whole in found
            if whole is not None and copy.selector is not None
        ]
    if copy.source is None or copy.points_to != {copy.source.base}:
        return []
    if copy.fresh is None:
        key = Wanted(copy.name, copy.at, "back")
        if not w.wants(key):  # the next walk knows
            w.ask(key)
            return [(ZERO, copy.source)]
        return []
    return [(Call("==", (copy.fresh, ZERO)), copy.source)]


def identity_of(w: Walk, whole: Array, k: int) -> tuple[Expr, Array | None]:
    """The array that this is in Python, None for one that nobody else has; and the
    number that says so when the program runs: `k`, or -1 if it is a new one.
    """
    base = whole.base or ""
    if not whole.view or base not in w.aliases.copies and base in own_arrays(w):
        return Const(k), None
    if base in w.aliases.copies and not is_new(w, base):
        choices = possible_sources(w, base)
        if len(choices) == 1:
            ((test, source),) = choices
            return Call("where", (test, Const(k), Const(-1))), source
    return Const(k), whole


def is_due(w: Walk, own: str, array: str, at: Loc) -> bool:
    """Will a copy be made equal to what it may be, of which `array` is written?

    Or that to the copy, if `array` is "". Not where contents have changed places,
    or where more happens in the statement once the elements are written.
    """
    wholes = [whole for _, whole in possible_sources(w, own)]
    sources = {a.name for a in wholes if a.name is not None and a.name == a.base}
    copy = w.aliases.copies[own]
    involved = {own, *sources}
    path, made = w.emit.path, w.storage.made_in.get(own, ())
    fixed = {c.name for c in w.found.captures.values()} | {*w.storage.iterated}
    if (
        not wholes
        or any(a.name not in sources for a in wholes)  # a part
        or (array and array not in sources)
        or any(is_reachable(w, a) for a in copy.points_to - sources - {own})
        or path[: len(made)] != made
        or involved & fixed
        or any(len(exchanged_with(w, a)) > 1 for a in involved)
        or any(s in w.aliases.copies and not is_new(w, s) for s in sources)
    ):
        return False
    place = w.storage.place
    if place is None or not w.env.running:
        return False
    node = w.env.running[-1].current
    if node is None or not stays(place, node):
        return False
    new = Due(own, not array, node, place, at)
    if any(d.own == own and d.back != new.back for d in w.aliases.due):
        return False
    if new not in w.aliases.due:
        w.aliases.due.append(new)
    return True


def exchanged_with(w: Walk, array: str) -> set[str]:
    """The array, and what changed places with it."""
    exchanges = [*w.aliases.outer_exchanges, *w.aliases.exchanges]
    return {array}.union(*(g for g in connected(exchanges) if array in g))


def is_read(
    arrays: Set[str], places: Sequence[Place], over: Scope | None = None
) -> bool:
    """May one of the arrays be read behind these places, as it is now?

    By a name of their functions, or by any of `over`, wherever it stands there.
    """
    if over is not None and any(
        Reads(n).inside(over.source.node)
        for n, e in over.bound.items()
        if shares(e, arrays)
    ):
        return True
    return any(
        is_needed(n, place)
        for place in places
        for n, e in place.bound.items()
        if shares(e, arrays)
    )


def present_places(w: Walk) -> list[Place]:
    """The function that is read, and those around its definition."""
    around: list[Scope] = []
    scope = w.env.running[-1] if w.env.running else None
    while scope is not None:
        around.append(scope)
        scope = scope.outer
    return [p for p in running_places(w) if any(p.scope is s for s in around)]


def in_flight(w: Walk, array: str) -> bool:
    """May a value that has no name any more, or none yet, be this copy?"""
    copy = w.aliases.copies[array]
    if any(s is copy.scope for s in w.env.running):
        return False
    return any(
        s.since < copy.index
        for s in w.env.running
        if (s is not w.env.running[-1] or not stores_last(s.current))
        and not isinstance(s.current, (gast.If, gast.For, gast.While))
    )


def foreign_groups(w: Walk) -> list[list[str]]:
    """The arrays that changed places with the caller's, group by group."""
    made = set(list(w.storage.allocated)[w.storage.first :])
    made -= {a for a, copy in w.aliases.copies.items() if copy.fresh is not None}
    return [g for g in connected(w.aliases.exchanges) if set(g) - made]


def turned(w: Walk) -> set[str]:
    """What may have changed places with an array of the caller by now."""
    return {a for group in foreign_groups(w) for a in group}


CALLERS = (
    "this writes to the caller's array or to a new one",
    "give the new array a name of its own",
)


UNSURE = (
    "this array may be what a helper returned, or what another name stands for: that"
    " depends on the run",
    "take a copy where it gets its second name, with `.copy()`",
)


def stays(place: Load | Array, node: gast.AST | None) -> bool:
    """Are the same elements meant when the statement that writes them is over?"""
    index: tuple[Expr, ...]
    if isinstance(place, Load):
        index = place.index
    elif isinstance(place.element, Load):
        index = (*place.element.index, *place.shape)
    else:
        return False
    loads = (isinstance(e, Load) for k in index for e in walk_expr(k))
    return stores_last(node) and not any(loads)


def is_needed(name: str, place: Place) -> bool:
    """May what `name` stands for in this place be read behind it?"""
    node, reads = place.node, Reads(name)
    definition = place.scope.source.node
    if place.scope.text.enclosed(name):
        return True
    if node is None:
        return reads.inside(definition)
    if isinstance(node, gast.Assign) and reads.binds(node.targets):
        # Bound again when all is done: by then it was read if not by the call itself,
        # which has its arguments before it begins.
        return not _is_one_call(node.value) and reads.inside(node)
    if not (place.last and stores_last(node)) and reads.inside(node):
        return True
    return place.scope.text.later(name, node)


def _is_one_call(node: gast.AST) -> bool:
    """Is this one call, whose arguments are no calls?"""
    return isinstance(node, gast.Call) and not any(
        isinstance(n, gast.Call)
        for a in (*node.args, *node.keywords)
        for n in nodes_of(a)
    )


def stores_last(node: gast.AST | None) -> bool:
    """Is to write an array the last thing that this statement does?"""
    match node:
        case gast.Assign(targets=[target]):
            return not isinstance(target, (gast.Tuple, gast.List))
        case gast.AugAssign():
            return True
    return False


def connected(exchanges: Sequence[Exchange]) -> list[list[str]]:
    """The arrays that changed places with each other, directly or not."""
    groups: list[set[str]] = []
    for exchange in exchanges:
        new = set(exchange.pairs)
        for g in [g for g in groups if g & new]:
            groups.remove(g)
            new |= g
        groups.append(new)
    return [sorted(g) for g in groups]
