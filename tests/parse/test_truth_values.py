# mypy: disallow-untyped-defs=False, disallow-untyped-calls=False
"""NumPy's truth values in arithmetic: a product is *and*, a sum is *or*."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pyrev
from tests.tools.oracle import check

X, L = np.array([0.6, 0.45, 0.9]), np.array([0.3, 0.7, 1.1])
T = np.array([True, False, True])


def of_comparisons(c, lim, x):
    m = (c < lim) * (lim <= lim[1])
    k = m + (x > 0.5)
    s = 0.0
    for i in range(len(x)):
        b = (x[i] > 0.4) * (lim[i] > 0.2)
        s += x[i] ** 2 * b
        if k[i]:
            s += lim[i]
    either = np.sum((c < lim) + (x > 0.5)) * c
    return np.sum(-c * x * m * x) + s + np.sum(k * x) + np.sum(m) * c**2 + either


def of_python_numbers(x, n):
    return x * ((n > 1) + (n > 2)) * x


def of_what_is_given(x, m, n):
    s = 0.0
    for i in range(len(x)):
        s += x[i] * (m[i] * n[i]) + x[i] ** 2 * (m[i] + n[i])
    return s + np.sum((m * n) * x)


def added_to(x, m):
    for i in range(len(x)):
        m[i] += x[i] > 0.5
    return np.sum(x * m)


CALLS: list[tuple[Any, dict[str, Any]]] = [
    (of_comparisons, {"c": 0.5, "lim": L, "x": X}),
    (of_comparisons, {"c": np.float64(0.5), "lim": L, "x": X}),
    (of_python_numbers, {"x": 0.5, "n": 3}),
    (of_what_is_given, {"x": X, "m": T, "n": ~T | T}),
    (of_what_is_given, {"x": X, "m": np.array([1, 2, 0]), "n": T}),
    (of_what_is_given, {"x": X, "m": np.array([1, 2, 0]), "n": L}),
]


@pytest.mark.parametrize("target", ["python", "numba"])
@pytest.mark.parametrize("number", range(len(CALLS)))
def test_they_do_not_count(number: int, target: str) -> None:
    plain, given = CALLS[number]
    f = pyrev.differentiable(plain, target=target)
    check(f, plain, given, [], np.random.default_rng(number))


def test_increments_of_them_are_refused() -> None:
    f = pyrev.differentiable(added_to, target="numba")
    with pytest.raises(pyrev.UnsupportedError, match="do not count"):
        pyrev.vjp(f, X, T.copy(), wrt="x")


#: What NumPy's functions make of truth values, and loops would make otherwise.
EXPRESSIONS = (
    "np.dot(m, k)",
    "m @ k",
    "np.inner(m, k)",
    "np.vdot(m, k)",
    "np.outer(m, k)",
    "np.kron(m, k)",
    "np.convolve(m, k)",
    "np.correlate(m, k)",
    "np.einsum('i,i->', m, k)",
    "np.cumsum(m)",
    "np.cumprod(m)",
    "np.prod(m)",
    "np.diff(m)",
    "np.trapezoid(m)",
    "np.polyval(m, 2)",
    "np.mean(m) + m[0]",
    "np.sum(m * k) + np.count_nonzero(m)",
    "(m + k).sum()",
    "m[1:] + m[:-1]",
    "m[0] + True",
    "abs(m[0]) + m[1]",
    "m[0] + 1",
    "max(m[0], m[1]) + m[2]",
    "int(m[0]) + int(m[1])",
    "sum(v for v in m)",
    "m ** 2",
)


@pytest.mark.parametrize("number", range(len(EXPRESSIONS)))
def test_what_is_made_of_them_is_what_numpy_makes(number: int, tmp_path: Path) -> None:
    text = f"import numpy as np\n\n\ndef f(x, m, k):\n    y = {EXPRESSIONS[number]}\n"
    text += "    return np.sum(x) * np.sum(y * 1.0)\n"
    file = tmp_path / f"truths_{number}.py"
    file.write_text(text)
    spec = importlib.util.spec_from_file_location(file.stem, file)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    for m, k in ((T | True, T), (~T, T), (T, T)):
        try:
            wanted = module.f(X, m, k)
        except (TypeError, AttributeError):  # NumPy itself refuses, or lacks it
            continue
        try:
            gradients = pyrev.vjp(pyrev.differentiable(module.f), X, m, k, wrt="x")[1]
        except pyrev.UnsupportedError:
            continue
        # Linear in x: the derivative along x is the value.
        assert np.sum(gradients(1.0)["x"] * X) == pytest.approx(wanted)
