"""Ways to add at places that data decides, timed on all cores.

    python benchmarks/pitfalls_scatter.py

`serial` is one core and the order of the loop. `atomic` shares the loop out and adds by
an atomic instruction; its bits depend on who comes first. `inverse` turns the scatter
around: which terms belong to an element is found once (`build`), then each element adds
its own. `copies` adds up in a private array for each of two or sixteen chunks. Medians
in ms; `compare` is what it takes to see that a table of places has not changed.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from numba import njit, prange, types
from numba.core import cgutils
from numba.extending import intrinsic

SIZES = ((4_000_000, 100_000), (4_000_000, 1_000_000), (4_000_000, 4_000_000))
ROUNDS = 7
OPTIONS = {"error_model": "numpy", "nogil": True}


@intrinsic
def atomic_add(typing: Any, array: Any, i: Any, value: Any) -> Any:
    """``array[i] += value``, whoever else does so."""

    def emit(context: Any, builder: Any, sig: Any, args: Any) -> None:
        own = context.make_array(sig.args[0])(context, builder, args[0])
        place = cgutils.get_item_pointer(context, builder, sig.args[0], own, [args[1]])
        builder.atomic_rmw("fadd", place, args[2], "monotonic")

    return types.void(array, i, value), emit


@njit(**OPTIONS)
def serial(at, data, weights, out):
    for i in range(at.size):
        out[np.uint64(at[i])] += data[i] * weights[i >> 4]


@njit(parallel=True, **OPTIONS)
def atomic(at, data, weights, out):
    for i in prange(at.size):
        atomic_add(out, np.int64(at[i]), data[i] * weights[i >> 4])


@njit(**OPTIONS)
def build(at, first, place, order):
    first[:] = 0
    for i in range(at.size):
        first[np.uint64(at[i] + 1)] += 1
    for t in range(first.size - 1):
        first[t + 1] += first[t]
    place[:] = first[:-1]
    for i in range(at.size):
        t = np.uint64(at[i])
        order[place[t]] = i
        place[t] += 1


@njit(parallel=True, **OPTIONS)
def inverse(first, order, data, weights, out):
    for t in prange(first.size - 1):
        total = out[t]
        for k in range(first[t], first[t + 1]):
            i = np.uint64(order[k])
            total += data[i] * weights[i >> np.uint64(4)]
        out[t] = total


@njit(parallel=True, **OPTIONS)
def copies(at, data, weights, out, parts):
    chunks, n = parts.shape[0], at.size
    for chunk in prange(chunks):
        own = parts[chunk]
        own[:] = 0.0
        for i in range(n * chunk // chunks, n * (chunk + 1) // chunks):
            own[np.uint64(at[i])] += data[i] * weights[i >> 4]
    for t in prange(out.size):
        total = out[t]
        for chunk in range(chunks):
            total += parts[chunk, t]
        out[t] = total


def median(run: Callable[[], Any]) -> float:
    """Milliseconds; the first call compiles."""
    run()
    times = []
    for _ in range(ROUNDS):
        begin = time.perf_counter()
        run()
        times.append(time.perf_counter() - begin)
    return 1e3 * statistics.median(times)


def main() -> None:
    """Print a line for each size."""
    names = ("serial", "atomic", "build", "inverse", "compare", "2 copies", "16 copies")
    print(f"{'terms':>10}{'elements':>10}", *(f"{n:>10}" for n in names), sep="")
    for n, m in SIZES:
        times = (f"{median(run):>10.1f}" for run in runs(n, m))
        print(f"{n:>10}{m:>10}", *times, sep="")


def runs(n: int, m: int) -> tuple[Callable[[], Any], ...]:
    """What is timed for `n` terms of `m` elements."""
    rng = np.random.default_rng(0)
    at = rng.integers(0, m, n).astype(np.int32)
    data, weights, out = rng.random(n), rng.random(n // 16 + 1), np.zeros(m)
    first, place = np.zeros(m + 1, np.int32), np.zeros(m, np.int32)
    order, before = np.empty(n, np.int32), at.copy()
    two, many = np.empty((2, m)), np.empty((16, m))
    build(at, first, place, order)
    return (
        lambda: serial(at, data, weights, out),
        lambda: atomic(at, data, weights, out),
        lambda: build(at, first, place, order),
        lambda: inverse(first, order, data, weights, out),
        lambda: np.array_equal(before, at),
        lambda: copies(at, data, weights, out, two),
        lambda: copies(at, data, weights, out, many),
    )


if __name__ == "__main__":
    main()
