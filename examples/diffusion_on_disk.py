"""What was the field before it diffused? An inversion with arrays that stay on disk.

    python examples/diffusion_on_disk.py [--rows 16384] [--columns 16384] [--chunk 1024]
        [--iterations 20] [--limit 2e9] [--folder DIR]

The unknown field, the conductivity and the data are Zarr arrays, two gigabytes each as
it stands, and the process ends if it holds more than `--limit` bytes, as in a container
(the cache of the disk is not counted). Value and gradient are `pyrev.dask`'s of the
loops below; L-BFGS keeps its vectors on disk, too, and needs of them only their
products, all in one pass ("vector-free L-BFGS": Chen, Wang and Zhou, "Large-scale
L-BFGS using MapReduce", NIPS 2014).
"""

from __future__ import annotations

import argparse
import os
import resource
import shutil
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

import dask
import dask.array as da
import numpy as np
import zarr

import pyrev.dask


def misfit(u: Any, c: Any, d: Any, steps: int, weight: float) -> Any:
    """Half the squared distance of the diffused field to the data, and smoothness."""
    s = 0.0
    for y in range(1, u.shape[0]):
        for x in range(1, u.shape[1]):
            down = u[y, x] - u[y - 1, x]
            right = u[y, x] - u[y, x - 1]
            s += weight * (down * down + right * right)
    diffused(u, c, steps)
    for y in range(u.shape[0]):
        for x in range(u.shape[1]):
            s += (u[y, x] - d[y, x]) ** 2
    return 0.5 * s


def diffused(u: Any, c: Any, steps: int) -> None:
    """The field after some steps: what makes the data."""
    for _ in range(steps):
        v = u.copy()
        for y in range(1, u.shape[0] - 1):
            for x in range(1, u.shape[1] - 1):
                around = v[y - 1, x] + v[y + 1, x] + v[y, x - 1] + v[y, x + 1]
                u[y, x] = v[y, x] + c[y, x] * (around - 4.0 * v[y, x])


class Store:
    """Arrays on disk by name, all with the same chunks."""

    def __init__(self, folder: Path, chunk: int) -> None:
        self.folder, self.chunk = folder, chunk

    def __getitem__(self, name: str) -> da.Array:
        return da.from_zarr(str(self.folder / name))

    def keep(self, **arrays: da.Array) -> list[Any]:
        """What writes arrays, to be computed; what had the name before is gone."""
        found = []
        for name, array in arrays.items():
            path = self.folder / name
            shutil.rmtree(path, ignore_errors=True)
            made = zarr.create_array(
                path,
                shape=array.shape,
                chunks=(self.chunk,) * array.ndim,
                dtype=array.dtype,
                compressors=None,
            )
            parts = array.rechunk(self.chunk)
            found.append(da.store(parts, made, lock=False, compute=False))
        return found


def gram(*vectors: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """The products of all pairs of vectors."""
    return np.array([[np.vdot(a, b) for b in vectors] for a in vectors])


class Lbfgs:
    """Minimises value_and_grad over an array on disk, with `memory` pairs of vectors.

    Every iteration takes one pass over the pairs for their products, one for the
    direction, and as many calls as the backtracking line search needs, mostly one.
    """

    def __init__(self, value_and_grad: Any, store: Store, memory: int = 3) -> None:
        self.call, self.store, self.memory = value_and_grad, store, memory
        self.pairs: list[int] = []
        self.calls = 0

    def ask(self, x: str, gradient: str) -> float:
        """The value at an array; its gradient is kept."""
        value, slope = self.call(self.store[x])
        kept = self.store.keep(**{gradient: slope})
        self.calls += 1
        return float(dask.compute(value, *kept)[0])

    def run(self, iterations: int, told: Any = print) -> float:
        """The value that is reached from the array "x", where the result is then."""
        value = self.ask("x", "g")
        for k in range(iterations):
            direction, slope = self.direction()
            size = 1.0
            while True:
                moved = self.store["x"] + size * direction
                dask.compute(*self.store.keep(new_x=moved))
                new = self.ask("new_x", "new_g")
                if new <= value + 1e-4 * size * slope:
                    break
                size /= 2.0
                if size < 1e-10:
                    return value
            step = self.store["new_x"] - self.store["x"]
            change = self.store["new_g"] - self.store["g"]
            dask.compute(*self.store.keep(**{f"s{k}": step, f"y{k}": change}))
            self.pairs = [*self.pairs, k][-self.memory :]
            for name in ("x", "g"):
                shutil.rmtree(self.store.folder / name)
                (self.store.folder / f"new_{name}").rename(self.store.folder / name)
            for old in range(k - self.memory, k - self.memory + 1):
                for name in ("s", "y"):
                    path = self.store.folder / f"{name}{old}"
                    shutil.rmtree(path, ignore_errors=True)
            value = new
            told(k + 1, value)
        return value

    def direction(self) -> tuple[da.Array, float]:
        """The direction as a sum of vectors, and the slope along it.

        The two loops of L-BFGS (Nocedal and Wright, Numerical Optimization, 7.4) in
        the coordinates of these vectors.
        """
        names = [f"{n}{k}" for n in "sy" for k in self.pairs] + ["g"]
        vectors = [self.store[n] for n in names]
        count, m = len(vectors), len(self.pairs)
        # All of a chunk in one task: a chunk that several waited for would be held.
        sizes = tuple((count,) * n for n in vectors[0].numblocks)
        parts = da.map_blocks(gram, *vectors, chunks=sizes, dtype=np.float64).compute()
        blocks = parts.reshape(len(sizes[0]), count, len(sizes[1]), count)
        products = blocks.sum(axis=(0, 2))
        own = np.zeros(count)
        own[-1] = -1.0
        alpha = np.zeros(m)
        for i in reversed(range(m)):
            alpha[i] = own @ products[i] / products[i, m + i]
            own[m + i] -= alpha[i]
        if m:
            own *= products[m - 1, 2 * m - 1] / products[2 * m - 1, 2 * m - 1]
        for i in range(m):
            beta = own @ products[m + i] / products[i, m + i]
            own[i] += alpha[i] - beta
        total = sum(w * v for w, v in zip(own, vectors, strict=True))
        return total, float(own @ products[-1])


def inverted(
    folder: Path,
    shape: tuple[int, int],
    chunk: int,
    iterations: int,
    steps: int = 4,
    weight: float = 1e-4,
    told: Any = print,
) -> tuple[float, float]:
    """Make the problem in a folder and solve it: the values before and after."""
    store = Store(folder, chunk)
    draw = da.random.default_rng(0)
    y = da.linspace(0, 12, shape[0], chunks=chunk)[:, None]
    x = da.linspace(0, 9, shape[1], chunks=chunk)[None, :]
    truth = da.sin(y) * da.cos(x) + 0.3 * (draw.random(shape, chunks=chunk) > 0.9)
    c = 0.1 + 0.1 * draw.random(shape, chunks=chunk)
    dask.compute(*store.keep(truth=truth, c=c))
    forward = pyrev.dask.distribute(diffused, steps=steps)
    data = forward(store["truth"], store["c"], steps)
    noise = 0.01 * draw.standard_normal(shape, chunks=chunk)
    dask.compute(*store.keep(d=data + noise, x=data))
    shutil.rmtree(folder / "truth")
    loss = pyrev.dask.distribute(misfit, steps=steps, memory="300MB")

    def value_and_grad(field: da.Array) -> tuple[da.Array, da.Array]:
        value, gradients = loss.value_and_grad(
            field, store["c"], store["d"], steps, weight, wrt="u"
        )
        return value, gradients.u

    solver = Lbfgs(value_and_grad, store)
    begin = solver.ask("x", "g")
    told(0, begin)
    return begin, solver.run(iterations, told)


def watch(limit: float) -> None:
    """End the process when it holds more bytes than these."""
    page = resource.getpagesize()
    while True:
        held = int(Path("/proc/self/statm").read_text().split()[1]) * page
        if held > limit:
            print(f"{held / 1e6:.0f} MB are held, {limit / 1e6:.0f} may be", flush=True)
            os._exit(137)
        time.sleep(0.02)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=16384)
    parser.add_argument("--columns", type=int, default=16384)
    parser.add_argument("--chunk", type=int, default=1024)
    parser.add_argument("--iterations", type=int, default=20)
    parser.add_argument("--limit", type=float, default=2e9)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--folder", type=Path)
    asked = parser.parse_args()
    if asked.limit:
        threading.Thread(target=watch, args=(asked.limit,), daemon=True).start()
    shape = asked.rows, asked.columns
    start = time.perf_counter()

    def told(iteration: int, value: float) -> None:
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3
        took = time.perf_counter() - start
        print(f"{iteration:3d}  {value:.6e}  {took:7.1f} s  {peak:6.0f} MB", flush=True)

    with (
        tempfile.TemporaryDirectory(dir=asked.folder) as folder,
        dask.config.set(scheduler="threads", num_workers=asked.threads),
    ):
        size = 3 * 8 * shape[0] * shape[1] / 1e9
        print(f"field, conductivity and data: {size:.1f} GB")
        inverted(Path(folder), shape, asked.chunk, asked.iterations, told=told)


if __name__ == "__main__":
    main()
