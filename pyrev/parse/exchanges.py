"""Arrays that change places: ``u, v = v, u`` in a loop or a branch.

The names change places when the text is read, and nothing moves. A loop whose body
exchanges names has that body once for each order of them, if they are few; otherwise,
and where paths meet, the contents are exchanged.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence, Set

import gast

from pyrev.ir.nodes import (
    ONE,
    ZERO,
    Assign,
    Block,
    Call,
    Check,
    Const,
    Extent,
    For,
    If,
    Load,
    Loc,
    Stmt,
    Var,
)
from pyrev.parse.bindings import identifiers
from pyrev.parse.blocks import new_block
from pyrev.parse.joins import Arrays, ask_copy
from pyrev.parse.names import rank_of
from pyrev.parse.points_to import CALLERS, mix_origins, origins_of, shares
from pyrev.parse.scopes import Helper, Scope
from pyrev.parse.values import Array, Operand, same, stored_in
from pyrev.parse.walk import Compound, Exchange, Walk

# Names that come back after more iterations than this are no ring of buffers: their
# contents are exchanged, and the body stays one.
_LONGEST_CYCLE = 8


#: What the names of arrays stand for before each copy of a loop's body.
Phases = Sequence[Arrays]


def rotate_names(
    w: Walk, targets: Sequence[gast.AST], values: Sequence[Operand], scope: Scope
) -> bool:
    """``u, v = v, u`` of whole arrays: the names change places, nothing moves."""
    names_ = [t.id for t in targets if isinstance(t, gast.Name)]
    if len({*names_}) != len(targets) or len(values) != len(targets):
        return False
    if not all(isinstance(v, (Array, Var)) for v in values):
        return False
    if not any(isinstance(v, Array) for v in values):
        return False
    left = [scope.bound.get(n) for n in names_]
    for v in values:
        found = next((k for k, e in enumerate(left) if same(e, v)), None)
        if found is None:
            return False
        del left[found]
    for n, v in zip(names_, values, strict=True):
        scope.bound[n] = v
    # What changes places with an array is one, of the same rank.
    stored = [s for s in map(stored_in, values) if s is not None]
    w.found.same += [(stored[0], other) for other in stored[1:]]
    return True


def rotation(
    w: Walk,
    scope: Scope,
    start: Arrays,
    body: list[Stmt],
    copy: Callable[[int], list[Stmt]],
) -> tuple[list[list[Stmt]], Phases]:
    """The body as often as it takes for swapped names to come back.

    ``u, v = v, u`` at the end of a body exchanges two names: the next iteration is
    the same text with the names exchanged, so two of them are one without. Where
    that would take too many, or the body is to stand there once, it ends with an
    exchange of the contents.
    """
    end = dict(scope.bound)
    moved = {n for n, e in start.items() if not same(end.get(n), e)}
    if not moved:
        return [body], [start]
    of = {e.name: n for n, e in start.items() if n in moved}
    moves = {n: of[stored_in(end[n])] for n in moved}
    period = _period(moves)
    mine = [stored_in(end[n]) or "" for n in moved]
    own = all(a in w.storage.allocated and not origins_of(w, a) for a in mine)
    w.found.foreign = w.found.foreign or not own
    if w.known.rolled or period > _LONGEST_CYCLE:
        exchange_into(w, body, start, scope, w.env.compounds[-1])
        return [body], [start]
    w.found.unrolled = True
    copies = [body]
    while len(copies) < period:
        for name, value in list(scope.bound.items()):
            if stored_in(value) in w.storage.allocated and name not in start:
                scope.bound[name] = Var(w.emit.fresh(name))
        copies.append(copy(len(copies)))
    lost = sorted(n for n in moved if not same(scope.bound[n], start[n]))
    if lost:  # what they stood for has no name any more
        w.refuse(
            "P206",
            w.env.compounds[-1].at,
            f"`{lost[0]}` stands for another array in each iteration of this loop,"
            " and does not come back to the first",
            "give each array a name of its own",
        )
        scope.bound |= start
        return [body], [start]
    phases = [start]
    while len(phases) < period:
        now = phases[-1]
        phases.append({n: now[moves.get(n, n)] for n in start})
    return copies, phases


def undo_rotation(
    w: Walk,
    phase: Var | Const,
    phases: Phases,
    scope: Scope,
    around: Compound,
) -> None:
    """Exchange contents, so that each name stands for its first array again.

    Where it is known how often the loop ran nothing moves.
    """
    if isinstance(phase, Const):
        scope.bound |= phases[int(phase.value)]
        return
    start = phases[0]
    moved = {n for n in start if not same(phases[1][n], start[n])}
    for k, now in enumerate(phases[1:], 1):
        source = [(start[n], now[n]) for n in sorted(moved)]
        with new_block(w) as made:
            exchange_contents(w, source, moved, scope, around)
        test = Call("==", (phase, Const(k)), loc=around.at)
        w.emit.add(If(test, tuple(made), loc=around.at))
    scope.bound |= start


def exchange_into(
    w: Walk, block: list[Stmt], target: Arrays, scope: Scope, around: Compound
) -> None:
    """Exchange contents behind `block` until names stand for those of `target`."""
    moved = {n: e for n, e in target.items() if not same(scope.bound[n], e)}
    if moved:
        source = [(e, scope.bound[n]) for n, e in moved.items()]
        with w.emit.into(block):
            exchange_contents(w, source, moved.keys(), scope, around)
    scope.bound |= target


def exchange_contents(
    w: Walk,
    source: Sequence[tuple[Array, Operand]],
    moved: Set[str],
    scope: Scope,
    around: Compound,
) -> None:
    """``a[...], b[...] = b[...], a[...]`` for any number of arrays, as loops.

    The statement behind them stands for the exchange until the end of the function
    shows whether an array of the caller takes part.
    """
    pairs = {
        a.name: b.name
        for a, b in source
        if isinstance(b, Array) and a.name is not None and b.name is not None
    }
    refuse_witnesses(w, pairs, moved, scope, around)
    bound = {n: stored_in(scope.bound[n]) for n in sorted(moved)}
    users = {array: n for n, array in bound.items() if array is not None}
    for cycle in cycles(pairs):
        if len(cycle) > 1:
            exchange_cycle(w, cycle, users, scope, around)


def exchange_cycle(
    w: Walk,
    pairs: Mapping[str, str],
    users: Mapping[str, str],
    scope: Scope,
    around: Compound,
) -> None:
    """Exchange arrays of one shape; `users` are the names that stand for them."""
    at = around.at
    arrays = list(pairs)
    first = arrays[0]
    rank = rank_of(w, first)
    message = f"`{users.get(first, first)}` and `%s` change places"
    message += " and have different shapes"
    w.emit.extend(
        Check(
            Call("==", (Extent(a, k), Extent(first, k)), loc=at),
            "ValueError",
            message % users.get(a, a),
            loc=at,
        )
        for a in arrays[1:]
        for k in range(rank)
    )
    w.found.alike_dtypes += [(first, a) for a in arrays[1:]]
    w.found.same += [(first, a) for a in arrays[1:]]
    for copy in w.aliases.copies.values():
        # Where its elements are to be put back others would stand by then.
        base = copy.source.base if copy.source is not None else None
        if copy.fresh is not None and base in pairs:
            w.refuse("P206", at, *CALLERS)
    may_be = mix_origins(w, arrays, scope, at)
    emit_swap(w, pairs, at)
    marker = w.emit.fresh("exchange")
    w.emit.add(Assign(Var(marker), ZERO, loc=at))
    again = [
        c.since
        for c in w.env.compounds
        if c.scope is scope and c is not around and not isinstance(c.node, gast.If)
    ]
    since = again[0] if again else len(w.storage.changed)
    w.aliases.exchanges.append(Exchange(pairs, w.emit.path, since, at, may_be, marker))


def emit_swap(w: Walk, pairs: Mapping[str, str], at: Loc) -> None:
    """The loops that give each array the elements of another."""
    arrays = list(pairs)
    first = arrays[0]
    rank = rank_of(w, first)
    index = tuple(Var(w.emit.index(k), loc=at) for k in range(rank))
    held = {a: Var(w.emit.fresh(f"{a}_held"), loc=at) for a in arrays}
    body: Block = tuple(Assign(held[a], Load(a, index, loc=at), loc=at) for a in arrays)
    body += tuple(
        Assign(Load(a, index, loc=at), held[b], loc=at) for a, b in pairs.items()
    )
    for k in reversed(range(rank)):
        extent = Extent(first, k, loc=at)
        body = (For(index[k].name, ZERO, extent, ONE, body, loc=at),)
    w.emit.extend(body)


def refuse_witnesses(
    w: Walk,
    pairs: Mapping[str, str],
    moved: Set[str],
    scope: Scope,
    around: Compound,
) -> None:
    """What else names the arrays would see contents that Python leaves in place."""

    def sees(e: Operand) -> bool:
        return shares(e, pairs.keys())

    found = [n for n, e in scope.bound.items() if n not in moved and sees(e)]
    found = [n for n in found if around.is_live(n)]
    helpers = [h for h in scope.helpers.values() if isinstance(h, Helper)]
    functions = [h for h in helpers if h.scope is not None]
    outer = [(scope.source.node, scope.outer)]
    outer += [(h.source.node, h.scope) for h in functions if h.scope is not scope]
    for node, place in outer:
        seen = identifiers(node)
        while place is not None:
            found += [n for n, e in place.bound.items() if n in seen and sees(e)]
            place = place.outer
    if any(a in w.storage.iterated for a in pairs):
        found.append("the array that a loop runs over")
    if not found:
        return
    # Where each of them has a copy of its own, nobody else sees it.
    own = [ask_copy(w, n, scope.paths.get(n, scope.start), False) for n in moved]
    for name in [] if any(own) else found[:1]:
        w.refuse(
            "P206",
            around.at,
            f"`{name}` is another name of an array that changes places here",
            "use one name, or write `.copy()`",
        )


def _period(moves: Mapping[str, str]) -> int:
    """How often a permutation is done until everything is where it was.

    >>> _period({"a": "b", "b": "a", "c": "d", "d": "e", "e": "c"})
    6
    """
    return math.lcm(*map(len, cycles(moves)))


def cycles(moves: Mapping[str, str]) -> list[dict[str, str]]:
    """A permutation as the cycles that it is made of.

    >>> cycles({"a": "b", "c": "c", "b": "a"})
    [{'a': 'b', 'b': 'a'}, {'c': 'c'}]
    """
    found: list[dict[str, str]] = []
    left = dict(moves)
    while left:
        name = next(iter(left))
        cycle: dict[str, str] = {}
        while name in left:
            cycle[name] = left.pop(name)
            name = cycle[name]
        found.append(cycle)
    return found
