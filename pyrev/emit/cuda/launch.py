"""One kernel: its text in CUDA C, and the lines of the host that launch it.

It keeps the loops of the program: its threads share out the outer ones with a stride,
the first of them along x, where neighbours in memory lie. What one thread sums up stays
in a local; a product that is added there is added in one rounding, which is the one
liberty that is taken with the arithmetic.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from pyrev.emit.cuda.kernel import KernelText
from pyrev.emit.cuda.named import Module, ascii_name
from pyrev.emit.cuda.reduction import reduction
from pyrev.emit.cuda.teams import team, works_together
from pyrev.emit.cuda.threads import factor, host_product, shared_out, strided, trips
from pyrev.emit.helpers import THREADS
from pyrev.ir.dtypes import concrete
from pyrev.ir.nodes import For, fresh
from pyrev.ir.text import numpy_name
from pyrev.ir.trip_counts import iterations
from pyrev.schedule.axes import thread_order
from pyrev.schedule.launches import Kernel


def launched(module: Module, step: Kernel) -> list[str]:
    """The lines of the host that launch it; the kernel goes to the module."""
    name = fresh(f"{ascii_name(module.name)}_{len(module.kernels) + 1}", module.taken)
    kernel = _begun(module, step)
    step = kernel.step
    if step.over:
        return reduction(kernel, name)
    if works_together(module, step):
        lines = team(kernel, name)
        if lines is not None:
            return lines
        kernel = _begun(module, step)
    kernel.allocations()
    order = thread_order(step.loops, step.block)
    kernel.out.depth = 1
    if not order:
        kernel.body(step.block)
    elif kernel.scratch:
        return in_rows(kernel, name, tuple(reversed(order)))
    else:
        strided(kernel, order, step.block)
    kernel.define(name)
    if not order:
        module.forms.add("alone")
        lines = [made_before(kernel, a, "") for a in kernel.scratch]
        return [*lines, f"{module.called['alone']}({name!r}, {kernel.arguments()})"]
    args = kernel.arguments()
    module.forms.add("launch")
    counts = [module.number(iterations(f)) for f in order[:2]]
    if order[2:]:
        counts.append(host_product(kernel, order[2:]))
    tail = "," if len(counts) == 1 else ""
    launch = module.called["launch"]
    return [f"{launch}({name!r}, ({', '.join(counts)}{tail}), {args})"]


def _begun(module: Module, step: Kernel) -> KernelText:
    """A kernel without statements, in which names are those of C."""
    kernel = KernelText(module, step)
    for f in (*kernel.step.loops, *kernel.step.over):
        kernel.rename_all((replace(f, body=()),))
    kernel.rename_all(kernel.step.block)
    return kernel


def in_rows(kernel: KernelText, name: str, loops: Sequence[For]) -> list[str]:
    """A kernel whose threads have arrays of their own, which the host makes.

    There are at most so many threads. Element k of all threads stands together.
    """
    module = kernel.module
    module.forms.add("launch")
    counts = trips(kernel, loops)
    kernel.helpers["thread_x"] = None
    shared_out(kernel, loops, counts, "number", "thread_x()", "threads_x()")
    kernel.body(kernel.step.block)
    kernel.out.close()
    kernel.define(name)
    rows = fresh("rows", module.taken)
    total = host_product(kernel, loops)
    most = module.gpu.array_threads
    lines = [f"{rows} = -(-min({total}, {most}) // {THREADS}) * {THREADS}"]
    lines += [made_before(kernel, a, rows) for a in kernel.scratch]
    launch = module.called["launch"]
    return [*lines, f"{launch}({name!r}, ({rows},), {kernel.arguments()})"]


def made_before(kernel: KernelText, array: str, rows: str) -> str:
    """The line of the host that makes an array for each of some threads."""
    made = kernel.local[array]
    sizes = [factor(kernel.module, n, True) for n in made.shape]
    size = " * ".join([*([rows] if rows else []), *sizes])
    kind = numpy_name(concrete(kernel.types[array]))
    return f"{array} = {kernel.module.called['cp']}.empty({size}, dtype={kind})"
