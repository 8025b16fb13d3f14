"""The compiled variants of one function: a text and a callable per kinds of arguments.

A unit is one generated function. Units are made when first called and kept; the text
of a unit depends on the function, the kinds of its arguments, the target and what is
asked, and on nothing else.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import PurePath
from typing import Any, TypeVar

import numpy as np

from pyrev.adjoint.activity import only_set, returned, written_arrays
from pyrev.adjoint.intermediates import why_not
from pyrev.adjoint.reverse import Adjoint
from pyrev.adjoint.slopes import without_slopes
from pyrev.adjoint.tangent import Tangent
from pyrev.adjoint.tidy import uncounted
from pyrev.analysis.bounds import Bounds, Variant, natural
from pyrev.analysis.integer_ranges import Interval
from pyrev.analysis.narrow_integers import widened
from pyrev.analysis.poly import answers, noted, recall
from pyrev.analysis.steering import steering
from pyrev.driver.arguments import (
    Kind,
    expectations,
    is_python_number,
    kinds,
    wrt_names,
)
from pyrev.driver.candidates import alternatives, chosen
from pyrev.driver.derive import Derived, derive_partials, derive_tangent
from pyrev.driver.elementwise import why_not as why_not_elementwise
from pyrev.driver.passes import Scheduled, schedule, schedule_for_cpu, schedule_for_cuda
from pyrev.driver.sizes import Sizes, fits, specialise, specialised
from pyrev.driver.storage_options import Keeping
from pyrev.driver.two_sweeps import Sweeps, pays, sweeps
from pyrev.emit import extremes
from pyrev.emit.cuda import emit_cuda
from pyrev.emit.numba import emit_numba
from pyrev.emit.python import emit_python
from pyrev.emit.seals import Sealed, sealed
from pyrev.ir.diagnostics import ArgumentError, Finding, UnsupportedError
from pyrev.ir.dtypes import concrete, expr_dtype, infer, is_float, with_own_dtypes
from pyrev.ir.nodes import (
    Add,
    Alloc,
    Assign,
    Check,
    Expr,
    Extent,
    Load,
    Param,
    Program,
    Var,
    View,
    exprs,
    walk,
    walk_expr,
    written,
)
from pyrev.ir.printer import Emitted, Text
from pyrev.ir.text import expr_text
from pyrev.parse import Capture, Parsed, adapting, parse, retype
from pyrev.parse.grounds import is_value
from pyrev.parse.probes import in_python, told, without_probes
from pyrev.parse.source import Inlined
from pyrev.runtime import device
from pyrev.runtime.code_cache import (
    LAUNCH,
    MAKING,
    Loaded,
    is_alone,
    launches_are_safe,
    loaded,
    proofs,
    remember_proofs,
    serial,
    tuning,
)
from pyrev.runtime.device import cupy, is_array, is_device
from pyrev.runtime.error_boundary import runs_users
from pyrev.runtime.stack_depth import deep, on_a_large_stack
from pyrev.schedule.costs import SHIPPED, Costs
from pyrev.schedule.inspection import in_chunks
from pyrev.schedule.launches import NotOnDevice
from pyrev.schedule.private import with_private_arrays
from pyrev.schedule.report import Decision
from pyrev.schedule.storage import Stored

#: What a captured value is to a reading, by its type or the kind of its dtype.
KINDS: dict[object, str] = {
    **{float: "float", "f": "float", bool: "bool", "b": "bool"},
    **{int: "integer", "i": "integer", "u": "integer"},
}

Names = tuple[str, ...]

T = TypeVar("T")
M = TypeVar("M", bound="Unit | Sweeping")


@dataclass
class Unit:
    """One generated function: its text, its parameters in order, how to call it.

    `reads` are the primal parameters whose elements the code reads; `cotangents` pairs
    the adjoint's cotangent parameters with outputs.
    """

    program: Program
    text: Text
    params: tuple[str, ...]
    reads: frozenset[str]
    cotangents: tuple[tuple[str, str | int], ...] = ()
    decisions: tuple[Decision, ...] = ()
    stored: tuple[Stored, ...] = ()
    #: The adjoints that there was a choice of, and which one was taken.
    alternatives: tuple[tuple[Derived, bool], ...] = ()
    reassociated: tuple[str, ...] = ()
    answers: tuple[tuple[str, bool], ...] = ()  # what the schedule knows of the sizes
    #: Those of its tests that only weighed speed.
    weighed: tuple[str, ...] = ()
    target: str = "python"
    costs: Costs = SHIPPED
    #: The function, and what keeps its module, by what it is to do.
    _functions: dict[tuple[bool, Names], tuple[Callable[..., Any], Loaded]] = field(
        default_factory=dict, repr=False
    )
    _sealing: dict[Names, Sealed] = field(default_factory=dict, repr=False)

    @property
    def function(self) -> Callable[..., Any]:
        """The generated function, loaded from its file in the cache."""
        return self._function(())

    def _function(self, sealing: Names) -> Callable[..., Any]:
        """The function that makes digests of the arrays `sealing` while it runs."""
        alone = self.target == "numba" and is_alone()
        found = self._functions.get((alone, sealing))
        if found is None:
            text = self.sealing(sealing).text if sealing else self.text.text
            held = self._loaded(serial(text) if alone else text)
            found = getattr(held.module, self.program.name), held
            self._functions[alone, sealing] = found
        return found[0]

    def sealing(self, arrays: Names) -> Sealed:
        """The text that makes digests of what it can of `arrays`, compiled code's."""
        found = self._sealing.get(arrays)
        if found is None:
            text, name, most = self.text.text, self.program.name, self.costs.chunks
            found = self._sealing[arrays] = sealed(text, name, arrays, most)
        return found

    @runs_users
    def _interpreted(self, function: Callable[..., Any], values: Sequence[Any]) -> Any:
        """Run the text in CPython, where floats divide by zero as compiled ones do."""
        with np.errstate(all="ignore"):
            try:
                return function(*values)
            except (ZeroDivisionError, OverflowError):
                # Python's floats raise, NumPy's don't. Nothing has been changed by a
                # text that writes no argument and calls nothing back.
                if any(self.changed) or self.program.callbacks:
                    raise
            return function(*(np.float64(v) if type(v) is float else v for v in values))

    def _loaded(self, text: str) -> Loaded:
        try:
            return deep(loaded)(text, self.program.name)
        except SyntaxError as error:  # too many levels of indentation, or parentheses
            help = "unite loops or conditions, or differentiate it in parts"
            because = f"generated code is nested deeper than Python reads ({error.msg})"
            raise UnsupportedError(
                [Finding("P305", self.program.loc, because, help)]
            ) from error

    def __getstate__(self) -> dict[str, Any]:
        """What is pickled: the text, which another process loads again."""
        return {**self.__dict__, "_functions": {}, "_sealing": {}}

    @functools.cached_property
    def changed(self) -> tuple[bool, ...]:
        """For each parameter: is it an array that the code writes?"""
        arrays = written(self.program.body)
        return tuple(p in arrays for p in self.params)

    @functools.cached_property
    def steering(self) -> frozenset[str]:
        """What decides more than the numbers that the code computes."""
        return steering(self.program)

    @runs_users
    def call(
        self, values: Sequence[Any], sealing: Names = (), more: Sequence[Any] = ()
    ) -> Any:
        """Run it; one launch at a time where Numba's threading layer needs that.

        What makes digests of the arrays `sealing` takes `more` parameters.
        """
        values = [*values, *more]
        try:
            return self._run(self._function(sealing), values)
        except RecursionError:  # of Numba, before anything has run
            if self.target != "numba":
                raise
        return on_a_large_stack(lambda: self._run(self._function(sealing), values))

    @runs_users
    def _run(self, function: Callable[..., Any], values: Sequence[Any]) -> Any:
        if self.target == "cuda":
            return device.call(function, values, self.changed)
        if self.target != "numba":
            return self._interpreted(function, values)
        if launches_are_safe():
            return function(*values)
        with LAUNCH:
            return function(*values)


#: How a unit is run with the values of its parameters.
Launch = Callable[[Unit, Sequence[Any]], Any]


@dataclass(frozen=True, slots=True)
class Swept:
    """The two sweeps of an adjoint as units."""

    made: Sweeps
    forward: Unit
    reverse: Unit

    def run(
        self, values: Mapping[str, Any], launch: Launch = Unit.call
    ) -> tuple[Any, dict[str, Any]]:
        """Run the function; its raw result, and what the reverse sweep has from it.

        Arrays that the caller may change are copied.
        """
        made = self.made
        raw = launch(self.forward, [values[p] for p in self.forward.params]) or ()
        results, passed = raw[: made.results], raw[made.results :]
        kept = {
            name: device.copied(value) if name in made.shared else value
            for name, value in zip(made.passed, passed, strict=True)
        }
        for name, dtype in made.dtypes.items():
            if not is_array(kept[name]):
                kept[name] = scalar(kept[name], dtype)
        kept |= {name: device.copied(values[name]) for name in made.final}
        return results[0] if made.single else results or None, kept


@dataclass(frozen=True, slots=True)
class Sweeping:
    """How an adjoint runs for a call and its pullback: in two parts, or None."""

    apart: Swept | None
    answers: tuple[tuple[str, bool], ...]
    target: str


def _tuned(
    target: str,
    values: Mapping[str, Any] | None,
    costs: Costs,
    make: Callable[[Sizes], Unit],
) -> Unit:
    """The unit for these sizes, or what `tune` found to be faster than it."""
    unit = make(Sizes(values or {}, costs))
    if target != "numba" or values is None:
        return unit
    flipped = tuning(unit.text.text, unit.program.name)
    return make(Sizes(values, costs, frozenset(flipped))) if flipped else unit


def _natural(
    program: Program,
    never_negative: frozenset[Expr],
    facts: Mapping[tuple[str, int], Expr],
) -> frozenset[Expr]:
    """The subscripts that are never negative, as they stand where `facts` are known.

    Two may be one expression then: it counts if both do.
    """
    subscripts = {
        k
        for s in walk(program.body)
        for top in exprs(s)
        for e in walk_expr(top)
        if isinstance(e, Load)
        for k in e.index
    }
    others = {specialised(k, facts) for k in subscripts - never_negative}
    return frozenset(specialised(k, facts) for k in never_negative) - others


def _same_kind(kind: Kind, param: Param) -> bool:
    """Does the program read for `param` hold for an argument of this kind?"""
    return kind.rank == param.rank and is_float(concrete(kind.dtype)) == param.is_float


class Units:
    """All variants of one parsed function."""

    def __init__(
        self,
        parsed: Parsed,
        keeping: Keeping | None = None,
        deterministic: bool = False,
        quiet: bool = False,
        costs: Costs = SHIPPED,
    ) -> None:
        self.keeping = keeping or Keeping()
        self.deterministic, self.costs = deterministic, costs
        #: Do its adjoints leave out what `pyrev.probe` asks for?
        self.quiet = quiet
        self._lock = MAKING
        self.parsed = parsed
        self.program = parsed.program
        self.written = written_arrays(parsed.program)
        self.only_set = only_set(parsed.program)
        self.expected = expectations(parsed.program)
        params = {p.name: p for p in parsed.program.params}
        #: The captured values: name, where it is read, number of axes, kind of dtype.
        self._captured = [
            (c.name, c.read, p.rank, KINDS[np.dtype(p.dtype).kind])
            for c in parsed.captured
            for p in (params[c.name],)
        ]
        self._made: dict[Any, Any] = {}
        #: What ISL was asked about this function, and what of it is kept on disk.
        self._asked: set[str] = set()
        self._kept: dict[str, bool] | None = None

    @property
    def visible(self) -> tuple[str, ...]:
        """The user's parameters, without the hidden ones that hold captured values."""
        hidden = self.program.captured
        return tuple(p.name for p in self.program.params if p.name not in hidden)

    @property
    def callbacks(self) -> tuple[Capture, ...]:
        """The functions that the adjoints call."""
        return () if self.quiet else self.parsed.callbacks

    def hushed(self) -> Units:
        """The same with adjoints that call nothing back."""
        if not self.callbacks:
            return self
        return Units(self.parsed, self.keeping, self.deterministic, True, self.costs)

    def callables(self) -> dict[str, Any]:
        """The functions that the adjoints call, by their names in the text.

        Raises `ArgumentError` for what cannot be called any more.
        """
        found = {c.name: c.read() for c in self.callbacks}
        for name, function in found.items():
            if not callable(function):
                raise ArgumentError(
                    f"{self.program.name}() probes with `{name}`, which is now of type"
                    f" {type(function).__name__}; give it a function"
                )
        return found

    @property
    def avoid(self) -> frozenset[str]:
        """Names that generated text must leave alone: what the user's function refers
        to.
        """
        code = self.parsed.function.__code__
        return frozenset(code.co_names) | frozenset(code.co_freevars)

    def captured(self) -> dict[str, Any] | None:
        """The present captured values by name; None if the function is to be read
        again, for what it rests on has changed, or what kind of value one of them is.
        """
        if not self.parsed.grounds.hold():
            return None
        found = {}
        for name, read, rank, kind in self._captured:
            try:
                value: Any = read()
            except (NameError, AttributeError):
                return None
            own = KINDS.get(type(value))
            if own is None and is_value(value):
                own = KINDS.get(getattr(value, "dtype", np.dtype(type(value))).kind)
                fits = own == kind and value.ndim == rank
            else:
                fits = own == kind and not rank
            if not fits:
                return None
            found[name] = value
        return found

    def kinds(self, values: Mapping[str, Any]) -> dict[str, Kind]:
        """The kinds of these arguments; `ArgumentError` if they do not fit."""
        found = kinds(self.program.name, self.expected, values)
        if not self._adapting:
            return found
        return {
            n: replace(k, strong=not (k.rank or is_python_number(values[n])))
            for n, k in found.items()
        }

    @functools.cached_property
    def _adapting(self) -> bool:
        """Does the dtype of an array depend on whether a number is one of Python's?"""
        return bool(self.program.alike) or adapting(self.program)

    def fitting(self, values: Mapping[str, Any]) -> Units:
        """The variants for arguments of these ranks.

        The text may leave open how many axes an array has, or whether it holds floats
        (`w = u * v`, `np.sum(u)`): what it means depends on that, what is written and
        what is returned included.
        """
        free = [
            replace(e, ranks=frozenset(), least=0, integer=False) for e in self.expected
        ]
        found = kinds(self.program.name, free, values)
        same = all(_same_kind(found[p.name], p) for p in self.program.params)
        if same and not self.parsed.lenient:
            return self
        given = {n: (kind.rank, concrete(kind.dtype)) for n, kind in found.items()}
        key = tuple(
            (k.rank, k.dtype == "bool", is_float(k.dtype)) for k in found.values()
        )

        def make() -> Units | ArgumentError:
            try:
                parsed = self._read_again(given, final=False)
                return Units(
                    parsed, self.keeping, self.deterministic, self.quiet, self.costs
                )
            except UnsupportedError as why:
                if any(f.code == "P211" for f in why.findings):
                    raise  # the text says more than what one argument should be
                if all(f.code in ("P110", "P206") for f in why.findings):
                    raise  # no other arguments would do
                try:
                    self.kinds(values)
                except ArgumentError as error:
                    error.__cause__ = why
                    return error
                raise

        made = self._once(("variant", key), make)
        if isinstance(made, ArgumentError):
            raise made
        return made

    def maybe_arrays(self) -> tuple[str, ...]:
        """The parameters taken for numbers that a call might give as arrays."""

        def fits(names: Sequence[str]) -> bool:
            types = {p.name: (p.rank, p.dtype) for p in self.program.params}
            types |= {n: (1, types[n][1]) for n in names}
            try:
                parse(self.parsed.function, types)
            except UnsupportedError:
                return False
            return True

        def find() -> tuple[str, ...]:
            floats = {p.name for p in self.program.params if not p.rank and p.is_float}
            numbers = [n for n in self.visible if n in floats]
            if len(numbers) > 1 and fits(numbers):
                return tuple(numbers)
            return tuple(n for n in numbers if fits([n]))

        return self._once(("maybe arrays",), find)

    # ---------------------------------------------------------------- variants

    def default_kinds(self) -> dict[str, Kind]:
        """What the parameters are before any call."""
        return {p.name: Kind(p.rank, p.dtype) for p in self.program.params}

    def truncated(self, kinds: Mapping[str, Kind]) -> tuple[str, ...]:
        """The integer parameters of these kinds to which the function writes floats."""

        def find() -> tuple[str, ...]:
            program = self.typed(kinds)
            types = infer(program, {n: kind.dtype for n, kind in kinds.items()})
            whole = {p.name for p in program.params if p.rank}
            whole = {n for n in whole if types[n] != "bool" and not is_float(types[n])}
            found = {
                s.target_name: None
                for s in (walk(program.body) if whole else ())
                if isinstance(s, (Assign, Add)) and s.target_name in whole
                if is_float(expr_dtype(s.value, types))
            }
            return tuple(found)

        return self._once(("truncated", _key(kinds)), find)

    def typed(self, kinds: Mapping[str, Kind]) -> Program:
        """The program for these kinds of arguments, with nothing in it that is asked to
        be computed again where it is read.
        """
        if not self.keeping.recompute:
            return self.read(kinds)
        return self._once(
            ("without", _key(kinds)),
            lambda: self.keeping.without(self.read(kinds), self.avoid),
        )

    def read(self, kinds: Mapping[str, Kind]) -> Program:
        """The program for these kinds of arguments, as it is written."""
        if self.quiet and self.parsed.callbacks:
            return self._once(
                ("quiet", _key(kinds)), lambda: without_probes(self._read(kinds))
            )
        return self._read(kinds)

    def _read(self, kinds: Mapping[str, Kind]) -> Program:
        given = {name: (kind.rank, kind.dtype) for name, kind in kinds.items()}
        strong = frozenset(name for name, kind in kinds.items() if kind.strong)
        same = all(
            _same_kind(kinds[p.name], p) for p in self.program.params if p.name in kinds
        )
        if same:
            return self._once(
                ("typed", _key(kinds)),
                lambda: _counted(retype(self.program, given, strong), kinds),
            )
        # The text leaves a rank open (`b = a.copy()`): the loops behind it depend on
        # it.
        return self._once(
            ("typed", _key(kinds)),
            lambda: _counted(
                retype(self._read_again(given).program, given, strong), kinds
            ),
        )

    def _read_again(
        self, given: Mapping[str, tuple[int, str]], final: bool = True
    ) -> Parsed:
        """The function, read for arguments of these kinds."""
        own = self.parsed
        parsed = parse(own.function, given, [own.texts], final)
        own.grounds.add(parsed.grounds)
        return parsed

    def _program(
        self,
        kinds: Mapping[str, Kind],
        variant: Variant,
        wrt: tuple[str, ...] = (),
    ) -> Program:
        """What is scheduled, or differentiated along `wrt`, for these kinds."""
        local = tuple(n for n in wrt if n not in kinds)

        def make() -> Program:
            program = self.bounds(kinds).program_for(variant)
            for name in local:
                self._check_local(program, kinds, name)
            return with_private_arrays(program, frozenset(local))

        return self._once(("program", _key(kinds), variant, local), make)

    def wrt(
        self, kinds: Mapping[str, Kind], wrt: object, local: bool = False
    ) -> tuple[str, ...]:
        """What is asked for, for these kinds: parameters, and if `local` local values.

        Raises `ArgumentError` for names that are neither, and for integers.
        """
        own = self.parsed.own if local else ()
        return wrt_names(self.program, kinds, wrt, self.visible, own)

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
                f"wrt={name!r}: this value of {self.program.name}() has no gradient of"
                f" its own: {why}; {helps}"
            )

    def derived(
        self, kinds: Mapping[str, Kind], wrt: tuple[str, ...], variant: Variant
    ) -> tuple[Derived, ...]:
        """The unscheduled adjoints for these kinds: one, or what sizes choose from."""

        def make() -> tuple[Derived, ...]:
            program = self._program(kinds, variant, wrt)
            keeping = self.keeping
            found = alternatives(
                program,
                wrt,
                self.avoid,
                self.costs,
                keeping.memory,
                keeping.store,
                keeping.recompute,
                keeping.preaccumulate,
            )
            keeping.check(found[0])
            return found

        return self._once(("derived", _key(kinds), wrt, variant), make)

    def unscheduled(self, kinds: Mapping[str, Kind], wrt: tuple[str, ...]) -> Derived:
        """The adjoint of which the readable one is a schedule."""
        return self.derived(kinds, wrt, self.bounds(kinds).usual)[0]

    @deep
    def primal(
        self,
        target: str,
        kinds: Mapping[str, Kind],
        values: Mapping[str, Any] | None = None,
        variant: Variant | None = None,
        flipped: frozenset[str] | None = None,
    ) -> Unit:
        """The function itself for a target.

        With `flipped` it is not the one that is kept for calls: see `Sizes`.
        """
        bounds = self.bounds(kinds)
        which = bounds.usual if variant is None else variant

        def make(sizes: Sizes) -> Unit:
            program = self._program(kinds, which)
            natural = bounds.naturals(which, adjoint=False)
            return self._unit(target, program, kinds, "primal", sizes, natural)

        key = ("primal", target, _key(kinds), which)
        if flipped is not None:
            return make(Sizes(values or {}, self.costs, flipped))
        return self._fitting(
            key, values, lambda: _tuned(target, values, self.costs, make)
        )

    @deep
    def adjoint(
        self,
        target: str,
        kinds: Mapping[str, Kind],
        wrt: tuple[str, ...],
        values: Mapping[str, Any] | None = None,
        variant: Variant | None = None,
        flipped: frozenset[str] | None = None,
    ) -> Unit:
        """The adjoint for a target, with respect to `wrt`.

        `variant` is what `check_bounds` found for this call (None: no call yet). With
        `flipped` it is not the one that is kept for calls: see `Sizes`.
        """
        bounds = self.bounds(kinds)
        which = bounds.usual if variant is None else variant
        if self.callbacks:
            target = in_python(target, bounds.program)
        if target != "python":
            which = bounds.for_adjoint(variant)

        def make(sizes: Sizes) -> Unit:
            found = self.derived(kinds, wrt, which)
            derived = found[0] if target == "python" else chosen(found, sizes)
            unit = self._reversing(
                target, derived.adjoint, derived.program, kinds, "adjoint", sizes, which
            )
            unit.stored = derived.stored
            unit.alternatives = tuple((d, d is derived) for d in found)
            return unit

        key = ("adjoint", target, _key(kinds), wrt, which)
        if flipped is not None:
            return make(Sizes(values or {}, self.costs, flipped))
        return self._fitting(
            key, values, lambda: _tuned(target, values, self.costs, make)
        )

    def _reversing(
        self,
        target: str,
        adjoint: Adjoint,
        program: Program,
        kinds: Mapping[str, Kind],
        what: str,
        sizes: Sizes,
        variant: Variant,
    ) -> Unit:
        """The unit for a program that takes cotangents."""
        seen = dict(kinds)
        ranks = {p.name: p.rank for p in program.params}
        for name, of in adjoint.cotangents:
            seen[name] = Kind(ranks[name], self._output_dtype(kinds, of))
        if target != "python":
            # A cotangent has the shape of what it belongs to.
            alike: dict[tuple[str, int], Expr] = {
                (name, k): Extent(of, k)
                for name, of in adjoint.cotangents
                for k in range(ranks[name])
                if isinstance(of, str)
            }
            program = specialise(program, alike)
        natural = self.bounds(kinds).naturals(variant, adjoint=True)
        unit = self._unit(target, program, seen, what, sizes, natural)
        unit.cotangents = adjoint.cotangents
        return unit

    @deep
    def sweeps(
        self,
        target: str,
        kinds: Mapping[str, Kind],
        wrt: tuple[str, ...],
        values: Mapping[str, Any],
        variant: Variant,
        flipped: tuple[frozenset[str], frozenset[str]] | None = None,
    ) -> Swept | None:
        """The adjoint in two parts, for a call and its pullback, where that pays.

        `flipped` is as for `adjoint`, for either part.
        """
        if self.callbacks:
            return None
        which = self.bounds(kinds).for_adjoint(variant)

        def make() -> Sweeping:
            sizes = Sizes(values, self.costs)
            derived = chosen(self.derived(kinds, wrt, which), sizes)
            made = self._sweeps(kinds, wrt, which, derived)
            if made is None or not pays(made, sizes):
                return Sweeping(None, tuple(sizes.answers), target)
            if target == "cuda" and not all(made.ranks[n] for n in made.passed):
                # A number would have to come back to the host.
                return Sweeping(None, tuple(sizes.answers), target)
            tapes = {n: Kind(made.ranks[n], d) for n, d in made.dtypes.items()}

            def forward(sizes: Sizes) -> Unit:
                what, ahead = "forward", made.forward
                natural = self.bounds(kinds).naturals(which, adjoint=True)
                return self._unit(target, ahead, kinds, what, sizes, natural)

            def reverse(sizes: Sizes) -> Unit:
                seen = {**kinds, **tapes}
                back = made.reverse
                return self._reversing(
                    target, made.adjoint, back, seen, "reverse", sizes, which
                )

            try:
                if flipped is None:
                    ahead = _tuned(target, values, self.costs, forward)
                    back = _tuned(target, values, self.costs, reverse)
                else:
                    ahead = forward(Sizes(values, self.costs, flipped[0]))
                    back = reverse(Sizes(values, self.costs, flipped[1]))
            except UnsupportedError:  # what passes has no size before a launch
                return Sweeping(None, tuple(sizes.answers), target)
            answers = (*sizes.answers, *ahead.answers, *back.answers)
            return Sweeping(Swept(made, ahead, back), answers, target)

        key = ("sweeps", target, _key(kinds), wrt, which)
        found = make() if flipped is not None else self._fitting(key, values, make)
        return found.apart

    @deep
    def passed(
        self,
        kinds: Mapping[str, Kind],
        wrt: tuple[str, ...],
        values: Mapping[str, Any] | None,
    ) -> tuple[str, ...]:
        """What a call keeps for its pullback, in words; nothing where that runs all."""
        if self.callbacks:
            return ()
        sizes = Sizes(values or {}, self.costs)
        which = self.bounds(kinds).for_adjoint(None)
        derived = chosen(self.derived(kinds, wrt, which), sizes)
        made = self._sweeps(kinds, wrt, which, derived)
        if made is None or not pays(made, sizes):
            return ()
        return made.described()

    def _sweeps(
        self,
        kinds: Mapping[str, Kind],
        wrt: tuple[str, ...],
        variant: Variant,
        derived: Derived,
    ) -> Sweeps | None:
        """The adjoint in two parts, unscheduled; None if it can't be."""
        if self.keeping.memory is not None:
            return None
        program = self._program(kinds, variant, wrt)
        (made,) = self._once(
            ("apart", _key(kinds), wrt, variant, derived.kept, derived.shortened),
            lambda: (
                sweeps(program, wrt, self.avoid, derived.kept, derived.shortened),
            ),
        )
        return made

    def forget(self) -> None:
        """Make everything anew at the next call."""
        with self._lock:
            self._made = {}

    @deep
    def tangent(
        self,
        target: str,
        kinds: Mapping[str, Kind],
        wrt: tuple[str, ...],
        values: Mapping[str, Any] | None = None,
        variant: Variant | None = None,
        directions: int = 1,
        asserts: bool = True,
    ) -> Unit:
        """The forward derivative for a target, along `wrt`, in several directions.

        The unit's `cotangents` pair the tangents' parameters with the primal's, those
        of one parameter in the order of the directions.
        """
        bounds = self.bounds(kinds)
        which = bounds.usual if variant is None else variant

        def make(sizes: Sizes) -> Unit:
            program = self._program(kinds, which)
            made = derive_tangent(
                program,
                wrt,
                self.avoid,
                directions,
                asserts,
                self.keeping.preaccumulate,
            )
            return self._moving(target, made, kinds, sizes, which)

        key = ("tangent", target, _key(kinds), wrt, which, directions, asserts)
        return self._fitting(
            key, values, lambda: _tuned(target, values, self.costs, make)
        )

    @deep
    def partials(
        self,
        target: str,
        kinds: Mapping[str, Kind],
        wrt: tuple[str, ...],
        values: Mapping[str, Any],
        variant: Variant,
    ) -> Unit:
        """The function and its partial derivatives, where it is elementwise.

        It returns what the function returns and the partial derivatives; the unit's
        `cotangents` pair these with the arrays that the function writes, those of one
        array in the order of `wrt`.

        Raises `ArgumentError` where an output depends on several elements of an input.
        """

        def make(sizes: Sizes) -> Unit:
            program = self._program(kinds, variant)
            found = why_not_elementwise(program, wrt)
            if found is not None:
                loc, why = found
                what = f"`{self.program.name}` is not elementwise in {', '.join(wrt)}"
                raise ArgumentError(f"{loc.place}: {why}, so {what}; use jvp")
            made = derive_partials(program, wrt, self.avoid)
            return self._moving(target, made, kinds, sizes, variant)

        key = ("partials", target, _key(kinds), wrt, variant)
        return self._fitting(
            key, values, lambda: _tuned(target, values, self.costs, make)
        )

    def _moving(
        self,
        target: str,
        made: Tangent,
        kinds: Mapping[str, Kind],
        sizes: Sizes,
        variant: Variant,
    ) -> Unit:
        """The unit for a program that takes tangents."""
        dots = dict(made.names)
        seen = dict(kinds)
        alike: dict[tuple[str, int], Expr] = {}
        for name in made.carried:
            for dot in dots[name]:
                seen[dot] = kinds[name]
                for k in range(kinds[name].rank):
                    alike[dot, k] = Extent(name, k)
        program = made.program
        if target != "python":  # it is tested before the call
            program = specialise(program, alike)
        natural = self.bounds(kinds).naturals(variant, adjoint=False)
        unit = self._unit(target, program, seen, "tangent", sizes, natural)
        unit.cotangents = tuple((d, n) for n in made.carried for d in dots[n])
        return unit

    def _unit(
        self,
        target: str,
        program: Program,
        kinds: Mapping[str, Kind],
        what: str,
        sizes: Sizes,
        never_negative: frozenset[Expr] = frozenset(),
    ) -> Unit:
        dtypes = {name: kind.dtype for name, kind in kinds.items()}
        if what in ("primal", "tangent"):
            program = uncounted(program)
        if what == "primal" or target != "python":
            program = without_slopes(program)
        reassociated: tuple[str, ...] = ()
        answers: tuple[tuple[str, bool], ...] = ()
        if target == "python":
            # What tells the user something has its place in the order of the text.
            as_it_is = what == "tangent" or bool(told(program))
            done = Scheduled(program, ())
            if not as_it_is:
                done = schedule(program, dtypes, self.costs)
            text = emit_python(
                natural(done.program),
                doc=self._provenance(what),
                sources=self.sources(),
            )
        elif target == "cuda":
            done, emitted = self._launched(program, dtypes, sizes, what, never_negative)
            answers = tuple(sizes.answers)
            text, reassociated = emitted.text, emitted.reassociated
        else:
            store = frozenset(self.keeping.store)
            done = schedule_for_cpu(program, dtypes, sizes, store)
            answers = tuple(sizes.answers)
            emitted = emit_numba(
                done.program,
                dtypes,
                doc=self._provenance(what),
                sources=self.sources(),
                natural=_natural(program, never_negative, done.facts),
                cpu=self.costs.cpu,
            )
            text, reassociated = emitted.text, emitted.reassociated
        params = tuple(p.name for p in done.program.params)
        loaded = {
            e.array
            for s in walk(done.program.body)
            for top in exprs(s)
            for e in walk_expr(top)
            if isinstance(e, Load)
        }
        copied = {
            s.source
            for s in walk(done.program.body)
            if isinstance(s, Alloc) and s.source is not None
        }
        scalars = {p.name for p in done.program.params if not p.rank}
        own = frozenset(kinds) & frozenset(p.name for p in self.program.params)
        reads = (loaded | copied | scalars) & own
        return Unit(
            done.program,
            text,
            params,
            frozenset(reads),
            decisions=done.decisions,
            reassociated=reassociated,
            answers=answers,
            weighed=tuple(sizes.weighed),
            target=target,
            costs=self.costs,
        )

    def _launched(
        self,
        program: Program,
        dtypes: Mapping[str, str],
        sizes: Sizes,
        what: str,
        never_negative: frozenset[Expr] = frozenset(),
        *,
        wraps: bool = False,
    ) -> tuple[Scheduled, Emitted]:
        """The program in the order of a GPU, and its text.

        Raises `UnsupportedError` where there is no form for it.
        """
        try:
            done, made, types = schedule_for_cuda(
                program, dtypes, sizes, self.deterministic
            )
            text = emit_cuda(
                done.program,
                made,
                types,
                doc=self._provenance(what),
                sources=self.sources(),
                wraps=wraps,
                natural=_natural(program, never_negative, done.facts),
                gpu=self.costs.gpu,
            )
        except NotOnDevice as why:
            raise UnsupportedError(
                [Finding("P304", why.loc, str(why), "use target='numba' for it")]
            ) from None
        return done, text

    def _output_dtype(self, kinds: Mapping[str, Kind], of: str | int) -> str:
        """The dtype that a cotangent is cast to before the adjoint is called."""
        if isinstance(of, str):
            return kinds[of].dtype
        found = self.result_dtypes(kinds)[of]
        return "float32" if found == "float32" else "float64"

    def checks(self, kinds: Mapping[str, Kind]) -> frozenset[str]:
        """The errors that the function raises where what it asserts does not hold.

        An adjoint asserts nothing: the primal runs before it. A `ValueError` is
        pyrev's own where NumPy stretches an axis whose length is one only in this call.
        """

        def make() -> frozenset[str]:
            body = self.typed(kinds).body
            return frozenset(s.error for s in walk(body) if isinstance(s, Check))

        return self._once(("checks", _key(kinds)), make)

    # ---------------------------------------------------------------- results

    def result_dtypes(self, kinds: Mapping[str, Kind]) -> tuple[str, ...]:
        """The dtype (weak kinds included) of each returned value."""

        def make() -> tuple[str, ...]:
            program = self.typed(kinds)
            result = returned(program)
            env = infer(program, {n: k.dtype for n, k in kinds.items()})
            values = result.values if result is not None else ()
            return tuple(
                env[v.name] if isinstance(v, Var) else expr_dtype(v, env)
                for v in values
            )

        return self._once(("results", _key(kinds)), make)

    @property
    def returns_one(self) -> bool:
        """Is what the function returns one value and no tuple?"""
        result = returned(self.program)
        return result is not None and result.single

    def returns(self) -> str:
        """What the function returns, in words: "a number", "nothing"..."""
        result = returned(self.program)
        if result is None:
            return "nothing"
        if not result.single:
            return f"{len(result.values)} values"
        (value,) = result.values
        arrays = {p.name for p in self.program.params if p.rank}
        arrays |= {s.array for s in walk(self.program.body) if isinstance(s, Alloc)}
        is_array = isinstance(value, Var) and value.name in arrays
        return "an array" if is_array else "a number"

    def restore(
        self, raw: Any, kinds: Mapping[str, Kind], values: Mapping[str, Any]
    ) -> Any:
        """What the plain function would have returned, from what compiled code
        returned.
        """
        result = returned(self.program)
        if result is None:
            return None
        dtypes = self.result_dtypes(kinds)
        items = (raw,) if result.single else tuple(raw)
        restored = tuple(
            self._restore_one(
                item, value.name if isinstance(value, Var) else "", d, values
            )
            for item, value, d in zip(items, result.values, dtypes, strict=True)
        )
        return restored[0] if result.single else restored

    def _restore_one(
        self, item: Any, name: str, dtype: str, values: Mapping[str, Any]
    ) -> Any:
        if is_array(item) and item.ndim:
            for view in self.program.views:
                if view.result == name:
                    return viewed(view, values)
            return values[name] if name in self.visible else item
        if is_array(item):
            return item  # a number that a GPU made
        return scalar(item, dtype)

    # ---------------------------------------------------------------- bounds

    @deep
    def bounds(self, kinds: Mapping[str, Kind]) -> Bounds:
        """What is known of the subscripts for these kinds."""
        return self._once(("bounds", _key(kinds)), lambda: Bounds(self.typed(kinds)))

    def check_bounds(
        self, target: str, kinds: Mapping[str, Kind], values: Mapping[str, Any]
    ) -> Variant:
        """The program that is right for this call.

        Raises `IndexError`, before anything is written, if an access leaves an array.
        """
        sized, doubts = self.sized(kinds, values)
        if not doubts:
            return sized
        return self.inspected(target, kinds, values, sized, doubts)

    @deep
    def sized(
        self, kinds: Mapping[str, Kind], values: Mapping[str, Any]
    ) -> tuple[Variant, frozenset[int]]:
        """The program for arguments of these sizes, and where data must be looked at.

        Raises `IndexError` or `ArgumentError` if the sizes alone are wrong.
        """
        self._recall()
        bounds = self.bounds(kinds)
        return bounds.check(values), bounds.in_doubt(values)

    @deep
    def inspected(
        self,
        target: str,
        kinds: Mapping[str, Kind],
        values: Mapping[str, Any],
        sized: Variant,
        doubts: frozenset[int],
    ) -> Variant:
        """The program for these data, where sizes leave `doubts`.

        Raises `IndexError`, before anything is written, if an access leaves an array.
        """
        bounds = self.bounds(kinds)
        if target != "python" and self._inside(bounds, values, doubts):
            return sized
        key = ("inspector", target, _key(kinds), sized)
        unit = self._fitting(
            key, values, lambda: self._inspector(target, kinds, sized, values)
        )
        with np.errstate(all="ignore"):
            result = unit.call([values[p] for p in unit.params])
        variant = bounds.inspected_variant(sized, doubts, result)
        return variant if target != "python" else Variant(variant.negative)

    def by_sizes(self, kinds: Mapping[str, Kind], sized: Variant) -> bool:
        """Is what `inspected` finds the same for all data of these sizes?"""
        return self._once(
            ("by sizes", _key(kinds), sized),
            lambda: (_reads_nothing(self.bounds(kinds).inspector(sized)),),
        )[0]

    def _inside(
        self, bounds: Bounds, values: Mapping[str, Any], doubts: frozenset[int]
    ) -> bool:
        """Is no element of large tables of subscripts outside of anything?

        To find the least and the largest takes less time than to follow the loops.
        """
        tables = {n: _once_each(values[n]) for n in bounds.tables if values[n].size}
        if any(map(_overlaps, tables.values())):
            return False  # their elements may be many more than memory holds
        if any(map(is_device, tables.values())):
            elements = {
                n: Interval(int(t.min()), int(t.max())) for n, t in tables.items()
            }
            return bounds.settled(values, doubts, elements)
        least = self.costs.table_elements
        if max((t.size for t in tables.values()), default=0) < least:
            return False
        elements = {
            n: Interval(*map(int, _extremes().call([t.reshape(-1)])))
            for n, t in tables.items()
        }
        return bounds.settled(values, doubts, elements)

    def _inspector(
        self,
        target: str,
        kinds: Mapping[str, Kind],
        variant: Variant,
        values: Mapping[str, Any],
    ) -> Unit:
        sizes = Sizes(values, self.costs)
        program = self.bounds(kinds).inspector(variant)
        doc = self._provenance("indices")
        if _reads_nothing(program) and sizes.few_operations(program):
            target = "python"  # at once, where to compile takes a second
        dtypes = {n: k.dtype for n, k in kinds.items()}
        if target == "python":
            text = emit_python(program, doc=doc)
        else:
            program = in_chunks(program, sizes, self.costs)
            if target == "cuda":
                made = self._launched(program, dtypes, sizes, "indices", wraps=True)
                text = made[1].text
            else:
                cpu = self.costs.cpu
                text = emit_numba(program, dtypes, doc=doc, wraps=True, cpu=cpu).text
        params = tuple(p.name for p in program.params)
        answers = tuple(sizes.answers)
        return Unit(
            program, text, params, frozenset(params), answers=answers, target=target
        )

    # ---------------------------------------------------------------- helpers

    def _provenance(self, what: str) -> str:
        """The comment at the top of a generated module."""
        function = self.parsed.function
        file = PurePath(function.__code__.co_filename).name
        names = {
            "adjoint": "Adjoint (reverse-mode derivative)",
            "tangent": "Tangent (forward-mode derivative)",
            "primal": "Schedule",
            "forward": "Forward sweep: the function and what its adjoint needs,",
            "reverse": "Reverse sweep of the adjoint",
            "indices": "The data-dependent subscripts",
        }
        return f"{names[what]} of `{function.__name__}` in {file}."

    def sources(self) -> dict[str, Sequence[str]]:
        """The lines of the files that the function's statements come from."""
        return self.parsed.texts.files()

    def helpers(self) -> tuple[Inlined, ...]:
        """The functions that were inlined, and the lines that they take."""
        found: dict[tuple[str, int], Inlined] = {}
        for name, code in self.parsed.texts.functions()[1:]:
            lines = [line for *_, line in code.co_lines() if line is not None]
            first, last = min(lines), max(lines)
            helper = Inlined(name, code.co_filename, first, last)
            found.setdefault((code.co_filename, first), helper)
        return tuple(found.values())

    def _once(self, key: Any, make: Callable[[], T]) -> T:
        found: T | None = self._made.get(key)
        if found is None:
            found = self._first(key, make)
        return found

    @deep
    def _first(self, key: Any, make: Callable[[], T]) -> T:
        with self._lock:
            found: T | None = self._made.get(key)
            if found is None:
                found = self._made[key] = self._noted(make)
        return found

    def _noted(self, make: Callable[[], T]) -> T:
        """What `make` gives; what it asks of ISL is noted."""
        with noted() as asked:
            made = make()
        self._asked |= asked
        return made

    def _recall(self) -> None:
        """Take what an earlier process has proved of this function."""
        if self._kept is None:
            self._kept = proofs(self.program.name, repr(self.program))
            recall(self._kept)

    def _remember(self) -> None:
        """Keep what was proved for the next process."""
        known = answers(self._asked)
        if self._kept is not None and not known.keys() <= self._kept.keys():
            self._kept = {**self._kept, **known}
            remember_proofs(self.program.name, repr(self.program), self._kept)

    def _fitting(
        self, key: Any, values: Mapping[str, Any] | None, make: Callable[[], M]
    ) -> M:
        """The variant made for sizes like these, made now if there is none."""
        known: list[M] = self._once((key, values is None), list)
        for unit in tuple(known):
            if values is None or fits(unit.answers, values):
                return unit
        with self._lock:
            unit = self._noted(make)
            known.append(unit)
            if unit.target != "python" and values is not None:
                self._remember()
        return unit


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


@functools.cache
def _extremes() -> Unit:
    """What finds the least and the largest of an array of integers."""
    program = Program(extremes.NAME, (Param("a", 1, "int64"),), ())
    text = Text(extremes.TEXT, ())
    return Unit(program, text, ("a",), frozenset("a"), target="numba")


def scalar(value: Any, dtype: str) -> Any:
    """A number that compiled code returned, as NumPy and Python would have it."""
    match dtype:
        case "weak float":
            return float(value)
        case "weak int":
            return int(value)
        case "bool":
            return bool(value)
    return np.dtype(dtype).type(value)


def viewed(view: View, values: Mapping[str, Any]) -> np.ndarray[Any, Any]:
    """The part of an argument that a function returns, as a view of it."""
    base: np.ndarray[Any, Any] = values[view.base]
    names = {"min": min, "max": max, "abs": abs, "__builtins__": {}}

    def number(e: Expr, place: Mapping[str, int]) -> int:
        return int(eval(expr_text(e), names, {**values, **place}))

    origin = dict.fromkeys(view.axes, 0)
    shape = tuple(max(0, number(e, {})) for e in view.shape)
    if 0 in shape:
        return base[tuple(slice(0, 0) for _ in base.shape)].reshape(shape)
    first = [number(e, origin) for e in view.index]
    strides = []
    for axis in view.axes:
        second = [number(e, {**origin, axis: 1}) for e in view.index]
        steps = zip(first, second, base.strides, strict=True)
        strides.append(sum((b - a) * stride for a, b, stride in steps))
    corner = base[tuple(slice(k, None) for k in first)]
    lib = cupy().lib if is_device(base) else np.lib
    part: np.ndarray[Any, Any] = lib.stride_tricks.as_strided(corner, shape, strides)
    return part


def _counted(program: Program, kinds: Mapping[str, Kind]) -> Program:
    """The program as it is differentiated and scheduled for these kinds."""
    types = infer(program, {name: kind.dtype for name, kind in kinds.items()})
    return widened(with_own_dtypes(program), types)


def _key(kinds: Mapping[str, Kind]) -> tuple[tuple[str, Kind], ...]:
    return tuple(kinds.items())


def adjoint_signature(unit: Unit, hidden: Sequence[str]) -> inspect.Signature:
    """The signature of an adjoint as a user calls it: captured values are filled in."""
    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    shown = [p for p in unit.params if p not in hidden]
    return inspect.Signature([inspect.Parameter(p, kind) for p in shown])
