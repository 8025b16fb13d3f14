"""Is a subscript inside its array? Proved, tested by sizes, or decided by data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from pyrev.analysis.bounds.accesses import Accessed, accessed
from pyrev.analysis.bounds.facts import Facts
from pyrev.analysis.bounds.lengths import Site, inside
from pyrev.analysis.bounds.terms import Terms, Unknowns
from pyrev.analysis.integer_ranges import Place
from pyrev.analysis.loop_trees import Unknown
from pyrev.analysis.poly import conj, disj, exists, is_empty
from pyrev.ir.nodes import (
    FALSE,
    TRUE,
    Call,
    Expr,
    Load,
    Loc,
    map_expr,
    mentioned,
    names,
    walk_expr,
)
from pyrev.ir.text import expr_text


@dataclass(frozen=True, slots=True)
class Subscript:
    """One subscript of one access: where it stands and what it may not leave."""

    at: int
    load: Load
    axis: int
    path: tuple[Expr, ...]  # tests inside the statement's expression
    loc: Loc
    once: bool  # evaluated once, before its statement
    site: int  # the number of statement, load and axis
    signed: bool = False  # may it be negative, as far as it is known?
    doubt: Expr = TRUE  # a test of the sizes: where it fails, the subscript is inside

    @property
    def index(self) -> Expr:
        """The expression that it is."""
        return self.load.index[self.axis]

    def place(self) -> str:
        """File and line, in front of a message."""
        return f"{self.loc.place}: "

    def message(self) -> str:
        """The message of the `IndexError` if it leaves its array."""
        return (
            f"{self.place()}in `{expr_text(self.load)}`, subscript"
            f" `{expr_text(self.index)}` leaves axis {self.axis} of"
            f" `{self.load.array}`"
        )


@dataclass(frozen=True, slots=True)
class Verdict:
    """What is shown of a subscript.

    proved     it is inside its array and not negative, whatever the sizes;
    hoisted    `outside` and `below` are tests of the sizes: in some iteration it
               leaves its array, or is negative, exactly where one of them holds;
    inspected  it takes data to know, at least where `subscript.doubt` holds.

    `negative` says if it may be negative; `affine` that whether it is, is a matter of
    loop indices and sizes alone.
    """

    kind: Literal["proved", "hoisted", "inspected"]
    subscript: Subscript
    negative: bool = False
    affine: bool = False
    outside: tuple[Expr, ...] = ()
    below: tuple[Expr, ...] = ()


@dataclass(frozen=True, slots=True)
class Findings:
    """What is shown of all subscripts of a program.

    `hoisted` pairs tests of the sizes with the subscript that then leaves its array,
    `negative` tests with the one that then becomes negative; `inspected` are those
    that data decides.
    """

    sites: Mapping[Place, int]
    hoisted: tuple[tuple[Expr, Subscript], ...]
    negative: tuple[tuple[Expr, Subscript], ...]
    inspected: tuple[Subscript, ...]
    #: May be negative, by indices and sizes, where data decides if they are read.
    affine: frozenset[int]
    #: The integers of floats that only a test of them keeps inside their array.
    tested: frozenset[int]
    #: May be negative, as far as it is known without sizes.
    below: frozenset[int]


def find(facts: Facts, known: bool = False) -> Findings:
    """The verdicts on all subscripts of a program.

    If it is `known` that they are inside, and not negative, only those are judged that
    data decides.
    """
    judge = _Judge(facts, Terms(facts), inside(facts.program, facts.types), known)
    sites: dict[Place, int] = {}
    verdicts = [
        judge.verdict(one, a)
        for a in accessed(facts, blind=False)
        for one in _subscripts(a, sites)
    ]
    hoisted = [(t, v.subscript) for v in verdicts for t in v.outside if t != FALSE]
    negative = [(t, v.subscript) for v in verdicts for t in v.below if t != FALSE]
    inspected = [v.subscript for v in verdicts if v.kind == "inspected"]
    tested: set[int] = set()
    if facts.of_floats:
        doubts = {one.site: one.doubt for one in inspected}
        for a in accessed(facts, blind=True):
            for one in _subscripts(a, sites):
                if names(one.index) & facts.of_floats and judge.rests_on_test(
                    one, a, doubts.get(one.site)
                ):
                    tested.add(one.site)
    return Findings(
        sites,
        tuple(hoisted),
        tuple((t, one) for t, one in negative if judge.happens(t, one, hoisted)),
        tuple(inspected),
        frozenset(v.subscript.site for v in verdicts if v.affine),
        frozenset(tested),
        frozenset(v.subscript.site for v in verdicts if v.negative),
    )


def _subscripts(a: Accessed, sites: dict[Place, int]) -> list[Subscript]:
    """The subscripts of an access; each has a number, for all programs made of it."""
    loc = a.load.loc if a.load.loc.line else a.stmt.loc
    return [
        Subscript(
            a.stmt.id,
            a.load,
            axis,
            a.path,
            loc,
            a.once,
            sites.setdefault((a.stmt.id, a.load, axis), len(sites)),
        )
        for axis in range(len(a.load.index))
    ]


@dataclass(frozen=True, slots=True)
class _Judge:
    """Puts the questions about a subscript to ISL."""

    facts: Facts
    terms: Terms
    #: What is inside as the lengths of arrays say that the function makes.
    sure: frozenset[Site]
    known: bool

    def verdict(self, one: Subscript, a: Accessed) -> Verdict:
        """Is a subscript inside its array in all iterations in which it is read?

        What is not affine in it is abstracted: no answer of "yes" is wrong then, but
        none of "no" is exact any more, and data decides.
        """
        if (one.at, one.load, one.axis) in self.sure:
            return Verdict("proved", one)
        here, space = a.here, self.facts.space
        index = map_expr(one.index, here.sized)
        extra = Unknowns()
        plain = self.terms.abstract(index, here, extra)
        env = {**here.env, **extra.env}
        formula = conj((here.formula, *extra.facts))
        cases = space.cases(plain, env, formula)
        extent = here.sized(self.facts.size(one.load.array, one.axis))
        size = space.cases(extent, env, formula)
        if cases is None or size is None or self.terms.overflows(index, here, True):
            return Verdict("inspected", _signed(one), True)
        if self.known and not extra.env and here.exact:
            return Verdict("proved", one)
        variables = (*here.variables, *extra.env.values())
        # An extent may have cases too: that of ``np.zeros(max(n, 0))``.
        pairs = [(c, n.when, n.term) for c in cases for n in size]

        def where(relation: str) -> str:
            wanted = disj(
                conj((c.when, when, f"{c.term} {relation.format(n=n)}"))
                for c, when, n in pairs
            )
            return conj((formula, wanted))

        def possible(formula: str) -> bool:
            return not is_empty(space, variables, formula)

        below = [f for f in (where("< 0"),) if possible(f)]
        outside = [f for f in (where("< -{n}"), where(">= {n}")) if possible(f)]
        negative = bool(below)
        if negative:
            one = _signed(one)
        elif not outside:
            return Verdict("proved", one)
        roams = self.terms.roams(index, here) or self.terms.roams(extent, here)
        affine = not extra.env and not roams
        try:
            if not here.exact or not affine:
                doubt = self._test(variables, disj((*outside, *below)))
                one = replace(one, doubt=doubt)
                return Verdict("inspected", one, negative, negative and affine)
            return Verdict(
                "hoisted",
                one,
                negative,
                outside=tuple(self._test(variables, f) for f in outside),
                below=tuple(self._test(variables, f) for f in below),
            )
        except Unknown:
            return Verdict("inspected", one, negative)

    def rests_on_test(self, one: Subscript, a: Accessed, doubt: Expr | None) -> bool:
        """Is the integer of a float inside its array only because a float was tested?

        An adjoint may compute that float once more, in another order: its last bit may
        differ, and the test then comes out the other way. So `a` is the access as if
        such tests said nothing. The subscript rests on none of them if the verdict is
        no worse then: not the sizes decide, and what is in doubt is still `doubt` (None
        if nothing was).
        """
        if not self.facts.moved_alone(one.index):
            return True
        found = self.verdict(one, a)
        if found.kind == "inspected":
            return doubt != found.subscript.doubt
        return found.kind == "hoisted"

    def _test(self, variables: Sequence[str], formula: str) -> Expr:
        """The test of the parameters that says if anything satisfies `formula`."""
        test = exists(self.facts.space, variables, formula)
        if not set(mentioned(test)) <= self.facts.known:
            raise Unknown("sizes of arrays that the function makes")
        return test

    def happens(
        self,
        test: Expr,
        one: Subscript,
        hoisted: Sequence[tuple[Expr, Subscript]],
    ) -> bool:
        """May `test` hold in a call in which the statement's accesses are inside?"""
        space = self.facts.space
        fits = [Call("not", (t,)) for t, other in hoisted if other.at == one.at]
        formulas = [space.formula(t, {}) for t in (test, *fits)]
        known = [f for f in formulas if f is not None]
        return not is_empty(space, (), conj(known))


def _signed(one: Subscript) -> Subscript:
    """`one`, which may be negative: that matters if it reads no array."""
    return replace(
        one, signed=not any(isinstance(e, Load) for e in walk_expr(one.index))
    )
