"""Walks over a definition until what a walk finds is what it began with."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, field
from types import FunctionType
from typing import NoReturn

import numpy as np

from pyrev.ir import nodes
from pyrev.ir.diagnostics import InternalError
from pyrev.ir.dtypes import infer
from pyrev.parse import shapes
from pyrev.parse.bindings import parameters
from pyrev.parse.grounds import Grounds
from pyrev.parse.lower import READERS, lower_function
from pyrev.parse.rewritten import Rewritten
from pyrev.parse.scopes import Called
from pyrev.parse.source import Source, Texts
from pyrev.parse.walk import MOST_AXES, Environment, Known, Walk, Wanted

# Ranks only grow from walk to walk, and each walk passes them one assignment further.
WALKS = 100


@dataclass(slots=True)
class Effort:
    """What has been done for one function so far: the statements that walks wrote, the
    texts that were read, and what was made of them.

    Behind `most` statements nothing more is tried.
    """

    most: int
    statements: int = 0
    texts: list[Texts] = field(default_factory=list)
    rewritten: Rewritten = field(default_factory=Rewritten)


#: The rank and dtype of each parameter; None for what is open.
Given = Mapping[str, tuple[int | None, str | None]]


@dataclass(frozen=True, slots=True)
class Text:
    """A definition that is read, and what is given of its parameters."""

    function: FunctionType
    source: Source
    #: The parameters that are functions.
    functions: Mapping[str, object]
    given: Given
    #: Are these the ranks and dtypes of a call?
    exact: bool
    #: The names of which each version is a variable; None for all.
    split: frozenset[str] | None
    grounds: Grounds
    texts: Texts
    rolled: bool
    effort: Effort
    #: The parameters that are the parts of complex ones.
    parts: tuple[tuple[str, str], ...] = ()
    #: Are tuples read field by field?
    by_field: bool = False
    #: The dtype of a parameter of which nothing is said, and with which nobody counts.
    floats: str = "float64"

    @property
    def open_ranks(self) -> list[str]:
        """The parameters whose ranks the text shows, if anything does."""
        return [n for n, (rank, _) in self.given.items() if rank is None]


@dataclass(frozen=True, slots=True)
class Settled:
    """The last walk, what it wrote, and what is known by then."""

    walk: Walk
    body: nodes.Block
    values: Mapping[str, object]
    ranks: Mapping[str, int]
    integers: shapes.Integers
    params: Sequence[nodes.Param]


def settle(text: Text, least: Mapping[str, int], seen: dict[str, int]) -> Settled:
    """Walk over a definition until what a walk finds is what it began with."""
    found: dict[str, int] = dict(least)
    inner: dict[Called, int] = {}
    dtypes: dict[str, str] = {}
    wanted: frozenset[Wanted] = frozenset()
    # What is an integer because of a text that is lowered otherwise once it is known to
    # be one (a sum of integers begins with another zero): where walks come back to what
    # they found before, it stays what it was once.
    whole: set[str] = set()
    before: list[object] = []
    #: The walk that would have been the last, if nothing were read apart.
    refused: Settled | None = None
    round_ = _Round()
    for number in range(WALKS):
        last = Known(
            dict(found),
            inner,
            text.exact,
            dtypes,
            wanted,
            text.split,
            rolled=text.rolled,
            by_field=text.by_field,
        )
        begin = found, inner, dtypes, wanted, frozenset(whole)
        if round_.closed(begin):
            one, (found, *_), left = round_.last(WALKS - number)
            text.effort.statements += left
            return _unsettled(text, one, found, seen)
        one = _walked(text, last, whole)
        walk, ranks = one.walk, one.ranks
        if max(ranks.values(), default=0) > MOST_AXES:  # more in each walk
            return _unsettled(text, one, found, seen)
        kinds = infer(nodes.Program("", tuple(one.params), one.body))
        kinds |= {old: kinds[n] for old, n in walk.found.spelling.items() if n in kinds}
        # What a walk makes itself may have another name in the next one.
        users = walk.found.users
        asked = {*text.given, *one.values}
        named = asked | {n for n, (site, _) in users.items() if not site}
        ranked = {n: r for n, r in ranks.items() if n in named}
        now = {p: ranks[n] for n, p in users.items() if p[0] and ranks.get(n)}
        if ranked == found:
            # A name that is known to become an array is another one until then.
            now = inner | now
        settled = ranked == found and now == inner
        if settled and kinds == dtypes and walk.found.asked <= wanted:
            if walk.found.apart <= wanted:
                break
            refused = refused or one
            wanted = wanted | walk.found.apart
            continue
        state = ranked, now, kinds, wanted
        again = bool(whole) or state in before
        if again:
            whole |= one.integers.names
        before.append(state)
        round_.add(begin, one, again)
        # What was asked for while arguments had other ranks may not be needed.
        same = all(ranked.get(n) == found.get(n) for n in asked)
        wanted = wanted | walk.found.asked if same else frozenset()
        found, inner, dtypes = ranked, now, kinds
    else:
        return _unsettled(text, one, found, seen)
    if refused is not None and one.walk.findings.found:
        one = refused
    seen |= {
        n: one.ranks.get(n, 0)
        for n in text.open_ranks
        if one.ranks.get(n, 0) or n not in one.integers.names
    }
    return one


#: What a walk begins with: what the last one found, and what are integers for good.
_Begin = tuple[
    dict[str, int],
    dict[Called, int],
    dict[str, str],
    frozenset[Wanted],
    frozenset[str],
]


class _Round:
    """The walks that may go on in a circle, each with what it began with."""

    def __init__(self) -> None:
        self._walks: list[tuple[_Begin, Settled]] = []
        self._first = 0

    def add(self, begin: _Begin, walk: Settled, again: bool) -> None:
        """Note a walk that did not settle. What it found was found before, if `again`:
        else what comes behind it need not be what came the last time.
        """
        if again:
            self._walks.append((begin, walk))
        else:
            self._walks.clear()

    def closed(self, begin: _Begin) -> bool:
        """Did a walk begin with this, so that the walks go round for ever?"""
        begun = [b for b, _ in self._walks]
        if begin not in begun:
            return False
        self._first = begun.index(begin)
        return True

    def last(self, left: int) -> tuple[Settled, _Begin, int]:
        """What `left` more walks would end with: the last of them, what the next would
        begin with, and how many statements all of them would have written.
        """
        circle = self._walks[self._first :]
        rounds, more = divmod(left, len(circle))
        counts = [sum(1 for _ in nodes.walk(one.body)) for _, one in circle]
        count = rounds * sum(counts) + sum(counts[:more])
        return circle[more - 1][1], circle[more][0], count


def _unsettled(
    text: Text, last: Settled, found: Mapping[str, int], seen: dict[str, int]
) -> NoReturn:
    """Raise what is wrong with a definition whose ranks change from walk to walk."""
    seen |= {n: found.get(n, 0) for n in text.open_ranks}
    last.walk.findings.check()
    name = text.function.__name__
    raise InternalError(f"the ranks of `{name}` do not settle: {found}")


def _walked(text: Text, last: Known, whole: Set[str]) -> Settled:
    """One walk, and the parameters that the program has by what it found.

    `whole` are integers for good.
    """
    environment = Environment(text.grounds, text.texts, text.effort.rewritten)
    walk = Walk(last, READERS, env=environment)
    walk.found.sums |= {n for n, (rank, _) in text.given.items() if rank == 0}
    body = lower_function(walk, text.source, text.function, text.functions)
    text.effort.statements += sum(1 for _ in nodes.walk(body))
    given = text.given
    values = {c.name: c.read() for c in walk.found.captures.values()}
    fixed = {n: r for n, (r, _) in given.items() if r is not None}
    fixed |= {n: np.ndim(v) for n, v in values.items()}  # type: ignore[arg-type]
    lasting = {n: r for n, r in last.ranks.items() if n in given or n in values}
    facts, same, alike = walk.found.facts, walk.found.same, walk.found.alike
    alike = [*alike, *text.parts, *((b, a) for a, b in text.parts)]
    ranks = shapes.ranks(facts, same, alike, fixed, walk.found.rows, lasting)
    integers = shapes.integers(body)
    needed = integers.names | whole
    params = [
        nodes.Param(
            p.id,
            ranks.get(p.id, 0),
            given[p.id][1] or ("int64" if p.id in needed else text.floats),
            loc=text.source.loc(p),
        )
        for p in parameters(text.source.node)
    ]
    for name, value in values.items():
        dtype = np.asarray(value).dtype.name
        params.append(nodes.Param(name, ranks.get(name, 0), dtype, loc=nodes.NOWHERE))
    return Settled(walk, body, values, ranks, integers, params)
