"""The CPU target: Numba runs rows of loops on all cores."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from pyrev.driver.passes import Scheduled, schedule_for_cpu
from pyrev.driver.targets.target import Job, Runs, Target
from pyrev.emit.numba import emit_numba
from pyrev.emit.seals import Sealed, sealed
from pyrev.ir.nodes import Program
from pyrev.ir.printer import Emitted
from pyrev.runtime.code_cache import (
    LAUNCH,
    Loaded,
    is_alone,
    launches_are_safe,
    loaded,
    serial,
)
from pyrev.runtime.error_boundary import runs_users
from pyrev.runtime.stack_depth import on_a_large_stack
from pyrev.schedule.places import without_counts


class Numba(Target):
    """Compiled when first called, for the types of the arguments."""

    name = "numba"
    compiles_slowly = True
    tunes = True
    seals = True

    def made(self, job: Job) -> tuple[Scheduled, Emitted]:
        done = schedule_for_cpu(job.program, job.dtypes, job.sizes, job.store)
        done = replace(done, program=without_counts(done.program))
        emitted = emit_numba(
            done.program,
            job.dtypes,
            doc=job.doc,
            natural=job.natural(done.facts),
            cpu=job.sizes.costs.cpu,
            unmeasured=_arrays(done.program) - set(job.sizes.values),
            choose=job.sizes.ask,
            fast=job.arithmetic.fast,
        )
        return done, emitted

    def inspector(self, job: Job) -> Emitted:
        cpu = job.sizes.costs.cpu
        return emit_numba(job.program, job.dtypes, doc=job.doc, wraps=True, cpu=cpu)

    def load(self, text: str, name: str, alone: bool) -> Loaded:
        return loaded(serial(text) if alone else text, name)

    def sealed(
        self, text: str, name: str, arrays: tuple[str, ...], chunks: int
    ) -> Sealed:
        return sealed(text, name, arrays, chunks)

    @runs_users
    def call(
        self, function: Callable[..., Any], values: Sequence[Any], unit: Runs
    ) -> Any:
        """One launch at a time where Numba's threading layer needs that."""
        try:
            if unit.runs_alone:
                return function(*values)
            return _launched(function, values, unit)
        except RecursionError:  # of Numba, before anything has run
            pass
        return on_a_large_stack(lambda: _launched(function, values, unit))


def _arrays(program: Program) -> frozenset[str]:
    return frozenset(p.name for p in program.params if p.rank)


@runs_users
def _launched(function: Callable[..., Any], values: Sequence[Any], unit: Runs) -> Any:
    if unit.runs_alone or is_alone():
        return function(*values)
    if launches_are_safe():
        return unit.paced(function, values)
    with LAUNCH:
        return unit.paced(function, values)


NUMBA = Numba()
