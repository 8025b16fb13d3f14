"""What the functions that read a definition share: the context of one walk over it.

The program is written in `emit`. What the last walk found out is `known`; what this one
does is `found`. Where names stand is in scopes (`env`), what they may stand for besides
in `aliases`, and which arrays there are in `storage`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from types import FunctionType
from typing import Literal, NamedTuple

import gast

from pyrev.ir.diagnostics import Findings
from pyrev.ir.nodes import NOWHERE, Call, Dtype, Expr, Load, Loc, Var
from pyrev.ir.renaming import renamed_dtype
from pyrev.parse.bindings import Names, bindings, identifiers
from pyrev.parse.custom import Rule
from pyrev.parse.emitter import Emitter
from pyrev.parse.grounds import Grounds
from pyrev.parse.rewriting.choices import with_branches, with_ways_apart
from pyrev.parse.rewriting.control import structured
from pyrev.parse.rewriting.dtype_names import without_dtype_names
from pyrev.parse.rewriting.made_texts import Lookup
from pyrev.parse.rewriting.places import with_named_places
from pyrev.parse.rewriting.raising import with_tests
from pyrev.parse.rewriting.ranges import without_ranges
from pyrev.parse.rewriting.recursion import Cycle
from pyrev.parse.rewriting.slices import without_slices
from pyrev.parse.rewriting.spellings import respelt
from pyrev.parse.rewriting.tuple_loops import without_tuple_loops
from pyrev.parse.rewriting.tuples import with_elements
from pyrev.parse.rewriting.versions import versioned
from pyrev.parse.rewritten import Rewritten
from pyrev.parse.scopes import Called, Capture, Runs, Scope
from pyrev.parse.shapes import RankFact
from pyrev.parse.source import Source, Texts
from pyrev.parse.streams import Drawing
from pyrev.parse.values import Array, Operand, Value

Needed = Literal[
    "copy",
    "back",
    "selector",
    "result",
    "room",
    "flag",
    "lengths",
    "branch",
    "rows",
    "unset",
    "apart",
    "bare",
]


class Wanted(NamedTuple):
    """What a walk finds to be needed too late: the next one makes it in time.

    Before a loop or a branch a name gets a "copy" of its array; such a copy is to be
    put "back" where it is written before it is new; a "selector" says which array it is
    when the program runs; and the paths of a function fill one "result" by its number.
    A name of arrays of some `rank` that are made in a loop or a branch, and are read
    behind it, gets "room" in front of it, and a "flag" that says whether one was made.
    Of an array that gets others of another shape the "lengths" are counted. A
    conditional expression that gives an array is read as a "branch". A list gets arrays
    of some `rank` for "rows". A name that is "unset" first has arrays later. What
    follows a branch is read "apart" for each of its ways, in which a name stands for a
    view, or for a new array. Where some number may be an array without axes, as one of
    ``np.where`` is, it is "bare" that no number is known to be one.
    """

    name: str
    at: Loc
    what: Needed = "copy"
    rank: int = 0


#: Some number of the program may be an array without axes.
BARE = Wanted("", NOWHERE, "bare")

#: The axes that an array may have.
MOST_AXES = 32


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
class Copy:
    """A copy of what is another array in Python, depending on the run.

    It stands for that one until its name is bound again, which may be on some paths
    only; or it is what a helper returned, which may be one of several arrays.
    """

    name: str
    at: Loc
    #: What it is a copy of; None if that changes: for what a helper returned, and for
    #: what changed places with a copy.
    source: Array | None
    #: The points-to set: the arrays that it may be in Python.
    points_to: frozenset[str]
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
    selector: Var | None = None
    choices: tuple[Array | None, ...] = ()
    #: How many writes there were when its elements were last put back, and where.
    clean: int = 0
    cleaned: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Compound:
    """A loop or a branch that is being read: in which block, where, and its text."""

    around: tuple[int, ...]
    at: Loc
    node: gast.AST
    scope: Scope
    #: How many writes to arrays there were before it.
    since: int = 0

    def is_live(self, name: str) -> bool:
        """May what `name` stands for at a join of this statement be read later?"""
        return self.scope.text.later(name, self.node)


@dataclass(slots=True)
class Room:
    """The array, made before a loop or a branch, of a name that is bound in it.

    Its shape is that of the first of the `wholes` that it receives.
    """

    name: str
    user: str
    at: Loc
    #: The outermost loop of the function around it, if there is one.
    loop: Loc | None = None
    #: Is this what early `return`s give? Then every path fills it.
    result: bool = False
    #: Is it never read before it has received one?
    proven: bool = False
    wholes: list[Array] = field(default_factory=list)
    #: The blocks in which it has received one by now, whatever was run.
    filled: list[tuple[int, ...]] = field(default_factory=list)
    #: Has it received one? Only of those that are read where that is not known.
    flag: Var | None = None

    def is_filled(self, path: tuple[int, ...]) -> bool:
        """Has it received one in this block?"""
        return any(path[: len(p)] == p for p in self.filled)


@dataclass(slots=True)
class Rows:
    """The array of a list of arrays, whose shape is not known yet where it is made: it
    is that of the first of the `wholes` that are put into it.
    """

    name: str
    rank: int
    wholes: list[Array] = field(default_factory=list)


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
    #: What is assigned to behind the loops that exchange: it stands for the exchange
    #: until the end of the function.
    marker: str


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
class Differing:
    """The array that receives what paths of a helper return, and what that is.

    Which of them it was is a number when the program runs.
    """

    name: str
    selector: str
    at: Loc
    wholes: list[Array] = field(default_factory=list)
    choices: list[Array | None] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Known:
    """What the walk before found out; `ranks` grow with the names of this one.

    What depends on a rank (`a.size`, `np.zeros_like(a)`) is right once they no longer
    change.
    """

    ranks: dict[str, int]
    #: The ranks of what helpers name: what it is called in the program may change from
    #: walk to walk.
    inner: Mapping[Called, int] = field(default_factory=dict)
    #: Are these the ranks of a call, and not what the text alone suggests?
    exact: bool = False
    dtypes: Mapping[str, str] = field(default_factory=dict)
    wanted: frozenset[Wanted] = frozenset()
    #: The names whose versions are variables of their own; None for all.
    split: frozenset[str] | None = frozenset()
    #: Are free names variables, as in bare statements?
    loose: bool = False
    #: Do arrays that change places in a loop exchange contents, so that its body
    #: stands there once?
    rolled: bool = False
    #: Are tuples read field by field, also where they are compared and in lists?
    by_field: bool = False


@dataclass(frozen=True, slots=True)
class Flat:
    """An array that is given another shape, after so many writes of the function; do
    its elements lie in memory row by row where it does?
    """

    array: str
    at: Loc
    since: int
    rows: bool


@dataclass(frozen=True, slots=True)
class WithoutAxes:
    """A number of the program that is an array without axes in NumPy, behind the calls
    that lead to it: a view of `base`, if that is an array, after so many writes.
    """

    site: tuple[Loc, ...]
    at: Loc
    base: str | None
    since: int


@dataclass(frozen=True, slots=True)
class Passed:
    """What the parameters of a helper get where it is called in a scope."""

    scope: Scope
    at: Loc
    arguments: Mapping[str, gast.AST]


@dataclass(slots=True)
class Found:
    """What this walk finds out: facts on ranks and dtypes, captures, rules."""

    asked: set[Wanted] = field(default_factory=set)
    #: What would be asked for to avoid what is refused.
    apart: set[Wanted] = field(default_factory=set)
    captures: dict[tuple[object, ...], Capture | Runs] = field(default_factory=dict)
    #: The functions that probes call, in the order of their first probe.
    callbacks: dict[tuple[object, ...], Capture] = field(default_factory=dict)
    #: The rules of the user's that derivatives follow.
    rules: list[Rule] = field(default_factory=list)
    facts: list[RankFact] = field(default_factory=list)
    same: list[tuple[str, str]] = field(default_factory=list)
    #: Names that are alike, and names that are like an array of so many axes.
    alike: list[tuple[str, str | int]] = field(default_factory=list)
    #: Where the text needs equal dtypes, or a row and its array: name, array, indices.
    alike_kinds: list[tuple[str, Dtype, Loc]] = field(default_factory=list)
    alike_dtypes: list[tuple[str, str]] = field(default_factory=list)
    rows: list[tuple[str, str, int, int]] = field(default_factory=list)
    #: Sums and their like, numbers whatever they are of; and what is made of them.
    certain: list[Expr] = field(default_factory=list)
    sums: set[str] = field(default_factory=set)
    #: The copies of parts of the caller's arrays that are returned: whose they are.
    parts: dict[str, tuple[str, Loc]] = field(default_factory=dict)
    #: Which results are parameters, while another path returns another array.
    lent_back: list[tuple[int, Loc]] = field(default_factory=list)
    #: Arrays that are given another shape without a copy.
    flat: list[Flat] = field(default_factory=list)
    #: The functions that were read, the calls that lead to them, and what they pass on
    #: may be arrays without axes.
    scopes: list[Scope] = field(default_factory=list)
    passed: list[Passed] = field(default_factory=list)
    without_axes: list[WithoutAxes] = field(default_factory=list)
    #: Has an array more axes than this walk knew?
    unsettled: bool = False
    #: Was a value taken for a number that must be an array in a call?
    lenient: bool = False
    #: Does the body of a loop stand there several times, for names that change places?
    unrolled: bool = False
    #: Is a counter told from the ends of a range that may have few bits?
    counted: bool = False
    #: Is among these arrays one that the function has not made, or not for them alone?
    foreign: bool = False
    #: The variables of the program that are the user's, by their names in it.
    users: dict[str, Called] = field(default_factory=dict)
    #: What arrays are called in the program: the walk itself goes on using the names
    #: that they were made with.
    spelling: dict[str, str] = field(default_factory=dict)

    def resembles(self, name: str, value: Expr) -> None:
        """Should `name` be an array, `value`, a number now, is a view of one; or it is
        a number for certain.
        """
        match value:
            case Var(other):
                self.alike.append((name, other))
            case Load(array, index):
                self.rows.append((name, array, len(index), MOST_AXES))
            case _ if not any(self.open_parts(value)):
                self.sums.add(name)

    def open_parts(self, value: Expr) -> Iterator[Expr]:
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
                yield from self.open_parts(a)
                yield from self.open_parts(b)
            case Call(_, args):
                for a in args:
                    yield from self.open_parts(a)

    def spelt(self) -> None:
        """What was found, with the arrays as they are called in the program.

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


@dataclass(slots=True)
class Environment:
    """Where the walk is: in which functions, loops and paths."""

    #: What the program rests on in the objects around the text; the texts it was read
    #: from.
    grounds: Grounds = field(default_factory=Grounds)
    texts: Texts = field(default_factory=Texts)
    #: What was made of these, in this walk or before.
    rewritten: Rewritten = field(default_factory=Rewritten)
    #: The functions that are being read, the outermost first.
    running: list[Scope] = field(default_factory=list)
    #: Where the names of the function itself are, and not those of its helpers.
    outermost: Scope | None = None
    #: The helpers whose text was checked already; what refused text binds.
    fenced: list[object] = field(default_factory=list)
    refused: set[str] = field(default_factory=set)
    #: The functions that call one another with each helper, if there are any.
    cycles: dict[object, Cycle | None] = field(default_factory=dict)
    #: How many loops and branches are around.
    depth: int = 0
    #: The loops and branches that are being read, the outermost first.
    compounds: list[Compound] = field(default_factory=list)
    #: Where the loop or the branch of each block is; what was made in front of some.
    compound_of: dict[int, Loc] = field(default_factory=dict)
    rooms: dict[str, Room] = field(default_factory=dict)
    #: The arrays of lists of arrays.
    rows: dict[str, Rows] = field(default_factory=dict)
    #: The flags that end the loops around, innermost last.
    leaving: list[tuple[str, ...]] = field(default_factory=list)
    #: Of the function that is read, by position: results that differ from path to path.
    differing: dict[int, Differing] = field(default_factory=dict)
    #: What is drawn from a generator among the arguments, if there is one.
    drawing: Drawing | None = None
    #: Is this read in what runs ahead, to count what a list will get?
    ahead: bool = False
    #: Where the last body that was read returns.
    returned_at: Loc = NOWHERE


@dataclass(slots=True)
class Storage:
    """The arrays of the program: what was made, and what was written."""

    #: The arrays that are made, in order, and where; in which block; their lengths.
    allocated: dict[str, Loc] = field(default_factory=dict)
    made_in: dict[str, tuple[int, ...]] = field(default_factory=dict)
    sizes: dict[str, tuple[Expr, ...]] = field(default_factory=dict)
    #: Which arrays the function writes to, one after the other, and where last.
    changed: list[str] = field(default_factory=list)
    changed_at: dict[str, Loc] = field(default_factory=dict)
    #: Of each of these writes, the functions that were running.
    changed_in: list[tuple[Place, ...]] = field(default_factory=list)
    #: The elements that are written now, if it is known which.
    place: Load | Array | None = None
    #: The arrays that the loops around run over.
    iterated: list[str] = field(default_factory=list)
    #: How many arrays there were when the present function began.
    first: int = 0
    #: How many views have got names.
    objects: int = 0
    #: The numbers that say how long an array is, where that changes; others that do for
    #: a while, and those that count what a mask selects.
    lengths: dict[str, tuple[Var, ...]] = field(default_factory=dict)
    counts: set[str] = field(default_factory=set)
    #: Those that NumPy lays out row by row, whatever they are made of.
    by_rows: set[str] = field(default_factory=set)

    def axes(self, array: str) -> int:
        """How many axes an array was made with; 0 if the function has not made it."""
        return len(self.sizes.get(array) or self.lengths.get(array) or ())


@dataclass(slots=True)
class Aliases:
    """What names may stand for in Python besides their arrays of the program."""

    #: The copies that stand for other arrays, until their names are bound again.
    copies: dict[str, Copy] = field(default_factory=dict)
    #: The arrays that have changed places in the present function, exchange by
    #: exchange: where the contents of which array went.
    exchanges: list[Exchange] = field(default_factory=list)
    #: Those of the functions that called it.
    outer_exchanges: list[Exchange] = field(default_factory=list)
    #: The arrays that took over the elements of new ones, and in which blocks.
    replaced: list[tuple[str, tuple[int, ...]]] = field(default_factory=list)
    #: What is not equal yet since the present statements began.
    due: list[Due] = field(default_factory=list)
    #: The arrays whose storage was given to a new object, after how many writes.
    reused: list[tuple[str, int]] = field(default_factory=list)
    #: Where the elements of an array were copied.
    kept_in: dict[str, set[str]] = field(default_factory=dict)


#: Reads one kind of expression, or one kind of statement.
Expression = Callable[["Walk", gast.AST, Scope], Value]
Statement = Callable[["Walk", gast.AST, Scope], None]


@dataclass(frozen=True, slots=True)
class Readers:
    """What reads each kind of node: expressions, statements and bodies need each other.

    `truths` read what is read otherwise where only its truth counts.
    """

    expressions: Mapping[type, Expression]
    truths: Mapping[type, Expression]
    statements: Mapping[type, Statement]
    body: Callable[[Walk, Scope], Value]


def _nothing(name: str) -> object:
    """What stands behind a name that is not looked up."""
    return None


def _chooses_several(choice: gast.IfExp) -> bool:
    """Are tuples or ranges chosen from, which are several values?"""

    def several(way: gast.AST) -> bool:
        match way:
            case gast.Tuple() | gast.Call(func=gast.Name(id="range")):
                return True
        return False

    return several(choice.body) and several(choice.orelse)


@dataclass(slots=True)
class Walk:
    """One walk over a function and its helpers."""

    known: Known
    readers: Readers
    emit: Emitter = field(default_factory=Emitter)
    env: Environment = field(default_factory=Environment)
    storage: Storage = field(default_factory=Storage)
    aliases: Aliases = field(default_factory=Aliases)
    found: Found = field(default_factory=Found)
    findings: Findings = field(default_factory=Findings)

    def flattened(self, source: Source, python: FunctionType | None) -> gast.AST:
        """A definition without jumps and names of tuples, with tests where it raises,
        with branches where arrays are chosen, and the versions of names that are
        variables; `python` says what the names outside of it stand for.
        """
        node: gast.AST = source.node
        places = {e.at for e in self.known.wanted if e.what == "branch"}
        if any(at.file == source.file for at in places):
            node = with_branches(node, lambda choice: source.loc(choice) in places)
        look = None
        if python is not None:
            look = partial(self.env.grounds.lookup, python)
        places = {e.at for e in self.known.wanted if e.what == "apart"}
        if any(at.file == source.file for at in places):
            node = with_ways_apart(node, lambda s: source.loc(s) in places)
        whole = node

        def spelt(outside: Lookup) -> gast.AST:
            own = whole
            if look is not None:
                own = with_branches(whole, _chooses_several)
                own = respelt(with_named_places(own, outside), outside)
                own = without_slices(without_ranges(own, outside), outside)
                own = without_dtype_names(own, outside)
            return with_tests(with_elements(own))

        spelling = "spelt here" if look is None else "spelt"
        plain = self.env.rewritten.once(whole, spelling, look or _nothing, spelt)

        def flat(outside: Lookup) -> gast.AST:
            made = structured(plain, set())
            local, taken = frozenset(bindings(made)), {*identifiers(made)}
            known = None if look is None else outside
            made = without_tuple_loops(made, local, known, taken)
            return versioned(made, self.known.split)

        split = self.known.split
        return self.env.rewritten.once(plain, (spelling, split), look or _nothing, flat)

    def names(self, node: gast.AST) -> Names:
        """The names in the text of a definition that is flattened."""
        return self.env.rewritten.once(node, "names", _nothing, lambda _: Names(node))

    def refuse(self, code: str, at: Loc, because: str, helps: str) -> None:
        """Something is outside the language: the walk goes on, to report everything."""
        self.findings.add(code, at, because, helps)

    def wants(self, wanted: Wanted) -> bool:
        """Has the last walk asked for it?"""
        return wanted in self.known.wanted

    def ask(self, wanted: Wanted) -> None:
        """Let the next walk have it."""
        self.found.asked.add(wanted)
