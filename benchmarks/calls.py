"""What a call costs on arrays of 8 x 8, after warm-up, in microseconds.

    python benchmarks/calls.py

Three functions: the primal, `value_and_grad` where the result is a number, and `vjp`
with its pullback. Then one of them beside what else is installed of Numba's `njit`, JAX
and PyTorch, which compute the same. Batches are asked in turn; the table has the best
mean of each.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numba
import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import pyrev

CALLS, BATCHES = 2000, 9


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


def misfit(x, w, d):
    total = 0.0
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            r = w[i, j] * x[i, j] - d[i, j]
            total += r * r
    return total


def best(ways: dict[str, Callable[[], object]]) -> dict[str, float]:
    """Microseconds per call of each, the least of means of batches."""
    found = dict.fromkeys(ways, np.inf)
    for run in ways.values():
        run()
    for _ in range(BATCHES):
        for name, run in ways.items():
            begin = time.perf_counter()
            for _ in range(CALLS):
                run()
            took = (time.perf_counter() - begin) / CALLS
            found[name] = min(found[name], 1e6 * took)
    return found


def ours(
    function: Callable[..., Any], arguments: tuple[Any, ...], written: str = ""
) -> dict[str, Any]:
    """The calls of pyrev of a function that returns a number or writes its last
    argument, by what they are.
    """
    f = pyrev.differentiable(function, target="numba")
    cotangents = {written: arguments[-1]} if written else {}
    given = () if written else (1.0,)

    def swept() -> object:
        return pyrev.vjp(f, *arguments)[1](*given, cotangents=cotangents)

    ways = {"primal": lambda: f(*arguments), "vjp and pullback": swept}
    if not written:
        gradient = pyrev.value_and_grad(f)
        ways["value_and_grad"] = lambda: gradient(*arguments)
    return ways


def of_jax(arguments: tuple[Any, ...]) -> dict[str, Any]:
    """The misfit, and value and gradients, jitted and waited for."""
    import jax

    jax.config.update("jax_enable_x64", True)
    given = [jax.numpy.asarray(a) for a in arguments]

    def f(x, w, d):
        return ((w * x - d) ** 2).sum()

    primal = jax.jit(f)
    gradient = jax.jit(jax.value_and_grad(f, argnums=(0, 1, 2)))
    return {
        "primal": lambda: primal(*given).block_until_ready(),
        "value_and_grad": lambda: jax.block_until_ready(gradient(*given)),
    }


def of_torch(arguments: tuple[Any, ...]) -> dict[str, Any]:
    """The misfit by whole tensors, and its backward pass."""
    import torch

    torch.set_num_threads(1)
    given = [torch.tensor(a, requires_grad=True) for a in arguments]

    def f(x, w, d):
        return ((w * x - d) ** 2).sum()

    def gradient() -> object:
        value = f(*given)
        return value, torch.autograd.grad(value, given)

    return {"primal": lambda: f(*given), "value_and_grad": gradient}


def main() -> None:
    rng = np.random.default_rng(0)
    a, b, out = rng.random((8, 8)), rng.random((8, 8)), np.zeros((8, 8))
    d, taps = rng.random((8, 8)), rng.random((3, 3))
    columns = "primal", "value_and_grad", "vjp and pullback"
    print(f"{'':16}" + "".join(f"{c:>18}" for c in columns))

    def show(name: str, found: dict[str, float]) -> None:
        texts = [f"{found[c]:18.1f}" if c in found else f"{'-':>18}" for c in columns]
        print(f"{name:16}" + "".join(texts), flush=True)

    show("blur", best(ours(blur, (a, taps, out), "out")))
    show("product", best(ours(product, (a, b, out), "c")))
    compiled, frozen = numba.njit(misfit), pyrev.differentiable(misfit).frozen(a, b, d)
    peers: dict[str, dict[str, Any]] = {
        "misfit": ours(misfit, (a, b, d)),
        "f.frozen": {"primal": lambda: frozen(a, b, d)},
        "njit": {"primal": lambda: compiled(a, b, d)},
    }
    for name, make in (("JAX", of_jax), ("PyTorch", of_torch)):
        try:
            peers[name] = make((a, b, d))
        except ImportError:
            print(f"{name} is not installed")
    ways = {(n, c): run for n, of in peers.items() for c, run in of.items()}
    times = best(ways)
    for name, of in peers.items():
        show(name, {c: times[name, c] for c in of})


if __name__ == "__main__":
    main()
