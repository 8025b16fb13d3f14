"""A target that is no part of pyrev: C99, compiled by `cc` and called by ctypes.

It is a sketch of what a fourth target takes. The schedule is that of the readable text;
expressions and statements are printed by what prints those of CUDA's kernels.
"""

from __future__ import annotations

import ctypes
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from pyrev.driver.passes import Scheduled, schedule
from pyrev.driver.targets.target import Job, Runs, Target
from pyrev.ir.printer import Emitted
from pyrev.runtime.code_cache import Loaded, loaded
from pyrev.runtime.error_boundary import runs_users
from tests.targets.c.text import emit_c

COMPILER = shutil.which("cc")

#: Sums of int64 go around at 64 bits; a product is rounded before it is added.
OPTIONS = ("-std=c99", "-O2", "-fwrapv", "-ffp-contract=off", "-shared", "-fPIC")


class C99(Target):
    """One core; arrays lie in memory as their subscripts count."""

    name = "c"

    def made(self, job: Job) -> tuple[Scheduled, Emitted]:
        program = job.program
        done = (
            Scheduled(program, ())
            if job.in_order
            else schedule(program, job.dtypes, job.sizes.costs)
        )
        return done, emit_c(done.program, job, wraps=False)

    def inspector(self, job: Job) -> Emitted:
        return emit_c(job.program, job, wraps=True)

    def load(self, text: str, name: str, alone: bool) -> Loaded:
        """The module, whose functions find theirs in its `LIBRARY`."""
        found = loaded(text, name)
        if not hasattr(found.module, "LIBRARY"):
            found.module.LIBRARY = _compiled(found.module.CODE)  # type: ignore
        return found

    @runs_users
    def call(
        self, function: Callable[..., Any], values: Sequence[Any], unit: Runs
    ) -> Any:
        """What lies otherwise in memory is copied, and back where it is written."""
        given = [
            np.ascontiguousarray(v) if isinstance(v, np.ndarray) and v.ndim else v
            for v in values
        ]
        result = function(*given)
        for value, own, written in zip(values, given, unit.changed, strict=True):
            if written and own is not value:
                value[...] = own
        return result


def _compiled(code: str) -> ctypes.CDLL:
    """The library with this code; its file is gone once it is in memory."""
    assert COMPILER is not None
    with tempfile.TemporaryDirectory() as folder:
        source, library = Path(folder) / "code.c", Path(folder) / "code.so"
        source.write_text(code)
        command = [COMPILER, *OPTIONS, str(source), "-o", str(library), "-lm"]
        subprocess.run(command, check=True, capture_output=True, text=True)
        return ctypes.CDLL(str(library))


C = C99()
