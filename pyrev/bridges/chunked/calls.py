"""Calls whose arrays come in chunks, and their derivatives: read, laid out, planned."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from pyrev.analysis.bounds import Bounds, Variant
from pyrev.api.call import Call
from pyrev.api.differentiable import Differentiable
from pyrev.bridges.chunked.layout import Chunks, Layout
from pyrev.bridges.chunked.model import chosen_steps
from pyrev.bridges.chunked.phases import ChunkingError
from pyrev.bridges.chunked.plan import Plan, Planner
from pyrev.bridges.chunked.rewritten import resolved
from pyrev.bridges.chunked.tables import without_tables
from pyrev.driver.arguments import key_of
from pyrev.driver.request import Request
from pyrev.driver.unit import Unit
from pyrev.driver.units import Units
from pyrev.ir.nodes import Program, Return, Var
from pyrev.ir.nodes import written as written_in
from pyrev.runtime.device import is_device


@dataclass(frozen=True)
class Shaped:
    """An array that is not here yet: its shape, dtype and chunks."""

    shape: tuple[int, ...]
    dtype: Any
    chunks: Chunks

    def standing_in(self) -> Any:
        """An array of this shape that takes no memory."""
        return np.broadcast_to(np.zeros((), self.dtype), self.shape)


def _stand_in(value: Any) -> Any:
    """What a call is read with: of arrays elsewhere only shapes and dtypes matter."""
    if isinstance(value, Shaped):
        return value.standing_in()
    if is_device(value):
        return np.broadcast_to(np.zeros((), value.dtype), value.shape)
    return value


@dataclass(frozen=True)
class Planned:
    """A call, and what it needs.

    `results` are the names of what is returned, a name of the state each: an array's,
    or ``return k``; `written` the arrays of the caller that the function writes.
    """

    plan: Plan
    values: Mapping[str, Any]
    results: tuple[str, ...]
    single: bool
    written: tuple[str, ...]
    floats: tuple[str, ...]


@dataclass(frozen=True)
class Asked:
    """A call as it was read: the arrays in chunks among its `values` are `Shaped`.

    The `program` counts negative subscripts from the end, where there are such.
    """

    call: Call
    values: Mapping[str, Any]
    program: Program
    variant: Variant
    #: Do the sizes keep all subscripts inside that are not made of data?
    inside: bool

    @classmethod
    def of(cls, f: Differentiable, given: Mapping[str, Any]) -> Asked:
        """The call of `f` with these arguments.

        Raises `ArgumentError` and `IndexError` as the call itself would.
        """
        stand_ins = {n: _stand_in(v) for n, v in given.items()}
        call = Call(f, (), stand_ins).only_numbers("chunks")
        look = call.derived(
            ("bounds on chunks", key_of(call.kinds)),
            lambda: _Look.at(call.function.typed(call.kinds)),
        )
        program, variant, inside = look.counted(call.values)
        values = {n: given.get(n, v) for n, v in call.values.items()}
        return cls(call, values, program, variant, inside)

    def planned(self, steps: int | str, target: str) -> Planned:
        """The plan of the call, with so many steps of time in a task, or "auto".

        Raises `ChunkingError` where it has none. It is made once for arguments of such
        shapes and chunks, and such integers.
        """
        asked = steps, target, self.variant, _sizes(self.values)

        def make() -> Planned:
            dtypes = {n: k.dtype for n, k in self.call.kinds.items()}
            written = tuple(self.call.function.written)
            return planned(
                self.program,
                self.values,
                dtypes,
                written,
                steps,
                target,
                inside=self.inside,
                memory=self.call.f.keeping.memory,
            )

        made = self.call.derived(("chunks", key_of(self.call.kinds), asked), make)
        return replace(made, values=self.values)

    def derivative(
        self, make: Callable[[Units, Request], Unit], wrt: tuple[str, ...]
    ) -> Unit:
        """The text of a derivative of this call."""
        return self.call.readable(make, wrt, self.variant)


@dataclass(frozen=True)
class _Look:
    """What is known of the subscripts of a program; data make those `by_data`."""

    bounds: Bounds
    by_data: frozenset[int]

    @classmethod
    def at(cls, program: Program) -> _Look:
        lenient = Bounds(program, inside=True)
        return cls(Bounds(program), frozenset(one.site for one in lenient.inspected))

    def counted(self, values: Mapping[str, Any]) -> tuple[Program, Variant, bool]:
        """The program that counts negative subscripts from the end by itself, for
        arguments of such sizes; the variant that it is; and whether the sizes keep all
        subscripts inside their arrays that are not made of data.

        Raises `IndexError` where they keep one outside.
        """
        variant = self.bounds.check(values)
        # Nobody has looked yet which of those are read that only data keep from it.
        affine = self.bounds.variants.findings.affine
        negative = tuple(sorted({*variant.negative, *affine}))
        variant = variant._replace(negative=negative)
        inside = self.bounds.in_doubt(values) <= self.by_data
        return self.bounds.variants.program_for(variant), variant, inside


def _sizes(values: Mapping[str, Any]) -> tuple[Any, ...]:
    """What a plan depends on: shapes, chunks and integers, no other values."""
    found: list[Any] = []
    for name, value in values.items():
        if isinstance(value, Shaped):
            found.append((name, value.shape, value.chunks, str(value.dtype)))
        elif isinstance(value, (int, np.integer)):
            found.append((name, int(value)))
        else:
            found.append((name, np.shape(value)))
    return tuple(found)


def planned(
    program: Program,
    values: Mapping[str, Any],
    dtypes: Mapping[str, str],
    written: tuple[str, ...],
    steps: int | str,
    target: str,
    like: Sequence[str] = (),
    inside: bool = True,
    memory: int | None = None,
) -> Planned:
    """The plan of a program for these values, of which it writes those in `written`.

    What it returns has the chunks of the values in `like`, in their order.
    """
    shapes = {n: tuple(np.shape(v)) for n, v in values.items()}
    shapes |= {n: v.shape for n, v in values.items() if isinstance(v, Shaped)}
    chunks = {n: v.chunks for n, v in values.items() if isinstance(v, Shaped)}
    integers = {
        n: int(v)
        for n, v in values.items()
        if isinstance(v, (int, np.integer)) and not isinstance(v, bool)
    }
    arrays = {n: s for n, s in shapes.items() if s}
    body = without_tables(program.body)
    if body != program.body:  # there are subscripts now that nobody has seen
        stand_ins = {n: _stand_in(v) for n, v in values.items()}
        look = _Look.at(replace(program, body=body))
        program, _, inside = look.counted(stand_ins)
    body = resolved(program.body, integers, arrays)
    program = replace(program, body=body)
    # What an integer argument is later, `resolved` has written down.
    integers = {n: v for n, v in integers.items() if n not in written_in(program.body)}
    last = program.body[-1] if program.body else None
    wanted = {
        v.name: chunks[n]
        for v, n in zip(
            last.values if isinstance(last, Return) else (), like, strict=False
        )
        if isinstance(v, Var) and n in chunks
    }

    def planner(wide: frozenset[str], count: int) -> Planner:
        layout = Layout(program, arrays, chunks, integers, wanted)
        return Planner(
            program, layout, dtypes, count, written, target, wide, inside, memory
        )

    if isinstance(steps, str):
        try:
            plan = _narrow(planner, chosen_steps(chunks))
        except ChunkingError:  # of several steps, perhaps
            plan = _narrow(planner, 1)
    else:
        plan = _narrow(planner, steps)
    layout = plan.layout
    results: tuple[str, ...] = ()
    single = False
    if isinstance(last, Return):
        results = tuple(
            v.name if isinstance(v, Var) and v.name in layout.shapes else f"return {k}"
            for k, v in enumerate(last.values)
        )
        single = last.single
    floats = tuple(p.name for p in program.params if p.is_float)
    return Planned(plan, values, results, single, written, floats)


def _narrow(make: Callable[[frozenset[str], int], Planner], steps: int) -> Plan:
    """A plan whose windows are not much larger than chunks, if there is one.

    Where some are, it is tried to copy what is read far away. Raises `ChunkingError`
    where the first plan does, and none of the others helps.
    """
    best: Plan | None = None
    least = math.inf
    refusal: ChunkingError | None = None
    wide = frozenset[str]()
    while True:
        more = frozenset[str]()
        planner: Planner | None = None
        try:
            planner = make(wide, steps)
            plan = planner.plan()
            worst = max(planner.widths.values(), default=0.0)
            if worst < least:
                best, least = plan, worst
        except ChunkingError as error:
            refusal = refusal or error
            more |= {error.read} - {""}
        if planner is not None:
            more |= planner.widths.keys()
        if more <= wide:
            break
        wide |= more
    if best is None:
        assert refusal is not None
        raise refusal
    return best
