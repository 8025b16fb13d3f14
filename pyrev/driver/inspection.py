"""Is every access of a call inside its array? Asked of its sizes, then of its data."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from pyrev.analysis.bounds import Bounds, Variant
from pyrev.driver.arguments import Kind, key_of
from pyrev.driver.function import Function
from pyrev.driver.memo import Memo
from pyrev.driver.request import Request
from pyrev.driver.targets import NUMBA, PYTHON
from pyrev.driver.targets.target import Arithmetic, Job, Target
from pyrev.driver.unit import Unit, of_text
from pyrev.emit import extremes
from pyrev.ir.nodes import Load, Param, Program, Var, exprs, walk, walk_expr
from pyrev.ir.ranges import Interval
from pyrev.runtime.device import is_device
from pyrev.runtime.stack_depth import deep
from pyrev.schedule.costs import Costs
from pyrev.schedule.inspection import in_chunks


class Inspection:
    """The programs that are right for calls of a function, by sizes and by data."""

    def __init__(
        self,
        function: Function,
        arithmetic: Arithmetic,
        costs: Costs,
        memo: Memo,
        inside: bool = False,
    ) -> None:
        self._inside = inside
        self._function, self._arithmetic = function, arithmetic
        self._costs, self._memo = costs, memo

    @deep
    def bounds(self, kinds: Mapping[str, Kind]) -> Bounds:
        """What is known of the subscripts for these kinds."""
        return self._memo.once(
            ("bounds", key_of(kinds)),
            lambda: Bounds(self._function.typed(kinds), self._inside),
        )

    def check(
        self, target: Target, kinds: Mapping[str, Kind], values: Mapping[str, Any]
    ) -> Variant:
        """The program that is right for this call.

        Raises `IndexError`, before anything is written, if an access leaves an array.
        """
        sized, doubts = self.sized(kinds, values)
        if not doubts:
            return sized
        return self.inspected(Request(target, kinds, (), values, sized), doubts)

    @deep
    def sized(
        self, kinds: Mapping[str, Kind], values: Mapping[str, Any]
    ) -> tuple[Variant, frozenset[int]]:
        """The program for arguments of these sizes, and where data must be looked at.

        Raises `IndexError` or `ArgumentError` if the sizes alone are wrong.
        """
        self._memo.recall()
        bounds = self.bounds(kinds)
        return bounds.check(values), bounds.in_doubt(values)

    def inspected(self, request: Request, doubts: frozenset[int]) -> Variant:
        """The program for these data, where sizes, which ask for the program of the
        request, leave `doubts`.

        Raises `IndexError`, before anything is written, if an access leaves an array.
        """
        assert request.values is not None
        return self.look(request, doubts)(request.values)

    @deep
    def look(self, request: Request, doubts: frozenset[int]) -> Look:
        """How data are looked at in calls with such sizes as `inspected` takes."""
        target, kinds, sized = request.target, request.kinds, request.variant
        assert sized is not None

        def inspector(wide: bool) -> Make:
            def make(values: Mapping[str, Any]) -> Unit:
                own = Request(target, kinds, (), values, sized)
                key = own.key("wider inspector" if wide else "inspector")
                return self._memo.fitting(
                    key, values, lambda varied: self._inspector(own, wide)
                )

            return make

        return Look(
            self.bounds(kinds),
            sized,
            doubts,
            target.tests_subscripts,
            self._costs.table_elements,
            self._memo.once(("wider", key_of(kinds), sized), Wider),
            inspector(wide=True),
            inspector(wide=False),
        )

    def by_sizes(self, kinds: Mapping[str, Kind], sized: Variant) -> bool:
        """Does the inspector read no data, so that one answer of `inspected` serves all
        calls with these sizes?
        """
        return self._memo.once(
            ("by sizes", key_of(kinds), sized),
            lambda: (_reads_nothing(self.bounds(kinds).variants.inspector(sized)),),
        )[0]

    def _inspector(self, request: Request, wide: bool = False) -> Unit:
        """What computes the subscripts that data decides, for a call."""
        assert request.variant is not None
        function, target = self._function, request.target
        variants = self.bounds(request.kinds).variants
        made = variants.wider_inspector if wide else variants.inspector
        program = made(request.variant)
        sizes = request.sizes(self._costs)
        if _reads_nothing(program) and sizes.few_operations(program):
            target = PYTHON  # at once, where to compile takes a second
        if target.for_sizes:
            program = in_chunks(program, sizes, self._costs)
        emitted = target.inspector(
            Job(
                program,
                {n: k.dtype for n, k in request.kinds.items()},
                sizes,
                function.provenance(
                    "The data-dependent subscripts", compiled=not target.is_input
                ),
                function.parsed.texts.files(),
                arithmetic=replace(self._arithmetic, fast=False),
            )
        )
        params = tuple(p.name for p in program.params)
        return Unit(
            program,
            emitted.text,
            params,
            frozenset(params),
            fit=sizes.fit(),
            target=target,
            costs=self._costs,
        )


Make = Callable[[Mapping[str, Any]], Unit]


@dataclass(slots=True)
class Wider:
    """What is known of the inspector that asks no tests which take float arithmetic."""

    #: Has it found something where nothing was?
    missed: bool = False


@dataclass(slots=True)
class Look:
    """How the data of calls are looked at where their sizes leave doubts."""

    _bounds: Bounds
    _sized: Variant
    _doubts: frozenset[int]
    #: Does the code that will run test its subscripts itself?
    _itself: bool
    #: So many elements of a table are looked at as a whole first.
    _least: int
    _wider: Wider
    _make_wider: Make
    _make: Make
    #: What follows the loops, once it was needed.
    _wide: Unit | None = None
    _inspector: Unit | None = None

    @deep
    def __call__(self, values: Mapping[str, Any]) -> Variant:
        """The program for these data.

        Raises `IndexError`, before anything is written, if an access leaves an array.
        """
        bounds = self._bounds
        if not self._itself and _inside(bounds, values, self._doubts, self._least):
            return self._sized
        tried = not self._wider.missed
        if tried:
            wide = self._wide
            if wide is None:
                wide = self._wide = self._make_wider(values)
            if not any(_result(wide, values)):  # -1 where a check failed
                return self._for(bounds.wide_variant(self._sized, self._doubts))
        unit = self._inspector
        if unit is None:
            unit = self._inspector = self._make(values)
        result = _result(unit, values)
        self._wider.missed = tried and not any(result)
        variant = bounds.inspected_variant(self._sized, self._doubts, result)
        return self._for(variant)

    def _for(self, variant: Variant) -> Variant:
        return Variant(variant.negative) if self._itself else variant


def _result(inspector: Unit, values: Mapping[str, Any]) -> Sequence[Any]:
    with np.errstate(all="ignore"):
        found: Sequence[Any] = inspector.call([values[p] for p in inspector.params])
    return found


def _inside(
    bounds: Bounds, values: Mapping[str, Any], doubts: frozenset[int], least: int
) -> bool:
    """Is no element of large tables of subscripts, from `least` elements on, outside?

    To find the least and the largest takes less time than to follow the loops.
    """
    tables = {n: _once_each(values[n]) for n in bounds.tables if values[n].size}
    if any(map(_overlaps, tables.values())):
        return False  # their elements may be many more than memory holds
    if any(map(is_device, tables.values())):
        elements = {n: Interval(int(t.min()), int(t.max())) for n, t in tables.items()}
        return bounds.settled(values, doubts, elements)
    if max((t.size for t in tables.values()), default=0) < least:
        return False
    elements = {
        n: Interval(*map(int, _extremes().call([t.reshape(-1)])))
        for n, t in tables.items()
    }
    return bounds.settled(values, doubts, elements)


@functools.cache
def _extremes() -> Unit:
    """What finds the least and the largest of an array of integers."""
    return of_text(extremes.NAME, (Param("a", 1, "int64"),), extremes.TEXT, NUMBA)


def _reads_nothing(program: Program) -> bool:
    """Does the program look at no element of an array and at no float?"""
    floats = {p.name for p in program.params if not p.rank and "int" not in p.dtype}
    parts = [e for s in walk(program.body) for top in exprs(s) for e in walk_expr(top)]
    return not any(
        isinstance(e, Load) or isinstance(e, Var) and e.name in floats for e in parts
    )


def _once_each(a: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """`a` without what broadcasting repeats."""
    return a[tuple(slice(None) if step else slice(1) for step in a.strides)]


def _overlaps(a: np.ndarray[Any, Any]) -> bool:
    """Has `a` more elements than there are in the memory it spans, as windows do?"""
    span = sum((n - 1) * abs(step) for n, step in zip(a.shape, a.strides, strict=True))
    return bool(a.nbytes > span + a.itemsize)
