"""How the time of a gradient grows with the arrays, and what a second core brings.

    python benchmarks/growth.py [--decades 6] [--plot growth.png] [--out r.json]

Three functions with gradients that gather, scatter by data, and reduce, each at sizes
from ten elements on, ten times as many each time: the medians of `vjp` and pullback,
as nanoseconds per element, and the exponent of n between the last two decades (1 is
linear). Then the same for the number of threads, where the floor is arithmetic: n-body
and a convolution with one thread and with all, in turn, beside a loop in registers that
touches no memory: what the machine's cores gave at that moment.
"""

from __future__ import annotations

import argparse
import json
import math
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numba
import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import pyrev

Step = Callable[[], object]


def diffusion(u, k, out):
    for i in range(1, u.shape[0] - 1):
        bend = u[i - 1] - 2.0 * u[i] + u[i + 1]
        slope = u[i + 1] - u[i - 1]
        out[i] = u[i] + k[i] * bend / (1.0 + slope * slope)


def interpolation(table, at, out):
    last = table.shape[0] - 2
    for i in range(at.shape[0]):
        position = at[i] * last
        left = min(max(int(position), 0), last)
        part = position - left
        out[i] = (1.0 - part) * table[left] + part * table[left + 1]


def log_likelihood(x, mean, width):
    total = 0.0
    for i in range(x.shape[0]):
        z = (x[i] - mean) / width
        total -= 0.5 * z * z + math.log(1.0 + math.exp(-z))
    return total


def forces(position, out):
    for i in range(position.shape[0]):
        for j in range(position.shape[0]):
            dx = position[j, 0] - position[i, 0]
            dy = position[j, 1] - position[i, 1]
            dz = position[j, 2] - position[i, 2]
            squared = dx * dx + dy * dy + dz * dz + 0.01
            pull = 1.0 / (squared * math.sqrt(squared))
            out[i, 0] += dx * pull
            out[i, 1] += dy * pull
            out[i, 2] += dz * pull


def convolution(x, w, out):
    for i in range(out.shape[0]):
        for j in range(out.shape[1]):
            total = 0.0
            for a in range(w.shape[0]):
                for b in range(w.shape[1]):
                    total += x[i + a, j + b] * w[a, b]
            out[i, j] = total


@numba.njit(parallel=True)
def in_registers(rows: int, count: int) -> float:
    """Divisions and roots alone, in `rows` independent pieces of `count` steps."""
    total = 0.0
    for row in numba.prange(rows):
        a, b, c, d = 0.1 * row, 0.2, 0.3, 0.4
        for _ in range(count):
            a = 1.0 / (math.sqrt(a) + 0.5)
            b = 1.0 / (math.sqrt(b) + 0.4)
            c = 1.0 / (math.sqrt(c) + 0.3)
            d = 1.0 / (math.sqrt(d) + 0.2)
        total += a + b + c + d
    return total


def growing(n: int) -> dict[str, Step]:
    """The gradients of three functions of arrays of `n` elements."""
    rng = np.random.default_rng(n)
    u, k, at, x = (rng.random(n, dtype=np.float32) for _ in range(4))
    out = np.zeros(n, np.float32)
    return {
        "diffusion": filled(diffusion, {"u": u, "k": k}, out),
        "interpolation": filled(interpolation, {"table": u, "at": at}, out),
        "log_likelihood": returned(log_likelihood, {"x": x, "mean": 0.4, "width": 0.8}),
    }


def bound_by_arithmetic() -> dict[str, Step]:
    """Gradients that compute much with few bytes."""
    rng = np.random.default_rng(1)
    position = rng.random((3000, 3), dtype=np.float32)
    image = rng.random((1032, 1032), dtype=np.float32)
    kernel = rng.random((9, 9), dtype=np.float32)
    return {
        "forces": filled(forces, {"position": position}, np.zeros_like(position)),
        "convolution": filled(
            convolution,
            {"x": image, "w": kernel},
            np.zeros((1024, 1024), np.float32),
        ),
        "in registers": lambda: in_registers(64, 40_000),
    }


_DERIVED: dict[Callable[..., Any], Any] = {}


def derived(f: Callable[..., Any]) -> Any:
    if f not in _DERIVED:
        _DERIVED[f] = pyrev.differentiable(f)
    return _DERIVED[f]


def filled(f: Callable[..., Any], given: dict[str, Any], out: np.ndarray) -> Step:
    function, wrt, seed = derived(f), tuple(given), np.ones_like(out)

    def step() -> object:
        _, pullback = pyrev.vjp(function, **given, out=np.zeros_like(out), wrt=wrt)
        return pullback(out=seed)

    return step


def returned(f: Callable[..., Any], given: dict[str, Any]) -> Step:
    function = derived(f)

    def step() -> object:
        _, pullback = pyrev.vjp(function, **given)
        return pullback(1.0)

    return step


def seconds(step: Step, rounds: int) -> float:
    """The median time of a call, each long enough for the clock."""
    step()
    times: list[float] = []
    for _ in range(rounds):
        calls, took = 0, 0.0
        while took < 0.02:
            start = time.perf_counter()
            step()
            took += time.perf_counter() - start
            calls += 1
        times.append(took / calls)
    return statistics.median(times)


def grown(decades: int, rounds: int) -> dict[str, list[tuple[int, float]]]:
    sizes = [10**k for k in range(1, decades + 2)]
    found: dict[str, list[tuple[int, float]]] = {}
    for n in sizes:
        for name, step in growing(n).items():
            found.setdefault(name, []).append((n, seconds(step, rounds)))
    print(f"{'ns per element':16}" + "".join(f"{n:>11,}" for n in sizes) + "  exponent")
    for name, row in found.items():
        (m, before), (n, after) = row[-2:]
        slope = math.log(after / before) / math.log(n / m)
        cells = "".join(f"{1e9 * t / n:11.2f}" for n, t in row)
        print(f"{name:16}{cells}{slope:10.2f}")
    return found


def threaded(rounds: int) -> dict[str, dict[str, float]]:
    most = numba.config.NUMBA_NUM_THREADS
    found: dict[str, dict[str, float]] = {}
    for name, step in bound_by_arithmetic().items():
        times: dict[int, list[float]] = {1: [], most: []}
        step()
        # Single calls in turn: a core's clock follows the work of the last moments.
        for _ in range(7 * rounds):
            for threads in times:
                numba.set_num_threads(threads)
                start = time.perf_counter()
                step()
                times[threads].append(time.perf_counter() - start)
        one, all_ = (statistics.median(t) for t in times.values())
        found[name] = {"one": one, "all": all_}
        print(
            f"{name:16}{1e3 * one:9.1f} ms with one thread,"
            f" {1e3 * all_:.1f} with {most}: {one / all_:.2f} times as fast,"
            f" {min(times[1]) / min(times[most]):.2f} in the fastest rounds"
        )
    numba.set_num_threads(most)
    return found


def plot(rows: dict[str, list[tuple[int, float]]], file: str) -> None:
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot as plt

    figure, axes = plt.subplots(figsize=(6, 4))
    for name, row in rows.items():
        sizes = [n for n, _ in row]
        axes.loglog(sizes, [1e9 * t / n for n, t in row], marker="o", label=name)
    axes.set_xlabel("elements")
    axes.set_ylabel("ns per element, value and gradient")
    axes.legend()
    figure.tight_layout()
    figure.savefig(file, dpi=120)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--decades", type=int, default=6)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--plot", metavar="FILE")
    parser.add_argument("--out", metavar="FILE")
    args = parser.parse_args()
    sizes = grown(args.decades, args.rounds)
    threads = threaded(args.rounds)
    if args.plot:
        plot(sizes, args.plot)
    if args.out:
        Path(args.out).write_text(json.dumps({"growth": sizes, "threads": threads}))


if __name__ == "__main__":
    main()
