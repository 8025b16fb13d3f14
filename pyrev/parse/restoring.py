"""Contents that stand in arrays of the caller are put back at the end of a function.

A selector says, when the program runs, whose contents an array has by then.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import replace

from pyrev.ir.nodes import (
    NOWHERE,
    ONE,
    Alloc,
    Assign,
    Call,
    Const,
    Expr,
    Extent,
    If,
    Load,
    Loc,
    Stmt,
    Var,
    blocks,
    like,
    with_blocks,
)
from pyrev.parse.blocks import new_block
from pyrev.parse.exchanges import emit_swap
from pyrev.parse.names import rank_of
from pyrev.parse.points_to import (
    check_aliases,
    connected,
    foreign_groups,
    note_may_be,
    note_write,
    outer_origins,
)
from pyrev.parse.scopes import Scope
from pyrev.parse.values import Array, Tuple, Value, whole_array
from pyrev.parse.walk import Walk
from pyrev.parse.whole_arrays import make


def note_exchanged_writes(w: Walk, scope: Scope) -> None:
    """Note what is written where arrays have changed places.

    Depending on the run, what is written as one of them is another in Python. The
    exchange itself writes to a global array, too: nobody must see that.
    """
    fixed = {c.name for c in w.found.captures.values()}
    for group in connected(w.aliases.exchanges):
        own = [e for e in w.aliases.exchanges if e.pairs.keys() & {*group}]
        written = w.storage.changed[min(e.since for e in own) :]
        writes = [a for a in group if a in written]
        for array in group:
            if array not in writes and (writes or array in fixed):
                at = w.storage.changed_at[writes[0]] if writes else own[0].at
                note_write(w, array, at, over=scope)
        for array, since in sorted((a, k) for e in own for a, k in e.may_be.items()):
            if array in w.storage.changed[since:]:
                check_aliases(w, array, w.storage.changed_at[array], over=scope)


def restore_contents(w: Walk, result: Value, scope: Scope, mark: int) -> Value:
    """At the end each array that was there before gets its own contents back.

    What is returned is evaluated before that; an array among them is a copy, since
    which array a name stands for depends on the run.
    """
    groups = foreign_groups(w)
    for group in groups:
        check_group(w, group, scope)
    moved = {a for g in groups for a in g}
    states = [Selector(w, g) for g in groups]
    if moved:
        # A copy of what has changed places is a copy of one or another of them.
        for own, copy in list(w.aliases.copies.items()):
            if copy.index >= w.storage.first and own not in moved:
                if copy.points_to & moved:
                    note_may_be(w, own, outer_origins(w, moved), scope, copy.at)
        result = keep_result(w, result, moved, states, scope)
    marks = {e.marker: e.pairs for e in w.aliases.exchanges}

    def settle(block: Sequence[Stmt]) -> list[Stmt]:
        done: list[Stmt] = []
        for s in block:
            match s:
                case Assign(Var(name)) if name in marks:
                    for state in states:
                        done += state.after(marks[name], s.loc)
                case _:
                    inner = tuple(tuple(settle(b)) for b in blocks(s))
                    done.append(with_blocks(s, inner))
        return done

    body = settle(w.emit.take(mark))
    w.emit.extend([s for state in states for s in state.first()] + body)
    for state in reversed(states):
        state.back()
    return result


def check_group(w: Walk, group: Sequence[str], scope: Scope) -> None:
    """Only what is there all the time changes places with the caller's arrays."""
    blocks_ = {
        k for e in w.aliases.exchanges if set(e.pairs) & {*group} for k in e.path
    }
    again = {a for a, path in w.aliases.replaced if blocks_ & {*path}}
    made = list(w.storage.allocated)[w.storage.first :]
    inner = {a for a in made if len(w.storage.made_in[a]) > len(scope.start)}
    for array in group:
        if array in again | inner:
            w.refuse(
                "P206",
                w.storage.allocated.get(array, NOWHERE),
                f"`{array}`, which is made in a loop or a branch, changes places"
                " with an array of the caller",
                f"make it before, and write `{array}[:] = ...` there",
            )


def keep_result(
    w: Walk, value: Value, moved: Set[str], states: Sequence[Selector], scope: Scope
) -> Value:
    """A returned value, as it is before contents go back."""
    match value:
        case Tuple(elements):
            kept = (keep_result(w, e, moved, states, scope) for e in elements)
            return Tuple(tuple(kept))
        case Array(name=str(name)) if name in moved:
            return keep_array(w, name, moved, states, scope, value.loc)
        case Array() if value.reads() & moved:
            copied = make(w, replace(value, view=False), "result", value.loc)
            if value.view and copied.name is not None:
                note_may_be(w, copied.name, outer_origins(w, moved), scope, value.loc)
            return copied
        case Load() | Extent() | Call():
            return w.emit.temp(value, "result")
    return value


def keep_array(
    w: Walk,
    array: str,
    moved: Set[str],
    states: Sequence[Selector],
    scope: Scope,
    at: Loc,
) -> Array:
    """A copy of an array that is returned, made before contents go back."""
    shape = tuple(Extent(array, k) for k in range(rank_of(w, array)))
    made = w.emit.fresh("result")
    w.storage.allocated[made] = at
    w.storage.made_in[made] = w.emit.path
    w.storage.sizes[made] = shape
    w.found.same.append((made, array))
    note_may_be(w, made, outer_origins(w, moved), scope, at)
    w.emit.add(Alloc(made, shape, None, like(array), array, loc=at))
    for state in states:
        if array in state.arrays:
            note_selector(w, made, state, array, at)
    return whole_array(made, len(shape), at)


def note_selector(w: Walk, made: str, state: Selector, array: str, at: Loc) -> None:
    """`made` is a copy of the array whose contents `array` has by now."""
    copy = w.aliases.copies.get(made)
    outer = [a for a in state.arrays if a in outer_origins(w, {a})]
    if copy is None or not copy.points_to <= {*outer}:
        return
    copy.selector = Var(w.emit.fresh("which"), loc=at)
    copy.choices = tuple(
        whole_array(a, rank_of(w, a), at) if a in outer else None for a in state.arrays
    )
    w.emit.add(Assign(copy.selector, state.of(array), loc=at))


class Selector:
    """Where the contents of some arrays are, as numbers of the running program."""

    def __init__(self, w: Walk, arrays: Sequence[str]) -> None:
        self.w, self.arrays = w, list(arrays)
        count = 1 if len(arrays) == 2 else len(arrays)
        hint = "turned" if count == 1 else "place"
        self.vars = [Var(w.emit.fresh(hint)) for _ in range(count)]

    def of(self, array: str) -> Expr:
        """The number of the array whose contents this one has."""
        at = self.arrays.index(array)
        if len(self.vars) > 1:
            return self.vars[at]
        (turned,) = self.vars
        return Call("-", (ONE, turned)) if at else turned

    def first(self) -> list[Stmt]:
        """At the beginning each array has its own."""
        return [Assign(v, Const(k)) for k, v in enumerate(self.vars)]

    def after(self, exchange: Mapping[str, str], at: Loc) -> list[Stmt]:
        """What an exchange does to the numbers."""
        if not set(exchange) <= set(self.arrays):
            return []
        if len(self.vars) == 1:
            (turned,) = self.vars
            return [Assign(turned, Call("-", (ONE, turned), loc=at), loc=at)]
        at_array = dict(zip(self.arrays, self.vars, strict=True))
        held = {a: Var(self.w.emit.fresh("held"), loc=at) for a in exchange}
        out: list[Stmt] = [Assign(held[a], at_array[a], loc=at) for a in exchange]
        out += [Assign(at_array[a], held[b], loc=at) for a, b in exchange.items()]
        return out

    def back(self) -> None:
        """Each array gets its own contents again."""
        w, at = self.w, NOWHERE
        if len(self.vars) == 1:
            (turned,) = self.vars
            pairs = [(0, 1, Call("==", (turned, ONE)))]
        else:
            count = range(len(self.arrays))
            pairs = [
                (i, j, Call("==", (self.vars[j], Const(i))))
                for i in count
                for j in count[i + 1 :]
            ]
        for i, j, test in pairs:
            one, two = self.arrays[i], self.arrays[j]
            with new_block(w) as made:
                emit_swap(w, {one: two, two: one}, at)
            if len(self.vars) > 1:
                made.append(Assign(self.vars[j], self.vars[i]))
            w.emit.add(If(test, tuple(made)))
