"""What chunks cost: a call in blocks beside the call on whole arrays.

    python benchmarks/chunks.py [--size 2048] [--chunk 512] [--steps 1 4] [--rounds 5]
    python benchmarks/chunks.py --plan 40 80

Value and gradient of a nonlinear diffusion over time with a misfit at its end, as one
call on all cores, and as tasks of Dask's threads, as many as there are cores; asked in
turn, medians. The efficiency is the time of the call over that of the tasks. With
`--plan` only the planning of so many chunks along both axes is timed: of the windows
and blocks, and of all tasks of value and gradient of two groups of steps.
"""

from __future__ import annotations

import argparse
import functools
import os
import statistics
import time
from typing import Any

import dask
import dask.array as da
import numpy as np

import pyrev
import pyrev.dask


def misfit(u, c, d, n):
    for _ in range(n):
        v = u.copy()
        for y in range(1, u.shape[0] - 1):
            for x in range(1, u.shape[1] - 1):
                around = v[y - 1, x] + v[y + 1, x] + v[y, x - 1] + v[y, x + 1]
                u[y, x] = v[y, x] + c[y, x] * v[y, x] * (around - 4.0 * v[y, x])
    s = 0.0
    for y in range(u.shape[0]):
        for x in range(u.shape[1]):
            s += (u[y, x] - d[y, x]) ** 2
    return 0.5 * s


def planning(side: int) -> None:
    """Print how long the plan of so many chunks along both axes takes."""
    arrays = [da.zeros((512 * side,) * 2, chunks=512) + v for v in (0.0, 0.1, 0.2)]
    f = pyrev.dask.distribute(misfit, steps=4, gradient="sum")
    f(*(a[:1024, :1024] for a in arrays), 8)  # the function is read
    times = []
    for ask in (f, f, functools.partial(f.value_and_grad, wrt=("u", "c"))):
        start = time.perf_counter()
        found = ask(*arrays, 8)
        times.append(time.perf_counter() - start)
    first, again, both = times  # a plan is made for the first call, and kept
    count, tasks = side**2, len(found[1].c.dask)
    print(
        f"{count:6d} chunks: planned in {(first - again) / count * 1e3:.3f} ms each;"
        f" {tasks} tasks of value and gradient in {both / tasks * 1e3:.3f} ms each"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--size", type=int, default=2048)
    parser.add_argument("--chunk", type=int, default=512)
    parser.add_argument("--time", type=int, default=8)
    parser.add_argument("--steps", type=int, nargs="*", default=[1, 4])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--plan", type=int, nargs="*", default=[])
    asked = parser.parse_args()
    for side in asked.plan:
        planning(side)
    if asked.plan:
        return
    cores = len(os.sched_getaffinity(0))
    rng = np.random.default_rng(0)
    n = asked.size
    u, c, d = rng.random((n, n)), 0.1 * rng.random((n, n)), rng.random((n, n))
    chunked = [da.from_array(a, chunks=asked.chunk) for a in (u, c, d)]
    alone = pyrev.value_and_grad(misfit, wrt=("u", "c"))

    def whole() -> Any:
        value, g = alone(u.copy(), c, d, asked.time)
        return value, g.u, g.c

    ways = {"one call": whole}
    for k in asked.steps:
        f = pyrev.dask.distribute(misfit, steps=k, gradient="sum")

        def tasks(f: Any = f) -> Any:
            value, g = f.value_and_grad(*chunked, asked.time, wrt=("u", "c"))
            return dask.compute(value, g.u, g.c, scheduler="threads", num_workers=cores)

        ways[f"{k} steps in a task"] = tasks
    first = {name: way() for name, way in ways.items()}
    for name, found in first.items():
        for mine, its in zip(found, first["one call"], strict=True):
            np.testing.assert_allclose(mine, its, rtol=1e-8, atol=1e-12, err_msg=name)
    times: dict[str, list[float]] = {name: [] for name in ways}
    for _ in range(asked.rounds):
        for name, way in ways.items():
            start = time.perf_counter()
            way()
            times[name].append(time.perf_counter() - start)
    best = statistics.median(times["one call"])
    for name, own in times.items():
        middle = statistics.median(own)
        print(f"{name:22s} {middle * 1e3:8.0f} ms   efficiency {best / middle:.2f}")


if __name__ == "__main__":
    main()
