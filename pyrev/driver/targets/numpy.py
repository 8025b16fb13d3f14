"""The target of whole arrays: NumPy alone, without loops over elements."""

from __future__ import annotations

from pyrev.analysis.bounds import naturally
from pyrev.driver.derive import RESERVED
from pyrev.driver.passes import Scheduled, schedule_for_whole_arrays
from pyrev.driver.targets.python import Python
from pyrev.driver.targets.target import Job, no_form
from pyrev.emit.numpy import NoWholeArray, WholeNests
from pyrev.emit.python import emit_python
from pyrev.ir.dtypes import infer
from pyrev.ir.nodes import map_expr
from pyrev.ir.printer import Emitted
from pyrev.schedule.places import without_counts


class NumPy(Python):
    """One text for all calls: statements about whole arrays, read and saved."""

    name = "numpy"
    is_input = False
    runs_plain = False
    tests_sizes = True

    def made(self, job: Job) -> tuple[Scheduled, Emitted]:
        program = job.program
        done = Scheduled(program, ())
        if not job.in_order:
            costs = job.sizes.costs
            done = schedule_for_whole_arrays(program, job.dtypes, costs, job.users)
        program = without_counts(done.program)
        bare = naturally(program)
        try:
            whole = WholeNests(
                program,
                infer(program, dict(job.dtypes)),
                job.shapes,
                job.letters,
                lambda e: map_expr(e, bare),
                job.users,
                RESERVED,
            )
            text = emit_python(
                program,
                doc=job.doc,
                sources=job.sources,
                whole=whole,
                sizes=job.size_names,
            )
        except NoWholeArray as why:
            no_form(why.loc, str(why), "use target='python' or target='numba' for it")
        return done, Emitted(text, ())


NUMPY = NumPy()
