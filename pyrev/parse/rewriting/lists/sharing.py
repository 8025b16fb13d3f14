"""Which lists may be held as copies of the arrays that they get.

The elements of a list are objects: what is written to an array shows in each list that
has it. A list holds copies where nothing writes to its arrays, or where each array was
made for it alone, and is only written to before that.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

import gast
import numpy as np

from pyrev.parse.bindings import children, local_names, nodes_of, parameters
from pyrev.parse.grounds import lookup as stands_for
from pyrev.parse.rewriting.effects import is_numpy, writes_by_position
from pyrev.parse.rewriting.helper_texts import definition_of, looked
from pyrev.parse.rewriting.made_texts import Lookup, object_named, read_in, root_of
from pyrev.parse.rewriting.structures.nodes import own_returns
from pyrev.parse.source import parameters_of, plain

#: The attribute of a node that makes the array of a list, or puts an element there.
LISTED = "pyrev_listed"
#: That of a list that NumPy, or a helper, is given as an array.
GIVEN = "pyrev_given"
#: That of arithmetic that changes an element in place, if this is an object that can.
IN_PLACE = "pyrev_in_place"


@dataclass(frozen=True, slots=True)
class Listed:
    """A list, and what says why it can't be one of arrays, "" where it can: that is
    only asked of those that turn out to be.
    """

    name: str
    refusal: Callable[[], str]


def listed(node: gast.AST, name: str, lookup: Lookup, helper: bool) -> Listed:
    """What the nodes that a list in a definition becomes are told of it."""

    # A function is not copied with the nodes that have it.
    def refusal() -> str:
        return Sharing(node, lookup).refusal(name, helper)

    return Listed(name, refusal)


def in_place(element: gast.AST, op: gast.AST, value: gast.AST) -> gast.BinOp:
    """What an element becomes by arithmetic that changes it in place if it can."""
    made = gast.BinOp(element, op, value)
    setattr(made, IN_PLACE, True)
    return made


#: Functions of NumPy that give new arrays; so do its ufuncs.
_NEW = frozenset(
    ["zeros", "ones", "empty", "full", "zeros_like", "ones_like", "empty_like"]
    + ["full_like", "array", "eye", "identity", "arange", "linspace", "cross", "dot"]
    + ["outer", "concatenate", "stack", "vstack", "hstack", "column_stack", "where"]
    + ["sum", "mean", "cumsum", "cumprod", "diff", "clip", "copy", "roll", "interp"]
    + ["sort", "argsort", "flatnonzero", "solve", "inv", "norm", "tile", "repeat"]
    + ["convolve", "kron", "tril", "triu", "max", "min", "prod", "std", "var", "round"]
    + ["gradient", "average", "median", "det", "argmax", "argmin"]
)
#: Methods of arrays that do.
_NEW_OF = frozenset(
    ["copy", "sum", "mean", "dot", "cumsum", "cumprod", "flatten", "min", "max"]
    + ["prod", "std", "var", "argmin", "argmax", "clip", "round"]
)
#: Python's own functions that give numbers, and write to nothing.
_NUMBERS = (len, abs, min, max, sum, int, float, range, round, bool, pow)
#: Those that give the elements of what they are given.
_ELEMENTS = (enumerate, zip, reversed, list, tuple)


class Sharing:
    """Which names of a definition may stand for the same arrays, or for lists of them,
    and which are written to.
    """

    def __init__(
        self, node: gast.AST, lookup: Lookup, numbers: Collection[str] = ()
    ) -> None:
        self.node, self.lookup = node, lookup
        #: Names that stand for numbers: they share nothing.
        self.numbers = numbers
        self.local = local_names(node)
        self.parents: dict[str, str] = {}
        self.written: set[str] = set()
        self.lists = {n for n, _ in _kept(node)}
        inner = [n for n in nodes_of(node) if _is_inner(n) and n is not node]
        #: What functions inside may give, whatever they are given.
        self.inner = {m.id for n in inner for m in nodes_of(n) if _is_name(m)}
        for n in nodes_of(node):
            self._bound(n)
        #: Names of one class before lists get arrays.
        self.bare = {n: self.of(n) for n in [*self.parents]}
        for name, value in _kept(node):
            self._join({name, *self.shares(value)})
        for n in nodes_of(node):
            self.written |= self.writes(n)

    # ------------------------------------------------------------ classes

    def _root(self, name: str) -> str:
        while self.parents.setdefault(name, name) != name:
            name = self.parents[name]
        return name

    def _join(self, names: set[str]) -> None:
        names = names.difference(self.numbers)
        for name in names:
            self.parents[self._root(name)] = self._root(next(iter(names)))

    def of(self, name: str) -> frozenset[str]:
        """The names that may share arrays with a name, itself included."""
        own = self._root(name)
        return frozenset(n for n in [*self.parents] if self._root(n) == own)

    def _bound(self, n: gast.AST) -> None:
        match n:
            case gast.Assign(targets=targets, value=value):
                for target in targets:
                    self._paired(target, value)
                if not isinstance(value, gast.Constant):
                    self._join({t.id for t in targets if _is_name(t)})
            case gast.NamedExpr(target=target, value=value):
                self._paired(target, value)
            case (
                gast.For(target=target, iter=it)
                | gast.comprehension(target=target, iter=it)
            ):
                self._paired(target, it)

    def _paired(self, target: gast.AST, value: gast.AST) -> None:
        match target, value:
            case (
                gast.Tuple(elts=targets) | gast.List(elts=targets),
                gast.Tuple(elts=values) | gast.List(elts=values),
            ) if len(targets) == len(values):
                for t, v in zip(targets, values, strict=True):
                    self._paired(t, v)
            case gast.Tuple(elts=targets) | gast.List(elts=targets), _:
                for t in targets:
                    self._paired(t, value)
            case gast.Starred(value=inner), _:
                self._paired(inner, value)
            case gast.Name(id=name), _:
                self._join({name, *self.shares(value)})
            case gast.Attribute(), _:
                self._join({root_of(target), *self.shares(value)} - {""})
            case gast.Subscript(slice=gast.Constant(value=str())), _:
                self._join({root_of(target), *self.shares(value)} - {""})

    def shares(self, e: gast.AST | None) -> set[str]:
        """The names whose arrays an expression may give, or hold."""
        match e:
            case gast.Name(id=name):
                return {str(name)}
            case gast.Attribute(attr="shape" | "size" | "ndim" | "dtype"):
                return set()
            case gast.Attribute(value=value) | gast.Starred(value=value):
                return self.shares(value)
            case gast.Subscript(value=value) | gast.NamedExpr(value=value):
                return self.shares(value)
            case gast.Constant() | gast.UnaryOp() | gast.Compare() | gast.JoinedStr():
                return set()
            case gast.BinOp(left=left, right=right):
                held = (gast.List, gast.Tuple, gast.ListComp)
                return set().union(
                    *(self.shares(x) for x in (left, right) if isinstance(x, held))
                )
            case gast.IfExp(body=body, orelse=orelse):
                return self.shares(body) | self.shares(orelse)
            case gast.ListComp(elt=elt) | gast.GeneratorExp(elt=elt):
                return self.shares(elt)
            case gast.Call():
                return self._given_by(e)
            case None:
                return set()
        return set().union(*map(self.shares, children(e)))

    def _given_by(self, call: gast.Call) -> set[str]:
        every = [*call.args, *(k.value for k in call.keywords)]
        held: set[str] = set().union(*map(self.shares, every))
        found = object_named(call.func, self.local, self.lookup)
        if found is None:
            if isinstance(call.func, gast.Attribute):
                if call.func.attr in _NEW_OF and not call.keywords:
                    return set()
                return held | self.shares(call.func.value)
            return held | self.inner
        if any(found is f for f in _NUMBERS) or _is_scalar_function(found):
            return set()
        if is_numpy(found):
            named = getattr(found, "__name__", "") in _NEW
            plain_ = not any(k.arg in ("out", "copy") for k in call.keywords)
            new = (named or isinstance(found, np.ufunc)) and plain_
            return set() if new else held
        seen = effects(found)
        if seen is None:
            return held
        return self._arguments(found, call, seen[0])

    def _arguments(
        self, function: object, call: gast.Call, names: frozenset[str]
    ) -> set[str]:
        """What the arguments for these parameters share."""
        own = plain(function)
        if own is None or any(isinstance(a, gast.Starred) for a in call.args):
            every = [*call.args, *(k.value for k in call.keywords)]
            return set().union(*map(self.shares, every))
        params = parameters_of(own)
        given = dict(zip(params, call.args, strict=False))
        given |= {k.arg: k.value for k in call.keywords}
        return set().union(*(self.shares(v) for n, v in given.items() if n in names))

    # ------------------------------------------------------------ writes

    def writes(self, n: gast.AST) -> set[str]:
        """The names whose arrays a node may write to, nodes inside apart."""
        match n:
            case gast.Subscript(ctx=gast.Store() | gast.Del()):
                # A list gets another element: its arrays stay.
                direct = isinstance(n.value, gast.Name) and n.value.id in self.lists
                return set() if direct else {root_of(n)} - {""}
            case gast.AugAssign(target=target):
                return {root_of(target)} - {""}
            case gast.Attribute(ctx=gast.Store()):
                return {root_of(n)} - {""}
            case gast.Expr(value=gast.Call(func=gast.Attribute() as func)) if (
                root_of(func) in self.local
            ):
                if func.attr in ("append", "pop", "reverse") and isinstance(
                    func.value, gast.Name
                ):
                    return set()
                return self.shares(func.value).union(*map(self.shares, n.value.args))
            case gast.Call():
                return self._written_by(n)
        return set()

    def _written_by(self, call: gast.Call) -> set[str]:
        every = [*call.args, *(k.value for k in call.keywords)]
        held: set[str] = set().union(*map(self.shares, every))
        found = object_named(call.func, self.local, self.lookup)
        if found is None:
            if isinstance(call.func, gast.Attribute):
                return set()
            return held | self.inner
        known = (*_NUMBERS, *_ELEMENTS)
        if any(found is f for f in known) or _is_scalar_function(found):
            return set()
        if is_numpy(found):
            out = [k.value for k in call.keywords if k.arg == "out"]
            if writes_by_position(found, call):
                return held
            return set().union(*map(self.shares, out))
        seen = effects(found)
        return held if seen is None else self._arguments(found, call, seen[1])

    # ------------------------------------------------------------ what of a list

    def refusal(self, name: str, helper: bool) -> str:
        """Why a list can't hold copies of arrays; "" where it can."""
        own, uses = self.of(name), nodes_of(self.node)
        results = [self._results(r.value) for r in own_returns(self.node)]
        returned = any(own & names for several in results for names in several)
        if any(sum(bool(own & names) for names in several) > 1 for several in results):
            return "an array is returned by itself, and in a list"
        kept = [v for n, v in _kept(self.node) if n == name]
        # What is written by another name than that which the list got it by shows
        # under that name, too.
        seen = bool((own & self.written) - {v.id for v in kept if _is_name(v)})
        made = all(self._made(v, seen) for v in kept)
        # Where a list is multiplied, one array is in it several times.
        made = made and not any(_multiplied(n, name) for n in uses)
        if any(_takes_off(n, name) for n in uses):
            return "arrays are taken off a list"
        params = {p.id for p in parameters(self.node)}
        if returned and own & params and not made:
            return "an argument, or a part of one, may be in a list that is returned"
        stores = any(
            isinstance(n, gast.Subscript)
            and isinstance(n.ctx, gast.Store)
            and isinstance(n.value, gast.Name)
            and n.value.id == name
            for n in uses
        )
        stores = stores or any(_turns(n, name) for n in uses)
        if stores and self.bare.get(name, frozenset([name])) != {name}:
            return "a list whose arrays have other names gets other arrays"
        if not own & self.written and not stores and not (returned and helper):
            return ""
        copied = any(_copies(n, name) for n in uses)
        if made and not copied:
            return ""
        return "an array in a list is, or may be, written to afterwards"

    def _results(self, value: gast.AST | None) -> list[set[str]]:
        """The names whose arrays each of the values that are returned may give."""
        if isinstance(value, gast.Tuple):
            return [names for e in value.elts for names in self._results(e)]
        return [self.shares(value)]

    def _made(self, value: gast.AST, seen: bool) -> bool:
        """Is it an array that is made for this place alone? If what is written to it
        there would be `seen` under its name, that is not read any more.
        """
        if not self.shares(value):
            return True
        if not isinstance(value, gast.Name):
            return False
        name = value.id
        if self.bare.get(name, frozenset([name])) != {name}:
            return False
        if seen and name in self.inner:
            return False
        return _Fresh(self, name, seen).block(self.node.body, False) is not None


class _Fresh:
    """Is each array that a name stands for put into one list at most, and written to
    before that alone? And read before that alone, if it is `unread` behind it?
    """

    def __init__(self, sharing: Sharing, name: str, unread: bool) -> None:
        self.sharing, self.name, self.unread = sharing, name, unread

    def block(self, stmts: Sequence[gast.AST], fresh: bool) -> bool | None:
        """Does the name stand for a new array behind a block, if it does before (or
        not, as `fresh` says)? None if that array is used otherwise.
        """
        for s in stmts:
            match s:
                case gast.Assign(targets=[gast.Name(id=own)], value=value) if (
                    own == self.name
                ):
                    if self.sharing.shares(value) or self._read(value, fresh):
                        return None
                    fresh = True
                    continue
                case gast.For() | gast.While() | gast.If():
                    touched = self._kept(s) or self._bound(s)
                    begin = fresh and not touched
                    head = s.iter if isinstance(s, gast.For) else s.test
                    again = not isinstance(s, gast.While) or begin
                    if self._read(head, fresh and again):
                        return None
                    for inner in (s.body, s.orelse):
                        if self.block(inner, begin) is None:
                            return None
                    fresh = fresh and not touched
                    continue
            kept = self._kept(s)
            if self._read(s, fresh):
                return None
            if self._written(s) or kept:
                if not fresh or kept > 1:
                    return None
            if kept or self._bound(s):
                fresh = False
        return fresh

    def _read(self, e: gast.AST, fresh: bool) -> bool:
        """May something that was written to the array in a list be read here?"""
        if fresh or not self.unread:
            return False
        loads = (n for n in nodes_of(e) if _is_name(n) and n.id == self.name)
        return any(isinstance(n.ctx, gast.Load) for n in loads)

    def _kept(self, s: gast.AST) -> int:
        return sum(self.name in self.sharing.shares(v) for _, v in _kept(s))

    def _bound(self, s: gast.AST) -> bool:
        if isinstance(s, gast.AugAssign):
            return False
        return any(
            _is_name(n) and n.id == self.name and isinstance(n.ctx, gast.Store)
            for n in nodes_of(s)
        )

    def _written(self, s: gast.AST) -> bool:
        return any(self.name in self.sharing.writes(n) for n in nodes_of(s))


def effects(function: object) -> tuple[frozenset[str], frozenset[str]] | None:
    """The parameters of a plain function whose arrays it may give back, and those that
    it may write to; None if nothing is known of it.
    """
    own, node = plain(function), definition_of(function)
    if own is None or node is None:
        return None

    def look() -> tuple[frozenset[str], frozenset[str]] | None:
        seen = Sharing(node, partial(stands_for, own))
        given = {
            name
            for r in own_returns(node)
            for shared in seen.shares(r.value)
            for name in seen.of(shared)
        }
        params = [p.id for p in parameters(node)]
        written = {n for w in seen.written for n in seen.of(w)}
        return (
            frozenset(n for n in params if n in given),
            frozenset(n for n in params if n in written),
        )

    return looked(own, "sharing", look, None)


def written_arguments(function: object, call: gast.Call) -> list[gast.AST] | None:
    """The arguments of a call whose elements a plain function writes to; None if it is
    not known which, or if that may be numbers.
    """
    seen, given = effects(function), _given(function, call)
    if seen is None or given is None:
        return None
    elements = {
        n.value.id
        for n in nodes_of(definition_of(function))
        if isinstance(n, gast.Subscript) and isinstance(n.value, gast.Name)
    }
    if not seen[1] <= elements & given.keys():
        return None
    return [given[n] for n in sorted(seen[1])]


def gives_back(function: object, call: gast.Call, name: str) -> bool:
    """May a plain function give back an array that a call has by this name?"""
    seen, given = effects(function), _given(function, call)
    if seen is None or given is None:
        return True
    return any(name in read_in(given[n]) for n in seen[0] & given.keys())


def _given(function: object, call: gast.Call) -> dict[str, gast.AST] | None:
    """The arguments of a call of a plain function by its parameters' names."""
    node = definition_of(function)
    if node is None or any(isinstance(a, gast.Starred) for a in call.args):
        return None
    params = [p.id for p in parameters(node)]
    if len(call.args) > len(params) or any(k.arg is None for k in call.keywords):
        return None
    given = dict(zip(params, call.args, strict=False))
    return given | {k.arg: k.value for k in call.keywords}


def _kept(node: gast.AST) -> Iterator[tuple[str, gast.AST]]:
    """The lists that get elements, and what."""
    made: set[str] = set()
    every = nodes_of(node)
    for n in every:
        match n:
            case gast.Assign(targets=[gast.Name(id=name)], value=gast.List(elts=elts)):
                made.add(name)
                for e in elts:
                    yield name, e
            case gast.Assign(
                targets=[gast.Name(id=name)],
                value=gast.BinOp(left=gast.List(elts=elts), op=gast.Mult()),
            ):
                made.add(name)
                for e in (*elts, *elts):
                    yield name, e
            case gast.Call(
                func=gast.Attribute(value=gast.Name(id=name), attr="append"),
                args=[value],
            ):
                made.add(name)
                yield name, value
    for n in every:
        match n:
            case gast.AugAssign(target=gast.Name(id=name), value=gast.List(elts=elts)):
                for e in elts:
                    yield name, e
            case gast.Assign(
                targets=[gast.Subscript(value=gast.Name(id=name))], value=value
            ) if name in made:
                yield name, value


def _copies(n: gast.AST, name: str) -> bool:
    """Does a list get another name, or is a part of it another list?"""
    match n:
        case gast.Assign(value=gast.Name(id=own)):
            return bool(own == name)
        case gast.Subscript(value=gast.Name(id=own), slice=gast.Slice()):
            return bool(own == name)
    return False


def _multiplied(n: gast.AST, name: str) -> bool:
    match n:
        case gast.Assign(
            targets=[gast.Name(id=own)], value=gast.BinOp(left=gast.List())
        ):
            return bool(own == name)
    return False


def _turns(n: gast.AST, name: str) -> bool:
    """Do the arrays of a list change places?"""
    match n:
        case gast.Call(func=gast.Attribute(value=gast.Name(id=own), attr="reverse")):
            return bool(own == name)
    return False


def _takes_off(n: gast.AST, name: str) -> bool:
    match n:
        case gast.Call(func=gast.Attribute(value=gast.Name(id=own), attr="pop")):
            return bool(own == name)
    return False


def _is_scalar_function(found: object) -> bool:
    module = str(getattr(found, "__module__", ""))
    return module == "math" or (isinstance(found, type) and found in _CLASSES)


_CLASSES = (int, float, bool, np.float64, np.float32, np.int64, np.int32)


def _is_inner(n: gast.AST) -> bool:
    return isinstance(n, (gast.FunctionDef, gast.Lambda))


def _is_name(n: gast.AST) -> bool:
    return isinstance(n, gast.Name)
