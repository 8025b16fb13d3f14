"""Names of arrays that are bound again: on some paths, in loops, in helpers.

A name of Python's is a reference; an array of the program is storage, and which array a
name stands for is decided when the text is read. Where paths meet (behind an `if`, at
the end of an iteration) each name that is read later must stand for one array:

- names that changed places get the contents exchanged, and a loop whose body exchanges
  names has that body once for each order of them instead, if they are few;
- a name that was bound to another array has the elements copied into the array that it
  had before, where nobody else can see that one; where others can, it gets a copy of
  its own before the loop or the branch.

Such a copy, and what a helper returns depending on the run, may be another array in
Python (`Lent`). A write to either is right if nobody reads the other behind it: it is
put back into what the copy stands for, where it is not new. Where the other is read the
two are made equal again behind the statement that writes, if the program knows when it
runs which array the copy is. The rest is refused.

Contents that stand in an array of the caller are put back at the end of the function.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

import gast

from pyrev.ir.nodes import (
    NOWHERE,
    ONE,
    ZERO,
    Alloc,
    Assign,
    Block,
    Call,
    Check,
    Const,
    Expr,
    Extent,
    For,
    If,
    Load,
    Loc,
    Stmt,
    Var,
    blocks,
    like,
    walk_expr,
    with_blocks,
)
from pyrev.parse import views
from pyrev.parse.arrays import Standing
from pyrev.parse.bindings import Reads, identifiers, nodes_of, parameters
from pyrev.parse.control import RETURNED
from pyrev.parse.iteration import Iteration
from pyrev.parse.names import Lent, Place, Scope
from pyrev.parse.shapes import RankFact
from pyrev.parse.values import (
    Array,
    Operand,
    Tuple,
    Value,
    same,
    stored_in,
    whole_array,
)

# Names that come back after more iterations than this are no ring of buffers: their
# contents are exchanged, and the body stays one.
_LONGEST_CYCLE = 8

# In front of a name: its copy is written before it is new, and that must be put back.
_BACK = "@back "
# Or it is to be known when the program runs which array the copy is.
_WHICH = "@which "

Arrays = Mapping[str, Array]
#: What the names of arrays stand for before each copy of a loop's body.
Phases = Sequence[Arrays]


@dataclass(frozen=True, slots=True)
class Compound:
    """A loop or a branch that is being read: in which block, where, and its text."""

    around: tuple[int, ...]
    at: Loc
    node: gast.AST
    scope: Scope
    #: How many writes to arrays there were before it.
    since: int = 0
    known: dict[str, bool] = field(default_factory=dict)

    def needs(self, name: str) -> bool:
        """May what `name` stands for at a join of this statement be read later?"""
        if name not in self.known:
            definition = self.scope.source.node
            self.known[name] = Reads(name).later(definition, self.node)
        return self.known[name]


@dataclass(frozen=True, slots=True)
class Exchange:
    """Which array got the contents of which, inside which blocks, and where.

    From the write number `since` on, a write may come after it. What each of the arrays
    may be in Python, and from which write on one may come after that.
    """

    pairs: Mapping[str, str]
    path: tuple[int, ...]
    since: int
    at: Loc
    may_be: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Due:
    """A copy, `own`, and what it may be are made equal behind the statement `node`.

    What was written, the elements `place`, are of the copy, and go `back`, or of what
    it may be.
    """

    own: str
    back: bool
    node: gast.AST
    place: Load | Array
    at: Loc


@dataclass(slots=True)
class Rebinding(Iteration):
    """The part of the walk that follows the names of arrays from block to block."""

    compounds: list[Compound] = field(default_factory=list)
    #: Which name takes the array of which other from one iteration to the next.
    #: The arrays that have changed places in the present function, exchange by
    #: exchange: where the contents of which array went.
    _exchanges: list[Exchange] = field(default_factory=list)
    #: The arrays that took over the elements of new ones, and in which blocks.
    _replaced: list[tuple[str, tuple[int, ...]]] = field(default_factory=list)
    #: How many arrays there were when the present function began.
    _first: int = 0
    #: What is not equal yet since the present statements began.
    _due: list[Due] = field(default_factory=list)
    #: Where the elements of an array were copied.
    _kept_in: dict[str, set[str]] = field(default_factory=dict)

    def _target(
        self, node: gast.AST, scope: Scope, augmented: bool = False
    ) -> Var | Load | Array | None:
        raise NotImplementedError

    # ---------------------------------------------------------------- binding a name

    def _name_array(
        self,
        target: gast.Name,
        value: Array,
        mark: tuple[int, int],
        at: Loc,
        scope: Scope,
    ) -> None:
        """``name = array``: a new array takes the name, another gets one more."""
        name = target.id
        if name in scope.helpers:
            self._target(target, scope)
            return
        if hasattr(target, RETURNED):
            self.findings.add(
                "P110",
                at,
                "another path returns another array, or a number",
                "return one array on every path: the paths may fill it",
            )
            return
        current = scope.bound.get(name)
        if name in scope.numbers:
            if self._deeper(name, scope):
                self._refuse_rebinding(name, at, "`{}` is a number before")
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
            if self._overwritten(name, current, value, mark, at, scope):
                return
        before = stored_in(scope.bound.get(name))
        guessed = not self.exact and name in parameter_ids(scope)
        if current is None and guessed and before is not None:
            # A parameter, and maybe an array from the beginning.
            if value.name is None:
                self.alike.append((before, value.rank))
            else:
                self.facts.append(RankFact(value.name, value.rank, at, least=True))
                self.alike.append((before, value.name))
        if value.name is None and not value.view:
            made = self._made(value, name, at, self._array_name(name, scope))
            scope.owned.add(made.name or "")
            self._hold(name, made, scope)
            return
        if value.name is not None and value.name in list(self.allocated)[mark[1] :]:
            self.spelling[value.name] = self._array_name(name, scope)
            scope.owned.add(value.name)
        self._hold(name, self._named(value, scope, name), scope)

    def _array_name(self, name: str, scope: Scope) -> str:
        """What a new array is called in the program."""
        known = scope.bound.get(name)
        stored = stored_in(known)
        if known is None or (
            stored is not None
            and name not in scope.paths
            and name not in parameter_ids(scope)
            and stored not in self.allocated
        ):
            own = self._number(name, scope).name
            if own not in {*self.allocated, *self.spelling.values()}:
                return own
        return self._fresh(name)

    def _overwritten(
        self,
        name: str,
        current: Array,
        value: Array,
        mark: tuple[int, int],
        at: Loc,
        scope: Scope,
    ) -> bool:
        """Rebind `name`: True if its array took over the elements of the new one.

        Where the name was bound in this very block it simply stands for the new array.
        Inside a loop or a branch the array that only this name has receives the new
        values at once; where another name has it too, `_carried` sees to it at the end
        of the block.
        """
        if not self._deeper(name, scope):
            return False
        bound = scope.paths.get(name, scope.start)
        compound = self._around(bound)
        if compound is not None and not compound.needs(name):
            return False
        path = tuple(self.open)
        # What changed places with an array of the caller may be that array by now.
        held = [a for a in scope.owned if a not in self._turned]
        alone = current.name in held and not any(
            self._shares(e, {current.name or ""})
            for user, e in scope.bound.items()
            if user != name and path[: len(p := scope.paths.get(user, ()))] == p
        )
        alone = alone and current.name not in self.iterated
        statements, allocations = mark
        new = value.name in list(self.allocated)[allocations:]
        if alone and (new or not value.view or self._leaves(value, bound, scope)):
            assert current.name is not None
            if not self._takes_over(current, value, name, at):
                return True
            may_be = self._origins(value.base)
            self._keeps(current.name, value, may_be, False, scope, at)
            self._replaced.append((current.name, path[len(scope.start) :]))
            if not value.blank:
                self._fill(current, value, at, replaces=True)
            for user, e in scope.bound.items():
                if same(e, value) and user != name:
                    scope.retired.add(user)
            return True
        if new or not value.view:
            self._ask(name, bound, current.name in held)
        return False

    def _takes_over(self, target: Array, whole: Array, name: str, at: Loc) -> bool:
        """Can `target` hold these elements? Lengths are checked when it runs.

        `name` is what it is called in the text, "" for what several paths return.
        """
        if target.rank != whole.rank:
            self._refuse_rebinding(name or "result", at, "`{}` has other axes before")
            return False
        message = (
            f"`{name}` has another shape than before this loop or branch: give the new"
            " array a name of its own"
            if name
            else "the paths of a function return arrays of different shapes"
        )
        for mine, theirs in zip(target.shape, whole.shape, strict=True):
            if not views.equal(mine, theirs):
                test = Call("==", (mine, theirs), loc=at)
                self.out.append(Check(test, "ValueError", message, loc=at))
        assert target.name is not None
        dtype = whole.dtype or views.dtype_of(views.kinds(whole.element))
        self.alike_kinds.append((target.name, dtype, at))
        return True

    def _around(self, bound: tuple[int, ...]) -> Compound | None:
        """The outermost loop or branch inside the block `bound`."""
        for compound in self.compounds:
            if compound.around == bound:
                return compound
        return None

    def _ask(self, name: str, bound: tuple[int, ...], own: bool) -> bool:
        """Let the next walk copy an array before the loop; False if this one has."""
        compound = self._around(bound)
        if own or compound is None or (name, compound.at) in self.wanted:
            return False
        self.asked.add((name, compound.at))
        return True

    def _deeper(self, name: str, scope: Scope) -> bool:
        """Is this a loop or a branch inside the block where the name was bound?"""
        bound = scope.paths.get(name, scope.start)
        path = tuple(self.open)
        return len(path) > len(bound) and path[: len(bound)] == bound

    def _shares(self, bound: Operand, arrays: Set[str]) -> bool:
        """Is this one of the arrays, or a view of one?"""
        return isinstance(bound, Array) and bound.view and bound.base in arrays

    def _leaves(self, value: Array, bound: tuple[int, ...], scope: Scope) -> bool:
        """Is this an array made since, which nobody reads by its other names again?"""
        others = [n for n, e in scope.bound.items() if same(e, value)]
        # Also in the next iteration of a loop around.
        if any(Reads(n).later(scope.source.node, scope.current) for n in others):
            return False
        for user, e in scope.bound.items():
            path = scope.paths.get(user, scope.start)
            if same(e, value) and len(path) > len(bound):
                return value.name in scope.owned
        return False

    def _refuse_rebinding(self, name: str, at: Loc, because: str) -> None:
        self.findings.add(
            "P206",
            at,
            because.format(name) + " this loop or branch",
            f"use another name, or assign the elements, as in `{name}[:] = ...`",
        )

    def _rotated(
        self, targets: Sequence[gast.AST], values: Sequence[Operand], scope: Scope
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
        self.same += [(stored[0], other) for other in stored[1:]]
        return True

    # ---------------------------------------------------------------- where paths meet

    @contextmanager
    def _compound(self, scope: Scope, node: gast.AST) -> Iterator[Compound]:
        """A loop or a branch, in which names of arrays may be bound again."""
        at = scope.source.loc(node)
        for name, place in sorted(self.wanted):
            value = scope.bound.get(name)
            if place != at or not isinstance(value, Array):
                continue
            lent = self.lent.get(value.name or "")
            if lent is not None and lent.name == name and lent.scope is scope:
                if not any(
                    self._shares(e, {value.name or ""})
                    for n, e in scope.bound.items()
                    if n != name
                ):
                    continue  # a loop around this one has made its copy
            copied = replace(value, view=False)
            if value.name is not None:
                copied = replace(copied, dtype=like(value.name), like=value.name)
            made = self._made(copied, name, at)
            own = made.name or ""
            self._lend(own, name, value, scope, at)
            scope.owned.add(own)
            self._hold(name, made, scope)
        compound = Compound(tuple(self.open), at, node, scope, len(self.changed))
        self.compounds.append(compound)
        try:
            yield compound
        finally:
            self.compounds.pop()

    # ---------------------------------------------------------------- lent arrays

    def _lend(self, own: str, name: str, source: Array, scope: Scope, at: Loc) -> None:
        """`own` is a copy of `source` that stands for it from here on."""
        base = source.base or ""
        origins = {base}
        if base in self.lent and not self._is_new(base):
            origins |= self.lent[base].origins
        made = Lent(name, at, source, frozenset(origins), scope, len(self.allocated))
        made.clean, made.cleaned = len(self.changed), tuple(self.open)
        if (_BACK + name, at) in self.wanted:
            made.fresh = Var(self._fresh("fresh"), loc=at)
            self.out.append(Assign(made.fresh, ZERO, loc=at))
        if (_WHICH + name, at) in self.wanted and source.name == source.base:
            made.which, made.choices = Var(self._fresh("which"), loc=at), (source,)
            self.out.append(Assign(made.which, ZERO, loc=at))
        self.lent[own] = made

    def _is_new(self, array: str) -> bool:
        """Has this copy been bound to a new array on every path to here?"""
        path = tuple(self.open)
        return any(path[: len(p)] == p for p in self.lent[array].paths)

    def _becomes_new(self, array: str, at: Loc) -> None:
        """From here on, in this block, `array` is no other array's copy."""
        lent = self.lent[array]
        if lent.fresh is not None:
            if lent.source is not None and not self._is_clean(array):
                self._put_back(array)
            self.out.append(Assign(lent.fresh, ONE, loc=at))
        if lent.which is not None:
            self.out.append(Assign(lent.which, Const(-1), loc=at))
        lent.paths.append(tuple(self.open))

    def _origins(self, array: str | None) -> frozenset[str]:
        """What this array may be in Python besides itself."""
        if array is None or array not in self.lent or self._is_new(array):
            return frozenset()
        return self.lent[array].origins

    def _may_be(self, array: str, origins: Set[str], scope: Scope, at: Loc) -> None:
        """From here on `array` may be one of these in Python."""
        every = frozenset(origins).union(*map(self._origins, origins)) - {array}
        if array in self.lent:
            lent = self.lent[array]
            lent.which = None
            lent.origins |= every
            lent.paths.clear()
            lent.known = False
        elif every:
            made = Lent(array, at, None, every, scope, len(self.allocated), known=False)
            self.lent[array] = made
        # What another iteration writes once more it writes as what it is then.
        first = self._writes_before(array)
        if array in self.changed[first:] and any(map(self._reachable, every)):
            self.findings.add("P206", self.changed_at[array], *_UNSURE)
        for other in sorted(every):
            since = max(first, self._writes_before(other))
            for k, written in enumerate(self.changed[since:], since):
                if written == other:
                    at = self.changed_at[other]
                    self._is_stale(array, other, at, self.changed_in[k])

    def _is_new_behind(self, path: tuple[int, ...], *ways: tuple[int, ...]) -> None:
        """One of the blocks `ways` was run: what each makes new is new in `path`."""
        for lent in self.lent.values():
            if all(w in lent.paths for w in ways):
                lent.paths.append(path)

    def _mixed(self, arrays: Sequence[str], scope: Scope, at: Loc) -> dict[str, int]:
        """Arrays change places: what one of them may be in Python each may be."""
        lent = [self.lent[a] for a in arrays if a in self.lent and not self._is_new(a)]
        origins = frozenset(o for one in lent for o in one.origins)
        for array in arrays if lent else ():
            if array in self.lent:
                self.lent[array].which = None
                self.lent[array].origins |= origins
                self.lent[array].paths.clear()
            else:
                made = Lent(array, at, None, origins, scope, len(self.allocated))
                self.lent[array] = made
        return {a: self._writes_before(a) for a in origins}

    def _put_back(self, array: str) -> None:
        """What was written to a copy that is not new yet is in what it stands for."""
        lent = self.lent[array]
        source, fresh, at = lent.source, lent.fresh, lent.at
        assert source is not None and fresh is not None and source.base is not None
        with self._inner(), self._aside() as made:
            whole = whole_array(array, self._rank(array), at)
            self._fill(source, whole, at, replaces=True)
            self._changes(source.base, at, but=array)
        test = Call("==", (fresh, ZERO), loc=at)
        self.out.append(If(test, tuple(made), loc=at))
        lent.clean, lent.cleaned = len(self.changed), tuple(self.open)

    def _is_clean(self, array: str) -> bool:
        """Was nothing written to this copy since its elements were put back?"""
        lent = self.lent[array]
        path = tuple(self.open)
        return (
            array not in self.changed[lent.clean :]
            and path[: len(lent.cleaned)] == lent.cleaned
        )

    def _block_ends(self) -> None:
        """Put back what was made in this block."""
        path = tuple(self.open)
        for array, lent in list(self.lent.items()):
            if lent.fresh is None or lent.source is None:
                continue
            inside = self.made_in.get(lent.source.base or "")
            if (
                self.made_in[array] == path
                and inside != path
                and not self._is_clean(array)
            ):
                self._put_back(array)

    def _function_ends(self, scope: Scope, writes: int, turned: bool) -> None:
        """Put back what other functions may read.

        What changed places has its own elements again by then (`turned`); into what
        changed places before it was lent they go before that.
        """
        made = set(list(self.allocated)[self._first :])
        moved = {a for e in self._exchanges for a in e.pairs}
        for array, lent in list(self.lent.items()):
            if (
                lent.fresh is None
                or (array in moved) != turned
                or lent.source is None
                or lent.source.base in made
                or array not in self.changed[writes:]
                or self._is_clean(array)
                or len(self.made_in[array]) > len(scope.start)
            ):
                continue
            if not self.running or self._is_read(lent.origins, self._places()):
                if turned and lent.source.base in moved:
                    self.findings.add("P206", lent.at, *_CALLERS)
                self._put_back(array)

    def _agree(
        self, array: str, at: Loc, but: str = "", over: Scope | None = None
    ) -> None:
        """Elements of `array` are written: are all that it is in Python the same?

        `but` is the array that they are from. They may have been written anywhere
        in `over`, a function that has come to its end.
        """
        places = self._places()
        if any(
            self._is_stale(own, array, at, places, over, now=over is None)
            for own in list(self.lent)
            if own not in (but, array)
        ):
            return
        found = self.lent.get(array)
        if found is None or self._is_new(array) or but in found.origins:
            return
        if not found.known:
            if any(map(self._reachable, found.origins)):
                if over is not None or not self._is_due(array, "", at):
                    self.findings.add("P206", at, *_UNSURE)
            return
        fixed = {c.name for c in self.captures.values()} | {*self.iterated}
        # A function that was defined around, and given to this one, may read it here.
        enclosed = any(
            Reads(n).enclosed(s.source.node)
            for s in self.running
            for n, e in s.bound.items()
            if self._shares(e, found.origins)
        )
        if enclosed or found.origins & fixed:
            self.findings.add("P206", at, *_CALLERS)
            return
        if self._is_read(found.origins, self._present(), over):
            if over is not None or not self._is_due(array, "", at):
                self.findings.add("P206", at, *_CALLERS)
            return
        for other in self._group(array) & self.lent.keys():
            lent = self.lent[other]
            if lent.source is not None and lent.fresh is None:
                self.asked.add((_BACK + lent.name, lent.at))

    def _choices(self, own: str) -> list[tuple[Expr, Array]]:
        """The arrays that a copy may be, each with the test that says so, if it is
        known when the program runs.
        """
        lent = self.lent[own]
        if not lent.known:
            key = _WHICH + lent.name, lent.at
            if lent.which is None and key not in self.wanted:
                self.asked.add(key)
            found = enumerate(lent.choices if lent.which is not None else ())
            return [
                (Call("==", (lent.which, Const(k))), whole)
                for k, whole in found
                if whole is not None and lent.which is not None
            ]
        if lent.source is None or lent.origins != {lent.source.base}:
            return []
        if lent.fresh is None:
            key = _BACK + lent.name, lent.at
            if key not in self.wanted:  # the next walk knows
                self.asked.add(key)
                return [(ZERO, lent.source)]
            return []
        return [(Call("==", (lent.fresh, ZERO)), lent.source)]

    def _identity(self, whole: Array, k: int) -> tuple[Expr, Array | None]:
        """The array that this is in Python, None for one that nobody else has; and the
        number that says so when the program runs: `k`, or -1 if it is a new one.
        """
        base = whole.base or ""
        if not whole.view or base not in self.lent and base in self._own():
            return Const(k), None
        if base in self.lent and not self._is_new(base):
            choices = self._choices(base)
            if len(choices) == 1:
                ((test, source),) = choices
                return Call("where", (test, Const(k), Const(-1))), source
        return Const(k), whole

    def _own(self) -> set[str]:
        """The arrays that the present function has made."""
        return set(list(self.allocated)[self._first :])

    def _is_due(self, own: str, array: str, at: Loc) -> bool:
        """Will a copy be made equal to what it may be, of which `array` is written?

        Or that to the copy, if `array` is "". Not where contents have changed places,
        or where more happens in the statement once the elements are written.
        """
        wholes = [whole for _, whole in self._choices(own)]
        sources = {w.name for w in wholes if w.name is not None and w.name == w.base}
        lent = self.lent[own]
        involved = {own, *sources}
        path, made = tuple(self.open), self.made_in.get(own, ())
        fixed = {c.name for c in self.captures.values()} | {*self.iterated}
        if (
            not wholes
            or any(w.name not in sources for w in wholes)  # a part
            or (array and array not in sources)
            or any(map(self._reachable, lent.origins - sources - {own}))
            or path[: len(made)] != made
            or involved & fixed
            or any(len(self._group(a)) > 1 for a in involved)
            or any(s in self.lent and not self._is_new(s) for s in sources)
        ):
            return False
        place = self._place
        if place is None or not self.running:
            return False
        node = self.running[-1].current
        if node is None or not _stays(place, node):
            return False
        new = Due(own, not array, node, place, at)
        if any(d.own == own and d.back != new.back for d in self._due):
            return False
        if new not in self._due:
            self._due.append(new)
        return True

    def _is_done(self, node: gast.AST | None) -> None:
        """Behind a statement: what it wrote is in the copies and in what they are."""
        while True:
            due = next((d for d in self._due if d.node is node), None)
            if due is None:
                return
            self._due.remove(due)
            lent = self.lent[due.own]
            for test, source in self._choices(due.own):
                pair = due.own, source.base or ""
                written, other = pair if due.back else pair[::-1]
                if written != _array_of(due.place):
                    continue
                copy = _in_array(due.place, other)
                with self._inner(), self._aside() as made:
                    if isinstance(copy, Load) and isinstance(due.place, Load):
                        self.out.append(Assign(copy, due.place, loc=due.at))
                    elif isinstance(copy, Array) and isinstance(due.place, Array):
                        self._fill(copy, due.place, due.at, replaces=True)
                    self._changes(other, due.at, but=written, place=copy)
                self.out.append(If(test, tuple(made), loc=due.at))
            lent.clean, lent.cleaned = len(self.changed), tuple(self.open)

    def _group(self, array: str) -> set[str]:
        """The array, and what changed places with it."""
        return {array}.union(*(g for g in _connected(self._exchanges) if array in g))

    def _is_stale(
        self,
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
        lent = self.lent[own]
        written = self._group(array) | self._origins(array)
        if not lent.origins & written or self._is_new(own):
            return False
        names_ = self._group(own) - {array}
        if not (self._is_read(names_, places, over) or self._in_flight(own)):
            # What is put back later must not have the elements of before.
            source = lent.source.base if lent.source is not None else None
            if not now or lent.fresh is None or source != array:
                return False
        if now and self._is_due(own, array, at):
            return False
        because = (
            f"`{lent.name}` may stand for the array that is written here, or for a new"
            " one",
            "give the new array a name of its own, or begin with a copy:"
            f" `{lent.name} = {lent.name}.copy()`",
        )
        self.findings.add("P206", at, *(because if lent.known else _UNSURE))
        return True

    def _is_read(
        self, arrays: Set[str], places: Sequence[Place], over: Scope | None = None
    ) -> bool:
        """May one of the arrays be read behind these places, as it is now?

        By a name of their functions, or by any of `over`, wherever it stands there.
        """
        if over is not None and any(
            Reads(n).inside(over.source.node)
            for n, e in over.bound.items()
            if self._shares(e, arrays)
        ):
            return True
        return any(
            _needed(n, place)
            for place in places
            for n, e in place.bound.items()
            if self._shares(e, arrays)
        )

    def _present(self) -> list[Place]:
        """The function that is read, and those around its definition."""
        around: list[Scope] = []
        scope = self.running[-1] if self.running else None
        while scope is not None:
            around.append(scope)
            scope = scope.outer
        return [p for p in self._places() if any(p.scope is s for s in around)]

    def _in_flight(self, array: str) -> bool:
        """May a value that has no name any more, or none yet, be this copy?"""
        lent = self.lent[array]
        if any(s is lent.scope for s in self.running):
            return False
        return any(
            s.since < lent.index
            for s in self.running
            if (s is not self.running[-1] or not _stores_last(s.current))
            and not isinstance(s.current, (gast.If, gast.For, gast.While))
        )

    def _visible(self, scope: Scope) -> Standing:
        """The arrays that names stand for here, whatever blocks were run before."""
        arrays, paths = self._standing(scope)
        block = tuple(self.open)
        seen = {n for n in arrays if block[: len(p := paths.get(n, ()))] == p}
        return (
            {n: e for n, e in arrays.items() if n in seen},
            {n: p for n, p in paths.items() if n in seen},
        )

    def _carried(self, scope: Scope, entry: Standing, around: Compound) -> None:
        """At the end of a block: names stand for the arrays that they had at `entry`.

        But for names that changed places: what is done with them differs from loops to
        branches. What nobody reads any more stays behind.
        """
        arrays, paths = entry
        changed = [n for n, e in arrays.items() if not same(scope.bound.get(n), e)]
        needed = [n for n in changed if around.needs(n)]
        turning = self._turning(arrays, scope.bound, changed)
        turning = turning or self._turning(arrays, scope.bound, needed)
        if not turning.intersection(needed):
            turning = frozenset()
        moved = [n for n in needed if n not in turning]
        if moved:
            self._copied_back(moved, arrays, scope, around)
        scope.bound |= {n: arrays[n] for n in changed if n not in turning}
        for n in arrays:  # one that stands for its own array again may be used behind
            scope.paths.pop(n, None)
        scope.paths |= {n: paths[n] for n in arrays if n in paths}

    def _turning(
        self, entry: Arrays, now: Mapping[str, Operand], changed: Sequence[str]
    ) -> frozenset[str]:
        """The names that stand for each other's arrays."""
        old = {n: entry[n].name for n in changed if n in now}
        new = {n: stored_in(now[n]) for n in old}
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

    def _copied_back(
        self, moved: Sequence[str], entry: Arrays, scope: Scope, around: Compound
    ) -> None:
        """The elements of other arrays go into those that the names had before."""
        at = around.at
        todo: dict[str, tuple[Array, Array]] = {}
        # Of all of them, before the first is a new array.
        values = {n: scope.bound[n] for n in moved}
        origins = {
            n: self._origins(v.base if isinstance(v, Array) else None)
            for n, v in values.items()
        }
        for name in moved:
            target, value = entry[name], values[name]
            if not isinstance(value, Array):
                self._refuse_rebinding(name, at, "`{}` is a number or an array before")
                return
            own = target.name in scope.owned - {*self.iterated} and not any(
                m != name and around.needs(m) and self._shares(e, {target.name or ""})
                for m, e in entry.items()
            )
            if target.name is None or not own or target.name in self._turned:
                if not self._ask(name, around.around, False):
                    self._refuse_rebinding(name, at, "`{}` names another array before")
                    return
                continue
            others = {
                m: e
                for m in entry
                if m != name and around.needs(m)
                if value.base is not None
                and self._shares(e := scope.bound[m], {value.base})
            }
            if not self._takes_over(target, value, name, at):
                return
            may_be = origins[name]
            self._keeps(target.name, value, may_be, bool(others), scope, at)
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
                todo[first] = target, self._made(replace(value, view=False), first, at)
                continue
            target, value = todo.pop(free[0])
            self._fill(target, value, at, replaces=True)
            assert target.name is not None
            self._replaced.append((target.name, tuple(self.open)[len(scope.start) :]))

    def _keeps(
        self,
        array: str,
        whole: Array,
        may_be: Set[str],
        named: bool,
        scope: Scope,
        at: Loc,
    ) -> None:
        """`array` gets elements of an array that may have other names: `named`.

        That may be one of `may_be` by then.
        """
        base, before = whole.base, self.lent.get(array)
        which = before.which if before is not None else None
        if array in self.lent:
            self._becomes_new(array, at)
        kept = {array}
        if base is not None:
            kept = self._kept_in.setdefault(base, set())
            kept.add(array)
            if named or base not in self.allocated or len(kept) > 1:
                may_be = {*may_be, base}
        for one in sorted(kept) if may_be else ():
            self._may_be(one, may_be, scope, at)
        if before is None or which is None or before is not self.lent.get(array):
            return
        if not may_be:
            before.which = which
        elif kept == {array} and base == whole.name and self._lasts(base, array):
            # The next of the arrays that it may be.
            self.out.append(Assign(which, Const(len(before.choices)), loc=at))
            before.which, before.choices = which, (*before.choices, whole)

    def _lasts(self, base: str | None, array: str) -> bool:
        """Is `base` there as long as `array`, and no copy of another one?"""
        made, own = self.made_in.get(base or "", ()), self.made_in.get(array, ())
        return base is not None and base not in self.lent and own[: len(made)] == made

    def _writes_before(self, array: str) -> int:
        """How many writes there were that cannot come again while `array` is there.

        They have filled it before it gets further names.
        """
        depth = len(self.made_in.get(array, ()))
        again = [
            c.since
            for c in self.compounds
            if not isinstance(c.node, gast.If) and depth <= len(c.around)
        ]
        return again[0] if again else len(self.changed)

    # ---------------------------------------------------------------- loops

    def _rotations(
        self,
        scope: Scope,
        start: Arrays,
        body: list[Stmt],
        copy: Callable[[int], list[Stmt]],
    ) -> tuple[list[list[Stmt]], Phases]:
        """The body as often as it takes for swapped names to come back.

        ``u, v = v, u`` at the end of a body exchanges two names: the next iteration is
        the same text with the names exchanged, so two of them are one without. Where
        that would take too many, the body ends with an exchange of the contents.
        """
        end = dict(scope.bound)
        moved = {n for n, e in start.items() if not same(end.get(n), e)}
        if not moved:
            return [body], [start]
        of = {e.name: n for n, e in start.items() if n in moved}
        moves = {n: of[stored_in(end[n])] for n in moved}
        period = _period(moves)
        if period > _LONGEST_CYCLE:
            self._put(body, start, scope, self.compounds[-1])
            return [body], [start]
        copies = [body]
        while len(copies) < period:
            for name, value in list(scope.bound.items()):
                if stored_in(value) in self.allocated and name not in start:
                    scope.bound[name] = Var(self._fresh(name))
            copies.append(copy(len(copies)))
        lost = sorted(n for n in moved if not same(scope.bound[n], start[n]))
        if lost:  # what they stood for has no name any more
            self.findings.add(
                "P206",
                self.compounds[-1].at,
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

    def _restored(
        self,
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
            with self._block() as made:
                self._exchange(source, moved, scope, around)
            test = Call("==", (phase, Const(k)), loc=around.at)
            self.out.append(If(test, tuple(made), loc=around.at))
        scope.bound |= start

    # ---------------------------------------------------------------- exchanges

    @property
    def _turned(self) -> set[str]:
        """What may have changed places with an array of the caller by now."""
        return {a for group in self._foreign() for a in group}

    def _foreign(self) -> list[list[str]]:
        """The arrays that changed places with the caller's, group by group."""
        made = set(list(self.allocated)[self._first :])
        made -= {a for a, lent in self.lent.items() if lent.fresh is not None}
        return [g for g in _connected(self._exchanges) if set(g) - made]

    def _put(
        self, block: list[Stmt], target: Arrays, scope: Scope, around: Compound
    ) -> None:
        """Exchange contents behind `block` until names stand for those of `target`."""
        moved = {n: e for n, e in target.items() if not same(scope.bound[n], e)}
        if moved:
            source = [(e, scope.bound[n]) for n, e in moved.items()]
            outside, self.out = self.out, block
            self._exchange(source, moved.keys(), scope, around)
            self.out = outside
        scope.bound |= target

    def _exchange(
        self,
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
        self._refuse_witnesses(pairs, moved, scope, around)
        bound = {n: stored_in(scope.bound[n]) for n in sorted(moved)}
        users = {array: n for n, array in bound.items() if array is not None}
        for cycle in _cycles(pairs):
            if len(cycle) > 1:
                self._exchange_cycle(cycle, users, scope, around)

    def _exchange_cycle(
        self,
        pairs: Mapping[str, str],
        users: Mapping[str, str],
        scope: Scope,
        around: Compound,
    ) -> None:
        """Exchange arrays of one shape; `users` are the names that stand for them."""
        at = around.at
        arrays = list(pairs)
        first = arrays[0]
        rank = self._rank(first)
        message = f"`{users.get(first, first)}` and `%s` change places"
        message += " and have different shapes"
        self.out += (
            Check(
                Call("==", (Extent(a, k), Extent(first, k)), loc=at),
                "ValueError",
                message % users.get(a, a),
                loc=at,
            )
            for a in arrays[1:]
            for k in range(rank)
        )
        self.alike_dtypes += [(first, a) for a in arrays[1:]]
        self.same += [(first, a) for a in arrays[1:]]
        for lent in self.lent.values():
            # Where its elements are to be put back others would stand by then.
            base = lent.source.base if lent.source is not None else None
            if lent.fresh is not None and base in pairs:
                self.findings.add("P206", at, *_CALLERS)
        may_be = self._mixed(arrays, scope, at)
        self._swap(pairs, at)
        self.out.append(Assign(Var(_mark(len(self._exchanges))), ZERO, loc=at))
        again = [
            c.since
            for c in self.compounds
            if c.scope is scope and c is not around and not isinstance(c.node, gast.If)
        ]
        since = again[0] if again else len(self.changed)
        self._exchanges.append(Exchange(pairs, tuple(self.open), since, at, may_be))

    def _swap(self, pairs: Mapping[str, str], at: Loc) -> None:
        """The loops that give each array the elements of another."""
        arrays = list(pairs)
        first = arrays[0]
        rank = self._rank(first)
        index = tuple(Var(self._index(k), loc=at) for k in range(rank))
        held = {a: Var(self._fresh(f"{a}_held"), loc=at) for a in arrays}
        body: Block = tuple(
            Assign(held[a], Load(a, index, loc=at), loc=at) for a in arrays
        )
        body += tuple(
            Assign(Load(a, index, loc=at), held[b], loc=at) for a, b in pairs.items()
        )
        for k in reversed(range(rank)):
            extent = Extent(first, k, loc=at)
            body = (For(index[k].name, ZERO, extent, ONE, body, loc=at),)
        self.out += body

    def _refuse_witnesses(
        self,
        pairs: Mapping[str, str],
        moved: Set[str],
        scope: Scope,
        around: Compound,
    ) -> None:
        """What else names the arrays would see contents that Python leaves in place."""

        def sees(e: Operand) -> bool:
            return self._shares(e, pairs.keys())

        found = [n for n, e in scope.bound.items() if n not in moved and sees(e)]
        found = [n for n in found if around.needs(n)]
        functions = [h for h in scope.helpers.values() if h.scope is not None]
        outer = [(scope.source.node, scope.outer)]
        outer += [(h.source.node, h.scope) for h in functions if h.scope is not scope]
        for node, place in outer:
            seen = identifiers(node)
            while place is not None:
                found += [n for n, e in place.bound.items() if n in seen and sees(e)]
                place = place.outer
        if any(a in self.iterated for a in pairs):
            found.append("the array that a loop runs over")
        if not found:
            return
        # Where each of them has a copy of its own, nobody else sees it.
        own = [self._ask(n, scope.paths.get(n, scope.start), False) for n in moved]
        for name in [] if any(own) else found[:1]:
            self.findings.add(
                "P206",
                around.at,
                f"`{name}` is another name of an array that changes places here",
                "use one name, or write `.copy()`",
            )

    def _writes_elsewhere(self, scope: Scope) -> None:
        """Note what is written where arrays have changed places.

        Depending on the run, what is written as one of them is another in Python. The
        exchange itself writes to a global array, too: nobody must see that.
        """
        fixed = {c.name for c in self.captures.values()}
        for group in _connected(self._exchanges):
            own = [e for e in self._exchanges if e.pairs.keys() & {*group}]
            written = self.changed[min(e.since for e in own) :]
            writes = [a for a in group if a in written]
            for array in group:
                if array not in writes and (writes or array in fixed):
                    at = self.changed_at[writes[0]] if writes else own[0].at
                    self._changes(array, at, over=scope)
            for array, since in sorted(
                (a, k) for e in own for a, k in e.may_be.items()
            ):
                if array in self.changed[since:]:
                    self._agree(array, self.changed_at[array], over=scope)

    def _finished(self, result: Value, scope: Scope, mark: int) -> Value:
        """At the end each array that was there before gets its own contents back.

        What is returned is evaluated before that; an array among them is a copy, since
        which array a name stands for depends on the run.
        """
        groups = self._foreign()
        for group in groups:
            self._check_group(group, scope)
        moved = {a for g in groups for a in g}
        states = [_State(self, g) for g in groups]
        if moved:
            result = self._kept_result(result, moved, states, scope)
        marks = {_mark(k): e.pairs for k, e in enumerate(self._exchanges)}

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

        body = settle(self.out[mark:])
        self.out[mark:] = [s for state in states for s in state.first()] + body
        for state in reversed(states):
            state.back()
        return result

    def _check_group(self, group: Sequence[str], scope: Scope) -> None:
        """Only what is there all the time changes places with the caller's arrays."""
        blocks_ = {
            k for e in self._exchanges if set(e.pairs) & {*group} for k in e.path
        }
        again = {a for a, path in self._replaced if blocks_ & {*path}}
        made = list(self.allocated)[self._first :]
        inner = {a for a in made if len(self.made_in[a]) > len(scope.start)}
        for array in group:
            if array in again | inner:
                self.findings.add(
                    "P206",
                    self.allocated.get(array, NOWHERE),
                    f"`{array}`, which is made in a loop or a branch, changes places"
                    " with an array of the caller",
                    f"make it before, and write `{array}[:] = ...` there",
                )

    def _kept_result(
        self, value: Value, moved: Set[str], states: Sequence[_State], scope: Scope
    ) -> Value:
        """A returned value, as it is before contents go back."""
        match value:
            case Tuple(elements):
                kept = (self._kept_result(e, moved, states, scope) for e in elements)
                return Tuple(tuple(kept))
            case Array(name=str(name)) if name in moved:
                return self._kept_array(name, moved, states, scope, value.loc)
            case Array() if value.reads() & moved:
                copied = self._made(replace(value, view=False), "result", value.loc)
                if value.view and copied.name is not None:
                    self._may_be(copied.name, self._outside(moved), scope, value.loc)
                return copied
            case Load() | Extent() | Call():
                return self._temp(value, "result")
        return value

    def _kept_array(
        self,
        array: str,
        moved: Set[str],
        states: Sequence[_State],
        scope: Scope,
        at: Loc,
    ) -> Array:
        """A copy of an array that is returned, made before contents go back."""
        shape = tuple(Extent(array, k) for k in range(self._rank(array)))
        made = self._fresh("result")
        self.allocated[made] = at
        self.made_in[made] = tuple(self.open)
        self.sizes[made] = shape
        self.same.append((made, array))
        self._may_be(made, self._outside(moved), scope, at)
        self.out.append(Alloc(made, shape, None, like(array), array, loc=at))
        for state in states:
            if array in state.arrays:
                self._is_chosen(made, state, array, at)
        return whole_array(made, len(shape), at)

    def _is_chosen(self, made: str, state: _State, array: str, at: Loc) -> None:
        """`made` is a copy of the array whose contents `array` has by now."""
        lent = self.lent.get(made)
        outer = [a for a in state.arrays if a in self._outside({a})]
        if lent is None or not lent.origins <= {*outer}:
            return
        lent.which = Var(self._fresh("which"), loc=at)
        lent.choices = tuple(
            whole_array(a, self._rank(a), at) if a in outer else None
            for a in state.arrays
        )
        self.out.append(Assign(lent.which, state.of(array), loc=at))

    def _outside(self, arrays: Set[str]) -> frozenset[str]:
        """What these may be in Python that was there before the present function."""
        lent = [self.lent[a].origins for a in arrays if a in self.lent]
        inner = list(self.allocated)[self._first :]
        return frozenset(arrays).union(*lent).difference(inner)


class _State:
    """Where the contents of some arrays are, as numbers of the running program."""

    def __init__(self, walk: Rebinding, arrays: Sequence[str]) -> None:
        self.walk, self.arrays = walk, list(arrays)
        count = 1 if len(arrays) == 2 else len(arrays)
        hint = "turned" if count == 1 else "place"
        self.vars = [Var(walk._fresh(hint)) for _ in range(count)]

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
        held = {a: Var(self.walk._fresh("held"), loc=at) for a in exchange}
        out: list[Stmt] = [Assign(held[a], at_array[a], loc=at) for a in exchange]
        out += [Assign(at_array[a], held[b], loc=at) for a, b in exchange.items()]
        return out

    def back(self) -> None:
        """Each array gets its own contents again."""
        walk, at = self.walk, NOWHERE
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
            with walk._block() as made:
                walk._swap({one: two, two: one}, at)
            if len(self.vars) > 1:
                made.append(Assign(self.vars[j], self.vars[i]))
            walk.out.append(If(test, tuple(made)))


_CALLERS = (
    "this writes to the caller's array or to a new one",
    "give the new array a name of its own",
)
_UNSURE = (
    "this array may be what a helper returned, or what another name stands for: that"
    " depends on the run",
    "take a copy where it gets its second name, with `.copy()`",
)


def _array_of(place: Load | Array) -> str | None:
    """The array that these elements are of."""
    return place.array if isinstance(place, Load) else place.base


def _in_array(place: Load | Array, array: str) -> Load | Array:
    """The same elements of another array of the same shape."""
    if isinstance(place, Load):
        return replace(place, array=array)
    assert isinstance(place.element, Load)
    return replace(place, element=replace(place.element, array=array))


def _stays(place: Load | Array, node: gast.AST | None) -> bool:
    """Are the same elements meant when the statement that writes them is over?"""
    index: tuple[Expr, ...]
    if isinstance(place, Load):
        index = place.index
    elif isinstance(place.element, Load):
        index = (*place.element.index, *place.shape)
    else:
        return False
    loads = (isinstance(e, Load) for k in index for e in walk_expr(k))
    return _stores_last(node) and not any(loads)


def _needed(name: str, place: Place) -> bool:
    """May what `name` stands for in this place be read behind it?"""
    node, reads = place.node, Reads(name)
    definition = place.scope.source.node
    if reads.enclosed(definition):
        return True
    if node is None:
        return reads.inside(definition)
    if isinstance(node, gast.Assign) and reads.binds(node.targets):
        # Bound again when all is done: by then it was read if not by the call itself,
        # which has its arguments before it begins.
        return not _is_one_call(node.value) and reads.inside(node)
    if not (place.last and _stores_last(node)) and reads.inside(node):
        return True
    return reads.later(definition, node)


def _is_one_call(node: gast.AST) -> bool:
    """Is this one call, whose arguments are no calls?"""
    return isinstance(node, gast.Call) and not any(
        isinstance(n, gast.Call)
        for a in (*node.args, *node.keywords)
        for n in nodes_of(a)
    )


def _stores_last(node: gast.AST | None) -> bool:
    """Is to write an array the last thing that this statement does?"""
    match node:
        case gast.Assign(targets=[target]):
            return not isinstance(target, (gast.Tuple, gast.List))
        case gast.AugAssign():
            return True
    return False


def _period(moves: Mapping[str, str]) -> int:
    """How often a permutation is done until everything is where it was.

    >>> _period({"a": "b", "b": "a", "c": "d", "d": "e", "e": "c"})
    6
    """
    return math.lcm(*map(len, _cycles(moves)))


def _mark(k: int) -> str:
    """The variable that stands for an exchange: no name of Python's."""
    return f"@exchange {k}"


def _cycles(moves: Mapping[str, str]) -> list[dict[str, str]]:
    """A permutation as the cycles that it is made of.

    >>> _cycles({"a": "b", "c": "c", "b": "a"})
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


def _connected(exchanges: Sequence[Exchange]) -> list[list[str]]:
    """The arrays that changed places with each other, directly or not."""
    groups: list[set[str]] = []
    for exchange in exchanges:
        new = set(exchange.pairs)
        for g in [g for g in groups if g & new]:
            groups.remove(g)
            new |= g
        groups.append(new)
    return [sorted(g) for g in groups]


def parameter_ids(scope: Scope) -> tuple[str, ...]:
    return tuple(p.id for p in parameters(scope.source.node))
