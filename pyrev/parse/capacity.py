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
    Add,
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
from pyrev.ir.trip_counts import most_trips, trip_count

#: The numbers that say how long arrays are by now.
Lengths = Mapping[str, tuple[Var, ...]]

#: So many scalars and arrays are followed back.
_DEEP = 12
#: No array has this length.
_NO_LENGTH = Extent("", 0)


@dataclass(frozen=True, slots=True)
class Site:
    """Where an array gets a length, and in which loops."""

    length: Expr
    loops: tuple[Loop, ...]


@dataclass(frozen=True, slots=True)
class _Binding:
    """A value that a number gets, and in which loops and branches."""

    value: Expr
    around: tuple[Loop | If, ...]


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
        self.values: dict[str, list[_Binding]] = {}
        self.shapes: dict[str, list[tuple[Expr, ...]]] = {}
        #: The numbers whose limit is being looked for.
        self.counting: set[str] = set()
        self._collect(block, ())
        #: Those that may be read before: parameters.
        self.given = {n for n in self.values if exposed(block, n)[0]}

    def _collect(self, block: Block, around: tuple[Loop | If, ...]) -> None:
        for s in block:
            match s:
                case Assign(Var() as target, value):
                    owner = self.owners.get(Var(target.name))
                    if owner is None:
                        found = self.values.setdefault(target.name, [])
                        found.append(_Binding(value, around))
                    else:
                        site = Site(value, _loops(around))
                        self.sites.setdefault(owner, []).append(site)
                case Add(Var() as target, value):
                    found = self.values.setdefault(target.name, [])
                    found.append(_Binding(Call("+", (target, value)), around))
                case Alloc(array, shape) if array not in self.lengths:
                    self.shapes.setdefault(array, []).append(shape)
                case For(index) | While(index=index) if index:
                    found = self.values.setdefault(index, [])
                    found.append(_Binding(Var(index), around))
            inside = (*around, s) if isinstance(s, (For, While, If)) else around
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
        """How often each of these loops runs at most; None if it is not known
        beforehand.
        """
        found = []
        outer: list[For] = []
        for loop in loops:
            if isinstance(loop, While):
                return None
            most = (trip_count(loop), most_trips(loop, outer))
            counts = (
                None if n is None else self._resolved(n, None, _DEEP) for n in most
            )
            known = [n for n in counts if n is not None and is_steady(n, later)]
            if not known:
                return None
            found.append(known[0])
            outer.append(loop)
        return found

    def _limits(
        self, length: Expr, own: Extent, later: frozenset[str], depth: int
    ) -> list[Limit] | None:
        """What a length is at most, whatever it is made of; None if it is not known."""
        match length:
            case Call("where", (Call("<", (number, Const(0))), low, high)):
                # As a slice up to `number` ends; it is -1 at most in the first case.
                form = linear(low)
                if (times := form.coefficient(number)) > 0:
                    low = from_linear(form.without(number).plus(Linear((), -times)))
                return self._limits(Call("max", (low, high)), own, later, depth)
            case Extent(array, axis) if (
                length != own and array in self.shapes and depth
            ):
                made = self._extent(array, axis)
                if made is None:
                    return None
                return self._limits(made, own, later, depth - 1)
            case Call("max", args):
                return self._highest(args, own, later, depth)
            case Call("min", args):
                each = [self._limits(a, own, later, depth) for a in args]
                return next((e for e in each if e is not None), None)
            case Var(name) if self._is_counted(length) and depth:
                return self._counted(name, later, depth - 1)
            case Call("+" | "-" | "*") if depth:
                form = linear(length)
                atoms = [(a, k) for a, k in form.terms if self._is_counted(a)]
                if len(atoms) == 1 and atoms[0][1] > 0:
                    return self._more(*atoms[0], form, own, later, depth - 1)
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

    def _highest(
        self, lengths: Sequence[Expr], own: Extent, later: frozenset[str], depth: int
    ) -> list[Limit] | None:
        """What each of several lengths is at most; None if that of one is not known."""
        each = [self._limits(e, own, later, depth) for e in lengths]
        if any(e is None for e in each):
            return None
        return [limit for e in each for limit in e or ()]

    def _is_counted(self, e: Expr) -> bool:
        return isinstance(e, Var) and len(self.values.get(e.name, ())) > 1

    def _more(
        self,
        counted: Expr,
        times: int,
        length: Linear,
        own: Extent,
        later: frozenset[str],
        depth: int,
    ) -> list[Limit] | None:
        """What a `length` is at most in which a number stands that is counted."""
        rest = from_linear(length.without(counted))
        limits = self._limits(counted, own, later, depth)
        others = self._limits(rest, own, later, depth)
        if limits is None or others is None or any(o.relative for o in others):
            return None
        return [
            Limit(other.form.plus(limit.form, times), False)
            for limit in limits
            for other in others
        ]

    def _counted(
        self, name: str, later: frozenset[str], depth: int
    ) -> list[Limit] | None:
        """What a number is at most that begins anew and is counted up from there: as
        many times more as the loops run around where it is counted.
        """
        if name in self.given or name in self.counting:
            return None
        begins: list[_Binding] = []
        total = Linear((), 0)
        steps: list[tuple[int, _Binding]] = []
        for binding in self.values[name]:
            if binding.value == Var(name):
                return None  # a loop counts with it
            form = linear(binding.value)
            if form.coefficient(Var(name)) != 1:
                begins.append(binding)
                continue
            more = integer(from_linear(form.without(Var(name))))
            if more is None:
                return None
            if more > 0:
                steps.append((more, binding))
        if not begins:
            return None
        common = _loops_around(begins, [b for _, b in steps])
        for more, binding in steps:
            turns = self._turns(_loops(binding.around[common:]), later)
            if turns is None:
                return None
            total = total.plus(linear(_product(Linear((), more), turns)))
        self.counting.add(name)
        values = [b.value for b in begins]
        limits = self._highest(values, _NO_LENGTH, later, depth)
        self.counting.discard(name)
        if limits is None:
            return None
        return [Limit(limit.form.plus(total), False) for limit in limits]

    def _extent(self, array: str, axis: int) -> Expr | None:
        """What an array that is made once is made with; None if it is made twice, or
        turns out to have more axes than so far.
        """
        shapes = self.shapes[array]
        once = len(shapes) == 1 and axis < len(shapes[0])
        return shapes[0][axis] if once else None

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
                return self._resolved(values[0].value, own, depth - 1)
            case Extent(array, axis) if own is not None and e == own:
                return own
            case Extent(array, axis) if array in self.lengths:
                return None
            case Extent(array, axis) if array in self.shapes:
                made = self._extent(array, axis)
                if made is None or not depth:
                    return None
                return self._resolved(made, own, depth - 1)
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


def _loops(around: Sequence[Loop | If]) -> tuple[Loop, ...]:
    return tuple(a for a in around if not isinstance(a, If))


def _loops_around(begins: Sequence[_Binding], steps: Sequence[_Binding]) -> int:
    """How many loops are around all of these and have a beginning in each turn: no
    branch is around it.
    """
    if any(isinstance(a, If) for b in begins for a in b.around):
        return 0
    count = 0
    for level in zip(*(b.around for b in (*begins, *steps)), strict=False):
        if len({a.id for a in level}) > 1:
            break
        count += 1
    return count


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
