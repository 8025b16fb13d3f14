"""What a call costs on arrays of 8 x 8, after warm-up, in microseconds.

    python benchmarks/calls.py

The best mean of several batches: the primal, and `vjp` with its pullback.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import pyrev

CALLS, BATCHES = 2000, 7


def blur(x, w, out):
    for i in range(1, x.shape[0] - 1):
        for j in range(1, x.shape[1] - 1):
            s = 0.0
            for a in range(3):
                for b in range(3):
                    s += x[i + a - 1, j + b - 1] * w[a, b]
            out[i, j] = s


def product(a, b, c):
    for i in range(a.shape[0]):
        for j in range(b.shape[1]):
            for k in range(a.shape[1]):
                c[i, j] += a[i, k] * b[k, j]


def energy(u):
    total = 0.0
    for i in range(u.shape[0]):
        for j in range(u.shape[1]):
            total += u[i, j] * u[i, j]
    return total


def best(run: Callable[[], object]) -> float:
    """Microseconds per call."""
    run()
    found = []
    for _ in range(BATCHES):
        begin = time.perf_counter()
        for _ in range(CALLS):
            run()
        found.append((time.perf_counter() - begin) / CALLS)
    return 1e6 * min(found)


def main() -> None:
    rng = np.random.default_rng(0)
    a, b, out = rng.random((8, 8)), rng.random((8, 8)), np.zeros((8, 8))
    taps = rng.random((3, 3))
    calls = (
        (blur, (a, taps, out), {"to": {"out": out}}),
        (product, (a, b, out), {"to": {"c": out}}),
        (energy, (a,), {"": (1.0,)}),
    )
    print(f"{'':10}{'primal':>10}{'vjp and pullback':>20}")
    for function, arguments, given in calls:
        f = pyrev.differentiable(function, target="numba")

        def gradient(f=f, arguments=arguments, given=given) -> object:
            _, pullback = pyrev.vjp(f, *arguments)
            return pullback(*given.get("", ()), cotangents=given.get("to", {}))

        primal = best(lambda f=f, arguments=arguments: f(*arguments))
        print(f"{function.__name__:10}{primal:10.1f}{best(gradient):20.1f}")


if __name__ == "__main__":
    main()
