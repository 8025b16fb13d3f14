"""Ten workloads of other fields: what a gradient costs beside a natural Numba primal.

    python benchmarks/further.py [--only NAME] [--rounds 15] [--small] [--out r.json]

Each is one plain function, written as Numba users write it, `prange` included. Timed in
turn, as medians of the rounds in ms: the function under `@njit(parallel=True)` and
nothing else (natural), as pyrev runs it (primal), and with its gradient with respect to
all float arrays (`vjp` and pullback). Every gradient is checked first, at a small size,
against differences of the undecorated function. Where PyTorch is installed and whole
arrays can say the same (`further_torch.py`), its gradient is timed beside it.
"""

from __future__ import annotations

import argparse
import copy
import json
import math
import statistics
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numba import njit, prange

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import pyrev

try:
    import further_torch
except ImportError:
    further_torch = None

Arguments = dict[str, Any]


def conv3d(x, w, out):
    for i in prange(out.shape[0]):
        for j in range(out.shape[1]):
            for k in range(out.shape[2]):
                s = 0.0
                for a in range(3):
                    for b in range(3):
                        for c in range(3):
                            s += x[i + a, j + b, k + c] * w[a, b, c]
                out[i, j, k] = s


def fdtd2d(ez, hx, hy, eps, steps):
    for _ in range(steps):
        for i in prange(ez.shape[0] - 1):
            for j in range(ez.shape[1] - 1):
                hx[i, j] -= 0.5 * (ez[i, j + 1] - ez[i, j])
                hy[i, j] += 0.5 * (ez[i + 1, j] - ez[i, j])
        for i in prange(1, ez.shape[0] - 1):
            for j in range(1, ez.shape[1] - 1):
                curl = hy[i, j] - hy[i - 1, j] - hx[i, j] + hx[i, j - 1]
                ez[i, j] += eps[i, j] * curl


def lattice_boltzmann(f, g, omega):
    rows = f.shape[1]
    columns = f.shape[2]
    for i in prange(rows):
        for j in range(columns):
            rho = 0.0
            ux = 0.0
            uy = 0.0
            for a in range(3):
                for b in range(3):
                    rho += f[3 * a + b, i, j]
                    ux += (a - 1) * f[3 * a + b, i, j]
                    uy += (b - 1) * f[3 * a + b, i, j]
            ux = ux / rho
            uy = uy / rho
            square = 1.5 * (ux * ux + uy * uy)
            for a in range(3):
                for b in range(3):
                    weight = (2.0 / 3.0 if a == 1 else 1.0 / 6.0) * (
                        2.0 / 3.0 if b == 1 else 1.0 / 6.0
                    )
                    cu = 3.0 * ((a - 1) * ux + (b - 1) * uy)
                    feq = weight * rho * (1.0 + cu + 0.5 * cu * cu - square)
                    to_i = (i + a - 1 + rows) % rows
                    to_j = (j + b - 1 + columns) % columns
                    g[3 * a + b, to_i, to_j] = (
                        f[3 * a + b, i, j] * (1.0 - omega) + omega * feq
                    )


def deposit(position, charge, grid):
    for p in range(position.shape[0]):
        x = position[p] * (grid.shape[0] - 1)
        k = min(max(int(x), 0), grid.shape[0] - 2)
        w = x - k
        grid[k] += charge[p] * (1.0 - w)
        grid[k + 1] += charge[p] * w


def csr_product(data, column, start, x, y):
    for i in prange(y.shape[0]):
        s = 0.0
        for p in range(start[i], start[i + 1]):
            s += data[p] * x[column[p]]
        y[i] = s


def triangular_solve(lower, b, x):
    for i in range(b.shape[0]):
        s = b[i]
        for j in range(i):
            s -= lower[i, j] * x[j]
        x[i] = s / lower[i, i]


def soft_dtw(x, y, r, gamma):
    for i in range(1, r.shape[0]):
        for j in range(1, r.shape[1]):
            d = (x[i - 1] - y[j - 1]) ** 2
            low = min(r[i - 1, j], r[i, j - 1], r[i - 1, j - 1])
            z = math.exp((low - r[i - 1, j]) / gamma)
            z += math.exp((low - r[i, j - 1]) / gamma)
            z += math.exp((low - r[i - 1, j - 1]) / gamma)
            r[i, j] = d + low - gamma * math.log(z)
    return r[r.shape[0] - 1, r.shape[1] - 1]


def prefix_sums(x, w, out):
    for i in prange(x.shape[0]):
        s = 0.0
        for j in range(x.shape[1]):
            s += x[i, j] * w[j]
            out[i, j] = s * s


def matrix_product(a, b, c):
    for i in prange(a.shape[0]):
        for j in range(b.shape[1]):
            for k in range(a.shape[1]):
                c[i, j] += a[i, k] * b[k, j]


def n_body(position, mass, acceleration):
    for i in prange(position.shape[0]):
        for j in range(position.shape[0]):
            dx = position[j, 0] - position[i, 0]
            dy = position[j, 1] - position[i, 1]
            dz = position[j, 2] - position[i, 2]
            r2 = dx * dx + dy * dy + dz * dz + 0.01
            pull = mass[j] / (r2 * math.sqrt(r2))
            acceleration[i, 0] += pull * dx
            acceleration[i, 1] += pull * dy
            acceleration[i, 2] += pull * dz


@dataclass(frozen=True)
class Workload:
    function: Callable[..., Any]
    make: Callable[[np.random.Generator, int], Arguments]
    outputs: tuple[str, ...]
    size: int
    small: int

    @property
    def name(self) -> str:
        return self.function.__name__


def _sparse(rng: np.random.Generator, n: int) -> Arguments:
    counts = rng.integers(1, 30, n)
    start = np.concatenate([[0], np.cumsum(counts)])
    total = int(start[-1])
    return dict(
        data=rng.random(total),
        column=rng.integers(0, n, total),
        start=start,
        x=rng.random(n),
        y=np.zeros(n),
    )


def _solve(rng: np.random.Generator, n: int) -> Arguments:
    lower = np.tril(rng.random((n, n))) / n + np.eye(n)
    return dict(lower=lower, b=rng.random(n), x=np.zeros(n))


def _warp(rng: np.random.Generator, n: int) -> Arguments:
    r = np.full((n + 1, n + 1), 1e3)
    r[0, 0] = 0.0
    return dict(x=rng.random(n), y=rng.random(n), r=r, gamma=0.5)


WORKLOADS = (
    Workload(
        conv3d,
        lambda r, n: dict(
            x=r.random((n + 2,) * 3), w=r.random((3, 3, 3)), out=np.zeros((n,) * 3)
        ),
        ("out",),
        160,
        4,
    ),
    Workload(
        fdtd2d,
        lambda r, n: dict(
            ez=r.random((n, n)),
            hx=r.random((n, n)),
            hy=r.random((n, n)),
            eps=r.random((n, n)),
            steps=10,
        ),
        ("ez", "hx", "hy"),
        1000,
        5,
    ),
    Workload(
        lattice_boltzmann,
        lambda r, n: dict(
            f=1.0 + r.random((9, n, n)), g=np.zeros((9, n, n)), omega=0.7
        ),
        ("g",),
        700,
        3,
    ),
    Workload(
        deposit,
        lambda r, n: dict(position=r.random(n), charge=r.random(n), grid=np.zeros(512)),
        ("grid",),
        4_000_000,
        9,
    ),
    Workload(csr_product, _sparse, ("y",), 300_000, 6),
    Workload(triangular_solve, _solve, ("x",), 3000, 6),
    Workload(soft_dtw, _warp, ("r",), 1500, 5),
    Workload(
        prefix_sums,
        lambda r, n: dict(x=r.random((n, n)), w=r.random(n), out=np.zeros((n, n))),
        ("out",),
        2500,
        4,
    ),
    Workload(
        matrix_product,
        lambda r, n: dict(a=r.random((n, n)), b=r.random((n, n)), c=np.zeros((n, n))),
        ("c",),
        700,
        5,
    ),
    Workload(
        n_body,
        lambda r, n: dict(
            position=r.random((n, 3)), mass=r.random(n), acceleration=np.zeros((n, 3))
        ),
        ("acceleration",),
        4000,
        5,
    ),
)


def steps(w: Workload, arguments: Arguments) -> dict[str, Callable[[], Any]]:
    """The ways of running a workload, each from the same arguments."""
    f = pyrev.differentiable(w.function, target="numba")
    natural = njit(parallel=True, error_model="numpy")(w.function)
    # A function that returns a number is pulled back from it.
    returns = w.function is soft_dtw
    ones = {} if returns else {n: np.ones_like(arguments[n]) for n in w.outputs}

    def fresh() -> Arguments:
        return {k: v.copy() if k in w.outputs else v for k, v in arguments.items()}

    def gradient() -> Any:
        _, pullback = pyrev.vjp(f, **fresh())
        return pullback(1.0) if returns else pullback(cotangents=ones)

    run = {
        "natural": lambda: natural(*fresh().values()),
        "primal": lambda: f(**fresh()),
        "gradient": gradient,
    }
    if further_torch is not None and w.name in further_torch.FORWARD:
        run["torch"] = further_torch.gradient(w.name, arguments)
    return run


def measure(w: Workload, size: int, rounds: int) -> dict[str, Any]:
    arguments = w.make(np.random.default_rng(0), size)
    run = steps(w, arguments)
    first = {}
    for name, step in run.items():
        begin = time.perf_counter()
        step()
        first[name] = time.perf_counter() - begin
    times: dict[str, list[float]] = {name: [] for name in run}
    for _ in range(rounds):
        for name, step in run.items():
            begin = time.perf_counter()
            step()
            times[name].append(1e3 * (time.perf_counter() - begin))
    found: dict[str, Any] = {n: statistics.median(t) for n, t in times.items()}
    found["first gradient, s"] = first["gradient"]
    found["gradient / natural"] = found["gradient"] / found["natural"]
    found["primal / natural"] = found["primal"] / found["natural"]
    if "torch" in found:
        found["torch / gradient"] = found["torch"] / found["gradient"]
    return found


def check(w: Workload) -> None:
    arguments = w.make(np.random.default_rng(1), w.small)
    f = pyrev.differentiable(w.function, target="numba")
    report = pyrev.check_grad(f, **copy.deepcopy(arguments))
    if not report.ok:
        raise SystemExit(f"{w.name}: {report}")
    run = steps(w, arguments)
    if "torch" in run:
        ours, theirs = run["gradient"](), run["torch"]()
        for name, gradient in theirs.items():
            np.testing.assert_allclose(gradient, ours[name], rtol=1e-9, atol=1e-9)


def _cell(value: float | None) -> str:
    return f"{'-':>19}" if value is None else f"{value:19.2f}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", action="append", help="a workload; may be repeated")
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--small", action="store_true", help="small sizes, to try it")
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    results: dict[str, Any] = {}
    columns = (
        "natural",
        "primal",
        "gradient",
        "primal / natural",
        "gradient / natural",
        "torch",
        "torch / gradient",
    )
    print(f"{'':18}" + "".join(f"{c:>19}" for c in columns))
    for w in WORKLOADS:
        if options.only and w.name not in options.only:
            continue
        check(w)
        found = measure(w, w.small if options.small else w.size, options.rounds)
        results[w.name] = found
        print(
            f"{w.name:18}" + "".join(_cell(found.get(c)) for c in columns), flush=True
        )
    for column in ("primal / natural", "gradient / natural", "torch / gradient"):
        values = [r[column] for r in results.values() if column in r]
        if values:
            mean = statistics.geometric_mean(values)
            print(f"geometric mean of {column}: {mean:.2f}")
    if options.out is not None:
        options.out.write_text(json.dumps(results, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
