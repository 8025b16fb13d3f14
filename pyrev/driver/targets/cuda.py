"""The GPU target: kernels in CUDA C, which CuPy compiles and launches."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from pyrev.driver.passes import Scheduled, schedule_for_cuda
from pyrev.driver.targets.target import Job, Runs, Target, no_form
from pyrev.emit.cuda import emit_cuda
from pyrev.ir.nodes import Alloc, Program, walk
from pyrev.ir.printer import Emitted
from pyrev.parse.probes import probing
from pyrev.runtime import device
from pyrev.runtime.error_boundary import runs_users
from pyrev.schedule.launches import NotOnDevice
from pyrev.schedule.places import places_by_loops


class Cuda(Target):
    """A thread for each element, on arrays of CuPy."""

    name = "cuda"
    on_device = True

    def made(self, job: Job) -> tuple[Scheduled, Emitted]:
        return self._launched(job, wraps=False)

    def inspector(self, job: Job) -> Emitted:
        return self._launched(job, wraps=True)[1]

    def _launched(self, job: Job, wraps: bool) -> tuple[Scheduled, Emitted]:
        for s in walk(job.program.body):
            if isinstance(s, Alloc) and s.opaque is not None:
                because = f"`{s.opaque.function}` runs as it is, in CPython"
                no_form(s.loc, because, "use target='numba' and arrays of NumPy for it")
        try:
            done, launches, types = schedule_for_cuda(
                places_by_loops(job.program),
                job.dtypes,
                job.sizes,
                job.arithmetic.deterministic,
            )
            emitted = emit_cuda(
                done.program,
                launches,
                types,
                doc=job.doc,
                sources=job.sources,
                wraps=wraps,
                natural=job.natural(done.facts),
                gpu=job.sizes.costs.gpu,
                fast=job.arithmetic.fast,
            )
        except NotOnDevice as why:
            no_form(why.loc, str(why), "use target='numba' for it")
        return done, emitted

    @runs_users
    def call(
        self, function: Callable[..., Any], values: Sequence[Any], unit: Runs
    ) -> Any:
        return device.call(function, values, unit.changed)

    def check_probes(self, primal: Program) -> None:
        """CPython does not read the elements of arrays of a GPU."""
        no_form(
            next(probing(primal.body)).loc,
            "`pyrev.probe` calls a function of yours while the adjoint runs",
            "use target='numba' and arrays of NumPy for it, or leave the probe out",
        )


CUDA = Cuda()
