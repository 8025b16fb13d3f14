"""What all cores bring to loops over little, on each of Numba's threading layers.

    python benchmarks/threads.py [--busy N] [--layer omp tbb workqueue]

Steps of a reaction and diffusion on grids of several sizes, the function and its
gradient: calls that may take all threads, and calls that may take one
(`numba.set_num_threads(1)`), in turn, in a process of its own for each layer. The table
has medians in milliseconds, the time of both rounds together, and the ratio of medians;
with `--busy` other processes keep as many cores at work meanwhile.
"""

from __future__ import annotations

import argparse
import importlib
import os
import subprocess
import sys
import time
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
LAYERS = {"omp": "omppool", "tbb": "tbbpool", "workqueue": "workqueue"}
#: Cells on a side, and steps.
CASES = ((16, 100), (48, 100), (128, 50), (512, 10))
WARM, ROUNDS = 12, 15


def reaction(u, v, steps, f, k, nu, nv):
    n, m = u.shape
    for _ in range(steps):
        a = np.zeros((n, m))
        b = np.zeros((n, m))
        for i in range(1, n - 1):
            for j in range(1, m - 1):
                lu = u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1] - 4 * u[i, j]
                lv = v[i - 1, j] + v[i + 1, j] + v[i, j - 1] + v[i, j + 1] - 4 * v[i, j]
                r = u[i, j] * v[i, j] * v[i, j]
                a[i, j] = u[i, j] + nu * lu - r + f * (1 - u[i, j])
                b[i, j] = v[i, j] + nv * lv + r - (f + k) * v[i, j]
        u = a
        v = b
    return np.sum(v * v)


def measure() -> None:
    """The table of this process's layer."""
    import numba

    import pyrev

    function = pyrev.differentiable(reaction, target="numba")
    gradient = pyrev.value_and_grad(function, wrt=("u", "v"))
    everyone = numba.get_num_threads()
    for cells, steps in CASES:
        rng = np.random.default_rng(0)
        u, v = rng.random((cells, cells)), rng.random((cells, cells))
        for name, run in (("function", function), ("gradient", gradient)):
            times: dict[int, list[float]] = {everyone: [], 1: []}
            for turn in range(WARM + ROUNDS):
                for threads, found in times.items():
                    numba.set_num_threads(threads)
                    begin = time.perf_counter()
                    run(u, v, steps, 0.04, 0.06, 0.16, 0.08)
                    if turn:  # the first compiles
                        found.append(time.perf_counter() - begin)
            numba.set_num_threads(everyone)
            many, one = (1e3 * np.median(t[WARM - 1 :]) for t in times.values())
            first, sums = 1e3 * times[everyone][0], [sum(t) for t in times.values()]
            print(
                f"{cells:4} x {cells:3}, {steps:3} steps  {name:9}"
                f" {many:8.2f} {one:8.2f}   {many / one:5.2f}"
                f"   {sums[0] / sums[1]:5.2f}   {first:8.2f}",
                flush=True,
            )
    print(f"    (layer {numba.threading_layer()}, {everyone} threads)", flush=True)


def present(layer: str) -> bool:
    """Can this layer be loaded here?"""
    try:
        importlib.import_module(f"numba.np.ufunc.{LAYERS[layer]}")
    except ImportError:
        return False
    return True


def main() -> None:
    reader = argparse.ArgumentParser(description=__doc__)
    reader.add_argument("--busy", type=int, default=0)
    reader.add_argument("--layer", nargs="*", choices=LAYERS, default=[*LAYERS])
    reader.add_argument("--measure", action="store_true", help=argparse.SUPPRESS)
    asked = reader.parse_args()
    if asked.measure:
        measure()
        return
    spinning = [sys.executable, "-c", "while True: pass"]
    busy = [subprocess.Popen(spinning) for _ in range(asked.busy)]
    print("grid, steps             what       all     one  ratio  sums   first")
    try:
        for layer in asked.layer:
            if not present(layer):
                print(f"    (layer {layer} can't be loaded here)")
                continue
            here = [sys.executable, __file__, "--measure"]
            env = {**os.environ, "NUMBA_THREADING_LAYER": layer}
            subprocess.run(here, env=env, check=True)
    finally:
        for process in busy:
            process.kill()


if __name__ == "__main__":
    main()
