"""The readings of one function: the one that is right at a call, and some before it.

A reading is right as long as what it rests on is as it was: names, code, defaults, the
kinds of captured values. Where that has changed the function is read again, or refused
if a text no longer is that of its code. A reading is never changed, so that a call in
another thread goes on with the one that it began with.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Hashable, Mapping, Sequence
from contextlib import suppress
from types import FunctionType
from typing import Any, TypeVar

from pyrev.driver.arguments import positional, types_of
from pyrev.driver.cells import has_cells
from pyrev.driver.forms import Asked, Stored, Used, forms_of
from pyrev.driver.plan import Plans
from pyrev.driver.reasons import FIRST
from pyrev.driver.storage_options import Keeping
from pyrev.driver.targets.target import Arithmetic, Target
from pyrev.driver.units import Units
from pyrev.ir.diagnostics import Finding, UnsupportedError
from pyrev.parse import FEW_STATEMENTS, Parsed, parse
from pyrev.parse.forms import Forms
from pyrev.parse.open_texts import OpenText
from pyrev.parse.rewriting.complex_numbers.arguments import pairs_in
from pyrev.parse.source import Texts, parameters_of, plain
from pyrev.runtime.code_cache import MAKING
from pyrev.runtime.journal import Journal
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
        #: What is left to do in calls of sizes that there were, by purpose and sizes.
        self.recurring: dict[Hashable, Callable[[Sequence[Any]], Any]] = {}
        self._derived: dict[Hashable, Any] = {}

    def plans(self, target: Target) -> Plans:
        """The plans of calls for a target."""
        found = self._plans.get(target)
        return self._plans.setdefault(target, Plans(target)) if found is None else found

    def forget(self, target: Target) -> None:
        """Plan every call for a target anew, and make what it runs."""
        self.plans(target).forget()
        self.recurring = {}

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
        arithmetic: Arithmetic,
        quiet: bool,
        costs: Costs,
        inside: bool = False,
    ) -> None:
        self.journal = Journal()
        self._options = keeping, arithmetic, quiet, costs, inside, self.journal
        #: By the forms of the arguments.
        self._known: dict[Forms, tuple[Reading, ...]] = {}
        self._latest: Reading | None = None
        #: What is said of the arguments where there is no call; None where the text
        #: means nothing then, for which reason.
        self.forms: Forms | None = None
        self._why: UnsupportedError | None = None
        self.function: FunctionType
        #: The fields of its parameters that it may assign to.
        self.stored: Stored = {}
        #: The fields of its parameters that it reads, where it waits for a call.
        self.used: Used = {}
        #: What tests in its text ask of its parameters.
        self.asked: Asked = {}
        own, text = plain(function), None
        if own is not None:
            with suppress(UnsupportedError):  # which is raised below
                text = OpenText(own)
                self.asked = text.asked
        # What a call may say is not worth many guesses.
        guesses = FEW_STATEMENTS if text is not None and text.asks else 0
        start = time.perf_counter()
        try:
            first = parse(function, guesses=guesses)
        except UnsupportedError as why:
            if own is None or text is None or not text.waits(why):
                raise
            self.function, self._why, self.stored = own, why, text.stored
            self.used = text.used
            return
        self.function, self.forms = first.function, first.forms
        self.stored = first.stored
        self._first(self._made(first))
        self.journal.read(first.program.name, start, FIRST)

    def now(
        self, forms: Forms | None = None, values: Mapping[str, Any] | None = None
    ) -> tuple[Reading, dict[str, Any]]:
        """The reading that is right now, and the captured values by name.

        It is that for calls whose arguments have these `forms`. What was read for none
        of the ranks that were tried is read for those of a call with these `values`.
        """
        if forms is None:
            forms = self.forms
        if forms is None:
            raise self._waiting()
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
                start = time.perf_counter()
                reading = self._made(self._parsed(texts, forms, values or {}))
                captured = reading.units.function.captured()
                if captured is not None:
                    changed = "it has changed, or what it uses has"
                    why = changed if known else "arguments of another form"
                    self.journal.read(reading.units.function.program.name, start, why)
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

    @property
    def latest(self) -> Reading | None:
        """The last reading for arguments of the usual forms, if it was made by now. It
        is right while its function's captured values are.
        """
        return self._latest

    @property
    def texts(self) -> Texts:
        """The texts that are known of the function and of what it calls."""
        every = [r for some in self._known.values() for r in some]
        return Texts(*(r.units.function.parsed.texts for r in every))

    @property
    def waits(self) -> bool:
        """Does the text mean nothing without the arguments of a call?"""
        return self.forms is None

    def for_call(
        self, values: Mapping[str, Any]
    ) -> tuple[Reading, Forms, dict[str, Any]]:
        """The reading for a call of a function that waits for one, the forms of its
        arguments, and the captured values.
        """
        forms = forms_of(values, self.used, self.stored, self.asked)
        reading, captured = self.now(forms, values)
        return reading, forms, captured

    def _waiting(self) -> UnsupportedError:
        """What is said where a text is asked for that only a call can complete."""
        assert self._why is not None
        own = self.function
        names = ", ".join(parameters_of(own))
        return UnsupportedError(
            self._why.findings,
            f"{own.__name__}() waits for arguments, which may say what is missing: call"
            f' it, or see the text for some, source_for("python", {names})',
        )

    def _parsed(
        self, texts: Sequence[Texts], forms: Forms, values: Mapping[str, Any]
    ) -> Parsed:
        own, shapes = self.function, forms.shapes

        def typed() -> Parsed:
            types = types_of(values, shapes)
            return parse(own, types, texts, final=False, forms=forms)

        if self._why is not None and self._why.waits and values and not shapes:
            return typed()
        try:
            return parse(own, known=texts, forms=forms)
        except UnsupportedError:
            # In the program a number that is written to is an array, a complex one two.
            others = (has_cells(s) or any(True for _ in pairs_in(s)) for _, s in shapes)
            if values and shapes and not any(others):
                with suppress(UnsupportedError):
                    return typed()
            raise

    def _made(self, parsed: Parsed) -> Reading:
        keeping = self._options[0]
        if parsed.forms == self.forms:
            # Others need not have all of the local values.
            keeping.check_names(parsed.program)
        return Reading(Units(parsed, *self._options))

    def _first(self, reading: Reading) -> Reading:
        others = [r for r in self._known.get(reading.forms, ()) if r is not reading]
        self._known[reading.forms] = (reading, *others)[:_KEPT]
        if reading.forms == self.forms:
            self._latest = reading
        for forms in [*self._known][: max(0, len(self._known) - _APART)]:
            if forms not in (self.forms, reading.forms):
                self._known.pop(forms, None)
        return reading
