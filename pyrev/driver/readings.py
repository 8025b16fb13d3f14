"""The readings of one function: the one that is right at a call, and some before it.

A reading is right as long as what it rests on is as it was: names, code, defaults, the
kinds of captured values. Where that has changed the function is read again, or refused
if a text no longer is that of its code. A reading is never changed, so that a call in
another thread goes on with the one that it began with.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from functools import partial
from types import FunctionType
from typing import Any, TypeVar

from pyrev.driver.arguments import positional
from pyrev.driver.plan import Plans
from pyrev.driver.storage_options import Keeping
from pyrev.driver.targets.target import Target
from pyrev.driver.units import Units
from pyrev.ir.diagnostics import Finding, UnsupportedError
from pyrev.parse import Parsed, parse
from pyrev.parse.forms import Forms
from pyrev.parse.grounds import lookup
from pyrev.parse.rewriting.field_reads import depends_on_call
from pyrev.parse.source import plain, read
from pyrev.runtime.code_cache import MAKING
from pyrev.schedule.costs import Costs

T = TypeVar("T")
_KEPT = 4  # readings: what is changed for a while is often changed back
_APART = 16  # forms of arguments
_MOST = 256  # things derived of one function
_TRIES = 10  # readings during which something may change


class Reading:
    """One reading of a function, and all that was made from it."""

    def __init__(self, units: Units) -> None:
        self.units = units
        #: The parameters, where all may be given by position.
        self.positional = positional(units.function.parsed.signature)
        parsed = units.function.parsed
        #: What is said of the arguments, and where in them the program's are.
        self.forms = parsed.forms
        self.leaves = parsed.leaves
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
        #: By the forms of the arguments.
        self._known: dict[Forms, tuple[Reading, ...]] = {}
        #: What is said of the arguments where there is no call; None where the text
        #: means nothing then, for which reason.
        self.forms: Forms | None = None
        self._why: UnsupportedError | None = None
        self.function: FunctionType
        try:
            first = parse(function)
        except UnsupportedError as why:
            own = plain(function)
            if own is None:
                raise
            if not depends_on_call(read(own).node, partial(lookup, own)):
                raise
            self.function, self._why = own, why
            return
        self.function, self.forms = first.function, first.forms
        self._first(self._made(first))

    def now(self, forms: Forms | None = None) -> tuple[Reading, dict[str, Any]]:
        """The reading that is right now, and the captured values by name.

        It is that for calls whose arguments have these `forms`.
        """
        if forms is None:
            forms = self.forms
        if forms is None:
            assert self._why is not None
            raise self._why
        known = self._known.get(forms, ())
        if known:
            captured = known[0].units.function.captured()
            if captured is not None:
                return known[0], captured
        with MAKING:
            known = self._known.get(forms, ())
            for reading in known:
                captured = reading.units.function.captured()
                if captured is not None:
                    return self._first(reading), captured
            for _ in range(_TRIES):
                every = [r for some in self._known.values() for r in some]
                texts = [r.units.function.parsed.texts for r in every]
                reading = self._made(parse(self.function, known=texts, forms=forms))
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
        if parsed.forms == self.forms:
            # Others need not have all of the local values.
            keeping.check_names(parsed.program)
        return Reading(Units(parsed, keeping, deterministic, quiet, costs))

    def _first(self, reading: Reading) -> Reading:
        others = [r for r in self._known.get(reading.forms, ()) if r is not reading]
        self._known[reading.forms] = (reading, *others)[:_KEPT]
        for forms in [*self._known][: max(0, len(self._known) - _APART)]:
            if forms not in (self.forms, reading.forms):
                self._known.pop(forms, None)
        return reading
