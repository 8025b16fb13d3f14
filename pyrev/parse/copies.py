"""Copies that stand for other arrays: written back, and made equal behind a write.

A write to a copy that is not new yet goes back into what it stands for, before its name
is bound again, and where the block or the function ends.
"""

from __future__ import annotations

from collections.abc import Set
from dataclasses import replace

import gast

from pyrev.ir.nodes import ONE, ZERO, Assign, Call, Const, If, Load, Loc, Var
from pyrev.parse.names import rank_of
from pyrev.parse.points_to import (
    CALLERS,
    exchanged_with,
    is_clean,
    is_new,
    is_reachable,
    is_read,
    loop_around,
    note_may_be,
    note_reuse,
    note_write,
    origins_of,
    outlives,
    possible_sources,
    running_places,
)
from pyrev.parse.scopes import Scope
from pyrev.parse.values import Array, whole_array
from pyrev.parse.walk import Copy, Due, Walk, Wanted
from pyrev.parse.whole_arrays import assign_elements


def note_copy(
    w: Walk, own: str, name: str, source: Array, scope: Scope, at: Loc
) -> None:
    """`own` is a copy of `source` that stands for it from here on."""
    base = source.base or ""
    origins = {base}
    if base in w.aliases.copies and not is_new(w, base):
        origins |= w.aliases.copies[base].points_to
    made = Copy(name, at, source, frozenset(origins), scope, len(w.storage.allocated))
    made.clean, made.cleaned = len(w.storage.changed), w.emit.path
    if w.wants(Wanted(name, at, "back")):
        made.fresh = Var(w.emit.fresh("fresh"), loc=at)
        w.emit.add(Assign(made.fresh, ZERO, loc=at))
    if w.wants(Wanted(name, at, "selector")) and source.name == source.base:
        made.selector, made.choices = Var(w.emit.fresh("which"), loc=at), (source,)
        w.emit.add(Assign(made.selector, ZERO, loc=at))
    w.aliases.copies[own] = made


def put_back_before(w: Walk, own: str, array: str) -> None:
    """What was written to a copy is in `array`, whose storage is given away."""
    copy = w.aliases.copies[own]
    source = copy.source.base if copy.source is not None else None
    if source == array and not is_new(w, own) and not is_clean(w, own):
        put_back(w, own)


def become_new(w: Walk, array: str, at: Loc) -> None:
    """From here on, in this block, `array` is no other array's copy."""
    copy = w.aliases.copies[array]
    if copy.fresh is not None:
        if copy.source is not None and not is_clean(w, array):
            put_back(w, array)
        w.emit.add(Assign(copy.fresh, ONE, loc=at))
    if copy.selector is not None:
        w.emit.add(Assign(copy.selector, Const(-1), loc=at))
    copy.paths.append(w.emit.path)


def put_back(w: Walk, array: str) -> None:
    """What was written to a copy that is not new yet is in what it stands for."""
    copy = w.aliases.copies[array]
    source, fresh, at = copy.source, copy.fresh, copy.at
    assert source is not None and fresh is not None and source.base is not None
    with w.emit.inner(), w.emit.aside() as made:
        whole = whole_array(array, rank_of(w, array), at)
        assign_elements(w, source, whole, at, replaces=True)
        note_write(w, source.base, at, but=array)
    test = Call("==", (fresh, ZERO), loc=at)
    w.emit.add(If(test, tuple(made), loc=at))
    copy.clean, copy.cleaned = len(w.storage.changed), w.emit.path


def end_block(w: Walk) -> None:
    """Put back what was made in this block."""
    path = w.emit.path
    for array, copy in list(w.aliases.copies.items()):
        if copy.fresh is None or copy.source is None:
            continue
        inside = w.storage.made_in.get(copy.source.base or "")
        if (
            w.storage.made_in[array] == path
            and inside != path
            and not is_clean(w, array)
        ):
            put_back(w, array)


def end_function(w: Walk, scope: Scope, writes: int, turned: bool) -> None:
    """Put back what other functions may read.

    What changed places has its own elements again by then (`turned`); into what
    changed places before it was copy they go before that.
    """
    made = set(list(w.storage.allocated)[w.storage.first :])
    moved = {a for e in w.aliases.exchanges for a in e.pairs}
    for array, copy in list(w.aliases.copies.items()):
        if (
            copy.fresh is None
            or (array in moved) != turned
            or copy.source is None
            or copy.source.base in made
            or array not in w.storage.changed[writes:]
            or is_clean(w, array)
            or len(w.storage.made_in[array]) > len(scope.start)
        ):
            continue
        if not w.env.running or is_read(copy.points_to, running_places(w)):
            if turned and copy.source.base in moved:
                w.refuse("P206", copy.at, *CALLERS)
            put_back(w, array)


def keep_elements(
    w: Walk,
    array: str,
    whole: Array,
    may_be: Set[str],
    named: bool,
    scope: Scope,
    at: Loc,
) -> None:
    """`array` gets elements of an array that may have other names: in `scope` if
    `named`, or in the functions that called it.

    That may be one of `may_be` by then.
    """
    # What is no view is new in Python, whatever it is computed from.
    base = whole.base if whole.view else None
    before = w.aliases.copies.get(array)
    selector = before.selector if before is not None else None
    for own in [n for n, c in w.aliases.copies.items() if array in c.points_to]:
        if own != array and w.aliases.copies[own].fresh is not None:
            put_back_before(w, own, array)
    note_reuse(w, array)
    if array in w.aliases.copies:
        become_new(w, array, at)
    kept = {array}
    if base is not None:
        # Depending on the run it holds what another array is.
        exchanged = exchanged_with(w, base)
        if len(exchanged) > 1:
            may_be = {*may_be, *exchanged}
        elif base in w.aliases.copies and loop_around(w, array) is not None:
            # As it is when the next iteration comes here.
            may_be = {*may_be, *origins_of(w, base)}
        kept = w.aliases.kept_in.setdefault(base, set())
        kept.add(array)
        foreign = is_reachable(w, base, but=scope)
        if named or foreign or len(kept) > 1:
            may_be = {*may_be, base}
    for one in sorted(kept) if may_be else ():
        note_may_be(w, one, may_be, scope, at)
    if before is None or selector is None or before is not w.aliases.copies.get(array):
        return
    if not may_be:
        before.selector = selector
    elif kept == {array} and base == whole.name and outlives(w, base, array):
        # The next of the arrays that it may be.
        w.emit.add(Assign(selector, Const(len(before.choices)), loc=at))
        before.selector, before.choices = selector, (*before.choices, whole)


def settle_due(w: Walk, node: gast.AST | None) -> None:
    """Behind a statement: what it wrote is in the copies and in what they are."""
    while True:
        due = next((d for d in w.aliases.due if d.node is node), None)
        if due is None:
            return
        w.aliases.due.remove(due)
        copy = w.aliases.copies[due.own]
        clean = was_clean(w, due)
        for test, source in possible_sources(w, due.own):
            pair = due.own, source.base or ""
            written, other = pair if due.back else pair[::-1]
            if written != array_of(due.place):
                continue
            target = in_array(due.place, other)
            with w.emit.inner(), w.emit.aside() as made:
                if isinstance(target, Load) and isinstance(due.place, Load):
                    w.emit.add(Assign(target, due.place, loc=due.at))
                elif isinstance(target, Array) and isinstance(due.place, Array):
                    assign_elements(w, target, due.place, due.at, replaces=True)
                note_write(w, other, due.at, but=written, place=target)
            w.emit.add(If(test, tuple(made), loc=due.at))
        if clean:
            copy.clean, copy.cleaned = len(w.storage.changed), w.emit.path


def was_clean(w: Walk, due: Due) -> bool:
    """Had a copy nothing to put back when the statement began that is settled?"""
    copy = w.aliases.copies[due.own]
    written = (
        places[-1].node
        for array, places in zip(
            w.storage.changed[copy.clean :],
            w.storage.changed_in[copy.clean :],
            strict=True,
        )
        if array == due.own
    )
    path = w.emit.path
    return path[: len(copy.cleaned)] == copy.cleaned and all(
        node is due.node for node in written
    )


def array_of(place: Load | Array) -> str | None:
    """The array that these elements are of."""
    return place.array if isinstance(place, Load) else place.base


def in_array(place: Load | Array, array: str) -> Load | Array:
    """The same elements of another array of the same shape."""
    if isinstance(place, Load):
        return replace(place, array=array)
    assert isinstance(place.element, Load)
    return replace(place, element=replace(place.element, array=array))
