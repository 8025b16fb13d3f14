"""Asks other tools for the gradients of the ten functions, in a process for each.

JAX, PyTorch and autograd are asked for the functions as they are, Taichi and Warp for
the same lines as kernels of theirs. A tool refuses by raising, or by ending the
process; what it returns is compared with differences of the plain function.

python -m tests.corpora.conformance.peers PACKAGE FUNCTION
"""

from __future__ import annotations

import importlib
import importlib.util
import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from pyrev.testing import Cotangents, derivative
from tests import ROOT
from tests.corpora.conformance.table import REFUSED, RIGHT, WRONG, Verdict
from tests.corpora.conformance.ten_functions import TITLES, X

FUNCTIONS = {function.__name__: function for function in TITLES}
SECONDS = 300.0


def _jax(name: str) -> Any:
    jax = importlib.import_module("jax")
    jax.config.update("jax_enable_x64", True)
    return jax.jit(jax.grad(FUNCTIONS[name]))(X)


def _torch(name: str) -> Any:
    torch = importlib.import_module("torch")
    x = torch.tensor(X, requires_grad=True)
    FUNCTIONS[name](x).backward()
    return x.grad


def _autograd(name: str) -> Any:
    return importlib.import_module("autograd").grad(FUNCTIONS[name])(X)


def _kernels(module: str) -> Callable[[str], Any]:
    path = f"tests.corpora.conformance.{module}"
    return lambda name: importlib.import_module(path).gradient(name)


PEERS: dict[str, tuple[str, Callable[[str], Any]]] = {
    "jax": ("JAX, jit(grad)", _jax),
    "torch": ("PyTorch, eager", _torch),
    "autograd": ("autograd", _autograd),
    "taichi": ("Taichi", _kernels("peers_taichi")),
    "warp": ("NVIDIA Warp", _kernels("peers_warp")),
}


def rows() -> Iterator[tuple[str, tuple[Verdict, ...] | None]]:
    """Each peer's verdicts on the ten functions, None if it is not installed."""
    for package, (title, _) in PEERS.items():
        if importlib.util.find_spec(package) is None:
            yield title, None
        else:
            yield title, tuple(_verdict(package, name) for name in FUNCTIONS)


def _verdict(package: str, name: str) -> Verdict:
    asked = subprocess.run(
        [sys.executable, "-m", "tests.corpora.conformance.peers", package, name],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=SECONDS,
    )
    if asked.returncode != 0:
        said = [line.strip() for line in asked.stderr.splitlines() if ": " in line]
        ended = f"the process ended with {asked.returncode}"
        return Verdict(name, REFUSED, said[-1] if said else ended)
    found = np.asarray(json.loads(asked.stdout.splitlines()[-1]), np.float64)
    weights = Cotangents((1.0,), {}, object)
    wanted = [
        derivative(FUNCTIONS[name], {"x": X}, (), weights, {"x": unit}).value
        for unit in np.eye(X.size)
    ]
    if found.shape == X.shape and np.allclose(found, wanted, rtol=1e-5, atol=1e-6):
        return Verdict(name, RIGHT)
    return Verdict(name, WRONG, f"{found.tolist()} for {wanted}")


if __name__ == "__main__":
    _, of = PEERS[sys.argv[1]]
    print(json.dumps(np.asarray(of(sys.argv[2]), np.float64).tolist()))
