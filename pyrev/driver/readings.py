"""The readings of one function: the one that is right at a call, and some before it.

A reading is right as long as what it rests on is as it was: names, code, defaults, the
kinds of captured values. Where that has changed the function is read again, or refused
if a text no longer is that of its code. A reading is never changed, so that a call in
another thread goes on with the one that it began with.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from types import FunctionType
from typing import Any, TypeVar

from pyrev.driver.arguments import positional
from pyrev.driver.plan import Plans
from pyrev.driver.storage_options import Keeping
from pyrev.driver.targets.target import Target
from pyrev.driver.units import Units
from pyrev.ir.diagnostics import Finding, UnsupportedError
from pyrev.parse import Parsed, parse
from pyrev.runtime.code_cache import MAKING
from pyrev.schedule.costs import Costs

T = TypeVar("T")
_KEPT = 4  # readings: what is changed for a while is often changed back
_APART = 16  # sets of parameters that are None
_MOST = 256  # things derived of one function
_TRIES = 10  # readings during which something may change


class Reading:
    """One reading of a function, and all that was made from it."""

    def __init__(self, units: Units) -> None:
        self.units = units
        #: The parameters, where all may be given by position.
        self.positional = positional(units.function.parsed.signature)
        #: Those that are None: none of the program's.
        self.nones = units.function.parsed.nones
        self._plans: dict[Target, Plans] = {}
        self._derived: dict[Hashable, Any] = {}

    def plans(self, target: Target) -> Plans:
        """The plans of calls for a target."""
        found = self._plans.get(target)
        return self._plans.setdefault(target, Plans(target)) if found is None else found

    def derived(self, key: Hashable, make: Callable[[], T]) -> T:
        """What belongs to this reading and is made once: its gradient as a function,
        what its outputs depend on.
        """
        found: T | None = self._derived.get(key)
        if found is None:
            if len(self._derived) >= _MOST:
                self._derived.clear()
            found = self._derived[key] = make()
        return found


class Readings:
    """The readings of a function with one set of options, the latest first.

    Raises, here and at `now`, `UnsupportedError` if the function is outside the
    language, and `ArgumentError` for options that do not fit it.
    """

    def __init__(
        self,
        function: object,
        keeping: Keeping,
        deterministic: bool,
        quiet: bool,
        costs: Costs,
    ) -> None:
        self._options = keeping, deterministic, quiet, costs
        first = parse(function)
        self.function: FunctionType = first.function
        #: The parameters that are None where nothing is said of a call.
        self.nones = first.nones
        #: By the parameters that are None.
        self._known: dict[frozenset[str], tuple[Reading, ...]] = {}
        self._first(self._made(first))

    def now(
        self, nones: frozenset[str] | None = None
    ) -> tuple[Reading, dict[str, Any]]:
        """The reading that is right now, and the captured values by name.

        It is that for calls in which the parameters `nones` are None.
        """
        if nones is None:
            nones = self.nones
        known = self._known.get(nones, ())
        if known:
            captured = known[0].units.function.captured()
            if captured is not None:
                return known[0], captured
        with MAKING:
            known = self._known.get(nones, ())
            for reading in known:
                captured = reading.units.function.captured()
                if captured is not None:
                    return self._first(reading), captured
            for _ in range(_TRIES):
                every = [r for some in self._known.values() for r in some]
                texts = [r.units.function.parsed.texts for r in every]
                reading = self._made(parse(self.function, known=texts, nones=nones))
                captured = reading.units.function.captured()
                if captured is not None:
                    for rule in reading.units.function.parsed.rules:
                        rule.again()
                    return self._first(reading), captured
        raise UnsupportedError(
            [
                Finding(
                    "P114",
                    reading.units.function.program.loc,
                    "what this function uses is another object each time that it is"
                    " looked at",
                    "give it a name once: `helper = module.helper`",
                )
            ]
        )

    def _made(self, parsed: Parsed) -> Reading:
        keeping, deterministic, quiet, costs = self._options
        if parsed.nones == self.nones:
            # Others need not have all of the local values.
            keeping.check_names(parsed.program)
        return Reading(Units(parsed, keeping, deterministic, quiet, costs))

    def _first(self, reading: Reading) -> Reading:
        others = [r for r in self._known.get(reading.nones, ()) if r is not reading]
        self._known[reading.nones] = (reading, *others)[:_KEPT]
        for nones in [*self._known][: max(0, len(self._known) - _APART)]:
            if nones not in (self.nones, reading.nones):
                self._known.pop(nones, None)
        return reading
