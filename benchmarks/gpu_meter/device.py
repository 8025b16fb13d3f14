"""CuPy's place on a machine without a GPU: launches are measured, memory is NumPy's.

Only what generated text calls is there. Fills, copies and sorts, which CuPy does with
kernels of its own, are noted with the bytes that they move.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import numpy as np

from benchmarks.gpu_meter.emulator import aligned
from tests.targets.cuda import standin

#: Passes of a radix sort over keys of 64 bits, each of which reads and writes all.
SORT_PASSES = 8

_KERNEL = re.compile(r'extern "C" __global__ void (\w+)\(([^)]*)\)')


@dataclass(frozen=True)
class Launch:
    """One launch of a kernel of generated text."""

    code: str
    options: tuple[str, ...]
    name: str
    #: What the parameters are called in the text.
    parameters: tuple[str, ...]
    grid: tuple[int, ...]
    block: tuple[int, ...]
    arguments: tuple[Any, ...]
    dynamic: int = 0


@dataclass(frozen=True)
class Moved:
    """What CuPy does itself: "fill", "copy" or "sort", and the bytes it moves."""

    what: str
    bytes: int
    array: Any


@dataclass(frozen=True)
class Allocated:
    """Memory from the pool."""

    bytes: int


Event = Launch | Moved | Allocated


def to_device(a: Any) -> Any:
    """A copy of an array where the device would have it."""
    a = np.asarray(a)
    made = empty(a.shape, a.dtype)
    made[...] = a
    return made


def empty(shape: Any, dtype: Any = np.float64) -> Any:
    """Memory of zeros, aligned as CuPy's is."""
    kind = np.dtype(dtype)
    sizes = (shape,) if isinstance(shape, (int, np.integer)) else tuple(shape)
    count = int(np.prod(sizes, dtype=np.int64))
    raw = aligned(max(1, count) * kind.itemsize)
    made = raw.view(kind)[:count].reshape(sizes)
    return made.view(standin.DeviceArray)


def module(note: Callable[[Event], None]) -> ModuleType:
    """What `import cupy` gives while this stands in for it; events are noted."""

    def made(shape: Any, dtype: Any = np.float64) -> Any:
        a = empty(shape, dtype)
        note(Allocated(a.nbytes))
        return a

    def filled(shape: Any, value: Any, dtype: Any = None) -> Any:
        a = made(shape, np.asarray(value).dtype if dtype is None else dtype)
        if value:
            a.fill(value)
        note(Moved("fill", a.nbytes, a))
        return a

    def copied(a: Any, dtype: Any = None) -> Any:
        b = made(a.shape, a.dtype if dtype is None else dtype)
        b[...] = a
        note(Moved("copy", a.nbytes + b.nbytes, b))
        return b

    def sorted_places(a: Any) -> Any:
        found = to_device(np.argsort(np.asarray(a), kind="stable"))
        note(Allocated(found.nbytes))
        note(Moved("sort", 2 * SORT_PASSES * (a.nbytes + found.nbytes), found))
        return found

    class RawModule:
        def __init__(self, *, code: str, options: Sequence[str] = ()) -> None:
            self.code, self.options = code, tuple(options)
            self.names = {n: _names(p) for n, p in _KERNEL.findall(code)}

        def get_function(self, name: str) -> Callable[..., None]:
            def run(grid: Any, block: Any, args: Any, shared_mem: int = 0) -> None:
                sizes = tuple(map(int, grid)), tuple(map(int, block))
                made_of = self.code, self.options, name, self.names[name]
                note(Launch(*made_of, *sizes, tuple(args), shared_mem))

            return run

    cp: Any = standin.module()
    cp.RawModule = RawModule
    cp.empty = made
    cp.zeros = lambda shape, dtype=np.float64: filled(shape, 0, dtype)
    cp.ones = lambda shape, dtype=np.float64: filled(shape, 1, dtype)
    cp.full = filled
    cp.empty_like = lambda a: made(a.shape, a.dtype)
    cp.zeros_like = lambda a: filled(a.shape, 0, a.dtype)
    cp.argsort = sorted_places
    cp.asarray = lambda a, dtype=None: (
        a
        if isinstance(a, standin.DeviceArray) and dtype in (None, a.dtype)
        else copied(np.asarray(a), dtype)
    )
    cp.ascontiguousarray = lambda a, dtype=None: (
        a if a.flags.c_contiguous and dtype in (None, a.dtype) else copied(a, dtype)
    )
    return cp


def _names(parameters: str) -> tuple[str, ...]:
    return tuple(p.split()[-1].lstrip("*") for p in parameters.split(",") if p.strip())


@contextmanager
def standing_in(note: Callable[[Event], None]) -> Iterator[Any]:
    """The stand-in in CuPy's place."""
    before = sys.modules.get("cupy")
    sys.modules["cupy"] = cp = module(note)
    try:
        yield cp
    finally:
        if before is None:
            del sys.modules["cupy"]
        else:
            sys.modules["cupy"] = before
