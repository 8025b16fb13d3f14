"""The loops that the threads and blocks of a kernel share out with a stride."""

from __future__ import annotations

from collections.abc import Sequence

from pyrev.emit.c import inside
from pyrev.emit.cuda.kernel import KernelText
from pyrev.emit.cuda.lines import each
from pyrev.emit.cuda.named import Module
from pyrev.ir.nodes import (
    ONE,
    ZERO,
    Block,
    Call,
    Const,
    Expr,
    Extent,
    For,
    fresh,
)
from pyrev.ir.trip_counts import iterations


def strided(kernel: KernelText, order: Sequence[For], block: Block) -> None:
    """The loops of a kernel, shared out by its threads."""
    out = kernel.out
    opened = 0
    folded = order[2:]
    if len(folded) > 1:
        # More loops than a grid has axes: z numbers the rest.
        counts = trips(kernel, folded)
        kernel.helpers["thread_z"] = None
        shared_out(kernel, folded, counts, "number", "thread_z()", "threads_z()")
        opened += 1
    elif folded:
        strided_loop(kernel, folded[0], "z")
        opened += 1
    for axis, f in reversed(list(zip("xy", order[:2], strict=False))):
        strided_loop(kernel, f, axis)
        opened += 1
    kernel.body(block)
    for _ in range(opened):
        out.close()


def strided_loop(kernel: KernelText, f: For, axis: str) -> None:
    """A loop that the threads share out along one axis."""
    kernel.helpers[f"thread_{axis}"] = None
    strided_by(kernel, f, f"thread_{axis}()", f"threads_{axis}()")


def strided_by(kernel: KernelText, f: For, first: str, step: str) -> None:
    """A loop from the iteration `first` on, each `step` iterations."""
    i = kernel.c(f.index)
    if f.step == ONE:
        lo = "" if f.lo == ZERO else f"{inside(kernel.as_(f.lo, 'int64'), 12)} + "
        hi = inside(kernel.as_(f.hi, "int64"), 11)
        kernel.out.open(each(i, f"{lo}{first}", hi, step))
        return
    number = fresh("number", kernel.names)
    count = inside(kernel.as_(iterations(f), "int64"), 11)
    kernel.out.open(each(number, first, count, step))
    kernel.declare_index(f, number)


def over_owners(kernel: KernelText, loops: Sequence[For]) -> str:
    """A loop over the owners of a sum, a block for each: the name of its number."""
    if not loops:
        return ""
    counts = trips(kernel, loops)
    return shared_out(kernel, loops, counts, "owner", "blockIdx.y", "gridDim.y")


def shared_out(
    kernel: KernelText,
    loops: Sequence[For],
    counts: Sequence[str],
    name: str,
    first: str,
    step: str,
) -> str:
    """A loop over all iterations of some loops: what their number is called."""
    alone = len(loops) == 1 and (loops[0].lo, loops[0].step) == (ZERO, ONE)
    number = kernel.c(loops[0].index) if alone else fresh(name, kernel.names)
    kernel.out.open(each(number, first, " * ".join(counts), step))
    if not alone:
        declare_indices(kernel, loops, counts, number)
    return number


def trips(kernel: KernelText, loops: Sequence[For]) -> list[str]:
    """How many iterations each of some loops has, in C, as factors.

    Two loops that never run have none together: where there are several, no factor is
    negative.
    """
    return [_trips(kernel, iterations(f), len(loops) == 1) for f in loops]


def _trips(kernel: KernelText, count: Expr, alone: bool) -> str:
    text, level = kernel.as_(count, "int64")
    if level == 16 and (alone or _sure(count)):
        return text
    kernel.helpers["py_max"] = None
    return f"py_max<long long>({text}, 0)"


def _sure(count: Expr) -> bool:
    """Is it plain that `count` is not negative?"""
    match count:
        case Extent() | Call("max", (_, Const(0))) | Call("max", (Const(0), _)):
            return True
        case Const(int(k)):
            return k >= 0
    return False


def declare_indices(
    kernel: KernelText, loops: Sequence[For], counts: Sequence[str], number: str
) -> None:
    """The indices of some loops, from the number of an iteration of all of them."""
    for k in range(len(loops) - 1, 0, -1):
        kernel.declare_index(loops[k], f"{number} % {counts[k]}")
        whole = f"{number} / {counts[k]}"
        if k == 1:
            number = whole
        else:
            number = fresh("number", kernel.names)
            kernel.out(f"const long long {number} = {whole};")
    kernel.declare_index(loops[0], number)


def host_product(kernel: KernelText, loops: Sequence[For], size: bool = False) -> str:
    """How many iterations some loops have together, on the host, not negative where
    it is the `size` of an array.
    """
    alone = len(loops) == 1 and not size
    return " * ".join(factor(kernel.module, iterations(f), alone) for f in loops)


def factor(module: Module, count: Expr, alone: bool) -> str:
    """A number of iterations on the host, as a factor; see `trips`."""
    text = module.number(count)
    bare = not (" " in text or text.startswith("-"))
    if bare and (alone or _sure(count)):
        return text
    return f"max(0, {text})"
