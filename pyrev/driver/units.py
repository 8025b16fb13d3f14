"""All units of one function: a text and a callable for each request.

Units are made when first called and kept; the text of a unit depends on the function,
the kinds of its arguments, the target and what is asked, and on nothing else.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from pyrev.adjoint.intermediates import why_not
from pyrev.adjoint.reverse import Adjoint
from pyrev.adjoint.slopes import without_slopes
from pyrev.adjoint.tangent import Tangent
from pyrev.adjoint.tidy import uncounted
from pyrev.analysis.poly import seconds_asked
from pyrev.driver.arguments import Kind, key_of
from pyrev.driver.candidates import alternatives, chosen
from pyrev.driver.derive import Derived, derive_partials, derive_tangent
from pyrev.driver.elementwise import why_not as why_not_elementwise
from pyrev.driver.function import Function, rolled
from pyrev.driver.inspection import Inspection
from pyrev.driver.memo import Memo
from pyrev.driver.reasons import Reasons
from pyrev.driver.request import Request
from pyrev.driver.sizes import Fit, Sizes, specialise
from pyrev.driver.storage_options import Keeping
from pyrev.driver.targets import PYTHON
from pyrev.driver.targets.target import STRICT, Arithmetic, Job
from pyrev.driver.two_sweeps import Sweeps, pays, sweeps
from pyrev.driver.unit import Sweeping, Swept, Unit
from pyrev.ir.diagnostics import ArgumentError, UnsupportedError
from pyrev.ir.dtypes import concrete, infer, is_float
from pyrev.ir.nodes import (
    Alloc,
    Expr,
    Extent,
    Load,
    Param,
    Program,
    all_names,
    exprs,
    walk,
    walk_expr,
)
from pyrev.parse import Parsed
from pyrev.parse.probes import told
from pyrev.runtime.code_cache import tuning
from pyrev.runtime.journal import DERIVED, Entry, Journal
from pyrev.runtime.stack_depth import deep
from pyrev.schedule.costs import SHIPPED, Costs
from pyrev.schedule.private import with_private_arrays

#: What each part of a function's code is called at the top of its module.
WHAT = {
    "adjoint": "Adjoint (reverse-mode derivative)",
    "tangent": "Tangent (forward-mode derivative)",
    "primal": "Schedule",
    "forward": "Forward sweep: the function and what its adjoint needs,",
    "reverse": "Reverse sweep of the adjoint",
}

#: What they are called in a journal.
LABEL = {
    "adjoint": "adjoint",
    "tangent": "tangent",
    "primal": "primal",
    "forward": "forward sweep",
    "reverse": "reverse sweep",
}

#: Makes a unit for what the sizes of a call say.
Make = Callable[[Sizes], Unit]


class Units:
    """The units of one function for arguments of some ranks."""

    def __init__(
        self,
        parsed: Parsed,
        keeping: Keeping | None = None,
        arithmetic: Arithmetic = STRICT,
        quiet: bool = False,
        costs: Costs = SHIPPED,
        inside: bool = False,
        journal: Journal | None = None,
    ) -> None:
        self.keeping = keeping or Keeping()
        self._arithmetic, self._quiet = arithmetic, quiet
        self.costs, self._inside = costs, inside
        self.journal = journal or Journal()
        self._made = Reasons()
        self._memo = Memo(parsed.program)
        self.function = Function(parsed, self.keeping, quiet, self._memo)
        self.inspection = Inspection(
            self.function, arithmetic, costs, self._memo, inside
        )

    def hushed(self) -> Units:
        """The same with adjoints that call nothing back."""
        if not self.function.callbacks:
            return self
        return self._of(self.function.parsed, quiet=True)

    def fitting(self, values: Mapping[str, Any]) -> Units:
        """The units for arguments of these ranks."""
        function = self.function
        found = function.unlike(values)
        if found is None:
            return self

        def make() -> Units | ArgumentError:
            start = time.perf_counter()
            parsed = function.parsed_for(found, values)
            if isinstance(parsed, ArgumentError):
                return parsed
            self.journal.read(parsed.program.name, start, "arguments of other ranks")
            return self._of(parsed)

        ranks = tuple(
            (k.rank, k.dtype == "bool", is_float(k.dtype)) for k in found.values()
        )
        made = self._memo.once(("variant", ranks), make)
        if isinstance(made, ArgumentError):
            raise made
        return made

    def _of(self, parsed: Parsed, quiet: bool | None = None) -> Units:
        """The units of another reading, with the same options."""
        quiet = self._quiet if quiet is None else quiet
        options = self._arithmetic, quiet, self.costs, self._inside, self.journal
        return Units(parsed, self.keeping, *options)

    def forget(self) -> None:
        """Make everything anew at the next call."""
        self._memo.forget()

    # ---------------------------------------------------------------- unscheduled

    def _program(self, request: Request) -> Program:
        """What is scheduled, or differentiated along `wrt`."""
        kinds, variant = request.kinds, request.variant
        assert variant is not None
        local = tuple(n for n in request.wrt if n not in kinds)

        def make() -> Program:
            program = self.inspection.bounds(kinds).variants.program_for(variant)
            for name in local:
                self._check_local(program, kinds, name)
            return with_private_arrays(program, frozenset(local))

        return self._memo.once(("program", key_of(kinds), variant, local), make)

    def _check_local(
        self, program: Program, kinds: Mapping[str, Kind], name: str
    ) -> None:
        """`ArgumentError` if a local value of `program` has no gradient."""
        types = infer(program, {n: kind.dtype for n, kind in kinds.items()})
        if name in self.keeping.recompute:
            why: str | None = "it is made again wherever it is read"
            helps = "leave it out of `recompute`"
        elif name in types and not is_float(types[name]):
            why = f"it holds {concrete(types[name])}"
            helps = "only floats have a gradient"
        else:
            # With negative subscripts counted from the end, as this call has them.
            why = why_not(program, name)
            helps = (
                "give the value that is meant a name of its own, as in"
                f" `last = {name}.copy()`"
            )
        if why is not None:
            raise ArgumentError(
                f"wrt={name!r}: this value of {program.name}() has no gradient of its"
                f" own: {why}; {helps}"
            )

    def _derived(self, request: Request) -> tuple[Derived, ...]:
        """The unscheduled adjoints: one, or what sizes choose from.

        A text that is read knows chosen elements by their subscripts; compiled code by
        the tests, since where it adds by subscripts that data decides it needs atomics.
        """
        kinds, wrt, variant = request.kinds, request.wrt, request.variant
        for_reading = request.target.is_input

        def make() -> tuple[Derived, ...]:
            keeping = self.keeping
            found = alternatives(
                self._program(request),
                wrt,
                self.function.avoid,
                self.costs,
                keeping.memory,
                keeping.store,
                keeping.recompute,
                keeping.preaccumulate,
                for_reading,
            )
            keeping.check(found[0])
            return found

        key = ("derived", key_of(kinds), wrt, variant, for_reading)
        return self._memo.once(key, make)

    def unscheduled(self, request: Request) -> Derived:
        """The adjoint of which the readable one is a schedule."""
        units, request = self._rolled(request)
        return units._derived(units._usual(request))[0]

    def _rolled(self, request: Request) -> tuple[Units, Request]:
        """What makes the text of a target, and what that is asked for.

        Where the readable text would have the body of a loop several times, since names
        of arrays change places in it, that is the reading in which contents do: it has
        each body once. Local values may be others there.
        """
        function = self.function
        local = any(n not in request.kinds for n in request.wrt)
        unknown = request.variant is not None and request.values is None
        if not function.parsed.unrolled or not request.target.bodies_once:
            return self, request
        if local or unknown:
            return self, request

        def make() -> Units:
            parsed = rolled(function)
            return self if parsed is None else self._of(parsed)

        units = self._memo.once("rolled", make)
        if units is self or request.variant is None:
            return units, request
        assert request.values is not None
        look = units.inspection.check
        variant = look(request.target, request.kinds, request.values)
        return units, request.running(variant)

    def _usual(self, request: Request) -> Request:
        """The request with the program that is shown where there was no call yet."""
        if request.variant is not None:
            return request
        return request.running(self.inspection.bounds(request.kinds).variants.usual)

    def _of_adjoint(self, request: Request) -> Request:
        """The request with the program of which compiled code is the adjoint."""
        variants = self.inspection.bounds(request.kinds).variants
        return request.running(variants.for_adjoint(request.variant))

    # ---------------------------------------------------------------- units

    @deep
    def primal(self, request: Request, flipped: frozenset[str] | None = None) -> Unit:
        """The function itself.

        With `flipped` it is not the one that is kept for calls: see `Sizes`.
        """
        units, request = self._rolled(request)
        if units is not self:
            return units.primal(request, flipped)
        asked = self._usual(request).along_nothing()

        def make(sizes: Sizes) -> Unit:
            program, natural = self._program(asked), self._natural(asked, False)
            return self._unit(asked, program, {}, "primal", sizes, natural)

        return self._kept("primal", asked, make, flipped)

    @deep
    def adjoint(self, request: Request, flipped: frozenset[str] | None = None) -> Unit:
        """The adjoint with respect to `wrt`.

        The variant is what was found for a call. With `flipped` it is not the one that
        is kept for calls: see `Sizes`.
        """
        if self.function.callbacks:  # CPython runs the user's functions
            request.target.check_probes(
                self.inspection.bounds(request.kinds).variants.program
            )
            request = replace(request, target=PYTHON)
        units, request = self._rolled(request)
        if units is not self:
            return units.adjoint(request, flipped)
        by_sizes = request.target.for_sizes
        asked = self._of_adjoint(request) if by_sizes else self._usual(request)

        def make(sizes: Sizes) -> Unit:
            found = self._derived(asked)
            derived = chosen(found, sizes) if by_sizes else found[0]
            unit = self._reversing(
                asked, derived.adjoint, derived.program, {}, "adjoint", sizes
            )
            unit.stored = derived.stored
            unit.alternatives = tuple((d, d is derived) for d in found)
            return unit

        return self._kept("adjoint", asked, make, flipped)

    @deep
    def sweeps(
        self,
        request: Request,
        flipped: tuple[frozenset[str], frozenset[str]] | None = None,
    ) -> Sweeping:
        """The adjoint in two parts, for a call and its pullback, where that pays.

        `flipped` is as for `adjoint`, for either part.
        """
        target = request.target
        if self.function.callbacks or not target.sweeps_apart:
            return Sweeping(None, Fit(), target)
        asked = self._of_adjoint(request)

        def make(varied: frozenset[str]) -> Sweeping:
            sizes = asked.sizes(self.costs)
            made = self._paying(asked, sizes)
            if made is None or (
                # A number would have to come back to the host.
                target.on_device and not all(made.ranks[n] for n in made.passed)
            ):
                return Sweeping(None, sizes.fit(), target)
            tapes = {n: Kind(made.ranks[n], d) for n, d in made.dtypes.items()}

            def forward(sizes: Sizes) -> Unit:
                what, ahead = "forward", made.forward
                natural = self._natural(asked, True)
                return self._unit(asked, ahead, {}, what, sizes, natural)

            def reverse(sizes: Sizes) -> Unit:
                adjoint, back = made.adjoint, made.reverse
                return self._reversing(asked, adjoint, back, tapes, "reverse", sizes)

            try:
                if flipped is None:
                    ahead, back = (
                        self._tuned(asked, forward, varied),
                        self._tuned(asked, reverse, varied),
                    )
                else:
                    ahead = forward(asked.sizes(self.costs, flipped[0]))
                    back = reverse(asked.sizes(self.costs, flipped[1]))
            except UnsupportedError:  # what passes has no size before a launch
                return Sweeping(None, sizes.fit(), target)
            fit = sizes.fit().beside(ahead.fit).beside(back.fit)
            return Sweeping(Swept(made, ahead, back), fit, target)

        if flipped is not None:
            return make(frozenset())
        key = asked.key("sweeps")
        return self._memo.fitting(
            key, asked.values, make, _shared(asked, self.costs, self._arithmetic)
        )

    @deep
    def passed(self, request: Request) -> tuple[str, ...]:
        """What a call keeps for its pullback, in words; nothing where that runs all.

        Where arrays are on a device only a launch says how large that is.
        """
        target = request.target
        apart = target.sweeps_apart and not target.on_device
        if self.function.callbacks or not apart:
            return ()
        asked = self._of_adjoint(request)
        made = self._paying(asked, asked.sizes(self.costs))
        return () if made is None else made.described()

    def _paying(self, asked: Request, sizes: Sizes) -> Sweeps | None:
        """The adjoint in two parts, unscheduled, if that can be and pays."""
        derived = chosen(self._derived(asked), sizes)
        if self.keeping.memory is not None:
            return None
        program, wrt = self._program(asked), asked.wrt
        kept, shortened = derived.kept, derived.shortened
        (made,) = self._memo.once(
            ("apart", key_of(asked.kinds), wrt, asked.variant, kept, shortened),
            lambda: (sweeps(program, wrt, self.function.avoid, kept, shortened),),
        )
        return made if made is not None and pays(made, sizes) else None

    @deep
    def tangent(
        self, request: Request, directions: int = 1, asserts: bool = True
    ) -> Unit:
        """The forward derivative along `wrt`, in several directions.

        The unit's `cotangents` pair the tangents' parameters with the primal's, those
        of one parameter in the order of the directions.
        """
        units, request = self._rolled(request)
        if units is not self:
            return units.tangent(request, directions, asserts)
        asked = self._usual(request)

        def make(sizes: Sizes) -> Unit:
            made = derive_tangent(
                self._program(asked.along_nothing()),
                asked.wrt,
                self.function.avoid,
                directions,
                asserts,
                self.keeping.preaccumulate,
            )
            return self._moving(asked, made, sizes)

        return self._kept(("tangent", directions, asserts), asked, make)

    @deep
    def partials(self, request: Request) -> Unit:
        """The function and its partial derivatives, where it is elementwise.

        It returns what the function returns and the partial derivatives; the unit's
        `cotangents` pair these with the arrays that the function writes, those of one
        array in the order of `wrt`.

        Raises `ArgumentError` where an output depends on several elements of an input.
        """
        asked = self._usual(request)

        def make(sizes: Sizes) -> Unit:
            program, wrt = self._program(asked.along_nothing()), asked.wrt
            found = why_not_elementwise(program, wrt)
            if found is not None:
                loc, why = found
                what = f"`{program.name}` is not elementwise in {', '.join(wrt)}"
                raise ArgumentError(f"{loc.place}: {why}, so {what}; use jvp")
            made = derive_partials(program, wrt, self.function.avoid)
            return self._moving(asked, made, sizes)

        return self._kept("partials", asked, make)

    # ---------------------------------------------------------------- making them

    def _kept(
        self,
        what: Hashable,
        asked: Request,
        make: Make,
        flipped: frozenset[str] | None = None,
    ) -> Unit:
        """The unit that calls of such sizes run; one of its own with `flipped`."""
        if flipped is not None:
            return make(asked.sizes(self.costs, flipped))
        return self._memo.fitting(
            asked.key(what),
            asked.values,
            lambda varied: self._tuned(asked, make, varied),
            _shared(asked, self.costs, self._arithmetic),
        )

    def _tuned(self, asked: Request, make: Make, varied: frozenset[str]) -> Unit:
        """The unit for these sizes, or what `tune` found to be faster than it."""
        start, before = time.perf_counter(), seconds_asked()
        unit = make(asked.sizes(self.costs, varied=varied))
        unit.journal, unit.why = self.journal, self._made.why(unit.label, asked, unit)
        took = time.perf_counter() - start
        proofs = seconds_asked() - before
        self.journal.note(Entry(DERIVED, unit.label, took, unit.why, proofs=proofs))
        if not asked.target.tunes or asked.values is None:
            return unit
        flipped = tuning(unit.text.text, unit.program.name)
        if not flipped:
            return unit
        better = make(asked.sizes(self.costs, frozenset(flipped), varied))
        better.journal, better.why = self.journal, unit.why
        return better

    def _natural(self, asked: Request, adjoint: bool) -> frozenset[Expr]:
        """The subscripts made of floats that are never negative."""
        assert asked.variant is not None
        variants = self.inspection.bounds(asked.kinds).variants
        return variants.naturals(asked.variant, adjoint)

    def _reversing(
        self,
        asked: Request,
        adjoint: Adjoint,
        program: Program,
        tapes: Mapping[str, Kind],
        what: str,
        sizes: Sizes,
    ) -> Unit:
        """The unit for a program that takes cotangents, and `tapes` beside."""
        ranks = {p.name: p.rank for p in program.params}
        beside = dict(tapes)
        for name, of in adjoint.cotangents:
            dtype = self.function.output_dtype(asked.kinds, of)
            beside[name] = Kind(ranks[name], dtype)
        # A cotangent has the shape of what it belongs to: that is tested before a call.
        results = self.function.result_shapes(asked.kinds)
        alike = {
            name: _extents(of, ranks[name]) if isinstance(of, str) else results[of]
            for name, of in adjoint.cotangents
            if isinstance(of, str) or not asked.target.for_sizes
        }
        natural = self._natural(asked, True)
        unit = self._unit(asked, program, beside, what, sizes, natural, alike)
        unit.cotangents = adjoint.cotangents
        return unit

    def _moving(self, asked: Request, made: Tangent, sizes: Sizes) -> Unit:
        """The unit for a program that takes tangents."""
        dots, kinds = dict(made.names), asked.kinds
        beside = {dot: kinds[n] for n in made.carried for dot in dots[n]}
        alike = {d: _extents(n, kinds[n].rank) for n in made.carried for d in dots[n]}
        natural = self._natural(asked, False)
        unit = self._unit(asked, made.program, beside, "tangent", sizes, natural, alike)
        unit.cotangents = tuple((d, n) for n in made.carried for d in dots[n])
        return unit

    def _unit(
        self,
        asked: Request,
        program: Program,
        beside: Mapping[str, Kind],
        what: str,
        sizes: Sizes,
        never_negative: frozenset[Expr],
        alike: Mapping[str, tuple[Expr, ...]] | None = None,
    ) -> Unit:
        """The unit for a program, which takes what is `beside` the arguments; `alike`
        are parameters whose shapes are known.
        """
        target, function = asked.target, self.function
        shapes = {n: shape for n, shape in (alike or {}).items() if shape}
        if shapes and target.for_sizes:
            extents = {(n, k): e for n, s in shapes.items() for k, e in enumerate(s)}
            program = specialise(program, extents)
        if what in ("primal", "tangent"):
            program = uncounted(program)
        if what == "primal" or not target.is_input:
            program = without_slopes(program)
        kinds = {**asked.kinds, **beside}
        arithmetic, said = self._arithmetic.within(function.edges(asked.kinds))
        done, emitted = target.made(
            Job(
                program,
                {name: kind.dtype for name, kind in kinds.items()},
                sizes,
                function.provenance(WHAT[what], compiled=not target.is_input),
                function.parsed.texts.files(),
                never_negative,
                frozenset(self.keeping.store),
                _named(function.program),
                function.parsed.texts.variables(),
                function.parsed.sizes,
                shapes,
                arithmetic,
                # What tells the user something has its place in the order of the text.
                in_order=what == "tangent" or bool(told(program)),
            )
        )
        return Unit(
            done.program,
            emitted.text,
            tuple(p.name for p in done.program.params),
            _reads(done.program, function.program.params),
            decisions=done.decisions,
            reassociated=(*said, *emitted.reassociated),
            fit=sizes.fit(program),
            weighed=tuple(sizes.weighed),
            target=target,
            costs=self.costs,
            label=f"{LABEL[what]} of {function.program.name}",
        )


def _shared(asked: Request, costs: Costs, arithmetic: Arithmetic) -> Costs | None:
    """By what calls with other sizes get the same code; None if they do not."""
    alone = asked.alone or arithmetic.deterministic
    return costs if asked.target.compiles_slowly and not alone else None


def _extents(array: str, rank: int) -> tuple[Expr, ...]:
    return tuple(Extent(array, k) for k in range(rank))


def _named(program: Program) -> frozenset[str]:
    """The names of a function's values, which say what these mean."""
    return all_names(program.body) | {p.name for p in program.params}


def _reads(program: Program, params: Sequence[Param]) -> frozenset[str]:
    """Those of the primal's parameters whose elements a program reads."""
    loaded = {
        e.array
        for s in walk(program.body)
        for top in exprs(s)
        for e in walk_expr(top)
        if isinstance(e, Load)
    }
    copied = {
        name for s in walk(program.body) if isinstance(s, Alloc) for name in s.sources
    }
    scalars = {p.name for p in program.params if not p.rank}
    return frozenset(p.name for p in params) & (loaded | copied | scalars)
