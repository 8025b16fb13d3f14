"""Asks other tools for the gradients of the ten functions, as they are written.

Each peer is asked in the way its documentation shows for a plain Python function. It
refuses by raising; what it returns is compared with central differences.
"""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from pyrev.testing import Cotangents, derivative
from pyrev.tests.conformance.table import REFUSED, RIGHT, WRONG, Verdict
from pyrev.tests.conformance.ten_functions import TITLES, X

Gradient = Callable[[Callable[..., Any]], Any]


def _jax(function: Callable[..., Any]) -> Any:
    jax = importlib.import_module("jax")
    jax.config.update("jax_enable_x64", True)
    return jax.jit(jax.grad(function))(X)


def _torch(function: Callable[..., Any]) -> Any:
    torch = importlib.import_module("torch")
    x = torch.tensor(X, requires_grad=True)
    function(x).backward()
    return x.grad


def _autograd(function: Callable[..., Any]) -> Any:
    return importlib.import_module("autograd").grad(function)(X)


PEERS: dict[str, tuple[str, Gradient]] = {
    "JAX, jit(grad)": ("jax", _jax),
    "PyTorch, eager": ("torch", _torch),
    "autograd": ("autograd", _autograd),
}


def rows() -> Iterator[tuple[str, tuple[Verdict, ...] | None]]:
    """Each peer's verdicts on the ten functions, None if it is not installed."""
    for title, (package, gradient) in PEERS.items():
        if importlib.util.find_spec(package) is None:
            yield title, None
        else:
            yield title, tuple(_verdict(k, gradient) for k in TITLES)


def _verdict(function: Callable[..., Any], gradient: Gradient) -> Verdict:
    try:
        found = np.asarray(gradient(function), np.float64)
    except Exception as refusal:
        message = str(refusal).partition("\n")[0]
        return Verdict(
            function.__name__, REFUSED, f"{type(refusal).__name__}: {message}"
        )
    weights = Cotangents((1.0,), {}, object)
    wanted = [
        derivative(function, {"x": X}, (), weights, {"x": unit}).value
        for unit in np.eye(X.size)
    ]
    if found.shape == X.shape and np.allclose(found, wanted, rtol=1e-5, atol=1e-6):
        return Verdict(function.__name__, RIGHT)
    return Verdict(function.__name__, WRONG, f"{found.tolist()} for {wanted}")
