"""The part of a program that decides what one of its numbers is, run before a call."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import Any

from pyrev.adjoint.activity import returned
from pyrev.driver.function import Function
from pyrev.driver.plan import Plan, Plans
from pyrev.driver.targets import PYTHON
from pyrev.driver.targets.target import Target
from pyrev.driver.units import Units
from pyrev.ir.counting import sliced
from pyrev.ir.diagnostics import InternalError, UnsupportedError
from pyrev.ir.nodes import For, Program, While, mentioned, walk, written
from pyrev.parse import Parsed, parse
from pyrev.runtime.device import copied, is_array


class Slice:
    """A slice of a program, which calls run on copies of what it writes.

    What is `left_out` is no parameter of it.
    """

    def __init__(
        self, parsed: Parsed, program: Program, plan: Plan, left_out: Collection[str]
    ) -> None:
        # Only its loops are worth compiled code.
        loops = any(isinstance(s, (For, While)) for s in walk(program.body))
        target: Target = plan.target if loops else PYTHON
        self._written = written(program.body)
        captured = tuple(c for c in parsed.captured if c.name in program.captured)
        unknown = {c.name for c in parsed.captured} - set(program.captured)
        unknown |= set(left_out)
        program = replace(
            program,
            params=tuple(p for p in program.params if p.name not in unknown),
        )
        parsed = replace(
            parsed, program=program, captured=captured, callbacks=(), drawing=None
        )
        self._names = tuple(p.name for p in program.params)
        self._units = Units(parsed)
        self._plans = Plans(target)

    def run(self, values: Mapping[str, Any]) -> Any:
        """What the slice returns for these values, as compiled code gives it."""
        own = {n: values[n] for n in self._names}
        plan = self._plans.plan(self._units, own)
        variant = plan.check(own)
        unit = plan.made(Units.primal, own, variant)
        given = [
            copied(own[p]) if p in self._written and plan.kinds[p].rank else own[p]
            for p in unit.params
        ]
        return unit.call(given)


class Objects:
    """Which of the caller's arrays the results of calls with such arguments are."""

    def __init__(self, function: Function, plan: Plan) -> None:
        parsed = function.parsed
        assert parsed.objects is not None
        self._places = parsed.objects.places
        self._given = [n for n, _ in parsed.leaves]
        self._slice: Slice | None = None
        types = {n: (k.rank, k.dtype) for n, k in plan.kinds.items()}
        try:
            found = parse(
                parsed.function,
                types,
                [parsed.texts],
                forms=parsed.forms,
                objects=parsed.objects,
            )
        except (UnsupportedError, InternalError):
            return  # a copy is returned
        last = returned(found.program)
        assert last is not None
        named = {n for v in last.values for n in mentioned(v)}
        program = sliced(found.program, named, (last,))
        self._slice = Slice(found, program, plan, ())

    def find(self, values: Mapping[str, Any]) -> dict[int, str]:
        """The results that are arrays of the caller, by their places."""
        if self._slice is None:
            return {}
        try:
            raw = self._slice.run(values)
        except Exception:  # noqa: BLE001
            return {}  # the call raises it
        row = raw if len(self._places) > 1 else (raw,)
        return {
            place: self._given[int(k)]
            for place, k in zip(self._places, row, strict=True)
            if k >= 0 and is_array(values[self._given[int(k)]])
        }
