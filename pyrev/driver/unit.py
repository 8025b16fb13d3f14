"""A unit: one generated function, as text and as a callable."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pyrev.analysis.steering import steering
from pyrev.driver.derive import Derived
from pyrev.driver.results import scalar
from pyrev.driver.sizes import Fit
from pyrev.driver.targets.python import PYTHON
from pyrev.driver.targets.target import Target
from pyrev.driver.two_sweeps import Sweeps
from pyrev.emit.seals import Sealed
from pyrev.ir.diagnostics import Finding, UnsupportedError
from pyrev.ir.nodes import Param, Program, written
from pyrev.ir.printer import Text
from pyrev.runtime.code_cache import Loaded, is_alone
from pyrev.runtime.device import copied, is_array
from pyrev.runtime.error_boundary import runs_users
from pyrev.runtime.journal import Journal
from pyrev.runtime.pace import Pace, amounts
from pyrev.runtime.stack_depth import deep
from pyrev.schedule.costs import SHIPPED, Costs
from pyrev.schedule.report import Decision
from pyrev.schedule.storage import Stored

Names = tuple[str, ...]
_MOST = 256  # sizes of one unit


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
    fit: Fit = field(default_factory=Fit)  # what the schedule knows of the sizes
    #: Those of its tests that only weighed speed.
    weighed: tuple[str, ...] = ()
    target: Target = PYTHON
    costs: Costs = SHIPPED
    #: What it is in words, why it was made, and where that is noted.
    label: str = ""
    why: str = ""
    journal: Journal | None = field(default=None, repr=False, compare=False)
    #: The function, and what keeps its module, by what it is to do.
    _functions: dict[tuple[bool, Names], tuple[Callable[..., Any], Loaded]] = field(
        default_factory=dict, repr=False
    )
    #: What notes the compilations of its modules.
    _watching: list[object] = field(default_factory=list, repr=False, compare=False)
    _sealing: dict[Names, Sealed] = field(default_factory=dict, repr=False)
    #: How long calls of some sizes take on one thread, and on all.
    _paces: dict[Hashable, Pace] = field(
        default_factory=dict, repr=False, compare=False
    )

    @property
    def function(self) -> Callable[..., Any]:
        """The generated function, loaded from its file in the cache."""
        return self._function(())

    def _function(self, sealing: Names) -> Callable[..., Any]:
        """The function that makes digests of the arrays `sealing` while it runs."""
        return self._made(is_alone(), sealing)

    def _made(self, alone: bool, sealing: Names) -> Callable[..., Any]:
        """The function; if `alone` one that starts no threads."""
        found = self._functions.get((alone, sealing))
        if found is None:
            text = self.sealing(sealing).text if sealing else self.text.text
            held = self._loaded(text, alone, sealing)
            found = getattr(held.module, self.program.name), held
            self._functions[alone, sealing] = found
        return found[0]

    @runs_users
    def paced(self, function: Callable[..., Any], values: Sequence[Any]) -> Any:
        """What `function`, of this unit, returns on as many threads as are best."""
        key = function, amounts(values)
        found = self._paces.get(key)
        if found is None:
            if len(self._paces) >= _MOST:
                self._paces.clear()
            found = self._paces[key] = self.pace(values)
        return found.run(function, values, lambda: self._without_threads(function))

    def pace(self, values: Sequence[Any]) -> Pace:
        """What finds out on how many threads calls like this one are best."""
        return Pace(self.operations(values))

    def _without_threads(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """The one of its functions that does the same on the thread that calls it."""
        (sealing,) = (s for (_, s), (f, _) in self._functions.items() if f is function)
        return self._made(True, sealing)

    def sealing(self, arrays: Names) -> Sealed:
        """The text that makes digests of what it can of `arrays`."""
        found = self._sealing.get(arrays)
        if found is None:
            text, name, most = self.text.text, self.program.name, self.costs.chunks
            found = self.target.sealed(text, name, arrays, most)
            self._sealing[arrays] = found
        return found

    def _loaded(self, text: str, alone: bool, sealing: Names) -> Loaded:
        try:
            held = deep(self.target.load)(text, self.program.name, alone)
        except SyntaxError as error:  # too many levels of indentation, or parentheses
            help = "unite loops or conditions, or differentiate it in parts"
            because = f"generated code is nested deeper than Python reads ({error.msg})"
            raise UnsupportedError(
                [Finding("P305", self.program.loc, because, help)]
            ) from error
        if self.journal is not None:
            watching = f"it sees changes of {', '.join(sealing)} before the pullback"
            why = watching if sealing else self.why
            self._watching.append(self.journal.watch(held.module, self.label, why))
        return held

    def __getstate__(self) -> dict[str, Any]:
        """What is pickled: the text, which another process loads again."""
        here: dict[str, Any] = {
            "_functions": {},
            "_sealing": {},
            "_watching": [],
            "_paces": {},
            "journal": None,
        }
        return {**self.__dict__, **here}

    @functools.cached_property
    def changed(self) -> tuple[bool, ...]:
        """For each parameter: is it an array that the code writes?"""
        arrays = written(self.program.body)
        return tuple(p in arrays for p in self.params)

    @functools.cached_property
    def starts_threads(self) -> bool:
        """Does the code start threads? Then not all threads and processes may run it
        at once.
        """
        return "prange" in self.text.text

    @property
    def runs_alone(self) -> bool:
        """Does all of its code stay on the thread that calls it? What makes digests
        does not.
        """
        return not self.starts_threads and not self._sealing

    def operations(self, values: Sequence[Any]) -> float | None:
        """About how many operations a call does; None where data decides."""
        return self.fit.work(dict(zip(self.params, values, strict=False)))

    @functools.cached_property
    def steering(self) -> frozenset[str]:
        """What decides more than the numbers that the code computes."""
        return steering(self.program)

    @runs_users
    def call(
        self, values: Sequence[Any], sealing: Names = (), more: Sequence[Any] = ()
    ) -> Any:
        """Run it for these parameters.

        What makes digests of the arrays `sealing` takes `more` of them.
        """
        given = [*values, *more] if more else values
        return self.target.call(self._function(sealing), given, self)


def of_text(name: str, params: tuple[Param, ...], text: str, target: Target) -> Unit:
    """The unit for a text that was not made of a program."""
    own = tuple(p.name for p in params)
    program = Program(name, params, ())
    return Unit(program, Text(text, ()), own, frozenset(own), target=target)


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
            name: copied(value) if name in made.shared else value
            for name, value in zip(made.passed, passed, strict=True)
        }
        for name, dtype in made.dtypes.items():
            if not is_array(kept[name]):
                kept[name] = scalar(kept[name], dtype)
        kept |= {name: copied(values[name]) for name in made.final}
        return results[0] if made.single else results or None, kept


@dataclass(frozen=True, slots=True)
class Sweeping:
    """How an adjoint runs for a call and its pullback: in two parts, or None."""

    apart: Swept | None
    fit: Fit
    target: Target


def derivative_signature(unit: Unit, hidden: Sequence[str]) -> inspect.Signature:
    """The signature of a derivative as a user calls it, without what is filled in."""
    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    shown = [p for p in unit.params if p not in hidden]
    return inspect.Signature([inspect.Parameter(p, kind) for p in shown])
