"""How many elements a list gets at most: see `lists`."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Sequence
from typing import Any, Protocol

import gast

from pyrev.ir.nodes import fresh
from pyrev.parse.bindings import nodes_of, parameters, returns
from pyrev.parse.rewriting.effects import call_writes
from pyrev.parse.rewriting.lists.numbers import numbers
from pyrev.parse.rewriting.lists.sharing import Sharing, written_arguments
from pyrev.parse.rewriting.lists.stopping import Stopping
from pyrev.parse.rewriting.made_texts import (
    Lookup,
    Renamed,
    assign,
    copied,
    name_of,
    object_named,
    read_in,
    root_of,
    stored_in,
    written_in,
)

#: The attribute of a call in what runs ahead, to count: it may draw nothing.
AHEAD = "pyrev_ahead"


class NotThisWay(Exception):
    """A list is used in a way that has no form here: it is left to be refused."""


class Growing(Protocol):
    """The list whose room is asked for: see `lists`."""

    node: gast.AST
    name: str
    room: str
    taken: set[str]
    local: frozenset[str]
    lookup: Lookup
    #: What it begins with.
    first: list[gast.AST]
    #: The lists that get an element whenever it does, and what these begin with.
    siblings: dict[str, list[gast.AST]]
    #: The name of their room, if it is known.
    known_room: str | None

    def added(self, call: gast.AST) -> gast.AST | None:
        """What a call appends to the list; None if it is another call."""


def appended(e: gast.AST) -> tuple[str, gast.AST | None]:
    """The list that a call appends to, and what; None if it is another call."""
    match e:
        case gast.Call(
            func=gast.Attribute(value=gast.Name(id=name), attr="append"),
            args=[value],
            keywords=[],
        ):
            return str(name), value
    return "", None


class Room:
    """How often a statement appends to a list at most, in terms of what is known where
    the list is made: the statements `before` it, itself included, come later.
    """

    def __init__(self, owner: Growing, s: gast.AST, before: Sequence[gast.AST]) -> None:
        self.owner, self.s, self.before = owner, s, before
        self.changed = {n for b in before for n in stored_in(b)}
        self.writes = any(_may_write(b) for b in before)
        #: How many places in the statement append.
        self.sites = 0

    def needed(self) -> tuple[list[gast.AST], list[gast.AST]]:
        """Terms of the room, and statements that add to it."""
        sites = [*self._sites(self.s, ())]
        self.sites = len(sites)
        if not sites:
            return [], []
        if not any(sites):
            return [gast.Constant(len(sites), None)], []
        terms: list[gast.AST] = []
        stmts: list[gast.AST] = []
        counted = False
        for loops in sites:
            if not loops:
                terms.append(gast.Constant(1, None))
                continue
            term = self._by_trips(loops)
            if term is None:
                nest = self._by_headers(loops)
                if nest is None:
                    counted = True
                else:
                    stmts.append(nest)
            else:
                terms.append(term)
        if counted:
            return [], self._counted()
        return terms, stmts

    def _sites(
        self, s: gast.AST, loops: tuple[gast.AST, ...]
    ) -> Iterator[tuple[gast.AST, ...]]:
        """The loops around each `append`."""
        if isinstance(s, gast.Expr) and self.owner.added(s.value) is not None:
            yield loops
            return
        if isinstance(s, gast.AugAssign) and isinstance(s.target, gast.Name):
            if s.target.id == self.owner.name and isinstance(s.value, gast.List):
                yield from (loops for _ in s.value.elts)
                return
        inner = (*loops, s) if isinstance(s, (gast.For, gast.While)) else loops
        for part in ("body", "orelse"):
            for child in getattr(s, part, ()) or ():
                yield from self._sites(child, inner if part == "body" else loops)

    def _by_trips(self, loops: Sequence[gast.AST]) -> gast.AST | None:
        """The product of the numbers of iterations, where these are known."""
        found: gast.AST | None = None
        for loop in loops:
            trips = _trips(loop)
            if trips is None or read_in(trips) & self.changed:
                return None
            if self.writes and _reads_elements(trips):
                return None
            found = trips if found is None else gast.BinOp(found, gast.Mult(), trips)
        return copy.deepcopy(found)

    def _by_headers(self, loops: Sequence[gast.AST]) -> gast.AST | None:
        """Loops that count the iterations of an inner one, if what they rest on does
        not change but for their indices.
        """
        indices: set[str] = set()
        for loop in loops:
            if not isinstance(loop, gast.For) or not isinstance(loop.target, gast.Name):
                return None
            if _trips(loop) is None:
                return None
            if read_in(loop.iter) & (self.changed - indices):
                return None
            if self.writes and _reads_elements(loop.iter):
                return None
            indices.add(loop.target.id)
        if any(self._rebound(loops, i) for i in indices):
            return None
        trips = _trips(loops[-1])
        assert trips is not None
        room = name_of(self.owner.room, ctx=gast.Store())
        made: gast.AST = gast.AugAssign(room, gast.Add(), copy.deepcopy(trips))
        new = {i: fresh(i, self.owner.taken) for i in indices}
        for loop in reversed(loops[:-1]):
            target, it = copy.deepcopy(loop.target), copy.deepcopy(loop.iter)
            made = gast.For(target, it, [made], [], None)
        return Renamed(new).visit(made)

    def _rebound(self, loops: Sequence[gast.AST], index: str) -> bool:
        """Is an index bound by anything but its own loop?"""
        times: int = sum(
            isinstance(n, gast.Name) and isinstance(n.ctx, gast.Store) and n.id == index
            for b in self.before
            for n in nodes_of(b)
        )
        own = [loop for loop in loops if loop.target.id == index]
        return times > len(own)

    # ---------------------------------------------------------------- counted

    def _counted(self) -> list[gast.AST]:
        """The statements that decide how often there is an `append`, on copies."""
        for b in self.before[:-1]:
            if _may_write(b) or stored_in(b) & read_in(self.s):
                # What is between would have to run before, too.
                return self._late()
        return _Dry(self.owner, [self.s]).statements()

    def _late(self) -> list[gast.AST]:
        return _Dry(self.owner, list(self.before)).statements()


class _Dry:
    """A run of statements that does nothing but count what a list gets."""

    def __init__(self, owner: Growing, stmts: Sequence[gast.AST]) -> None:
        self.owner, self.stmts = owner, [copy.deepcopy(s) for s in stmts]
        self.first = {owner.name: owner.first, **owner.siblings}
        self.room = owner.room
        self.last = {n: fresh(f"{n}_last", owner.taken) for n in self.first}
        #: The lists of which the last element is read.
        self.reads_last: set[str] = set()
        self.numbers = numbers(owner.node)
        self.sharing = Sharing(owner.node, owner.lookup, self.numbers)

    def statements(self) -> list[gast.AST]:
        """The counting statements; `NotThisWay` if they would not be the same."""
        if any(returns(s) for s in self.stmts):
            raise NotThisWay
        self.stmts = [own for s in self.stmts for own in self._own(s)]
        self.stmts, stops = Stopping(fresh("stopped", self.owner.taken)).done(
            self.stmts
        )
        begins: list[gast.AST] = [*stops]
        for name in [n for n in self.first if n in self.reads_last and self.first[n]]:
            last = copy.deepcopy(self.first[name][-1])
            begins.append(assign([name_of(self.last[name], ctx=gast.Store())], last))
        needed: set[str] = {self.room}
        while True:
            before = len(needed)
            for s in self.stmts:
                self._grow(s, needed, ())
            if len(needed) == before:
                break
        if self.first.keys() & needed or (self.reads_last and self._pops()):
            raise NotThisWay
        self._check_arrays(needed)
        made = [x for s in self.stmts for x in self._kept(s, needed)]
        self._check_stores(made)
        helped = self._written_by_helpers(made, needed)
        if self._pops() and self.room in set().union(*map(_loaded, made)):
            raise NotThisWay  # `room` is what was added: there are fewer
        arrays = {
            n.value.id
            for s in made
            for n in nodes_of(s)
            if isinstance(n, gast.Subscript)
            and isinstance(n.ctx, gast.Store)
            and isinstance(n.value, gast.Name)
        } | helped
        scalars = {n for s in made for n in stored_in(s)} - {self.room}
        new = {
            n: fresh(f"{n}_ahead", self.owner.taken) for n in sorted(arrays | scalars)
        }
        known, read = self._bound_before(), set().union(*map(_loaded, made))
        first: list[gast.AST] = []
        for n in sorted(arrays | scalars):
            if n not in known or n not in arrays | read:
                continue
            value: gast.AST = name_of(n)
            if n in arrays:
                value = copied(value)
            first.append(assign([name_of(new[n], ctx=gast.Store())], value))
        ahead = [Renamed(new).visit(s) for s in (*begins, *made)]
        for n in (n for s in ahead for n in nodes_of(s) if isinstance(n, gast.Call)):
            setattr(n, AHEAD, True)
        return [*first, *ahead]

    def _check_stores(self, made: Sequence[gast.AST]) -> None:
        """Refuse where what is kept writes to more than elements of what has a name:
        that has no copy of its own.
        """
        for n in (n for s in made for n in nodes_of(s)):
            if isinstance(getattr(n, "ctx", None), gast.Store) and not (
                isinstance(n, (gast.Name, gast.Tuple, gast.List))
                or (isinstance(n, gast.Subscript) and isinstance(n.value, gast.Name))
            ):
                raise NotThisWay

    def _written_by_helpers(
        self, kept: Sequence[gast.AST], needed: set[str]
    ) -> set[str]:
        """The arrays that helpers write to which the statements that are `kept` call:
        they get copies. `NotThisWay` where these are not known, and where a call that
        is not kept may write to what is `needed`.
        """
        local, lookup = self.owner.local, self.owner.lookup
        there = {id(n) for s in kept for n in nodes_of(s)}
        found: set[str] = set()
        for n in (n for s in self.stmts for n in nodes_of(s)):
            if not isinstance(n, gast.Call):
                continue
            if not call_writes(n, local, lookup, alone=False):
                continue
            if id(n) not in there:
                if read_in(n) & needed:
                    raise NotThisWay
                continue
            given = written_arguments(self._known(n), n)
            if given is None or not all(isinstance(e, gast.Name) for e in given):
                raise NotThisWay
            found |= {e.id for e in given}
        bound = self._bound_before()
        others = {n for s in kept for n in stored_in(s)} & found
        if others or found - bound or any(len(self.sharing.of(n)) > 1 for n in found):
            raise NotThisWay
        return found

    def _known(self, call: gast.AST) -> object:
        """The function outside that is called."""
        if not isinstance(call, gast.Call):
            return None
        return object_named(call.func, self.owner.local, self.owner.lookup)

    def _pops(self) -> bool:
        return any(
            isinstance(n, gast.Attribute) and n.attr in ("pop", "reverse")
            for s in self.stmts
            for n in nodes_of(s)
        )

    def _check_arrays(self, needed: set[str]) -> None:
        """Refuse where what decides is in an array that may change under another name,
        or in a helper.
        """
        own = (needed & self.owner.local) - self.numbers - {self.room}
        written = self._written() - self.numbers - self.first.keys()
        fields = {
            root_of(n)
            for s in self.stmts
            for n in nodes_of(s)
            if isinstance(n, gast.Attribute) and isinstance(n.ctx, gast.Store)
        }
        if fields & needed:
            raise NotThisWay  # no name holds what is in a field
        for w in written:
            names = self.sharing.of(w) & (own | written)
            if names & own and len(names) > 1:
                raise NotThisWay
        for s in self.stmts:
            for n in nodes_of(s):
                match n:
                    case gast.Call(func=gast.Name(id=called), args=args):
                        decides = own & set().union(*map(read_in, args))
                        if called in _PURE or not decides:
                            continue
                        if written_arguments(self._known(n), n) is None:
                            raise NotThisWay
                    case gast.Call(func=gast.Attribute(value=gast.Name(id=base))):
                        if base in own and n.func.attr not in _FRESH:
                            raise NotThisWay

    def _written(self) -> set[str]:
        """The names whose arrays the statements may write to."""
        found: set[str] = set()
        for n in (n for s in self.stmts for n in nodes_of(s)):
            match n:
                case gast.Call(func=gast.Name(id=name)) if name in self.owner.local:
                    if _closure_writes(self.owner.node, name):
                        raise NotThisWay
            found |= self.sharing.writes(n)
        return found

    def _bound_before(self) -> set[str]:
        """What has a value where the list is made."""
        found = {p.id for p in parameters(self.owner.node)}
        own = self.owner.name

        def visit(stmts: Sequence[gast.AST]) -> bool:
            for s in stmts:
                match s:
                    case gast.Assign(targets=[gast.Name(id=name)]) if name == own:
                        return True
                for part in ("body", "orelse"):
                    inner = getattr(s, part, None)
                    if isinstance(inner, list):
                        if isinstance(s, gast.For):
                            target = stored_in(assign([s.target], s.iter))
                        else:
                            target = set()
                        mark = set(found)
                        found.update(target)
                        if visit(inner):
                            return True
                        found.clear()
                        found.update(mark)
                found.update(stored_in(s))
            return False

        visit(self.owner.node.body)
        return found

    def _own(self, s: gast.AST) -> list[gast.AST]:
        """The statement with a count for the list, as statements."""
        own = self
        last, room, name = self.last, self.room, self.owner.name

        class Own(gast.NodeTransformer):  # type: ignore[misc]
            def visit_Expr(self, node: gast.Expr) -> Any:
                to, value = appended(node.value)
                if value is None or to not in last:
                    return self.generic_visit(node)
                out = []
                if not isinstance(value, (gast.Tuple, gast.List)):
                    value = self.visit(value)
                    out.append(assign([name_of(last[to], ctx=gast.Store())], value))
                if to == name:
                    number = name_of(room, ctx=gast.Store())
                    one = gast.Constant(1, None)
                    out.append(gast.AugAssign(number, gast.Add(), one))
                return out or gast.Pass()

            def visit_Call(self, node: gast.Call) -> Any:
                match node:
                    case gast.Call(func=gast.Name(id="len"), args=[gast.Name(id=n)]):
                        if n in last:
                            return name_of(room)
                return self.generic_visit(node)

            def visit_Subscript(self, node: gast.Subscript) -> Any:
                match node:
                    case gast.Subscript(
                        value=gast.Name(id=n),
                        slice=gast.UnaryOp(
                            op=gast.USub(), operand=gast.Constant(value=1)
                        ),
                        ctx=gast.Load(),
                    ) if n in last:
                        own.reads_last.add(n)
                        return name_of(last[n])
                return self.generic_visit(node)

        made = Own().visit(s)
        return made if isinstance(made, list) else [made]

    def _grow(self, s: gast.AST, needed: set[str], tests: tuple[set[str], ...]) -> bool:
        """Add what the names that are needed rest on; is the statement needed?"""
        match s:
            case gast.For() | gast.While() | gast.If():
                own = _binds(s, needed)
                head = read_in(s.iter if isinstance(s, gast.For) else s.test)
                if _is_display(s) and not own:
                    head = set()  # how much there is does not change
                inside = (*tests, head)
                found = [self._grow(c, needed, inside) for c in (*s.body, *s.orelse)]
                if any(found) or own:
                    needed |= head
                    return True
                return False
            case gast.Break() | gast.Continue():
                for t in tests:
                    needed |= t
                return True
            case gast.Assign() | gast.AugAssign():
                changed = stored_in(s) | written_in(s)
                if changed & needed:
                    needed |= read_in(s)
                    for t in tests:
                        needed |= t
                    return True
                return False
            case gast.Raise() | gast.Assert() | gast.Pass():
                return False
        if any(isinstance(n, gast.Call) for n in nodes_of(s)) and read_in(s) & needed:
            to, value = appended(s.value) if isinstance(s, gast.Expr) else ("", None)
            if value is not None and to not in needed and not _acts(value, needed):
                return False  # another list gets it, which writes to nothing
            # A helper may write to what is needed.
            match s:
                case gast.Expr(value=gast.Call(func=func, args=args)):
                    if {n for a in (func, *args) for n in read_in(a)} & needed:
                        raise NotThisWay
        return False

    def _kept(self, s: gast.AST, needed: set[str]) -> list[gast.AST]:
        match s:
            case gast.For() | gast.While() | gast.If():
                body = [x for c in s.body for x in self._kept(c, needed)]
                orelse = [x for c in s.orelse for x in self._kept(c, needed)]
                own = _binds(s, needed)
                if not body and not orelse and not own:
                    return []
                made = copy.copy(s)
                made.body, made.orelse = body or [gast.Pass()], orelse
                if not own and _is_display(s):
                    # What is in it may change on the way: how much there is does not.
                    count = gast.Constant(len(s.iter.elts), None)
                    index = fresh("item", self.owner.taken)
                    made.target = name_of(index, ctx=gast.Store())
                    made.iter = gast.Call(name_of("range"), [count], [])
                return [made]
            case gast.Break() | gast.Continue():
                return [s]
            case gast.AugAssign(target=gast.Name(id=name), op=op) if name in needed:
                if name == self.room:
                    return [s]
                # In place it would be the array that the function goes on with.
                own = name_of(name, ctx=gast.Store())
                return [assign([own], gast.BinOp(name_of(name), op, s.value))]
            case gast.Assign() | gast.AugAssign():
                return [s] if (stored_in(s) | written_in(s)) & needed else []
        return []


#: Functions that write to nothing, and methods and functions that give what is new.
_PURE = frozenset(
    ["len", "abs", "min", "max", "sum", "int", "float", "range", "round"]
    + ["zip", "enumerate", "reversed"]
)
_FRESH = frozenset(
    ["copy", "sum", "mean", "min", "max", "dot", "astype", "zeros", "ones", "empty"]
    + ["full", "zeros_like", "ones_like", "empty_like", "array", "sqrt", "exp", "abs"]
    + ["arange", "linspace", "any", "all", "argmin", "argmax", "var", "std", "prod"]
    + ["sin", "cos", "log", "flatnonzero", "where", "normal", "random", "uniform"]
)


def _acts(e: gast.AST, on: set[str]) -> bool:
    """May a call in an expression change what these names stand for?"""
    for n in nodes_of(e):
        match n:
            case gast.Call(func=gast.Name(id=name)) if name in _PURE:
                continue
            case gast.Call(func=gast.Attribute(attr=attr)) if attr in _FRESH:
                continue
            case gast.Call() if read_in(n) & on:
                return True
    return False


def _binds(s: gast.AST, needed: set[str]) -> bool:
    """Does the head of a loop bind what is needed?"""
    return isinstance(s, gast.For) and bool(
        stored_in(assign([s.target], s.iter)) & needed
    )


def _is_display(s: gast.AST) -> bool:
    """Is it a loop over what stands side by side in its head?"""
    match s:
        case gast.For(iter=gast.Tuple(elts=elts) | gast.List(elts=elts)):
            return not any(isinstance(e, (gast.Starred, gast.Call)) for e in elts)
    return False


def _closure_writes(node: gast.AST, name: str) -> bool:
    """May a function that is defined inside write to what is not its own?"""
    for n in nodes_of(node):
        if isinstance(n, gast.FunctionDef) and n.name == name:
            return _may_write(n) or bool(_added_to(n))
    return False


def _added_to(s: gast.AST) -> set[str]:
    """The names that ``name += value`` and its like stand for in a statement."""
    return {
        n.target.id
        for n in nodes_of(s)
        if isinstance(n, gast.AugAssign) and isinstance(n.target, gast.Name)
    }


def _loaded(s: gast.AST) -> set[str]:
    return {
        n.id
        for n in nodes_of(s)
        if isinstance(n, gast.Name) and isinstance(n.ctx, gast.Load)
    }


def _may_write(s: gast.AST) -> bool:
    """May a statement write to elements of arrays, itself or in a helper?"""
    if written_in(s) or _added_to(s):
        return True
    for n in nodes_of(s):
        match n:
            case gast.Expr(value=gast.Call() as call):
                if appended(call)[1] is None:
                    return True
            case gast.Call(func=gast.Name(id=name)) if name not in _PURE:
                return True
            case gast.Call(func=gast.Attribute(value=base, attr=attr)):
                if attr not in _FRESH and root_of(base) not in _MODULES:
                    return True
    return False


def _reads_elements(e: gast.AST) -> bool:
    """Does a number of iterations rest on elements of arrays?"""
    for n in nodes_of(e):
        match n:
            case gast.Subscript(value=gast.Attribute(attr="shape")):
                continue
            case gast.Subscript(slice=gast.Slice()):
                continue  # only how long it is counts
            case gast.Subscript():
                return True
            case gast.Call(func=gast.Name(id="sum")):
                return True
            case gast.Call(func=gast.Name(id=name)) if name not in _PURE:
                return True
            case gast.Call(func=gast.Attribute(value=base)) if root_of(base) != "math":
                return True
    return False


#: Their functions write to nothing, where they do not stand alone.
_MODULES = frozenset(["np", "numpy", "math"])


def _trips(loop: gast.AST) -> gast.AST | None:
    """How many iterations a `for` has at most; None if its text does not say."""
    if not isinstance(loop, gast.For):
        return None
    match loop.iter:
        case gast.Call(func=gast.Name(id="range" | "prange"), args=args, keywords=[]):
            match args:
                case [stop]:
                    return _at_least_zero(stop)
                case [start, stop]:
                    return _at_least_zero(gast.BinOp(stop, gast.Sub(), start))
                case [start, stop, gast.Constant(value=int() as step)] if step > 0:
                    wide = gast.BinOp(
                        gast.BinOp(stop, gast.Sub(), start),
                        gast.Add(),
                        gast.Constant(step - 1, None),
                    )
                    return _at_least_zero(
                        gast.BinOp(wide, gast.FloorDiv(), gast.Constant(step, None))
                    )
                case [
                    start,
                    stop,
                    gast.UnaryOp(
                        op=gast.USub(), operand=gast.Constant(value=int(step))
                    ),
                ] if step > 0:
                    wide = gast.BinOp(
                        gast.BinOp(start, gast.Sub(), stop),
                        gast.Add(),
                        gast.Constant(step - 1, None),
                    )
                    return _at_least_zero(
                        gast.BinOp(wide, gast.FloorDiv(), gast.Constant(step, None))
                    )
        case gast.Call(
            func=gast.Name(id="enumerate" | "zip" | "reversed"), args=[first, *_]
        ):
            return _trips(gast.For(loop.target, first, [], [], None))
        case gast.Name() | gast.Attribute() | gast.Subscript():
            return gast.Call(name_of("len"), [loop.iter], [])
    return None


def _at_least_zero(e: gast.AST) -> gast.AST:
    match e:
        case gast.Constant(value=int() as n):
            return gast.Constant(max(0, n), None)
        case gast.Call(func=gast.Name(id="len")):
            return e
        case gast.Subscript(value=gast.Attribute(attr="shape")):
            return e
    return gast.Call(name_of("max"), [gast.Constant(0, None), e], [])
