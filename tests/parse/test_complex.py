# mypy: disallow-untyped-defs=False, disallow-untyped-calls=False
"""Complex numbers and arrays: parameters, locals and results."""

from __future__ import annotations

import cmath
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pyrev
from tests.tools.oracle import check

X = np.array([0.3, 0.7, 1.1])
Z = np.array([0.3 + 0.2j, -0.7 + 0.1j, 1.1 - 0.5j])


def iterated(x, n):
    z = 0j
    for _ in range(n):
        z = z * z + (0.3 * x[0] + 0.2j * x[1])
    return abs(z)


def fourier(x):
    n = len(x)
    out = np.zeros(n, dtype=np.complex128)
    for k in range(n):
        for t in range(n):
            out[k] += x[t] * np.exp(-2j * np.pi * k * t / n)
    s = 0.0
    for k in range(n):
        s += k * np.abs(out[k]) ** 2 + out[k].real
    return s


def an_array_returned(x):
    z = np.exp(1j * x)
    return z * x[0]


def a_number_returned(x):
    return complex(x[0], x[1]) / (1.0 + 2j * x[2])


def an_array_given(z, x):
    s = 0.0
    for i in range(z.shape[0]):
        w = z[i] * x[i] + 1j
        s += w.real * w.imag + abs(w)
    return s


def whole_arrays(z):
    return np.sum(np.abs(z) ** 2) + np.sum(z * z).real


def _squared(z, k):
    return z * z + k * 1j


def in_a_helper(x):
    z = complex(x[0], x[1])
    w = _squared(z, x[2])
    return w.real * w.imag


def written(z, x):
    for i in range(len(x)):
        z[i] = z[i] * (x[i] + 2j)


def in_place(z):
    z *= 2.0
    z += 1j
    return np.sum(z.imag * z.real)


def fresnel(n1, n2, t):
    c = np.cos(t)
    s = np.sin(t)
    ct = np.sqrt(1 - (n1 / n2 * s) ** 2 + 0j)
    r = (n1 * c - n2 * ct) / (n1 * c + n2 * ct)
    return np.abs(r) ** 2


def roots_and_angles(x):
    z = cmath.sqrt(complex(-x[0], x[1]))
    return z.real + 2 * z.imag + cmath.phase(z)


def functions(x):
    z = x[0] + 1j * x[1]
    w = np.sin(z) * np.cosh(z) + np.log(z) - np.tan(z) / np.tanh(z) + np.cos(z)
    return w.real + 2.0 * w.imag


def matrices(x):
    m = np.array([[1.0, 1j * x[0]], [x[1] * 1j, 1.0 + 0j]])
    v = np.array([x[2] + 0j, 1j])
    r = m @ v
    return abs(r[0]) + abs(r[1])


def loops_over_elements(z):
    s = 0j
    for v in z:
        s += v * v
    for i, v in enumerate(z):
        s -= i * v.conjugate()
    return s


def powers(x):
    z = x[0] + 1j * x[1]
    return (z**3).real + (z**0.5).imag + (z ** x[2]).real


def _both(z, x):
    return z * x[0], x[1]


def a_pair_from_a_helper(x):
    a, b = _both(x[0] + 1j, x)
    return a.imag * b + a.real


CALLS: list[tuple[Callable[..., Any], dict[str, Any], tuple[str, ...]]] = [
    (iterated, {"x": X, "n": 3}, ()),
    (fourier, {"x": X}, ()),
    (an_array_returned, {"x": X}, ()),
    (a_number_returned, {"x": X}, ()),
    (an_array_given, {"z": Z, "x": X}, ()),
    (whole_arrays, {"z": Z}, ()),
    (in_a_helper, {"x": X}, ()),
    (written, {"z": Z, "x": X}, ("z.real", "z.imag")),
    (in_place, {"z": Z}, ("z.real", "z.imag")),
    (fresnel, {"n1": 1.5, "n2": 1.0, "t": 1.0}, ()),
    (fresnel, {"n1": 1.5, "n2": 1.0, "t": 0.4}, ()),
    (roots_and_angles, {"x": X}, ()),
    (functions, {"x": X}, ()),
    (matrices, {"x": X}, ()),
    (loops_over_elements, {"z": Z}, ()),
    (powers, {"x": X}, ()),
    (a_pair_from_a_helper, {"x": X}, ()),
    (_squared, {"z": 0.3 - 0.7j, "k": 0.5}, ()),
    (an_array_given, {"z": Z.astype(np.complex64), "x": X.astype(np.float32)}, ()),
]


@pytest.mark.parametrize(
    "target", ["python", pytest.param("numba", marks=pytest.mark.slow)]
)
@pytest.mark.parametrize("number", range(len(CALLS)))
def test_both_parts_have_their_derivatives(number: int, target: str) -> None:
    plain, given, out = CALLS[number]
    f = pyrev.differentiable(plain, target=target)
    check(f, plain, given, out, np.random.default_rng(number))


def test_the_gradient_points_where_the_function_grows_fastest() -> None:
    found = pyrev.grad(whole_arrays)(Z).z
    # |z|**2 has 2 z, the real part of z**2 has 2 conj(z).
    np.testing.assert_allclose(found, 2.0 * Z + 2.0 * np.conj(Z))
    step = 1e-6 * found
    more = whole_arrays(Z + step) - whole_arrays(Z)
    assert more == pytest.approx(1e-6 * np.sum(np.abs(found) ** 2), rel=1e-4)


def test_dtypes_stay() -> None:
    f = pyrev.differentiable(an_array_returned, target="numba")
    assert f(X).dtype == np.complex128
    np.testing.assert_allclose(f(X), an_array_returned(X))
    g = pyrev.differentiable(a_number_returned, target="numba")
    assert isinstance(g(X), complex)


def imaginary_is_dropped(x):
    out = np.zeros(2)
    out[0] = 1j * x[0]
    return out[0]


def test_a_complex_number_in_a_real_array_is_refused() -> None:
    with pytest.raises(pyrev.UnsupportedError):
        pyrev.differentiable(imaginary_is_dropped).adjoint.source  # noqa: B018
