"""How much room arrays need whose lengths change: for all that they ever hold.

A length that is known where the array is made is room for it; one that is the length
before and something more, ``out = np.append(out, v)``, adds that for each turn of the
loops around. What neither holds for is checked when the program runs (`resized`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from pyrev.ir.affine import Linear, beyond, from_linear, integer, largest, linear
from pyrev.ir.liveness import exposed
from pyrev.ir.nodes import (
    ZERO,
    Alloc,
    Assign,
    Block,
    Call,
    Const,
    Expr,
    Extent,
    For,
    If,
    Loop,
    Stmt,
    Var,
    While,
    blocks,
    children,
    rebuild,
    walk,
    walk_expr,
    written,
)
from pyrev.ir.trip_counts import trip_count

#: The numbers that say how long arrays are by now.
Lengths = Mapping[str, tuple[Var, ...]]

#: So many scalars and arrays are followed back.
_DEEP = 12


@dataclass(frozen=True, slots=True)
class Site:
    """Where an array gets a length, and in which loops."""

    length: Expr
    loops: tuple[Loop, ...]


@dataclass(slots=True)
class Room:
    """What an axis of an array needs besides the length that it is made with."""

    most: list[Expr] = field(default_factory=list)
    more: list[Expr] = field(default_factory=list)
    #: The lengths that there is room for then.
    held: set[Expr] = field(default_factory=set)

    def at_least(self, length: Expr) -> Expr:
        """The length that the array is to be made with."""
        room = largest([length, *self.most])
        form = linear(room)
        for more in self.more:
            form = form.plus(linear(more))
        return from_linear(form)


def rooms(block: Block, lengths: Lengths) -> dict[tuple[str, int], Room]:
    """The room of each axis of the arrays whose `lengths` change.

    Those that are made twice, as by two calls of a helper, have what they are made
    with.
    """
    if not lengths:
        return {}
    made = Counter(s.array for s in walk(block) if isinstance(s, Alloc))
    search = _Search(block, lengths)
    found = {}
    for alloc, later, around in _allocs(block, frozenset(), ()):
        if alloc.array in lengths and made[alloc.array] == 1:
            for axis in range(len(alloc.shape)):
                room = search.room(alloc, axis, later, around)
                found[alloc.array, axis] = room
    return found


def _allocs(
    block: Sequence[Stmt], later: frozenset[str], around: tuple[Loop, ...]
) -> Iterator[tuple[Alloc, frozenset[str], tuple[Loop, ...]]]:
    """The arrays that are made, what is written once they are, and the loops around."""
    for k, s in enumerate(block):
        behind = later | written(tuple(block[k + 1 :]))
        if isinstance(s, Alloc):
            yield s, behind, around
        elif isinstance(s, (For, While)):
            yield from _allocs(s.body, behind | written((s,)), (*around, s))
        elif isinstance(s, If):
            for inner in blocks(s):
                yield from _allocs(inner, behind, around)


def is_length(e: Expr) -> bool:
    """Is this surely not negative?"""
    match e:
        case Const(int(k)):
            return k >= 0
        case Extent():
            return True
        case Call("max", args):
            return any(map(is_length, args))
        case Call("+" | "*" | "min", args):
            return all(map(is_length, args))
        case Call("//", (above, Const(int(by)))):
            return by > 0 and is_length(above)
    return False


def as_length(e: Expr) -> Expr:
    """A size where an array is made that only another path may need: not negative."""
    return e if is_length(e) else Call("max", (e, ZERO), loc=e.loc)


class _Search:
    """What lengths are made of, in a program."""

    def __init__(self, block: Block, lengths: Lengths) -> None:
        self.lengths = lengths
        self.owners = {v: (a, k) for a, n in lengths.items() for k, v in enumerate(n)}
        self.sites: dict[tuple[str, int], list[Site]] = {}
        self.values: dict[str, list[Expr]] = {}
        self.shapes: dict[str, list[tuple[Expr, ...]]] = {}
        self._collect(block, ())
        #: Those that may be read before: parameters.
        self.given = {n for n in self.values if exposed(block, n)[0]}

    def _collect(self, block: Block, loops: tuple[Loop, ...]) -> None:
        for s in block:
            match s:
                case Assign(Var() as target, value):
                    owner = self.owners.get(Var(target.name))
                    if owner is None:
                        self.values.setdefault(target.name, []).append(value)
                    else:
                        self.sites.setdefault(owner, []).append(Site(value, loops))
                case Alloc(array, shape) if array not in self.lengths:
                    self.shapes.setdefault(array, []).append(shape)
                case For(index) | While(index=index) if index:
                    self.values.setdefault(index, []).append(Var(index))
            inside = (*loops, s) if isinstance(s, (For, While)) else loops
            for inner in blocks(s):
                self._collect(inner, inside)

    def room(
        self, alloc: Alloc, axis: int, later: frozenset[str], around: tuple[Loop, ...]
    ) -> Room:
        """What an axis of a new array needs; `later` is written once it is made."""
        found, own = Room(), Extent(alloc.array, axis)
        for site in self.sites.get((alloc.array, axis), ()):
            limits = self._limits(site.length, own, later, _DEEP)
            inside = site.loops[: len(around)] == around
            turns = self._turns(site.loops[len(around) * inside :], later)
            if limits is None or (turns is None and any(g.grows for g in limits)):
                continue
            for limit in limits:
                if limit.relative and limit.grows:
                    assert turns is not None
                    found.more.append(_product(limit.form, turns))
                elif not limit.relative:
                    found.most.append(from_linear(limit.form))
            found.held.add(site.length)
        return found

    def _turns(self, loops: Sequence[Loop], later: frozenset[str]) -> list[Expr] | None:
        """How often each of these loops runs; None if it is not known beforehand."""
        found = []
        for loop in loops:
            if isinstance(loop, While):
                return None
            count = self._resolved(trip_count(loop), None, _DEEP)
            if count is None or not is_steady(count, later):
                return None
            found.append(count)
        return found

    def _limits(
        self, length: Expr, own: Extent, later: frozenset[str], depth: int
    ) -> list[Limit] | None:
        """What a length is at most, whatever it is made of; None if it is not known."""
        match length:
            case Call("max", args):
                each = [self._limits(a, own, later, depth) for a in args]
                if any(e is None for e in each):
                    return None
                return [limit for e in each for limit in e or ()]
            case Call("min", args):
                each = [self._limits(a, own, later, depth) for a in args]
                return next((e for e in each if e is not None), None)
        made = self._resolved(length, own, depth)
        match made:
            case None:
                return None
            case Call("max" | "min") if made != length:
                return self._limits(made, own, later, depth - 1) if depth else None
            case Call("//", (above, Const(int(by)))) if by > 1:
                form = linear(above)
                if form.without(own).terms or form.constant >= by:
                    return None
                if form.coefficient(own) == 1:  # not more than before, then
                    return [Limit(Linear((), 0), True)]
        form = linear(made)
        times, rest = form.coefficient(own), form.without(own)
        if times not in (0, 1):
            return None
        if any(own in walk_expr(a) or not is_steady(a, later) for a, _ in rest.terms):
            return None
        return [Limit(rest, times == 1)]

    def _resolved(self, e: Expr, own: Extent | None, depth: int) -> Expr | None:
        """An expression in terms of what its scalars and arrays were made of, each of
        which there is once; None if there is more to it than that.
        """
        match e:
            case Var(name) if e in self.owners:
                if own is not None and self.owners[e] == (own.array, own.axis):
                    return own
                return None
            case Var(name) if name in self.values:
                values = self.values[name]
                if len(values) > 1 or not depth or name in self.given:
                    return None
                return self._resolved(values[0], own, depth - 1)
            case Extent(array, axis) if own is not None and e == own:
                return own
            case Extent(array, axis) if array in self.lengths:
                return None
            case Extent(array, axis) if array in self.shapes:
                shapes = self.shapes[array]
                if len(shapes) > 1 or not depth:
                    return None
                return self._resolved(shapes[0][axis], own, depth - 1)
        new = [self._resolved(a, own, depth) for a in children(e)]
        if any(a is None for a in new):
            return None
        return rebuild(e, tuple(a for a in new if a is not None)) if new else e


@dataclass(frozen=True, slots=True)
class Limit:
    """A length that is not exceeded: of its own, or more than that before."""

    form: Linear
    relative: bool

    @property
    def grows(self) -> bool:
        """May it be more than the length before?"""
        return self.relative and not beyond(ZERO, from_linear(self.form))


def is_steady(e: Expr, later: frozenset[str]) -> bool:
    """Is this the same wherever it is evaluated, and is nothing raised there?"""
    for part in walk_expr(e):
        match part:
            case Var(name) if name not in later:
                pass
            case Const() | Extent():
                pass
            case Call("//" | "%", (_, by)) if (integer(by) or 0) > 0:
                pass
            case Call("+" | "-" | "*" | "min" | "max" | "neg" | "abs"):
                pass
            case _:
                return False
    return True


def _product(form: Linear, turns: Sequence[Expr]) -> Expr:
    """So much more in each turn, or nothing."""
    made = from_linear(form)
    if integer(made) is None:
        made = Call("max", (made, ZERO))
    for count in turns:
        made = count if made == Const(1) else Call("*", (count, made))
    return made
