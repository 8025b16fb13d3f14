"""A sum over all threads: one kernel for the parts of the blocks, one for their sum."""

from __future__ import annotations

from collections.abc import Sequence

from pyrev.emit.c import C_TYPES
from pyrev.emit.cuda.kernel import KernelText
from pyrev.emit.cuda.lines import each
from pyrev.emit.cuda.local_sums import retargeted, start
from pyrev.emit.cuda.named import ascii_name
from pyrev.emit.cuda.threads import host_product, over_owners, shared_out, trips
from pyrev.emit.helpers import THREADS
from pyrev.ir.dtypes import concrete
from pyrev.ir.nodes import Load, Var, fresh
from pyrev.ir.text import expr_text, numpy_name
from pyrev.schedule.launches import Kernel


def reduction(kernel: KernelText, name: str) -> list[str]:
    """A kernel whose blocks add up, and one that adds what the blocks made."""
    module, step, out = kernel.module, kernel.step, kernel.out
    module.forms.add("reduce")
    kernel.helpers |= {"block_sum": None, "thread_x": None}
    kernel.allocations()
    out.depth = 1
    owner = over_owners(kernel, step.loops)
    for target in kernel.sums:
        kernel.accumulator(target)
    inner = ", ".join(f.index for f in step.over)
    for t in step.sums:
        what = f"{step.loc.place}: the sum of {expr_text(t)} over {inner}"
        module.reassociated[what] = None
    counts = trips(kernel, step.over)
    shared_out(kernel, step.over, counts, "term", "thread_x()", "threads_x()")
    # All threads meet in the sum: none may leave before.
    label = fresh("added", kernel.names)
    kernel.leave = f"goto {label};"
    kernel.body(retargeted(step.block, kernel.accumulators, kernel))
    out.close()
    if kernel.check_status:
        out(f"{label}:;")
    place = f"{owner} * gridDim.x + blockIdx.x" if owner else "blockIdx.x"
    parts: list[tuple[str, str]] = []
    for local in map(kernel.accumulators.__getitem__, kernel.sums):
        kind = concrete(kernel.types[local.name])
        parts.append((fresh(f"{local.name}_parts", kernel.names), kind))
        out(f"{local.name} = block_sum<{C_TYPES[kind]}>({local.name});")
        out(f"if (threadIdx.x == 0) {parts[-1][0]}[{place}] = {local.name};")
    if owner:
        out.close()
    extra = [f"{C_TYPES[kind]}* __restrict__ {p}" for p, kind in parts]
    kernel.define(name, extra)
    return reduced(kernel, name, [kind for _, kind in parts])


def reduced(kernel: KernelText, name: str, kinds: Sequence[str]) -> list[str]:
    """The host's part of a sum."""
    module, step = kernel.module, kernel.step
    parts, owned = fresh("parts", module.taken), fresh("owners", module.taken)
    own = [ascii_name(base(t)) for t in kernel.sums]
    buffers = [fresh(f"{n}_parts", module.taken) for n in own]
    blocks, over = module.gpu.sum_blocks, host_product(kernel, step.over)
    most = f"{blocks}, {over} // {4 * THREADS}"
    size, lines = parts, []
    if step.loops:
        lines.append(f"{owned} = {host_product(kernel, step.loops, size=True)}")
        most += f", {module.gpu.summing_blocks} // max(1, {owned})"
        size = f"{owned} * {parts}"
    lines.append(f"{parts} = max(1, min({most}))")
    for b, kind in zip(buffers, kinds, strict=True):
        made = f"{module.called['cp']}.empty({size}"
        lines.append(f"{b} = {made}, dtype={numpy_name(kind)})")
    many = owned if step.loops else "1"
    called, args = module.called["reduce"], kernel.arguments(buffers)
    lines.append(f"{called}({name!r}, {parts}, {many}, {args})")
    return [*lines, *combined(kernel, name, buffers, kinds, parts, many)]


def combined(
    kernel: KernelText,
    name: str,
    buffers: Sequence[str],
    kinds: Sequence[str],
    parts: str,
    owned: str,
) -> list[str]:
    """The second kernel of a sum: one block adds the parts of one owner."""
    module, step = kernel.module, kernel.step
    other = KernelText(module, Kernel((), step.loops, why="the sums of all blocks"))
    other.renamed = kernel.renamed
    out = other.out
    out.depth = 1
    owner = over_owners(other, step.loops)
    count, k = fresh("parts", other.names), fresh("k", other.names)
    extra: list[str] = []
    for target, kind, buffer in zip(kernel.sums, kinds, buffers, strict=True):
        c = C_TYPES[kind]
        total = fresh("total", other.names)
        extra.append(f"const {c}* __restrict__ {buffer}")
        out(f"{c} {total} = {start(kind)};")
        place = f"{owner} * {count} + {k}" if owner else k
        out.open(each(k, "threadIdx.x", count, str(THREADS)))
        out(f"{total} += {buffer}[{place}];")
        out.close()
        out(f"{total} = block_sum<{c}>({total});")
        other.helpers["added"] = None
        some = f"threadIdx.x == 0 && added({total})"
        out(f"if ({some}) {other.place(target)} += {total};")
    if owner:
        out.close()
    extra.append(f"long long {count}")
    second = fresh(f"{name}_sum", module.taken)
    other.define(second, extra)
    args = other.arguments([*buffers, parts])
    return [f"{module.called['reduce']}({second!r}, 1, {owned}, {args})"]


def base(target: Var | Load) -> str:
    """The name of the scalar or the array that is added to."""
    return target.name if isinstance(target, Var) else target.array
