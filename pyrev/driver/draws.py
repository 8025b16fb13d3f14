"""What is drawn from a generator among the arguments, before a call runs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from pyrev.driver.forms import at_path
from pyrev.driver.plan import Plan, Plans
from pyrev.driver.targets import PYTHON
from pyrev.driver.targets.target import Target
from pyrev.driver.units import Units
from pyrev.ir.counting import counting
from pyrev.ir.diagnostics import ArgumentError
from pyrev.ir.nodes import For, While, walk, written
from pyrev.parse import Parsed
from pyrev.parse.streams import STREAM, Drawing
from pyrev.runtime.device import copied


def generator_of(parsed: Parsed, given: Mapping[str, Any]) -> np.random.Generator:
    """The generator among the arguments of a call.

    Raises `ArgumentError` if there are several.
    """
    paths = [path for path, value in parsed.forms.functions if value == STREAM]
    if len(paths) > 1:
        names = ", ".join(".".join(map(str, p)) for p in paths)
        raise ArgumentError(
            f"{parsed.program.name}() takes several generators, {names}, of which only"
            " one can be drawn from inside; draw from the others before the call, and"
            " pass the numbers on"
        )
    (path,) = paths
    found: np.random.Generator = at_path(given[str(path[0])], path[1:])
    return found


class Counted:
    """How many numbers calls draw: the part of a program that says so, for a target."""

    def __init__(self, units: Units, plan: Plan, drawing: Drawing) -> None:
        function = units.function
        program = counting(function.typed(plan.kinds), drawing.count)
        # Only its loops are worth compiled code.
        loops = any(isinstance(s, (For, While)) for s in walk(program.body))
        self._target: Target = plan.target if loops else PYTHON
        self._written = written(program.body)
        own = {p.name for p in program.params} - {drawing.buffer}
        program = replace(
            program, params=tuple(p for p in program.params if p.name in own)
        )
        parsed = function.parsed
        captured = tuple(c for c in parsed.captured if c.name in program.captured)
        left_out = {c.name for c in parsed.captured} - set(program.captured)
        program = replace(
            program, params=tuple(p for p in program.params if p.name not in left_out)
        )
        parsed = replace(
            parsed, program=program, captured=captured, callbacks=(), drawing=None
        )
        self._names = tuple(p.name for p in program.params)
        self._units = Units(parsed)
        self._plans = Plans(self._target)

    def number(self, values: Mapping[str, Any]) -> int:
        """How many numbers a call with these values draws."""
        own = {n: values[n] for n in self._names}
        plan = self._plans.plan(self._units, own)
        variant = plan.check(own)
        unit = plan.made(Units.primal, own, variant)
        given = [
            copied(own[p]) if p in self._written and plan.kinds[p].rank else own[p]
            for p in unit.params
        ]
        return int(unit.call(given))


def drawn(generator: np.random.Generator, kind: str, number: int) -> Any:
    """The next numbers of a generator, which is as behind so many draws then."""
    return getattr(generator, kind)(number)
