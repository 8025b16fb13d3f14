"""Does every access of a call stay inside its array? Known before anything is written.

Three answers, cheapest first, for each subscript:

proved     ISL shows that no iteration leaves the array, whatever the sizes;
hoisted    the subscript, its loops and its guards are affine: one test of the sizes;
inspected  data decides: the part of the function that computes such subscripts runs
           first, on copies of what it writes, and reports the first that is outside.

A subscript may be negative, as in Python. What reasons about elements (schedules, what
is overwritten) takes -1 and n - 1 for two of them, so a call in which a subscript does
become negative runs a program that says where it points: ``e if e >= 0 else e + n``.
`Bounds.program_for` makes it, for the subscripts that the sizes and the data of the
call make negative; all others stay as they are written. A subscript that reads an array
is left alone: nothing reasons about it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import PurePath
from typing import Any, NamedTuple

import numpy as np

from pyrev.analysis.dependence import OPAQUE, Region
from pyrev.analysis.inspector import Probe, clamped, from_end, inspector, rounds
from pyrev.analysis.integer_ranges import Interval, Magnitudes, Place
from pyrev.analysis.poly import TRUE_TEXT, Unknown, conj, disj, exists, is_empty
from pyrev.ir.affine import integer
from pyrev.ir.dtypes import WEAK_INT, expr_dtype, infer, is_float
from pyrev.ir.liveness import live_before
from pyrev.ir.nodes import (
    FALSE,
    TRUE,
    ZERO,
    Add,
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
    Loop,
    Program,
    Return,
    Stmt,
    Var,
    While,
    blocks,
    children,
    exprs,
    map_block,
    map_expr,
    map_whole,
    mentioned,
    names,
    rebuild,
    walk,
    walk_expr,
    with_blocks,
    written,
)
from pyrev.ir.renaming import guarded_leaves
from pyrev.ir.text import block_text, expr_text


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
    doubt: Expr = TRUE  # without this nothing is wrong with it: a test of the sizes

    def place(self) -> str:
        """Where it stands, before a message."""
        return f"{PurePath(self.loc.file).name}:{self.loc.line}: "

    def message(self) -> str:
        """That it leaves its array."""
        return (
            f"{self.place()}in `{expr_text(self.load)}`, subscript"
            f" `{expr_text(self.load.index[self.axis])}` leaves axis {self.axis} of"
            f" `{self.load.array}`"
        )


@dataclass(frozen=True, slots=True)
class _Context:
    """The iterations in which something happens, as an ISL formula, and if exactly
    so.
    """

    env: Mapping[str, str]
    variables: tuple[str, ...]
    formula: str
    exact: bool
    pinned: frozenset[str] = frozenset()  # scalars whose value `formula` tells
    wild: frozenset[str] = frozenset()  # what may be as large as data: near 64 bits
    #: Floats that are no less than one of these integers, if they are numbers at all.
    floors: Mapping[str, tuple[Expr, ...]] = field(default_factory=dict)

    def without(self, changed: frozenset[str]) -> _Context:
        """The same where floats may have been assigned."""
        kept = {n: f for n, f in self.floors.items() if n not in changed}
        return replace(self, floors=kept)


_ARITHMETIC = frozenset({"+", "-", "*", "//", "%", "neg", "abs"})


@dataclass(slots=True)
class _Unknowns:
    """The ISL names of what is not affine in one subscript, and what is known of
    them.
    """

    prefix: str = "u"
    env: dict[str, str] = field(default_factory=dict)
    facts: list[str] = field(default_factory=list)

    def new(self) -> tuple[str, str]:
        """A scalar for what is unknown, and its ISL name."""
        name = f"?{len(self.env)}"
        self.env[name] = f"{self.prefix}{len(self.env)}"
        return name, self.env[name]


class Variant(NamedTuple):
    """Which program one call runs, by the numbers of its subscripts.

    Those that are `negative` in it, and those to be `clamped`: what float arithmetic
    has a part in may differ in the last bit from what was inspected, and then point
    elsewhere. The sizes alone keep the `natural` ones inside, and not negative.
    """

    negative: tuple[int, ...] = ()
    clamped: tuple[int, ...] = ()
    natural: tuple[int, ...] = ()


class Bounds:
    """The checks of one program, and the program to run for one call.

    `hoisted` pairs tests of the sizes with the subscript that then leaves its array,
    `negative` tests with the one that then becomes negative; `inspected` are the
    subscripts that data decides. `usual` is the program shown before any call: it is
    right for all sizes.
    """

    def __init__(self, program: Program) -> None:
        self.program = program
        numbers = frozenset(
            p.name for p in program.params if not p.rank and "int" in p.dtype
        )
        self.region = Region(program.body, frozenset(), (), numbers)
        self.space = self.region.space
        self.hoisted: list[tuple[Expr, Subscript]] = []
        self.negative: list[tuple[Expr, Subscript]] = []
        self.inspected: list[Subscript] = []
        self._sites: dict[Place, int] = {}
        self._affine: list[int] = []
        #: The integers of floats that only a test of them keeps inside their array.
        self._tested: set[int] = set()
        #: The subscripts that may be negative, as far as it is known without sizes.
        self._below: set[int] = set()
        self._doubts: dict[int, Expr] = {}
        self._blind = False
        # A scalar that may be read before it is assigned has two values in one guard.
        early = live_before(program.body, frozenset())
        self.types = infer(program, {p.name: p.dtype for p in program.params})
        self.single = frozenset(
            name
            for name in _assigned_once(program.body)
            if name not in early and "int" in self.types[name]
        )
        self.known = {p.name for p in program.params} - set(_remade(program.body))
        self._from_float = frozenset(
            s.target_name
            for s in walk(program.body)
            if isinstance(s, Assign) and self._is_rounded(s.value)
        )
        #: What is made of them, too: another order of float arithmetic may move it.
        self._of_floats = _made_of(program.body, self._from_float)
        self._alone = _each_alone(program.body, self._of_floats)
        self.shapes = _fixed_shapes(program.body, self.known)
        same = _fixed_shapes(program.body, self.known | self.single)
        self._made = {a: shape for a, shape in same.items() if a not in early}
        self._made |= self.shapes
        free = {name: f"s{k}" for k, name in enumerate(sorted(self.single))}
        start = _Context(
            free, tuple(free.values()), TRUE_TEXT, True, frozenset(), self.single
        )
        body = map_block(program.body, self._sized)
        self._block(body, start, 0)
        if self._of_floats:
            self._blind = True
            self._block(body, start, 0)
            self._blind = False
        self.negative = [(t, one) for t, one in self.negative if self._happens(t, one)]
        usual = {*self._affine, *(one.site for _, one in self.negative)}
        self.usual = Variant(tuple(sorted(usual)))

    # ---------------------------------------------------------------- analysis

    def _block(self, block: Block, here: _Context, depth: int) -> None:
        for stmt in block:
            for expr in exprs(stmt):
                # The test of a `while` is evaluated again and again, inside its range.
                again = isinstance(stmt, While) and expr is stmt.test
                at = here
                if isinstance(stmt, While) and again:
                    at = self._inside(stmt, here, depth)
                for path, e in guarded_leaves(expr, ()):
                    if isinstance(e, Load):
                        self._load(stmt, e, path, at, not again)
            match stmt:
                case For():
                    inner = self._inside(stmt, here, depth).without(written(stmt.body))
                    self._block(stmt.body, inner, depth + 1)
                case While(test):
                    inner = self._inside(stmt, here, depth).without(written(stmt.body))
                    self._block(stmt.body, self._under(test, inner), depth + 1)
                case If(test, then, orelse):
                    self._block(then, self._under(test, here), depth)
                    self._block(orelse, self._under(Call("not", (test,)), here), depth)
                case Check(test):
                    here = self._after(test, here)
                case Assign(Var(name), value) if name in self.single:
                    here = self._pinned(name, value, here)
                case Assign(Var(name), value) if self._is_float(value):
                    floor = self._floor(value, here)
                    here = here.without(frozenset({name}))
                    if floor is not None:
                        here = replace(here, floors={**here.floors, name: floor})
                    continue
            here = here.without(written((stmt,)))

    def _pinned(self, name: str, value: Expr, here: _Context) -> _Context:
        """What holds behind the one assignment of scalar `name`, in its block."""
        if self._free(value, here) or self._overflows(value, here):
            return here
        extra = _Unknowns(f"w{len(here.variables)}_")
        plain = self._abstract(value, here, extra)
        env, known = {**here.env, **extra.env}, conj((here.formula, *extra.facts))
        text = self.space.compare(here.env[name], "=", plain, env, known)
        if text is None:
            return here
        if extra.env:  # not its value, but what it lies between
            variables = (*here.variables, *extra.env.values())
            return replace(here, variables=variables, formula=conj((known, text)))
        wild = here.wild if names(value) & here.wild else here.wild - {name}
        return replace(
            here,
            formula=conj((here.formula, text)),
            pinned=here.pinned | {name},
            wild=wild,
        )

    def _free(self, e: Expr, here: _Context) -> bool:
        """Does `e` mention a scalar of unknown value?"""
        return bool(names(e) & self.single - here.pinned)

    def _inside(self, loop: Loop, here: _Context, depth: int) -> _Context:
        if not loop.index:
            return replace(here, exact=False)
        name = f"v{depth}"
        sure = replace(
            loop,
            lo=OPAQUE if self._overflows(loop.lo, here) else loop.lo,
            hi=OPAQUE if self._overflows(loop.hi, here) else loop.hi,
        )
        text = self.region.in_range(sure, name, here.env, here.formula)
        bounds, wild = (sure.lo, sure.hi), here.wild - {loop.index}
        exact = here.exact and isinstance(loop, For) and integer(loop.step) is not None
        for bound in bounds:
            known = self.space.cases(bound, here.env, here.formula) is not None
            exact = exact and known and not self._free(bound, here)
            if not known or names(bound) & here.wild:
                wild |= {loop.index}
        return replace(
            here,
            wild=wild,
            env={**here.env, loop.index: name},
            variables=(*here.variables, name),
            formula=conj((here.formula, text)),
            exact=exact,
        )

    def _after(self, test: Expr, here: _Context) -> _Context:
        """What holds behind a `Check`.

        Where it fails the call raises anyway: an opaque one makes nothing inexact.
        """
        return replace(self._under(test, here), exact=here.exact)

    def _under(self, test: Expr, here: _Context) -> _Context:
        if self._blind and names(test) & self._of_floats:
            return replace(here, exact=False)
        formula, exact = here.formula, here.exact
        for part in _conjuncts(test):
            found = self.space.formula(part, here.env, formula)
            if found is None or self._overflows(part, here):
                exact = False
            else:
                formula = conj((formula, found))
                exact = exact and not self._free(part, here)
        return replace(here, formula=formula, exact=exact)

    def _load(
        self,
        stmt: Stmt,
        load: Load,
        path: tuple[Expr, ...],
        here: _Context,
        once: bool,
    ) -> None:
        for test in path:
            here = self._under(test, here)
        for axis, index in enumerate(load.index):
            extra = _Unknowns()
            plain = self._abstract(index, here, extra)
            env = {**here.env, **extra.env}
            formula = conj((here.formula, *extra.facts))
            cases = self.space.cases(plain, env, formula)
            size = self.space.cases(self._size(load.array, axis), env, formula)
            loc = load.loc if load.loc.line else stmt.loc
            site = self._sites.setdefault((stmt.id, load, axis), len(self._sites))
            one = Subscript(stmt.id, load, axis, path, loc, once, site)
            if self._blind:
                of_floats = names(index) & self._of_floats
                if not of_floats:
                    continue
                if not _alone(index, self._of_floats) or not of_floats <= self._alone:
                    self._tested.add(site)
                    continue
            if cases is None or size is None or self._overflows(index, here, True):
                if not self._blind:
                    self._below.add(site)
                self._inspected(self._signed(one))
                continue
            variables = (*here.variables, *extra.env.values())
            # An extent may have cases too: that of ``np.zeros(max(n, 0))``.
            pairs = [(c, n.when, n.term) for c in cases for n in size]

            def where(relation: str, formula: str = formula, pairs: Any = pairs) -> str:
                wanted = disj(
                    conj((c.when, when, f"{c.term} {relation.format(n=n)}"))
                    for c, when, n in pairs
                )
                return conj((formula, wanted))

            def possible(formula: str, over: tuple[str, ...] = variables) -> bool:
                return not is_empty(self.space, over, formula)

            negative = possible(where("< 0"))
            if negative and not self._blind:
                self._below.add(site)
            outside = [f for f in (where("< -{n}"), where(">= {n}")) if possible(f)]
            if negative:
                one = self._signed(one)
            if not negative and not outside:
                continue
            below = [where("< 0")] if negative else []
            try:
                if not here.exact or extra.env or self._free(index, here):
                    doubt = self._test(variables, disj((*outside, *below)))
                    self._inspected(replace(one, doubt=doubt))
                    if (
                        negative
                        and not self._blind
                        and not extra.env
                        and not self._free(index, here)
                    ):
                        self._affine.append(one.site)
                    continue
                tests = [self._test(variables, f) for f in outside]
                sign = [self._test(variables, f) for f in below]
            except Unknown:
                self._inspected(one)
                continue
            if self._blind:
                self._tested.add(site)
                continue
            self.hoisted += [(test, one) for test in tests if test != FALSE]
            self.negative += [(test, one) for test in sign if test != FALSE]

    def _inspected(self, one: Subscript) -> None:
        """Data decides about this subscript.

        Without the tests of floats, too, as it says when it is seen for the second
        time? Then they are not what keeps it inside its array.
        """
        if not self._blind:
            self.inspected.append(one)
            self._doubts[one.site] = one.doubt
        elif self._doubts.get(one.site) != one.doubt:
            self._tested.add(one.site)

    def _test(self, variables: Sequence[str], formula: str) -> Expr:
        """The test of the parameters that says if anything satisfies `formula`."""
        test = exists(self.space, variables, formula)
        if not set(mentioned(test)) <= self.known:
            raise Unknown("sizes of arrays that the function makes")
        return test

    def _signed(self, one: Subscript) -> Subscript:
        """`one`, which may be negative: that matters if it reads no array."""
        index = one.load.index[one.axis]
        return replace(
            one, signed=not any(isinstance(e, Load) for e in walk_expr(index))
        )

    def _happens(self, test: Expr, one: Subscript) -> bool:
        """May `test` hold in a call in which the statement's accesses are inside?"""
        fits = [Call("not", (t,)) for t, other in self.hoisted if other.at == one.at]
        formulas = [self.space.formula(t, {}) for t in (test, *fits)]
        known = [f for f in formulas if f is not None]
        return not is_empty(self.space, (), conj(known))

    def _sized(self, e: Expr) -> Expr:
        """Loops over a local array run over the parameters that its shape came from."""
        match e:
            case Extent(array, axis):
                return self._size(array, axis)
            case _:
                return e

    def _size(self, array: str, axis: int) -> Expr:
        """An extent; that of a local array in terms of parameters, where it is
        fixed.
        """
        shape = self.shapes.get(array)
        return Extent(array, axis) if shape is None else shape[axis]

    def _abstract(self, e: Expr, here: _Context, extra: _Unknowns) -> Expr:
        """`e` with what ISL can't express replaced by unknowns, as deep as possible."""
        env = {**here.env, **extra.env}
        if self.space.cases(e, env, here.formula) is not None:
            return e
        match e:
            case Call("+" | "-" | "min" | "max" | "neg" as op, args):
                return Call(op, tuple(self._abstract(a, here, extra) for a in args))
            case Call("where", (test, a, b)):
                known = self.space.formula(test, env, here.formula)
                if known is not None:
                    one, two = (self._abstract(x, here, extra) for x in (a, b))
                    return Call("where", (test, one, two))
            case Call("int" | "int64", (a,)) if not self._is_float(a):  # nan is no int
                return self._abstract(a, here, extra)
            case Call("//" | "%", (a, Const(int(k)))) if k > 0:
                return Call(e.op, (self._abstract(a, here, extra), Const(k)))
            case Call("%", (_, n)):
                size = self.space.cases(n, env, here.formula)
                if size is not None and len(size) == 1 and not self._free(n, here):
                    term = size[0].term
                    unknown, u = extra.new()
                    extra.facts.append(f"{term} <= 0 or (0 <= {u} and {u} < {term})")
                    return Var(unknown)
            case Call("int" | "int64" | "round", (a,)):
                floor = self._floor(a, here) or ()
                terms = [self.space.cases(f, env, here.formula) for f in floor]
                unknown, u = extra.new()
                # A large size may be rounded down: no less than a small number it is.
                if any(integer(f) is not None for f in floor) and all(terms):
                    lows = [
                        conj((c.when, f"{u} >= {c.term}"))
                        for t in terms
                        for c in t or ()
                    ]
                    extra.facts.append(disj(lows))
                return Var(unknown)
        return Var(extra.new()[0])

    def _floor(self, e: Expr, here: _Context) -> tuple[Expr, ...] | None:
        """Integers such that `e`, if it is a number, is no less than one of them."""
        if (whole := self._whole(e)) is not None:
            return (whole,)
        match e:
            case Var(name):
                return here.floors.get(name)
            case Call("max" | "maximum" | "fmax", args):
                # The one that is never nan is never above the result.
                found = [w for a in args if (w := self._whole(a)) is not None]
                return (
                    (min(found, key=lambda w: integer(w) is None),) if found else None
                )
            case Call("min" | "minimum" | "fmin", args) | Call("where", (_, *args)):
                floors = [self._floor(a, here) for a in args]
                if any(f is None for f in floors):
                    return None
                return tuple(dict.fromkeys(w for f in floors for w in f or ()))
            case Call("floor" | "ceil" | "trunc" | "rint", (a,)):
                return self._floor(a, here)
        return None

    def _whole(self, e: Expr) -> Expr | None:
        """A float that is an integer made of sizes and small numbers, as that."""
        match e:
            case Const(value) if not isinstance(value, bool):
                small = abs(value) < 2**24 and float(value).is_integer()
                return Const(int(value)) if small else None
            case Extent(array) if array in self.known:
                return e
            case Call("+" | "-" as op, (a, b)):
                one, two = self._whole(a), self._whole(b)
                if one is None or two is None or op == "-" and integer(two) is None:
                    return None  # what is far below zero may be rounded down
                return Call(op, (one, two))
            case Call("neg", (Const(value),)):
                return self._whole(Const(-value))
            case Call("float" | "float64", (a,)):
                return self._whole(a)
        return None

    def _is_rounded(self, e: Expr) -> bool:
        match e:
            case Call("int" | "int64" | "round", (a,)):
                return self._is_float(a) or self._is_rounded(a)
            case Call("min" | "max", args):
                rounded = [self._is_rounded(a) for a in args]
                sized = [self._whole(a) is not None for a in args]
                return any(rounded) and all(map(max, rounded, sized))
            case _:
                return False

    def _is_float(self, e: Expr) -> bool:
        return is_float(expr_dtype(e, self.types))

    def _overflows(self, e: Expr, here: _Context, modular: bool = False) -> bool:
        """Is there arithmetic in `e` that goes around, and does it show?

        At less than 64 bits anything may; at 64 what is made of data. A `modular`
        expression that is inside an array is right all the same, if it only adds and
        multiplies.
        """
        match e:
            case Call(op, args):
                if op in _ARITHMETIC:
                    if expr_dtype(e, self.types) not in (WEAK_INT, "int64"):
                        return True
                    modular = modular and op in ("+", "-", "*", "neg")
                    bare = op in ("//", "%")
                    if not modular and not bare and names(e) & here.wild:
                        return not self._near(e, here)
                else:
                    modular = False
                return any(self._overflows(a, here, modular) for a in args)
            case _:
                return False

    def _near(self, e: Expr, here: _Context) -> bool:
        """Is `e` the integer of a float, moved a little?

        Floats below 2**63 are at most 2**63 - 1024.
        """
        match e:
            case Call("+" | "-", (Var(name), moved)) if name in self._from_float:
                if names(moved) & (here.wild | self.single):
                    return False
                cases = self.space.cases(moved, here.env, here.formula)
                return cases is not None and all(
                    is_empty(
                        self.space,
                        here.variables,
                        conj((here.formula, c.when, f"{c.term} {far}")),
                    )
                    for c in cases
                    for far in ("<= -1024", ">= 1024")
                )
            case _:
                return False

    # ---------------------------------------------------------------- programs

    def program_for(self, variant: Variant) -> Program:
        """The program that counts negative subscripts from the end by itself.

        Law: the same values, for all arguments.
        """
        if not variant.negative and not variant.clamped:
            return self.program

        def statement(s: Stmt) -> Stmt:
            bare = with_blocks(s, tuple(() for _ in blocks(s)))
            inner = tuple(tuple(map(statement, b)) for b in blocks(s))
            new = map_whole(bare, lambda e: self._point(s.id, e, variant))
            return with_blocks(new, inner)

        return replace(self.program, body=tuple(map(statement, self.program.body)))

    def _point(self, at: int, e: Expr, variant: Variant) -> Expr:
        """`e`, a part of statement `at`, in this variant."""
        inner = tuple(self._point(at, a, variant) for a in children(e))
        new = rebuild(e, inner) if inner else e
        if not isinstance(e, Load) or not isinstance(new, Load):
            return new
        key = map_expr(e, self._sized)
        assert isinstance(key, Load)
        index = list(new.index)
        for axis, k in enumerate(index):
            site = self._sites[at, key, axis]
            # An adjoint may not have the local array, only what its size came from.
            made = self._made.get(e.array)
            size = Extent(e.array, axis) if made is None else made[axis]
            if site in variant.negative:
                index[axis] = from_end(k, size)
            if site in variant.clamped:
                index[axis] = clamped(index[axis], size, site not in self._watched)
        return replace(new, index=tuple(index))

    def inspector(self, variant: Variant) -> Program:
        """The program of `analysis.inspector` for the subscripts that data decides."""
        probes = [self._probe(one, variant) for one in self.inspected]
        return inspector(self.program_for(variant), probes)

    def _probe(self, one: Subscript, variant: Variant) -> Probe:
        index, *path = (
            self._point(one.at, e, variant)
            for e in (one.load.index[one.axis], *one.path)
        )
        return Probe(
            one.at,
            index,
            one.load.array,
            one.axis,
            len(one.load.index),
            tuple(path),
            one.signed,
            one.once,
        )

    @cached_property
    def _watched(self) -> frozenset[int]:
        return frozenset(one.site for one in self.inspected if one.signed)

    @property
    def whatever(self) -> Variant:
        """The program that is right for all sizes and all data."""
        return Variant(tuple(sorted({*self.usual.negative, *self._watched})))

    @cached_property
    def _rounded(self) -> frozenset[int]:
        """The inspected subscripts that float arithmetic has a part in."""
        return frozenset(
            one.site
            for one in self.inspected
            if rounds(self.program, self._probe(one, Variant()), self.types)
        )

    def for_adjoint(self, variant: Variant | None) -> Variant:
        """The same for an adjoint in compiled code; None where no sizes are known.

        It may keep how a test came out and compute again, in another order, the float
        whose integer was tested. What the sizes of a call leave no doubt about is
        inside its array however the tests come out.
        """
        if variant is None:
            every = tuple(sorted(self._rounded | self._tested))
            return Variant(self.usual.negative, every)
        clamped = self._tested | set(variant.clamped)
        return variant._replace(clamped=tuple(sorted(clamped)))

    def naturals(self, variant: Variant, adjoint: bool) -> frozenset[Expr]:
        """Subscripts made of floats that are never negative in this program.

        All others that compiled code need not count from the end are made of indices
        and sizes.
        """
        doubtful = (self._below - set(variant.natural)) | {
            *variant.negative,
            *variant.clamped,
            *(self._tested if adjoint else ()),
        }
        found: dict[Expr, bool] = {}
        for (_, load, axis), site in self._sites.items():
            index = load.index[axis]
            found[index] = found.get(index, True) and site not in doubtful
        return frozenset(
            e for e, sure in found.items() if sure and names(e) & self._of_floats
        )

    def _sure(self, values: Mapping[str, Any]) -> tuple[int, ...]:
        """Those that are inside their array for these sizes, whatever the data."""
        if not self._sized_sites:
            return ()
        return tuple(sorted(self._sized_sites - self._tests["doubt"](**values)))

    @cached_property
    def _sized_sites(self) -> frozenset[int]:
        return frozenset(
            one.site
            for one in self.inspected
            if one.doubt != TRUE
            and one.signed
            and names(one.load.index[one.axis]) & self._of_floats
        )

    def described(self) -> tuple[str, ...]:
        """The subscripts that data decides, and the sizes for which it matters."""
        found: dict[str, None] = {}
        for one in self.inspected:
            subscript = expr_text(one.load.index[one.axis])
            line = f"{one.place()}`{subscript}` in `{expr_text(one.load)}`"
            if one.doubt != TRUE and set(mentioned(one.doubt)):
                line += f", if {expr_text(one.doubt)}"
            found[line] = None
        return tuple(found)

    # ---------------------------------------------------------------- checking

    def guard_text(
        self, name: str, params: Sequence[str], same: Sequence[tuple[str, str]]
    ) -> str:
        """Python text that makes function `name` of `params` test its sizes first.

        `same` are pairs of parameters that must have one shape.
        """
        tests = [(t, one.message()) for t, one in self.hoisted]
        lines = ["", "", f"_{name}_unchecked = {name}", "", ""]
        lines += [f"def {name}({', '.join(params)}):"]
        for a, b in same:
            lines += [
                f"    if {a}.shape != {b}.shape:",
                f"        raise ValueError('`{a}` must have the shape of `{b}`')",
            ]
        for test, message in tests:
            lines += _when(test, f"raise IndexError({message!r})")
        lines += [f"    return _{name}_unchecked({', '.join(params)})", ""]
        return "\n".join(lines)

    def check(self, values: Mapping[str, Any]) -> Variant:
        """The program for these arguments, as far as their sizes decide.

        Raises `IndexError` if they make an access leave its array, `ArgumentError` if
        they make an integer pass 64 bits.
        """
        numbers = {n: int(v) for n, v in values.items() if isinstance(v, np.integer)}
        values = {**values, **numbers}
        k = self._tests["outside"](**values)
        if k >= 0:
            _, one = self.hoisted[k]
            array = values.get(one.load.array)
            if array is None:  # made by the function
                raise IndexError(one.message())
            extent = array.shape[one.axis]
            raise IndexError(f"{one.message()}, which has {extent} elements")
        self._magnitudes.check(values)
        return Variant(self._tests["negative"](**values), (), self._sure(values))

    def in_doubt(self, values: Mapping[str, Any]) -> frozenset[int]:
        """The subscripts for which data must be looked at, for these sizes."""
        if not self.inspected:
            return frozenset()
        found: frozenset[int] = self._tests["doubt"](**values)
        if found & self._watched:  # made of indices and sizes: products, for example
            unsettled = {
                self._sites[place] for place in self._magnitudes.unsettled(values)
            }
            found &= unsettled
        return found

    @cached_property
    def tables(self) -> tuple[str, ...]:
        """The arrays of integers that the function only reads."""
        changed = written(self.program.body)
        return tuple(
            p.name
            for p in self.program.params
            if p.rank and "int" in self.types[p.name] and p.name not in changed
        )

    def settled(
        self,
        values: Mapping[str, Any],
        doubts: frozenset[int],
        elements: Mapping[str, Interval],
    ) -> bool:
        """Are the subscripts in doubt inside, and not negative, whichever of the
        elements between these bounds they read?
        """
        loose = self._magnitudes.unsettled(values, elements)
        return doubts.isdisjoint(self._sites[place] for place in loose)

    def inspected_variant(
        self, variant: Variant, doubts: frozenset[int], result: Sequence[Any]
    ) -> Variant:
        """The program for a call, from what its inspector returned.

        Raises `IndexError` if that found an access outside.
        """
        found, *below = map(int, result)
        if found > 0:
            raise IndexError(self.inspected[found - 1].message())
        signed = [one.site for one in self.inspected if one.signed]
        more = [site for site, seen in zip(signed, below, strict=True) if seen]
        return variant._replace(
            negative=tuple(sorted({*variant.negative, *more})),
            clamped=tuple(sorted(doubts & self._rounded)),
        )

    @cached_property
    def _magnitudes(self) -> Magnitudes:
        body = map_block(self.program.body, self._sized)
        return Magnitudes(replace(self.program, body=body), self.types, self.single)

    @cached_property
    def _tests(self) -> dict[str, Any]:
        """Python functions of the parameters, for what the sizes decide."""
        params = ", ".join(p.name for p in self.program.params)
        lines = [f"def outside({params}):"]
        for k, (test, _) in enumerate(self.hoisted):
            lines += _when(test, f"return {k}")
        lines += ["    return -1", "", f"def negative({params}):", "    found = set()"]
        for test, one in self.negative:
            lines += _when(test, f"found.add({one.site})")
        lines += ["    return tuple(sorted(found))", "", f"def doubt({params}):"]
        lines += ["    found = set()"]
        doubts: dict[Expr, list[int]] = {}
        for one in self.inspected:
            doubts.setdefault(one.doubt, []).append(one.site)
        for test, sites in doubts.items():
            lines += _when(test, f"found.update({sites})")
        lines += ["    return frozenset(found)"]
        namespace: dict[str, Any] = {}
        exec("\n".join(lines), namespace)
        return namespace


def natural(program: Program) -> Program:
    """`program` for CPython, which counts from the end by itself: ``a[i - 1]``."""
    shapes = _fixed_shapes(program.body, {p.name for p in program.params})

    def sized(e: Expr) -> Expr:
        match e:
            case Extent(array, axis) if array in shapes:
                return shapes[array][axis]
            case _:
                return e

    def plain(e: Expr) -> Expr:
        if not isinstance(e, Load):
            return e
        index = list(e.index)
        for axis, k in enumerate(index):
            match k:
                case Call("where", (Call("<", (_, Const(0))), Call("+", (_, n)), i)):
                    own = sized(Extent(e.array, axis))
                    if sized(n) == own and k == from_end(i, n):
                        index[axis] = i
        return replace(e, index=tuple(index))

    return replace(program, body=map_block(program.body, plain))


def _assigned_once(block: Block) -> tuple[str, ...]:
    """Scalars with a single assignment: guard and use of one see the same value."""
    count: dict[str, int] = {}
    for s in walk(block):
        match s:
            case Assign(Var(name), _):
                count[name] = count.get(name, 0) + 1
            case Add(Var(name), _):
                count[name] = count.get(name, 0) + 2
            case For(index) | While(index=index):
                count[index] = count.get(index, 0) + 2
    return tuple(name for name, k in count.items() if k == 1)


def _made_of(block: Block, some: frozenset[str]) -> frozenset[str]:
    """`some` scalars, what is computed from them and the loops that they bound."""
    found = set(some)
    while True:
        before = len(found)
        for s in walk(block):
            match s:
                case Assign(_, value) | Add(_, value):
                    if names(value) & found:
                        found.add(s.target_name)
                case For() | While():
                    if names(s.lo) & found or names(s.hi) & found:
                        found.add(s.index)
        if len(found) == before:
            return frozenset(found)


def _each_alone(block: Block, some: frozenset[str]) -> frozenset[str]:
    """Those of `some` scalars that lie where they lie whatever the others are.

    Each is made of one of the others at most, all the way. An adjoint may have kept one
    and compute another again: what they have to do with each other need not stay.
    """
    made: dict[str, list[Expr]] = {}
    for s in walk(block):
        match s:
            case Assign(_, value) | Add(_, value):
                made.setdefault(s.target_name, []).append(value)
            case For(index) | While(index=index) if index:
                made.setdefault(index, []).extend((s.lo, s.hi))
    loops = (s for s in walk(block) if isinstance(s, (For, While)))
    once = {*_assigned_once(block), *(s.index for s in loops)}
    found = {n for n in some & once if all(_alone(e, some) for e in made[n])}
    while True:
        rest = {n for n in found if all(names(e) & some <= found for e in made[n])}
        if rest == found:
            return frozenset(found)
        found = rest


def _alone(e: Expr, some: frozenset[str]) -> bool:
    """Is there one of `some` in `e` at most, and none that `e` tests?"""
    tests = [a for part in walk_expr(e) for a in _tests(part)]
    return len(names(e) & some) < 2 and not any(names(t) & some for t in tests)


def _tests(e: Expr) -> tuple[Expr, ...]:
    match e:
        case Call("where", (test, _, _)):
            return (test,)
        case Call("and" | "or" | "not" | "<" | "<=" | ">" | ">=" | "==" | "!="):
            return (e,)
    return ()


def _fixed_shapes(block: Block, known: set[str]) -> dict[str, tuple[Expr, ...]]:
    """The local arrays that are made in one place, of sizes that are arguments."""
    found: dict[str, tuple[Expr, ...]] = {}

    def sized(e: Expr) -> Expr:
        match e:
            case Extent(array, axis) if array in found:
                return found[array][axis]
            case _:
                return e

    made = [s for s in walk(block) if isinstance(s, Alloc)]
    for s in made:
        shape = tuple(map_expr(n, sized) for n in s.shape)
        alone = sum(a.array == s.array for a in made) == 1
        if alone and all(set(mentioned(n)) <= known for n in shape):
            found[s.array] = shape
    return found


def _when(test: Expr, action: str) -> list[str]:
    """The lines of ``if test: action`` in a function body."""
    stub = If(test, (Return((ZERO,), single=True),))
    *head, last = block_text((stub,), 1).splitlines()
    return [*head, last.replace("return 0", action)]


def _remade(block: Block) -> Iterator[str]:
    """Names whose value, or whose extents, are not those of a parameter."""
    for s in walk(block):
        match s:
            case Assign(Var(name), _) | Add(Var(name), _) | Alloc(name) | For(name):
                yield name
            case While(index=name) if name:
                yield name


def _conjuncts(test: Expr) -> Iterator[Expr]:
    match test:
        case Call("and", args):
            for a in args:
                yield from _conjuncts(a)
        case Call("not", (Call("or", args),)):
            for a in args:
                yield from _conjuncts(Call("not", (a,)))
        case _:
            yield test
