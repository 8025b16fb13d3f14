"""Ordinary mistakes, and what is said of each: what was found, and what to write."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pyrev


def power(x: Any, c: float) -> Any:
    s = 0.0
    for i in range(x.shape[0]):
        s += c * x[i] ** 2
    return s


def of(package: str, name: str) -> Any:
    """An object like one of another library's."""
    return type(name, (), {"__module__": package, "shape": (3,), "ndim": 1})()


class Model:
    @classmethod
    def named(cls, x: Any) -> Any:
        return np.sum(x)


class Length:
    def __init__(self, value: float) -> None:
        self.value, self.unit = value, "m"


f = pyrev.differentiable(power)
x = np.ones(3)

MISTAKES: dict[str, tuple[Callable[[], Any], str]] = {
    "a method of a class": (
        lambda: pyrev.differentiable(Model.named),
        "`named` is a method of a class",
    ),
    "the value for the function": (
        lambda: pyrev.grad(f(x, 1.0)),
        "give a function, a lambda or a `numba.njit` function",
    ),
    "a class": (lambda: pyrev.differentiable(Model), "`Model` is a class"),
    "None": (lambda: f(None, 1.0), "`x` is None, and this function makes a number"),
    "a text": (lambda: f("abc", 1.0), "`x` is a str, 'abc'; pass a number"),
    "a list": (lambda: f([1.0], 1.0), "`x` is a list; pass a number or a NumPy array"),
    "a function": (lambda: f(np.sin, 1.0), "pass what it returns"),
    "a tensor": (
        lambda: f(of("torch", "Tensor"), 1.0),
        "`x` is a torch Tensor; use pyrev.torch.function(f)",
    ),
    "an array of JAX": (
        lambda: f(of("jaxlib._jax", "ArrayImpl"), 1.0),
        "`x` is a jax ArrayImpl; use pyrev.jax.function(f)",
    ),
    "an array of Dask": (
        lambda: f(of("dask.array.core", "Array"), 1.0),
        "use pyrev.dask.distribute(f), which takes arrays in chunks",
    ),
    "a table": (
        lambda: f(of("pandas.core.series", "Series"), 1.0),
        "pass x.to_numpy()",
    ),
    "labels": (lambda: f(of("xarray.core.dataarray", "DataArray"), 1.0), "x.values"),
    "a sparse matrix": (lambda: f(of("scipy.sparse._csr", "csr_array"), 1.0), "x.data"),
    "another object": (lambda: f(of("user", "Field"), 1.0), "for example np.array(x)"),
    "an object with fields": (
        lambda: f(Length(3.0), 1.0),
        "`x` is a Length; pass a number or a NumPy array",
    ),
    "an argument too few": (lambda: f(x), "missing a required argument: 'c'"),
    "an argument too many": (lambda: f(x, 1.0, 2.0), "too many positional arguments"),
    "a wrong name": (
        lambda: pyrev.grad(f, wrt="y")(x, 1.0),
        "no such parameter; it has x, c and the local values s",
    ),
    "integers": (
        lambda: pyrev.grad(f, wrt="x")(np.arange(3), 1.0),
        "only float parameters have a gradient",
    ),
    "objects": (lambda: f(np.array([1, None]), 1.0), "pass x.astype(np.float64)"),
    "no target": (
        lambda: pyrev.differentiable(target="gpu")(power),
        "choose one of 'auto', 'python', 'numpy', 'numba', 'cuda'",
    ),
    "no cotangent": (
        lambda: pyrev.vjp(f, x, 1.0)[1](),
        "pass one for the return value",
    ),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_says_what_to_write(mistake: str) -> None:
    make, words = MISTAKES[mistake]
    with pytest.raises(pyrev.PyrevError) as found:
        make()
    assert words in str(found.value)
    assert "Traceback" not in str(found.value)


def test_only_public_names_are_listed() -> None:
    import pyrev.scipy

    doors = {"dask", "jax", "scipy", "torch"}
    assert {*dir(pyrev)} - doors == {*pyrev.__all__, "__version__"}
    assert "scipy" in dir(pyrev)
    named = [n for n in dir(f) if not n.startswith("__")]
    assert named == sorted(n for n in named if getattr(f, n) is not None)
    assert {"adjoint", "explain", "report", "frozen"} <= {*named}
    gradients = pyrev.grad(f)(x, 1.0)
    own = [n for n in dir(gradients) if not n.startswith("__")]
    assert own == ["c", "get", "items", "keys", "values", "x"]
