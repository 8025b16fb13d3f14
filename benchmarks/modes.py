"""What the modes of `docs/modes.md` cost, on this machine.

    python benchmarks/modes.py [--rounds 15] [--small]

- HM-LSTM cell, 2048 x 2048, float32: value and all four partials in one pass
  (`pyrev.partials`), beside the gradient by `vjp`, PyTorch eager and torch.compile,
  which are left out where PyTorch is missing. In turn, in another order each round.
- Sparse Jacobian of a five-point stencil on 512 x 512: colours, and time in evaluations
  of the function, which run in turn with it; pattern and colours are found before.
  `jvp` is the same directions by the public function, which fills its outputs first.
- Sparse Hessian of Rosenbrock's chain of 100 000 variables.
"""

from __future__ import annotations

import argparse
import random
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
sys.path.insert(0, str(Path(__file__).resolve().parent))
import loops
from workloads import hmlstm

import pyrev
from pyrev.api import matrices
from pyrev.api.sparsity import coloured

Step = Callable[[], Any]


def stencil(u, out):
    for y in range(1, u.shape[0] - 1):
        for x in range(1, u.shape[1] - 1):
            around = u[y - 1, x] + u[y + 1, x] + u[y, x - 1] + u[y, x + 1]
            out[y, x] = (around - 4 * u[y, x]) * u[y, x]


def rosenbrock(x):
    total = 0.0
    for i in range(x.shape[0] - 1):
        total += 100 * (x[i + 1] - x[i] ** 2) ** 2 + (1 - x[i]) ** 2
    return total


def timed(steps: dict[str, Step], rounds: int) -> dict[str, list[float]]:
    """Milliseconds, in another order each round."""
    order = random.Random(0)
    found: dict[str, list[float]] = {name: [] for name in steps}
    for step in steps.values():
        step()
    for _ in range(rounds):
        names = list(steps)
        order.shuffle(names)
        for name in names:
            start = time.perf_counter()
            steps[name]()
            found[name].append(1e3 * (time.perf_counter() - start))
    return found


@contextmanager
def assembling() -> Iterator[list[float]]:
    """Milliseconds that each sparse matrix takes after its directions have moved."""
    found: list[float] = []
    block = matrices._Sweep.block

    def measured(self: Any, output: str, moved: Any) -> Any:
        start = time.perf_counter()
        made = block(self, output, moved)
        found.append(1e3 * (time.perf_counter() - start))
        return made

    matrices._Sweep.block = measured
    try:
        yield found
    finally:
        matrices._Sweep.block = block


def cell(small: bool) -> dict[str, Step]:
    """The steps for the HM-LSTM cell; gradients of all are compared before."""
    given = hmlstm.inputs(small)
    function = pyrev.differentiable(loops.hmlstm)
    names = ("c", "f", "i", "g")
    go = given["go"]
    args = {k: v for k, v in given.items() if k != "go"} | {"out": np.zeros_like(go)}

    def partials() -> Any:
        return pyrev.partials(function, **args, wrt=names)[1]["out"]

    def gradient() -> Any:
        _, pullback = pyrev.vjp(function, **args, wrt=names)
        return pullback(out=go)

    steps: dict[str, Step] = {"pyrev.partials": partials, "pyrev.vjp": gradient}
    ours, theirs = partials(), gradient()
    for n in names:
        np.testing.assert_allclose(ours[n] * go, theirs[n], rtol=1e-5, atol=1e-6)
    try:
        import torch
    except ImportError:
        return steps
    torch.set_num_threads(2)
    held = {n: torch.tensor(given[n], requires_grad=True) for n in names}
    z1, z2, seed = (torch.tensor(given[n]) for n in ("z1", "z2", "go"))

    def forward(c: Any, f: Any, i: Any, g: Any) -> Any:
        return hmlstm.torch_step(torch, c, f, i, g, z1, z2)

    def by(function: Any) -> Step:
        def step() -> Any:
            for t in held.values():
                t.grad = None
            function(*held.values()).backward(seed)
            return held

        for n, t in step().items():
            np.testing.assert_allclose(t.grad.numpy(), theirs[n], rtol=1e-4, atol=1e-5)
        return step

    steps["torch"] = by(forward)
    steps["torch.compile"] = by(torch.compile(forward))
    return steps


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--small", action="store_true", help="to see that it runs")
    options = parser.parse_args()

    times = timed(cell(options.small), options.rounds)
    best = statistics.median(times["pyrev.partials"])
    print("HM-LSTM cell, value and derivatives by c, f, i, g")
    for name, t in times.items():
        middle = statistics.median(t)
        print(f"  {name:16} {middle:8.2f} ms  {middle / best:5.2f} x")

    side = 32 if options.small else 512
    rng = np.random.default_rng(0)
    u, out = rng.random((side, side)), np.zeros((side, side))
    function = pyrev.differentiable(stencil)
    matrix_of = pyrev.jacobian(function, wrt="u", of="out", sparse=True)
    start = time.perf_counter()
    rows = matrix_of(u, out)
    first = time.perf_counter() - start
    colours = coloured(rows, u.shape)[1]
    print(f"five-point stencil, {side} x {side}: {colours} colours, {rows.nnz} entries")
    print(f"  first call, with pattern and colours: {first:.2f} s")
    seeds = np.zeros((colours, side, side))
    compared: dict[str, Step] = {
        "jacobian": lambda: matrix_of(u, out),
        "jvp": lambda: pyrev.jvp(function, u, out, tangents={"u": seeds}),
    }
    for label, step in compared.items():
        steps: dict[str, Step] = {"function": lambda: function(u, out), label: step}
        with assembling() as assembly:
            times = timed(steps, 4 * options.rounds)
        if assembly:
            wholes = times[label]
            parts = zip(wholes, assembly[-len(wholes) :], strict=True)
            times[f"{label}, less assembly"] = [whole - part for whole, part in parts]
        middle = {n: statistics.median(t) for n, t in times.items()}
        for name, t in middle.items():
            print(f"  {name:24} {t:8.3f} ms  {t / middle['function']:5.2f} x")

    size = 1000 if options.small else 100_000
    hessian_of = pyrev.hessian(rosenbrock, wrt="x", sparse=True)
    for short in (50, size - 1):  # compiles: what long chains run is another program
        hessian_of(rng.random(short))
    for label in ("first call of this size", "again"):
        start = time.perf_counter()
        found = hessian_of(np.linspace(0.0, 1.0, size))
        took = time.perf_counter() - start
        what = f"Rosenbrock, {size} variables, {found.nnz} entries, {label}"
        print(f"{what}: {took:.3f} s")
    return 0


if __name__ == "__main__":
    sys.exit(main())
