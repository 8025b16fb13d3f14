"""The readable target: gather loops that CPython runs with NumPy alone."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from pyrev.analysis.bounds import natural
from pyrev.driver.passes import Scheduled, schedule
from pyrev.driver.targets.target import Job, Runs, Target
from pyrev.emit.python import emit_python
from pyrev.emit.whole_arrays import WholeArrays
from pyrev.ir.dtypes import infer
from pyrev.ir.printer import Emitted
from pyrev.runtime.error_boundary import runs_users
from pyrev.schedule.named_parts import name_parts
from pyrev.schedule.places import without_counts


class Python(Target):
    """One text for all calls: it is read, saved, run in CPython, differentiated."""

    name = "python"
    for_sizes = False
    is_input = True
    bodies_once = True
    truncates = False
    tests_subscripts = True
    sweeps_apart = False
    copies_inputs = True
    runs_plain = True

    def made(self, job: Job) -> tuple[Scheduled, Emitted]:
        program = job.program
        done = Scheduled(program, ())
        if not job.in_order:
            done = schedule(program, job.dtypes, job.sizes.costs, job.users)
        ready = without_counts(natural(done.program))
        if job.in_order:
            types = infer(ready, dict(job.dtypes))
        else:
            ready, _, types = name_parts(ready, job.dtypes)
        whole = WholeArrays(ready, types, job.shapes, job.letters)
        text = emit_python(
            ready, doc=job.doc, sources=job.sources, whole=whole, sizes=job.size_names
        )
        return done, Emitted(text, ())

    def inspector(self, job: Job) -> Emitted:
        return Emitted(emit_python(job.program, doc=job.doc), ())

    @runs_users
    def call(
        self, function: Callable[..., Any], values: Sequence[Any], unit: Runs
    ) -> Any:
        """Floats divide by zero as compiled ones do."""
        with np.errstate(all="ignore"):
            try:
                return function(*values)
            except (ZeroDivisionError, OverflowError):
                # Python's floats raise, NumPy's don't. Nothing has been changed by a
                # text that writes no argument and calls nothing back.
                if any(unit.changed) or unit.program.callbacks:
                    raise
            return function(*(np.float64(v) if type(v) is float else v for v in values))


PYTHON = Python()
