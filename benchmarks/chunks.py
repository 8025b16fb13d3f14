"""What chunks cost: a call in blocks beside the call on whole arrays.

    python benchmarks/chunks.py [--size 2048] [--chunk 512] [--steps 1 4] [--rounds 5]
    python benchmarks/chunks.py --plan 40 80
    python benchmarks/chunks.py --alive
    python benchmarks/chunks.py --cluster --size 4096 --chunk 2048 --time 16

Value and gradient of a nonlinear diffusion over time with a misfit at its end, as one
call on all cores, and as tasks of Dask's threads, as many as there are cores; asked in
turn, medians. The efficiency is the time of the call over that of the tasks. With
`--plan` only the planning of so many chunks along both axes is timed: of the windows
and blocks, and of all tasks of value and gradient of two groups of steps. `--alive`
says how many arrays 36 steps hold with fewer and fewer states kept, and how long that
takes beside the run that keeps all. `--cluster` is the first comparison with tasks of 8
steps in two processes of one thread each.
"""

from __future__ import annotations

import argparse
import os
import statistics
import time
from typing import Any

import dask
import dask.array as da
import numpy as np
from dask.callbacks import Callback

import pyrev
import pyrev.dask
from pyrev.bridges.chunked import calls


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


class Planning:
    """The seconds that plans take to be made, while it is entered."""

    def __init__(self) -> None:
        self.seconds = 0.0

    def __enter__(self) -> Planning:
        self._make = calls.planned

        def timed(*args: Any, **options: Any) -> Any:
            start = time.perf_counter()
            found = self._make(*args, **options)
            self.seconds += time.perf_counter() - start
            return found

        calls.planned = timed
        return self

    def __exit__(self, *_: object) -> None:
        calls.planned = self._make


def planning(side: int, rounds: int) -> None:
    """Print how long the plan of so many chunks along both axes takes."""
    count = side**2
    f = pyrev.dask.distribute(misfit, steps=4, gradient="sum")
    f(*(da.zeros((1024, 1024), chunks=512) for _ in range(3)), 8)  # it is read
    rows = []
    for k in range(rounds):
        # A plan is kept for arrays of equal sizes.
        shape = (512 * side - k,) * 2
        arrays = [da.zeros(shape, chunks=512) + v for v in (0.0, 0.1, 0.2)]
        with Planning() as planning:
            f(*arrays, 8)
        start = time.perf_counter()
        found = f.value_and_grad(*arrays, 8, wrt=("u", "c"))
        rows.append((planning.seconds, time.perf_counter() - start))
    plan, both = (statistics.median(column) for column in zip(*rows, strict=True))
    tasks = len(found[1].c.dask)
    print(
        f"{count:6d} chunks: planned in {plan / count * 1e3:.3f} ms each; {tasks} tasks"
        f" of value and gradient in {both / count * 1e3:.3f} ms for each chunk,"
        f" {both / tasks * 1e3:.3f} for each task"
    )


class Alive(Callback):
    """The most bytes of arrays that the results of tasks hold at one time."""

    def __init__(self) -> None:
        super().__init__()
        self.most = 0

    def _posttask(
        self, key: Any, value: Any, dsk: Any, state: Any, worker_id: Any
    ) -> None:
        found: dict[int, int] = {}
        todo = [*state["cache"].values()]
        while todo:
            one = todo.pop()
            if isinstance(one, (tuple, list)):
                todo += one
            elif isinstance(one, np.ndarray):
                while isinstance(one.base, np.ndarray):
                    one = one.base
                found[id(one)] = one.nbytes
        self.most = max(self.most, sum(found.values()))


def alive(rounds: int) -> None:
    """Print what 36 steps hold, and how long they take, by the states kept."""
    rng = np.random.default_rng(0)
    n = 768
    u, c, d = rng.random((n, n)), 0.1 * rng.random((n, n)), rng.random((n, n))
    chunked = [da.from_array(a, chunks=n // 4) for a in (u, c, d)]
    wanted: Any = None
    least = 0.0
    for states in (None, 12, 9, 8, 6, 4):
        memory = None if states is None else states * u.nbytes
        f = pyrev.dask.distribute(misfit, steps=1, gradient="sum", memory=memory)
        value, g = f.value_and_grad(*chunked, 36, wrt=("u", "c"))
        times = []
        for _ in range(rounds):
            start = time.perf_counter()
            found = dask.compute(value, g.u, g.c, scheduler="synchronous")
            times.append(time.perf_counter() - start)
        with Alive() as held:
            dask.compute(value, g.u, g.c, scheduler="synchronous")
        if wanted is None:
            wanted, least = found, min(times)
        for mine, its in zip(found, wanted, strict=True):
            np.testing.assert_array_equal(mine, its)
        kept = "all" if states is None else str(states)
        print(
            f"{kept:>4s} states kept: {held.most / u.nbytes:5.1f} arrays alive, with u,"
            f" c and d; {min(times) / least:.2f} times as long"
        )


def cluster(size: int, chunk: int, steps: int, rounds: int) -> None:
    """Print the efficiency of two processes beside one call on all cores."""
    from distributed import Client, LocalCluster, wait

    rng = np.random.default_rng(0)
    n = size
    u, c, d = rng.random((n, n)), 0.1 * rng.random((n, n)), rng.random((n, n))
    alone = pyrev.value_and_grad(misfit, wrt=("u", "c"))
    alone(u.copy(), c, d, steps)
    f = pyrev.dask.distribute(misfit, steps=8, gradient="sum")
    whole, tasks = [], []
    with (
        LocalCluster(
            n_workers=2, threads_per_worker=1, dashboard_address=None
        ) as workers,
        Client(workers) as client,
    ):
        for _ in range(rounds + 1):
            u += 1e-3  # what has equal inputs may still be there from the last round
            held = [client.persist(da.from_array(a, chunks=chunk)) for a in (u, c, d)]
            wait(held)
            start = time.perf_counter()
            alone(u.copy(), c, d, steps)
            whole.append(time.perf_counter() - start)
            start = time.perf_counter()
            value, g = f.value_and_grad(*held, steps, wrt=("u", "c"))
            found = client.persist([value, g.u, g.c])
            wait(found)
            tasks.append(time.perf_counter() - start)
            del found, value, g, held
    # The workers read and compile in the first round.
    one, other = (statistics.median(row[1:]) for row in (whole, tasks))
    print("s:", *(f"{a:.2f} {b:.2f}," for a, b in zip(whole, tasks, strict=True)))
    print(
        f"one call {one:.2f} s, 2 processes {other:.2f} s, efficiency {one / other:.2f}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--size", type=int, default=2048)
    parser.add_argument("--chunk", type=int, default=512)
    parser.add_argument("--time", type=int, default=8)
    parser.add_argument("--steps", type=int, nargs="*", default=[1, 4])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--alive", action="store_true")
    parser.add_argument("--cluster", action="store_true")
    parser.add_argument("--plan", type=int, nargs="*", default=[])
    asked = parser.parse_args()
    for side in asked.plan:
        planning(side, asked.rounds)
    if asked.alive:
        alive(asked.rounds)
    if asked.cluster:
        cluster(asked.size, asked.chunk, asked.time, asked.rounds)
    if asked.plan or asked.alive or asked.cluster:
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
