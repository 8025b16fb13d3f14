"""Rows on each of which the threads of a block work together: see `schedule.teams`."""

from __future__ import annotations

from pyrev.emit.c import C_TYPES
from pyrev.emit.cuda.kernel import KernelText
from pyrev.emit.cuda.local_sums import retargeted, summed
from pyrev.emit.cuda.named import Module
from pyrev.emit.cuda.scalars import counts
from pyrev.emit.cuda.threads import host_product, shared_out, strided_by, trips
from pyrev.emit.helpers import THREADS
from pyrev.ir.dtypes import concrete
from pyrev.ir.liveness import names_in
from pyrev.ir.nodes import (
    Add,
    Assign,
    Block,
    For,
    Load,
    Stmt,
    Var,
    assigned_scalars,
    walk,
    written,
)
from pyrev.ir.reductions import extremes
from pyrev.ir.text import expr_text
from pyrev.schedule.launches import Kernel
from pyrev.schedule.teams import sums


def works_together(module: Module, step: Kernel) -> bool:
    """May the kernel be one of teams? Where threads of a block meet, none may have left
    at an error, and scalars that others read have no place.
    """
    fails = any(map(module.faults.can_fail, walk(step.whole)))
    return step.team and not step.crossing and not fails


def team(kernel: KernelText, name: str) -> list[str] | None:
    """A kernel in which a block of threads runs an iteration of the loops; None if a
    thread may leave it.
    """
    module, step, out = kernel.module, kernel.step, kernel.out
    kernel.allocations()
    out.depth = 1
    rows = trips(kernel, step.loops)
    shared_out(kernel, step.loops, rows, "row", "blockIdx.x", "gridDim.x")
    kernel.inline, kernel.once = frozenset(), counts(step.block)
    kernel.declare(assigned_scalars(step.block))
    _Team(kernel).run(step.block)
    out.close()
    if kernel.check_status:
        return None
    module.forms.add("team")
    kernel.define(name)
    many = host_product(kernel, step.loops)
    return [f"{module.called['team']}({name!r}, {many}, {kernel.arguments()})"]


class _Team:
    """The statements of a row. All threads have its scalars, and the same values in
    them; one of them writes what is written outside of loops.
    """

    def __init__(self, kernel: KernelText) -> None:
        self.kernel = kernel
        #: The arrays that threads may be reading, or have written, since they last met.
        self.read: set[str] = set()
        self.wrote: set[str] = set()

    def run(self, block: Block) -> None:
        for s in block:
            self.meet_before(s)
            match s:
                case For():
                    self.loop(s)
                case Assign(Load()) | Add(Load()):
                    self.kernel.out.open("if (threadIdx.x == 0)")
                    self.kernel.stmt(s)
                    self.kernel.out.close()
                case _:
                    self.kernel.stmt(s)

    def meet_before(self, s: Stmt) -> None:
        """Wait for all threads where `s` touches what others may still be at."""
        arrays = {n for n in names_in(s) if n in self.kernel.module.arrays}
        writes = {n for n in written((s,)) if n in arrays}
        if writes & (self.read | self.wrote) or arrays & self.wrote:
            self.meet()
        self.read |= arrays
        self.wrote |= writes

    def meet(self) -> None:
        self.kernel.out("__syncthreads();")
        self.have_met()

    def have_met(self) -> None:
        self.read.clear()
        self.wrote.clear()

    def loop(self, f: For) -> None:
        """A loop whose iterations the threads share out, and what it sums up."""
        kernel, out = self.kernel, self.kernel.out
        added, most = sums(f), extremes(f.body)
        locals_ = {target: kernel.accumulator(target) for target in added}
        for target in added:
            what = f"{f.loc.place}: the sum of {expr_text(target)} over {f.index}"
            kernel.module.reassociated[what] = None
        strided_by(kernel, f, "threadIdx.x", str(THREADS))
        body = summed(retargeted(f.body, locals_, kernel), kernel)
        kernel.declare(assigned_scalars(body))
        kernel.block(body)
        out.close()
        for target, local in locals_.items():
            self.add(target, local)
        for name, op in most.items():
            kernel.helpers["block_extreme"] = None
            c, place = C_TYPES[concrete(kernel.types[name])], kernel.c(name)
            compare = "true" if op == "max" else "false"
            out(f"{place} = block_extreme<{c}, {compare}>({place});")
        if added or most:
            self.have_met()
            self.wrote |= {t.array for t in added if isinstance(t, Load)}

    def add(self, target: Var | Load, local: Var) -> None:
        """What all threads have summed up goes to its place."""
        kernel, out = self.kernel, self.kernel.out
        kernel.helpers |= {"block_sum": None, "added": None}
        c = C_TYPES[concrete(kernel.types[local.name])]
        out(f"{local.name} = block_sum<{c}>({local.name});")
        one = "threadIdx.x == 0 && " if isinstance(target, Load) else ""
        out(f"if ({one}added({local.name})) {kernel.place(target)} += {local.name};")
