"""A name is bound to an array, for the first time or again."""

from __future__ import annotations

from dataclasses import replace

import gast

from pyrev.ir.nodes import Loc
from pyrev.parse.copies import keep_elements
from pyrev.parse.joins import (
    ask_copy,
    bind_array,
    compound_at,
    gives_arrays,
    is_deeper,
    lends_back,
    refuse_paths,
    replace_elements,
    take_over,
)
from pyrev.parse.names import array_name, program_name
from pyrev.parse.points_to import origins_of, shares, turned
from pyrev.parse.rewriting.control import PLACE, RETURNED
from pyrev.parse.rooms import refuse_rebinding
from pyrev.parse.scopes import Scope, parameter_ids
from pyrev.parse.shapes import RankFact
from pyrev.parse.targets import read_target
from pyrev.parse.unset import ask_unset
from pyrev.parse.values import Array, same
from pyrev.parse.walk import Walk, Wanted
from pyrev.parse.whole_arrays import make, reusable


def bind_name(
    w: Walk,
    target: gast.Name,
    value: Array,
    since: int,
    at: Loc,
    scope: Scope,
) -> None:
    """``name = array``: a new array takes the name, another gets one more.

    It is new if it was made after the first `since` arrays.
    """
    name = target.id
    if name in scope.helpers:
        read_target(w, target, scope)
        return
    if hasattr(target, RETURNED):
        if not take_result(w, target, value, at, scope):
            return
        if getattr(target, RETURNED) and is_left(w, value):
            value = replace(value, view=False)
    current = scope.bound.get(name)
    if name in scope.unset and not ask_unset(w, name, value.rank, scope):
        return
    if name in scope.numbers:
        if is_deeper(w, name, scope):
            refuse_rebinding(w, name, at, "`{}` is a number before")
            return
        scope.numbers.discard(name)
        current = None
    elif not isinstance(current, Array):
        current = None
    elif name not in scope.paths and not scope.inlined:
        # A parameter, which is an array by what this walk knows already.
        current = current if name in parameter_ids(scope) else None
    if isinstance(current, Array):
        if same(current, value):
            # As in ``u = relax(u)`` with a helper that returns its parameter.
            return
        if overwrites(w, name, current, value, since, at, scope):
            return
    before = program_name(w, scope.bound.get(name))
    guessed = not w.known.exact and name in parameter_ids(scope)
    if current is None and guessed and before is not None:
        # A parameter, and maybe an array from the beginning.
        if value.name is None:
            w.found.alike.append((before, value.rank))
        else:
            w.found.facts.append(RankFact(value.name, value.rank, at, least=True))
            w.found.alike.append((before, value.name))
    if value.name is None and not value.view:
        made = make(w, value, name, at, array_name(w, name, scope))
        scope.owned.add(made.name or "")
        bind_array(w, name, made, scope)
        return
    if value.name is not None and value.name in list(w.storage.allocated)[since:]:
        w.found.spelling[value.name] = array_name(w, name, scope)
        scope.owned.add(value.name)
    bind_array(w, name, reusable(w, value, scope, name), scope)


def take_result(
    w: Walk, target: gast.Name, value: Array, at: Loc, scope: Scope
) -> bool:
    """Is an array that an early `return` gives bound to the name of the results?

    That these are no numbers is known to the next walk.
    """
    if value.view and value.base not in w.storage.allocated and not scope.inlined:
        if not lends_back(w, getattr(target, PLACE), value, at):
            refuse_paths(w, at, "another path returns another array")
            return False
    w.ask(Wanted(target.id, scope.source.loc(scope.source.node), "result"))
    return gives_arrays(w, target.id, scope)


def is_left(w: Walk, value: Array) -> bool:
    """Has nothing but the function that ends here seen the array that it returns?

    Then a copy will do: nobody writes to the array again.
    """
    base = value.base or ""
    moved = [*w.aliases.exchanges, *w.aliases.outer_exchanges]
    return (
        base in [*w.storage.allocated][w.storage.first :]
        and base not in w.aliases.copies
        and not any(base in e.pairs for e in moved)
    )


def overwrites(
    w: Walk,
    name: str,
    current: Array,
    value: Array,
    since: int,
    at: Loc,
    scope: Scope,
) -> bool:
    """Rebind `name`: True if its array took over the elements of the new one.

    Where the name was bound in this very block it simply stands for the new array.
    Inside a loop or a branch the array that only this name has receives the new
    values at once; where another name has it too, `restore_bindings` sees to it at the
    end of the block.
    """
    if not is_deeper(w, name, scope):
        return False
    bound = scope.paths.get(name, scope.start)
    compound = compound_at(w, bound)
    if compound is not None and not compound.is_live(name):
        return False
    path = w.emit.path
    # What changed places with an array of the caller may be that array by now.
    held = [a for a in scope.owned if a not in turned(w)]
    alone = current.name in held and not any(
        shares(e, {current.name or ""})
        for user, e in scope.bound.items()
        if user != name and path[: len(p := scope.paths.get(user, ()))] == p
    )
    alone = alone and current.name not in w.storage.iterated
    new = value.name in list(w.storage.allocated)[since:]
    if alone and (new or not value.view or leaves(value, bound, scope)):
        assert current.name is not None
        if not take_over(w, current, value, name, at):
            return True
        may_be = origins_of(w, value.base)
        keep_elements(w, current.name, value, may_be, False, scope, at)
        w.aliases.replaced.append((current.name, path[len(scope.start) :]))
        if not value.blank:
            replace_elements(w, current, value, at)
        for user, e in scope.bound.items():
            if same(e, value) and user != name:
                scope.retired.add(user)
        return True
    if new or not value.view:
        ask_copy(w, name, bound, current.name in held)
    return False


def leaves(value: Array, bound: tuple[int, ...], scope: Scope) -> bool:
    """Is this an array made since, which nobody reads by its other names again?"""
    others = [n for n, e in scope.bound.items() if same(e, value)]
    # Also in the next iteration of a loop around.
    if any(scope.text.later(n, scope.current) for n in others):
        return False
    for user, e in scope.bound.items():
        path = scope.paths.get(user, scope.start)
        if same(e, value) and len(path) > len(bound):
            return value.name in scope.owned
    return False
