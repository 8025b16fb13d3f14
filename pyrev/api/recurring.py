"""Calls like one that was made before: what its sizes said is not asked again.

A call whose arguments have the sizes of an earlier one differs from that in its data,
and in where its arrays lie. What is left to see is whether the function is still the
one that was read, and whether arrays that it writes overlap others. Wherever one of
that is in doubt the call goes the usual way, which says what is wrong.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from functools import partial
from typing import Any, Protocol, TypeVar

import numpy as np

from pyrev.driver.arguments import Kind
from pyrev.driver.forms import all_usual
from pyrev.driver.function import Function
from pyrev.driver.plan import Plan, sizes_of
from pyrev.driver.readings import Reading, Readings
from pyrev.driver.results import in_words, restored, scalar
from pyrev.driver.targets.target import Target
from pyrev.driver.unit import Unit
from pyrev.driver.units import Units
from pyrev.runtime.elsewhere import Elsewhere

T = TypeVar("T")
#: What a call is for, beside the sizes: a table of calls has it in its keys.
PRIMAL: Hashable = ("primal",)
_MOST = 256  # sizes of one function

#: The rest of a call, for its arguments and the captured values.
Run = Callable[[Sequence[Any]], Any]
#: What a call gives that has to be looked at.
UNUSUAL = object()


class Call(Protocol):
    """What is asked of a call that ran: see `pyrev.api.call.Call`."""

    values: dict[str, Any]
    foreign: Elsewhere
    reading: Reading
    plan: Plan
    target: Target
    function: Function
    kinds: dict[str, Kind]

    def made(
        self,
        make: Callable[..., T],
        wrt: tuple[str, ...] = (),
        *more: Hashable,
        alone: bool = False,
    ) -> T:
        """What `make`, a method of `Units`, gives for the call."""

    def result_dtypes(self) -> tuple[str, ...]:
        """The dtype of each returned value."""


class Recurring:
    """The calls of a function for one purpose: those like one before are short."""

    __slots__ = ("_purpose", "_readings")

    def __init__(self, readings: Readings, purpose: Hashable) -> None:
        self._readings, self._purpose = readings, purpose

    def result(self, args: tuple[Any, ...]) -> Any:
        """The result of a call like one before; `UNUSUAL` if there is none such, or if
        it has to be looked at.
        """
        reading = self._readings.latest
        if reading is None:
            return UNUSUAL
        captured = reading.units.function.captured()
        if captured is None:
            return UNUSUAL
        row = (*args, *captured.values()) if captured else args
        run = reading.recurring.get((self._purpose, sizes_of(row)))
        return UNUSUAL if run is None else run(row)

    def keep(
        self, args: tuple[Any, ...], call: Call, make: Callable[[], Run | None]
    ) -> None:
        """Have later calls like this one run what `make` gives, if there can be such:
        nothing of it depends on data, or on what arguments are made of.
        """
        values, reading = call.values, call.reading
        if self._readings.asked or reading is not self._readings.latest:
            return
        by_position = all(a is b for a, b in zip(args, values.values(), strict=False))
        others = len(values) - len(args)
        if not by_position or others != len(call.function.program.captured):
            return
        key = self._purpose, sizes_of(values.values())
        if key in reading.recurring or not _recurs(call):
            return
        run = make()
        if run is None:
            return
        if len(reading.recurring) >= _MOST:
            reading.recurring.clear()
        reading.recurring[key] = run


def recurring(readings: Readings, way: str, wrt: object) -> Recurring | None:
    """The calls that differentiate along `wrt`; None for a list of names, which may
    change.
    """
    fixed = wrt is None or isinstance(wrt, (str, int))
    return Recurring(readings, (way, wrt)) if fixed else None


def _recurs(call: Call) -> bool:
    """Does all that is done for a call follow from its sizes?"""
    plan = call.plan
    if call.foreign or not (plan.look is None or plan.settled is not None):
        return False
    return plan.once("recurs", lambda: _follows_from_sizes(call))


def _follows_from_sizes(call: Call) -> bool:
    """The same, where no data are looked at: what is asked here sizes decide."""
    parsed = call.function.parsed
    return (
        not (call.target.on_device or call.target.runs_plain)
        and not call.reading.forms
        and all_usual(call.values)
        and parsed.result is None
        and parsed.drawing is None
        and parsed.objects is None
        and not parsed.rules
        and not call.function.callbacks
        and not call.function.callables()
        and not call.function.typed(call.kinds).flat
    )


def primal(call: Call) -> Run:
    """The rest of a call of the function itself."""
    unit = call.made(Units.primal)
    names = [*call.values]
    order = [names.index(p) for p in unit.params]
    written = call.function.written
    apart = [
        (
            names.index(w),
            [k for k, n in enumerate(names) if n != w and np.ndim(call.values[n])],
        )
        for w in written
    ]
    restore = restoring(call)

    def run(row: Sequence[Any]) -> Any:
        for k, others in apart:
            array = row[k]
            flags = array.flags
            if not (flags.c_contiguous and flags.writeable):
                return UNUSUAL
            for other in others:
                if np.may_share_memory(array, row[other]):
                    return UNUSUAL
        return restore(unit.call([row[k] for k in order]), row)

    return run


#: From the values by name: the raw result, and what the reverse sweep has of it.
Forward = Callable[[Mapping[str, Any]], tuple[Any, Mapping[str, Any]]]
#: A gradient as the caller has it, from what the adjoint returned and the argument.
Like = Callable[[Any, Any], Any]


def forward(call: Call, wrt: tuple[str, ...]) -> Forward:
    """What runs before the reverse sweep of a call whose function writes nothing."""
    swept = call.made(Units.sweeps, wrt).apart
    if swept is not None:
        return swept.run
    unit = call.made(Units.primal)

    def run(values: Mapping[str, Any]) -> tuple[Any, Mapping[str, Any]]:
        return unit.call([values[p] for p in unit.params]), {}

    return run


def slope(
    call: Call,
    wrt: tuple[str, ...],
    unit: Unit,
    seeds: Mapping[str, Any],
    before: Forward | None,
    like: Like,
    give: Callable[[Any, dict[str, Any]], Any],
) -> Run:
    """The rest of a call for a value and its gradients, which `unit` makes of `seeds`;
    the function writes to no argument.

    `give` makes what is returned of the value (None where nothing runs `before`) and
    the gradients by name.
    """
    names, params = [*call.values], unit.params
    restore = restoring(call)

    def run(row: Sequence[Any]) -> Any:
        arguments = dict(zip(names, row, strict=True))
        if before is None:
            value, values = None, {**arguments, **seeds}
        else:
            raw, kept = before(arguments)
            value, values = restore(raw, row), {**arguments, **kept, **seeds}
        found = unit.call([values[p] for p in params])
        gradients = {
            n: like(g, arguments.get(n)) for n, g in zip(wrt, found, strict=True)
        }
        return give(value, gradients)

    return run


def restoring(call: Call) -> Callable[[Any, Sequence[Any]], Any]:
    """What makes of a raw result, and of the values, what the function returns."""
    program, dtypes = call.function.program, call.result_dtypes()
    names = [*call.values]
    match in_words(program):
        case "nothing":
            return _nothing
        case "a number":
            number = partial(scalar, dtype=dtypes[0])
            return lambda raw, row: number(raw)

    def restore(raw: Any, row: Sequence[Any]) -> Any:
        return restored(program, raw, dtypes, dict(zip(names, row, strict=True)))

    return restore


def _nothing(raw: Any, row: Sequence[Any]) -> None:
    return None
