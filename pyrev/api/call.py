"""What calls of a function and of its derivatives have in common: the arguments, bound
and checked, and the code that is made for such.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from pyrev.analysis.bounds import Variant
from pyrev.api.recurring import PRIMAL, UNUSUAL, Recurring, primal
from pyrev.driver.arguments import (
    Kind,
    bind,
    check_apart,
    check_contiguous,
    check_writes,
    completed,
    is_python_number,
    key_of,
    kind_of,
    spread,
)
from pyrev.driver.cells import Cell, check_cells, check_outside
from pyrev.driver.draws import Draws, Generators, check_drawing
from pyrev.driver.forms import Structures, all_usual, built, flattened, forms_of
from pyrev.driver.function import Function
from pyrev.driver.plan import Plan
from pyrev.driver.precision import check_precision
from pyrev.driver.readings import Reading, Readings
from pyrev.driver.request import Request
from pyrev.driver.results import restored
from pyrev.driver.slices import Objects
from pyrev.driver.storage_options import Keeping
from pyrev.driver.targets import AUTO, PYTHON, named
from pyrev.driver.targets.target import STRICT, Arithmetic, Target
from pyrev.driver.unit import Launch, Unit
from pyrev.driver.units import Units
from pyrev.ir.diagnostics import ArgumentError, UnsupportedError
from pyrev.parse.custom import verify
from pyrev.parse.forms import Forms, Path
from pyrev.runtime.device import copied, resident, to_host, uploaded
from pyrev.runtime.elsewhere import NOWHERE, elsewhere
from pyrev.runtime.error_boundary import guarded
from pyrev.runtime.journal import Journal
from pyrev.runtime.options import references
from pyrev.schedule.costs import SHIPPED, Costs

T = TypeVar("T")
_PLAIN = Variant()


@dataclass(frozen=True, slots=True)
class Options:
    """What the user asked of one function; the fields are those of `differentiable`.

    The costs are nobody's option: those that are shipped, but where a test of pyrev's
    own wants a form that small arrays are not worth. Nor is what is `inside`: of a text
    of pyrev's own it may be known that all subscripts made of indices and sizes are.
    """

    wrt: object = None
    target: str = AUTO
    keeping: Keeping = Keeping()
    arithmetic: Arithmetic = STRICT
    costs: Costs = SHIPPED
    inside: bool = False

    def asked(self) -> list[tuple[str, object]]:
        """What the user said, by the names of the options."""
        keeping, usual = self.keeping, Keeping()
        found = [
            ("wrt", self.wrt, None),
            ("target", self.target, AUTO),
            ("memory", keeping.memory, usual.memory),
            ("store", keeping.store, usual.store),
            ("recompute", keeping.recompute, usual.recompute),
            ("deterministic", self.arithmetic.deterministic, False),
            ("fastmath", self.arithmetic.fast, False),
            ("preaccumulate", keeping.preaccumulate, usual.preaccumulate),
        ]
        return [(name, value) for name, value, default in found if value != default]


class Callee:
    """A function with its options, as it is called; `python` is the plain one."""

    #: Arguments that all its calls have, by parameter; see `Differentiable.bind`.
    fixed: Mapping[str, Any] | None = None

    @guarded
    def __init__(
        self, function: Callable[..., Any], options: Options, quiet: bool = False
    ) -> None:
        self._options = options
        keeping, arithmetic = options.keeping, options.arithmetic
        self._readings = Readings(
            function, keeping, arithmetic, quiet, options.costs, options.inside
        )
        self.python: Callable[..., Any] = self._readings.function
        functools.update_wrapper(self, self.python)
        self._recurring = Recurring(self._readings, PRIMAL)

    @guarded
    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if not kwargs:
            found = self._recurring.result(args)
            if found is not UNUSUAL:
                return found
        call = Call(self, args, kwargs)
        call.check(draws=not call.runs_plain)
        found = call.foreign.results(call.run())
        if not kwargs:
            self._recurring.keep(args, call, lambda: primal(call))
        return found

    def completed(
        self, args: Sequence[Any], kwargs: Mapping[str, Any]
    ) -> tuple[Sequence[Any], Mapping[str, Any]]:
        """The arguments of a call with those that are fixed, as the plain function
        takes them: by position where it can.
        """
        if self.fixed is None:
            return args, kwargs
        return completed(
            self.python.__name__, self._signature, self.fixed, args, kwargs
        )

    @property
    def journal(self) -> Journal:
        """What was read, derived and compiled so far."""
        return self._readings.journal

    @property
    def keeping(self) -> Keeping:
        """What the derivative may keep, as it was asked for."""
        return self._options.keeping

    @property
    def _target(self) -> Target:
        """The target of what is not about one call."""
        return named(self._options.target)

    @property
    def _units(self) -> Units:
        """What is known of the function as it is now."""
        return self._readings.now()[0].units

    @property
    def _signature(self) -> inspect.Signature:
        """The parameters as they are now, with their defaults."""
        if self._readings.waits:
            return inspect.signature(self.python, follow_wrapped=False)
        return self._units.function.parsed.signature


class Call:
    """One call of a differentiable function: its arguments, bound and checked.

    It runs for the target of the function, or for `target`.
    """

    def __init__(
        self,
        f: Callee,
        args: Sequence[Any],
        kwargs: Mapping[str, Any],
        target: Target | None = None,
        flat: bool = False,
    ) -> None:
        self.f = f
        self.reading: Reading
        #: The arguments as they were given.
        self.given: Mapping[str, Any]
        #: The numbers in the arguments that the function may write to.
        self._cells: tuple[Cell, ...] = ()
        #: Those that are arrays of other libraries.
        self.foreign = NOWHERE
        values, captured = self._read(args, kwargs, flat)
        self.visible = tuple(values)
        self.target = target or named(f._options.target, values)
        if self.target.on_device:
            values = {n: resident(n, v) for n, v in values.items()}
            captured = uploaded(captured)
        self.values = values | captured if captured else values
        self.plan: Plan = self.reading.plans(self.target).plan(
            self.reading.units, self.values
        )
        self.units: Units = self.plan.units
        self.function: Function = self.units.function
        self.kinds: dict[str, Kind] = self.plan.kinds
        self.variant = _PLAIN
        #: The generators that were drawn from for this call.
        self._generators: Generators | None = None
        #: The results that are arrays of the caller in this call, by their places.
        self._objects: dict[int, str] = {}

    def _read(
        self, args: Sequence[Any], kwargs: Mapping[str, Any], flat: bool
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        """Take the reading for these arguments; what the program takes of them, and the
        captured values come back.

        If they are `flat` they are given by the program's names.
        """
        readings, name = self.f._readings, self.f.python.__name__
        if self.f.fixed is not None and not flat:
            args, kwargs = self.f.completed(args, kwargs)
        if readings.waits:
            bound = bind(name, self.f._signature, args, kwargs)
            self.foreign = elsewhere(bound)
            self.given = self.foreign.taken(bound)
            self.reading, _, captured = readings.for_call(self.given)
            return self._flat(), captured
        self.reading, captured = readings.now()
        names = self.reading.positional
        if flat:
            values = {n: kwargs[n] for n, _ in self.reading.leaves}
        elif not kwargs and len(args) == len(names):
            values = dict(zip(names, args, strict=True))
        else:
            signature = self.reading.units.function.parsed.signature
            values = bind(name, signature, args, kwargs)
        usual = all_usual(values)
        if not usual and not flat:
            self.foreign = elsewhere(values)
            values = self.foreign.taken(values)
            usual = bool(self.foreign) and all_usual(values)
        self.given = values
        if flat or (usual and not self.reading.forms and not readings.asked):
            return values, captured
        used = self.reading.units.function.parsed.used
        forms = forms_of(values, used, readings.stored, readings.asked)
        if self.reading.forms != forms:
            captured = self._read_for(forms)
        return self._flat(), captured

    def _flat(self) -> dict[str, Any]:
        """What the program takes of the arguments."""
        shapes = self.reading.forms.shapes
        values, self._cells = flattened(self.given, self.reading.leaves, shapes)
        return values

    def _read_for(self, forms: Forms) -> dict[str, Any]:
        """Take the reading for calls whose arguments have these forms; the captured
        values come back.

        Where the function makes nothing of a None that is no default, these stay what
        they are, no numbers.
        """
        parameters = self.reading.units.function.parsed.signature.parameters

        def given(path: Path, value: object) -> bool:
            default = len(path) == 1 and parameters[str(path[0])].default is None
            return value is None and not default

        left_out = tuple((p, v) for p, v in forms.values if not given(p, v))
        try:
            self.reading, captured = self.f._readings.now(forms, self.given)
        except UnsupportedError:
            self._check_numbers(forms)
            if forms.values == left_out:
                raise
            forms = replace(forms, values=left_out)
            self.reading, captured = self.f._readings.now(forms, self.given)
        return captured

    def _check_numbers(self, forms: Forms) -> None:
        """`ArgumentError` for a text, a function or an object where the function takes
        a number or an array.
        """
        before = self.f._readings.forms
        if before is None:
            return
        parameters = self.reading.units.function.parsed.signature.parameters
        known = {path for path, _ in before.values}
        for path, value in (*forms.values, *forms.functions):
            if len(path) > 1 or value is None or path in known:
                continue
            if not isinstance(parameters[str(path[0])].default, str):
                kind_of(str(path[0]), value)
        used, shaped = self.reading.units.function.parsed.used, dict(before.shapes)
        for name, shape in forms.shapes:
            # It is an object, and no field of it is read.
            if shape.kind == "object" and name not in shaped and not used.get(name):
                kind_of(name, self.given[name])

    def structures(self, wrt: object = None) -> Structures | None:
        """The structures among the arguments, if there are any; along `wrt` fields may
        be asked for.
        """
        shapes = self.reading.forms.shapes
        if not shapes:
            return None
        asked = self._asked(wrt)
        names = () if asked is None else references("wrt", asked)
        fields = [str(n).split(".")[0] for n in names if "." in str(n)]
        floats = [n for n, kind in self.kinds.items() if kind.is_float]
        leaves = self.reading.leaves
        cells = frozenset(c.name for c in self._cells)
        of = dict(shapes)
        return Structures(leaves, of, self.given, floats, frozenset(fields), cells)

    def only_numbers(self, what: str) -> Call:
        """This call; `ArgumentError` if there are structures in it, of which `what` has
        no form.
        """
        parsed = self.reading.units.function.parsed
        if parsed.drawing is not None:
            raise ArgumentError(
                f"{what}: {self.f.python.__name__}() draws random numbers; give it a"
                " function of the numbers that are drawn"
            )
        if parsed.forms.shapes or parsed.result is not None:
            raise ArgumentError(
                f"{what}: {self.f.python.__name__}() takes or returns structures or"
                " complex numbers; give it a function of real numbers and arrays that"
                " calls this one"
            )
        return self

    def derived(self, key: Hashable, make: Callable[[], T]) -> T:
        """What belongs to the function as it is in this call, and is made once."""
        return self.reading.derived(key, make)

    def _asked(self, wrt: object) -> object:
        """Along what, if nothing else is said: as the function has it."""
        return self.f._options.wrt if wrt is None else wrt

    def wrt(self, wrt: object, local: bool = False) -> tuple[str, ...]:
        """The parameters to differentiate with respect to, in the function's order.

        With `local` its local values may be asked for, too. Where nothing is asked for
        those that are fixed are left out, if there are others.
        """
        asked = self._asked(wrt)
        fixed: frozenset[str] = frozenset()
        if asked is None and self.f.fixed:
            fixed = frozenset(self.f.fixed)

        def find() -> tuple[str, ...]:
            every = self.function.wrt(self.kinds, asked, local)
            of = {own: str(path[0]) for own, path in self.reading.leaves}
            return tuple(n for n in every if of.get(n, n) not in fixed) or every

        short = asked if isinstance(asked, (str, int)) else repr(asked)
        return self.plan.once(("wrt", short, local, fixed), find)

    def check(self, writes: bool = True, draws: bool = True) -> None:
        """Everything about the arguments that can be refused before anything is
        written, if anything is; what the function draws is drawn then.

        Where it `draws` itself the rest is tested by CPython.
        """
        own = check_writes if writes else check_apart
        own(self.function.program, self.values, self.function.written)
        if self.reading.forms.shapes or self.function.parsed.result is not None:
            weak = frozenset(n for n, v in self.values.items() if is_python_number(v))
            self.plan.once(
                ("precision", weak),
                lambda: check_precision(self.function, self.kinds, weak),
            )
        if self._cells:
            self._left_plain()
            check_outside(self._cells, self.function.parsed.captured)
        rows = self.plan.once("flat", lambda: self.function.typed(self.kinds).flat)
        if rows:
            check_contiguous(self.function.program, self.values, rows)
        if self.function.parsed.drawing is not None:
            check_drawing(self.f.python.__name__, self.target)
            if not draws:
                return
            self._draw(writes)
        self.variant = self.plan.check(self.values)
        if draws and self.function.parsed.objects is not None:
            objects = self.derived(
                ("objects", key_of(self.kinds), self.target.name),
                lambda: Objects(self.function, self.plan),
            )
            self._objects = objects.find(self.values)

    def _left_plain(self) -> frozenset[str]:
        """The cells that are left with numbers of Python's; `ArgumentError` if there
        cannot be any.
        """
        if self.target.on_device:
            raise ArgumentError(
                f"`{self._cells[0].name}` is a number that the function writes to; for"
                " a GPU it has to be an array with one element"
            )
        program, kinds = self.function.typed(self.kinds), self.kinds
        return self.plan.once("cells", lambda: check_cells(self._cells, program, kinds))

    def ran(self, run: Callable[[], T]) -> T:
        """What `run` gives, which runs the compiled function: numbers in the caller's
        objects are behind it what the function left, also where it raised.
        """
        if not self._cells:
            return run()
        plain = self._left_plain()
        try:
            return run()
        finally:
            for cell in self._cells:
                cell.set_back(cell.name in plain)

    def _draw(self, writes: bool) -> None:
        """Draw what the function draws, once for this call."""
        drawing = self.function.parsed.drawing
        if drawing is None or self._generators is not None:
            return
        generators = Generators(drawing, self.given)
        draws = self.derived(
            ("draws", key_of(self.kinds), self.target.name),
            lambda: Draws(self.units, self.plan, drawing),
        )
        before = self.values
        drawn = draws.draw(before, generators, writes)
        self._generators = generators
        try:
            self.values = {**self.values, **drawn}
            plans = self.reading.plans(self.target)
            self.plan = plans.plan(self.reading.units, self.values)
            self.plan.check(self.values)
        except BaseException as error:
            if isinstance(error, IndexError):  # where CPython would draw no more
                draws.draw_whole(before, generators, writes)
            generators.rewind()
            raise

    def rewind(self) -> None:
        """Let the generators draw again what they drew for this call."""
        if self._generators is not None:
            self._generators.rewind()

    def check_derivative(self, writes: bool = True) -> None:
        """The same for a call that is differentiated, whose rules are checked once.

        Raises `ArgumentError` for a rule of `custom_vjp` that is no derivative.
        """
        self.check(writes)
        rules = [r for r in self.function.parsed.rules if r.waits]
        if rules:
            values = {n: to_host(self.values[n]) for n in self.visible}
            values |= {n: copied(values[n]) for n in self.function.written}
            verify(self.function.parsed.function, rules, values)

    def run(self, launch: Launch = Unit.call) -> Any:
        """The primal: the compiled function, or the plain one for the Python target.

        The plain one takes shapes, and calls itself so deep, that pyrev refuses the
        gradient; the text does not.
        """
        f = self.f
        if self.runs_plain:
            self.rewind()
            positional, named = spread(self.function.parsed.signature, self.given)
            return f.python(*positional, **named)
        unit = self.made(Units.primal)
        raw = self.ran(lambda: launch(unit, [self.values[p] for p in unit.params]))
        return self.built(self.restore(raw))

    def built(self, result: Any) -> Any:
        """What the function returns, of the numbers and arrays in it."""
        shape = self.function.parsed.result
        return built(shape, result, [*self.given.values()])

    @property
    def runs_plain(self) -> bool:
        """Does `run` run the function as it is?"""
        if not self.target.runs_plain:
            return False
        return not self.plan.once("asks more", self._asks_more)

    def _asks_more(self) -> bool:
        """Does the program raise a `ValueError` that is none of the user's, or where a
        recursion goes deeper than its text?
        """
        checks = self.function.checks(self.kinds)
        return any(
            c.error == "RecursionError" or (c.error == "ValueError" and c.given is None)
            for c in checks
        )

    def restore(self, result: Any) -> Any:
        """Scalars come back as the types that NumPy and Python would give."""
        if result is None:
            return None
        program, dtypes = self.function.program, self.result_dtypes()
        found = restored(program, result, dtypes, self.values)
        if not self._objects:
            return found
        if not isinstance(found, tuple):
            return self.values[self._objects[0]]
        names = self._objects
        return tuple(
            self.values[names[k]] if k in names else v for k, v in enumerate(found)
        )

    def result_dtypes(self) -> tuple[str, ...]:
        """The dtype (weak kinds included) of each returned value."""
        return self.plan.once(
            "results", lambda: self.function.result_dtypes(self.kinds)
        )

    def request(self, wrt: tuple[str, ...]) -> Request:
        """What code this call asks for."""
        return self.plan.request(self.values, self.variant, wrt)

    def made(
        self,
        make: Callable[..., T],
        wrt: tuple[str, ...] = (),
        *more: Hashable,
        alone: bool = False,
    ) -> T:
        """What `make`, a method of `Units`, gives for this call; if `alone` code that
        is for such sizes only.
        """
        given = make, self.values, self.variant, wrt
        return self.plan.made(*given, *more, alone=alone)

    def readable(
        self,
        make: Callable[[Units, Request], Unit],
        wrt: tuple[str, ...],
        variant: Variant | None = None,
    ) -> Unit:
        """The same as a text for all calls with such kinds of arguments."""
        return make(self.units, Request(PYTHON, self.kinds, wrt, None, variant))
