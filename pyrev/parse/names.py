"""What a name stands for: a local, a helper, a global or closure value, an array.

A global or closure value becomes a hidden parameter (`Capture`), read at every call.
`Names` is the bottom of the walk over a function: its state, and these questions.
"""

from __future__ import annotations

import keyword
import math
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from types import FunctionType, ModuleType

import gast
import numpy as np

from pyrev.ir.diagnostics import Findings
from pyrev.ir.nodes import (
    NOWHERE,
    Assign,
    Block,
    Call,
    Dtype,
    Expr,
    Load,
    Loc,
    Stmt,
    Var,
    fresh,
)
from pyrev.ir.renaming import rename, renamed_dtype
from pyrev.parse.bindings import bindings
from pyrev.parse.custom import Rule
from pyrev.parse.grounds import MISSING, Grounds, Missing, cell_of, lookup
from pyrev.parse.shapes import RankFact
from pyrev.parse.source import Source, Texts
from pyrev.parse.values import Array, Operand, placed, stored_in, whole_array
from pyrev.runtime.error_boundary import reads_users

# Names that the printed form of a program uses itself.
RESERVED = frozenset(
    [*keyword.kwlist, "np", "math", "range", "reversed", "len", "min", "max", "abs"]
    + ["int", "float", "bool", "round", "numba", "prange"]
)


_NOWHERE = Loc("", 0, 0, 0, 0)


@dataclass(frozen=True, slots=True)
class Capture:
    """A parameter that holds a global or closure value, and where that value is now."""

    name: str
    holder: FunctionType
    path: tuple[str, ...]

    @reads_users
    def read(self) -> object:
        """The present value."""
        value = lookup(self.holder, self.path[0])
        if isinstance(value, Missing):
            raise NameError(  # noqa: TRY004
                f"name '{self.path[0]}' is not defined"
            )
        for attribute in self.path[1:]:
            value = getattr(value, attribute)
        return value


@dataclass(slots=True)
class Scope:
    """One function being lowered: what its names stand for."""

    source: Source
    python: FunctionType | None
    local: frozenset[str]
    outer: Scope | None
    stack: tuple[object, ...]
    inlined: bool
    #: The calls that lead here.
    site: tuple[Loc, ...] = ()
    bound: dict[str, Operand] = field(default_factory=dict)
    helpers: dict[str, Helper] = field(default_factory=dict)
    #: Where the present array of a name was bound, and where it was used since.
    paths: dict[str, tuple[int, ...]] = field(default_factory=dict)
    uses: dict[str, list[tuple[int, ...]]] = field(default_factory=dict)
    #: The arrays that the function made itself; names that had another array copied.
    owned: set[str] = field(default_factory=set)
    retired: set[str] = field(default_factory=set)
    numbers: set[str] = field(default_factory=set)
    start: tuple[int, ...] = ()
    #: The statement that is being read, and how many arrays there were before it.
    current: gast.AST | None = None
    since: int = 0


def home(scope: Scope) -> FunctionType | None:
    """The function whose free names the free names of `scope` are."""
    place: Scope | None = scope
    while place is not None:
        python: FunctionType | None = place.python
        if python is not None:
            return python
        place = place.outer
    return None


@dataclass(frozen=True, slots=True)
class Helper:
    """A function that can be inlined; `scope` is where it was defined, if here."""

    name: str
    source: Source
    python: FunctionType | None
    scope: Scope | None

    @property
    def key(self) -> object:
        return self.source.node if self.python is None else self.python.__code__


@dataclass(frozen=True, slots=True)
class Place:
    """A place in the run: a function, the statement there, what names stand for.

    `last`: it is the statement itself that does what is done there, and no call in it.
    """

    scope: Scope
    node: gast.AST | None
    bound: Mapping[str, Operand]
    last: bool


@dataclass(slots=True)
class Lent:
    """A copy of what is another array in Python, depending on the run.

    It stands for that one until its name is bound again, which may be on some paths
    only; or it is what a helper returned, which may be one of several arrays.
    """

    name: str
    at: Loc
    #: What it is a copy of; None if that changes: for what a helper returned, and for
    #: what changed places with a copy.
    source: Array | None
    #: The arrays that it may be in Python.
    origins: frozenset[str]
    scope: Scope
    #: How many arrays there were before it.
    index: int
    #: The blocks in which it is a new array whatever was run.
    paths: list[tuple[int, ...]] = field(default_factory=list)
    #: Is it `source`, if it is not new, and nothing else?
    known: bool = True
    #: Is it a new array by now? Only of those that are written before they are.
    fresh: Var | None = None
    #: Which of `choices` it is when the program runs; None stands for a new array.
    which: Var | None = None
    choices: tuple[Array | None, ...] = ()
    #: How many writes there were when its elements were last put back, and where.
    clean: int = 0
    cleaned: tuple[int, ...] = ()


#: The calls that lead to a helper, and a name of its own.
Called = tuple[tuple[Loc, ...], str]


@dataclass(slots=True)
class Names:
    """One walk over a function and its helpers.

    `ranks` are those the previous walk found: what depends on a rank (`a.size`,
    `np.zeros_like(a)`) is right once they no longer change.
    """

    ranks: dict[str, int]
    loose: bool = False
    #: The ranks of what helpers name: what it is called in the program may change from
    #: walk to walk.
    inner: Mapping[Called, int] = field(default_factory=dict)
    #: Are these the ranks of a call, and not what the text alone suggests?
    exact: bool = False
    dtypes: Mapping[str, str] = field(default_factory=dict)
    #: The names that need an array of their own before a loop or a branch.
    wanted: frozenset[tuple[str, Loc]] = frozenset()
    asked: set[tuple[str, Loc]] = field(default_factory=set)
    #: The copies that stand for other arrays, until their names are bound again.
    lent: dict[str, Lent] = field(default_factory=dict)
    findings: Findings = field(default_factory=Findings)
    taken: set[str] = field(default_factory=lambda: set(RESERVED))
    out: list[Stmt] = field(default_factory=list)
    captures: dict[tuple[object, ...], Capture] = field(default_factory=dict)
    #: The functions that probes call, in the order of their first probe.
    callbacks: dict[tuple[object, ...], Capture] = field(default_factory=dict)
    #: What the program rests on in the objects around the text; the texts it was read
    #: from.
    grounds: Grounds = field(default_factory=Grounds)
    texts: Texts = field(default_factory=Texts)
    #: The rules of the user's that derivatives follow.
    rules: list[Rule] = field(default_factory=list)
    facts: list[RankFact] = field(default_factory=list)
    same: list[tuple[str, str]] = field(default_factory=list)
    #: Names that are alike, and names that are like an array of so many axes.
    alike: list[tuple[str, str | int]] = field(default_factory=list)
    #: Where the text needs equal dtypes, or a row and its array: name, array, indices.
    alike_kinds: list[tuple[str, Dtype, Loc]] = field(default_factory=list)
    rows: list[tuple[str, str, int, int]] = field(default_factory=list)
    #: Sums and their like, numbers whatever they are of; and what is made of them.
    certain: list[Expr] = field(default_factory=list)
    sums: set[str] = field(default_factory=set)
    #: The copies of parts of the caller's arrays that are returned: whose they are.
    parts: dict[str, tuple[str, Loc]] = field(default_factory=dict)
    alike_dtypes: list[tuple[str, str]] = field(default_factory=list)
    allocated: dict[str, Loc] = field(default_factory=dict)
    #: In which block each of them is made; which arrays the function writes to, one
    #: after the other, and where last; those that the loops around run over.
    made_in: dict[str, tuple[int, ...]] = field(default_factory=dict)
    changed: list[str] = field(default_factory=list)
    changed_at: dict[str, Loc] = field(default_factory=dict)
    #: Of each of these writes, the functions that were running.
    changed_in: list[tuple[Place, ...]] = field(default_factory=list)
    #: The elements that are written now, if it is known which.
    _place: Load | Array | None = None
    #: The functions that are being read, the outermost first.
    running: list[Scope] = field(default_factory=list)
    iterated: list[str] = field(default_factory=list)
    fenced: list[object] = field(default_factory=list)
    occupied: set[str] = field(default_factory=set)
    refused: set[str] = field(default_factory=set)
    depth: int = 0
    #: What arrays are called in the program: the walk itself goes on using the names
    #: that they were made with.
    spelling: dict[str, str] = field(default_factory=dict)
    sizes: dict[str, tuple[Expr, ...]] = field(default_factory=dict)
    open: list[int] = field(default_factory=list)
    opened: int = 0
    #: How many views have got names.
    objects: int = 0
    unsettled: bool = False
    #: Was a value taken for a number that must be an array in a call?
    lenient: bool = False
    #: Where the names of the function itself are, and not those of its helpers.
    outermost: Scope | None = None
    #: The variables of the program that are the user's, by their names in it.
    users: dict[str, Called] = field(default_factory=dict)

    def _spelt(self) -> Block:
        """The program, and what the walk found out, with the arrays as they are called.

        Everything that outlives the walk and names an array is here.
        """
        new = self.spelling

        def name(old: str) -> str:
            return new.get(old, old)

        def pair(p: tuple[str, str]) -> tuple[str, str]:
            return name(p[0]), name(p[1])

        def rank(p: tuple[str, str | int]) -> tuple[str, str | int]:
            return name(p[0]), name(p[1]) if isinstance(p[1], str) else p[1]

        self.facts = [replace(f, array=name(f.array)) for f in self.facts]
        self.same = list(map(pair, self.same))
        self.alike = list(map(rank, self.alike))
        self.alike_dtypes = list(map(pair, self.alike_dtypes))
        self.alike_kinds = [
            (name(a), renamed_dtype(d, new), at) for a, d, at in self.alike_kinds
        ]
        self.rows = [(name(r), name(a), k, most) for r, a, k, most in self.rows]
        self.parts = {name(r): (name(a), at) for r, (a, at) in self.parts.items()}
        return tuple(rename(s, new) for s in self.out)

    @contextmanager
    def _block(self) -> Iterator[list[Stmt]]:
        """Statements lowered inside are a block of their own."""
        with self._inner(), self._aside() as made:
            yield made
            self._block_ends()

    def _block_ends(self) -> None:
        raise NotImplementedError

    @contextmanager
    def _aside(self) -> Iterator[list[Stmt]]:
        """Statements lowered inside go to a list, to be put elsewhere in this block."""
        outside, self.out = self.out, []
        try:
            yield self.out
        finally:
            self.out = outside

    @contextmanager
    def _inner(self) -> Iterator[None]:
        """What is bound inside may not have been when this is over."""
        self.opened += 1
        self.open.append(self.opened)
        try:
            yield
        finally:
            self.open.pop()

    def _places(self) -> tuple[Place, ...]:
        """Where the functions are that are running."""
        innermost = self.running[-1:]
        return tuple(
            Place(s, s.current, dict(s.bound), any(s is i for i in innermost))
            for s in self.running
        )

    def _fresh(self, name: str) -> str:
        name = fresh(name, self.taken)
        self.occupied.add(name)
        return name

    def _temp(self, value: Expr, name: str) -> Var:
        variable = Var(self._fresh(name), loc=value.loc)
        self.out.append(Assign(variable, value, loc=value.loc))
        return variable

    def _variable(self, name: str, scope: Scope) -> Operand:
        """What a local name stands for; its first mention gives it its IR name."""
        if name not in scope.bound:
            own = self._fresh(name) if scope.inlined or name in RESERVED else name
            place = self.users[own] = scope.site, name
            if scope.inlined:
                self.ranks[own] = self.inner.get(place, 0)
            scope.bound[name] = self._stored(own, NOWHERE)
        return scope.bound[name]

    def _number(self, name: str, scope: Scope) -> Var:
        """The variable of the program for the numbers that a local name stands for."""
        own = stored_in(self._variable(name, scope))
        return Var(self._fresh(name) if own is None else own)

    def _stored(self, name: str, at: Loc) -> Var | Array:
        """What is stored under a name of the program: an array, if the last walk knew,
        or a number.
        """
        if self._is_array(name):
            return whole_array(name, self._rank(name), at)
        return Var(name, loc=at)

    def _seen(self, value: Operand, at: Loc) -> Operand:
        """What a name stands for, where it is read.

        What the last walk knew to be an array this one must find out again.
        """
        name = stored_in(value)
        if isinstance(value, Array) and name is not None and name not in self.allocated:
            self.facts.append(RankFact(name, 1, at, least=True))
        return placed(value, at)

    def _rank(self, array: str) -> int:
        """How many axes an array has, as far as the last walk knows."""
        if array in self.sizes:
            return len(self.sizes[array])
        return max(self.ranks.get(array, 1), 1)

    def _used(self, name: str, scope: Scope, at: Loc) -> None:
        """Note a use of a name; refuse it where it may stand for different arrays."""
        if not isinstance(scope.bound.get(name), Array) or name in scope.numbers:
            return
        scope.uses.setdefault(name, []).append(tuple(self.open))
        path = scope.paths.get(name, ())
        if tuple(self.open)[: len(path)] == path and name not in scope.retired:
            return
        because = f"`{name}` may stand for different arrays here"
        help = "give each array a name of its own, or write `.copy()`"
        if bindings(scope.source.node).count(name) == 1 and name not in scope.retired:
            # Its derivative is made and gone with it.
            because = f"`{name}` is made in a loop or a branch, and used behind it"
            help = f"make it before, and assign the elements: `{name}[:] = ...`"
        self.findings.add("P206", at, because, help)

    def _find(self, name: str, scope: Scope, noted: bool = True) -> object:
        """What a name stands for: the `Scope` that binds it, a `Helper`, or a value.

        Where nothing rests on what it is, it need not be `noted`.
        """
        place: Scope | None = scope
        while place is not None:
            if name in place.helpers:
                return place.helpers[name]
            if name in place.local:
                return place
            if place.python is not None:
                look = self.grounds.lookup if noted else lookup
                return look(place.python, name)
            if place.outer is None:
                break
            place = place.outer
        return _LOOSE.get(name, MISSING) if self.loose else MISSING

    def _object(self, node: gast.AST, scope: Scope) -> object:
        """The Python object that a name or a module's attribute stands for."""
        match node:
            case gast.Name(id=name):
                found = self._find(name, scope)
                return MISSING if isinstance(found, Scope) else found
            case gast.Attribute(value=base, attr=attr):
                module = self._object(base, scope)
                if isinstance(module, ModuleType):
                    constants = module_name(module) in ("math", "numpy")
                    return self.grounds.attribute(module, attr, fixed=constants)
        return MISSING

    def _referred(self, node: gast.AST, scope: Scope) -> Var | Array | None:
        """The array that a bare name (or a module's attribute) stands for.

        A `Var` may turn out to be one.
        """
        at = scope.source.loc(node)
        found: object = None
        match node:
            case gast.Name(id=name):
                found = self._find(name, scope)
                if isinstance(found, Scope):
                    self._used(name, found, at)
                    bound = self._variable(name, found)
                    return bound if isinstance(bound, (Var, Array)) else None
                if isinstance(found, Missing) and self.loose:
                    return self._stored(str(name), at)
            case gast.Attribute():
                found = self._object(node, scope)
        if isinstance(found, np.ndarray) and found.ndim > 0:
            path = tuple(gast.unparse(node).strip().split("."))
            name = self._capture(self._holder(scope), path, found)
            return self._stored(name, at)
        return None

    def _holder(self, scope: Scope) -> FunctionType:
        holder = home(scope)
        assert holder is not None
        return holder

    def _capture(
        self, holder: FunctionType, path: tuple[str, ...], value: object
    ) -> str:
        key = _key(holder, path)
        if key not in self.captures:
            self.captures[key] = Capture(self._own_name(path[-1]), holder, path)
            if isinstance(value, np.ndarray):
                name = self.captures[key].name
                self.facts.append(RankFact(name, value.ndim, _NOWHERE, least=True))
        return self.captures[key].name

    def _callback(self, holder: FunctionType, path: tuple[str, ...]) -> int:
        """The number of a function that a probe calls."""
        key = _key(holder, path)
        if key not in self.callbacks:
            self.callbacks[key] = Capture(self._own_name(path[-1]), holder, path)
        return list(self.callbacks).index(key)

    def _own_name(self, name: str) -> str:
        """The user's own name, unless a local or another module's global has it."""
        if name in RESERVED or name in self.occupied:
            name = self._fresh(name)
        self.taken.add(name)
        self.occupied.add(name)
        return name

    def _open_parts(self, value: Expr) -> Iterator[Expr]:
        """The reads in `value` that may turn out to be arrays: no sums, no tests."""
        if any(e is value for e in self.certain):
            return
        match value:
            case Var(name):
                if name not in self.sums:
                    yield value
            case Load():
                yield value
            case Call("where", (_, a, b)):
                yield from self._open_parts(a)
                yield from self._open_parts(b)
            case Call(_, args):
                for a in args:
                    yield from self._open_parts(a)

    def _is_array(self, name: str) -> bool:
        return self.ranks.get(name, 0) > 0 or name in self.allocated


def _key(holder: FunctionType, path: tuple[str, ...]) -> tuple[object, ...]:
    """What tells one captured value from another."""
    if path[0] in holder.__code__.co_freevars:
        return (id(cell_of(holder, path[0])), *path[1:])
    return (id(holder.__globals__), *path)


# What free names of bare statements stand for; all others are variables.
_LOOSE: dict[str, object] = {
    **{
        f.__name__: f
        for f in (range, reversed, len, min, max, abs, int, float, bool, round, pow)
    },
    "np": np,
    "numpy": np,
    "math": math,
}


def module_name(value: object) -> str:
    if isinstance(value, ModuleType):
        return value.__name__
    if isinstance(value, np.ufunc):
        return "numpy"
    return str(getattr(value, "__module__", "")).split(".")[0]


def kind_of(value: object) -> str:
    """What a Python object is, in words."""
    match value:
        case Helper() | FunctionType():
            return "a function"
        case ModuleType():
            return "a module"
        case type():
            return "a class"
        case None:
            return "None"
        case str():
            return "a string"
        case np.ndarray():
            return "an array without axes"
        case np.generic() | complex():
            return f"a number of type {type(value).__name__}"
    if callable(value):
        return "a function"
    return f"an object of type {type(value).__name__}"
