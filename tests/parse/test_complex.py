# mypy: disallow-untyped-defs=False, disallow-untyped-calls=False
"""Complex numbers, which are pairs of real ones in what is read."""

from __future__ import annotations

import cmath
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy import complex128, conj, zeros

import pyrev
from tests.tools.oracle import check

X = np.array([0.3, 0.7, 1.1])
W = np.array([0.5, -0.4, 0.9])
UNIT = 1j


def recurrence(x, w):
    z = 1j * x[0] + w[1]
    for i in range(3):
        z = z * (x[i] + 2j * w[i]) - 0.5j
    return abs(z)


def functions(x, w):
    s = 0.0
    for i in range(3):
        q = np.sqrt(complex(w[i], x[i])) / (1.0 + 1j * x[i])
        q += np.log(x[i] - 3j * w[i]) ** -2 + np.cos(q) * np.sinh(q) / np.tan(q)
        s += q.real + np.tanh(q).imag + np.angle(q) + cmath.phase(cmath.exp(q))
        s += (np.sin(q) - np.cosh(q) + np.log10(q) + np.square(q)).imag
    return s


def whole_arrays(x, w):
    psi = np.exp(-(x**2)) * np.exp(1j * w * x)
    psi[1:] += 0.3j * psi[:-1]
    psi = psi / np.sqrt(np.sum(np.abs(psi) ** 2))
    return psi.real**2 + psi.imag


def _two(a, z):
    return a * z, z.conjugate() * 1j


def pairs_of_a_helper(x, w):
    z = 0
    for i in range(3):
        p, q = _two(x[i], complex(w[i], 1.0))
        z += p * q
    return z.real, z.imag


def function_inside(x, w):
    def f(u):
        return np.exp(u * 1j) + w[0]

    t = 0.0
    for i in range(3):
        t += (f(x[i]) * f(w[i] - 0.5j)).real
    return t


def matrices(x, w):
    m = np.eye(2, dtype=np.complex128)
    for i in range(3):
        t = np.array([[1.0, x[i] * 1j], [w[i], 2.0]], dtype=complex)
        m = m @ (t / (1.0 + 1j * x[i]))
    m = np.dot(m, m)
    return abs(m[0, 0]), m[1, 0].imag


def complex_on_one_path(x, w):
    z = x[0]
    if w[0] > 0.0:
        z = z + 2j * w[1]
    s = z * z
    return s.real - s.imag


def complex_in_a_loop_only(x, w):
    z = x[0]
    for i in range(3):
        z = z * (w[i] + 0.5j)
    return z.imag


def array_that_becomes_complex(x, w):
    z = x
    for i in range(2):
        z = z * (w[i] + 0.5j)
    return z.imag + z.real


def shifted_in_place(x, w):
    z = np.zeros(4, dtype=complex)
    z[:3] = x
    for i in range(3):
        z[1:] = z[:-1] * (w[i] + 1j)
        z[i] *= 1.0 - 2j * x[i]
        z[-1] = complex(z[i].imag, z[i].real)
    return np.sum(z.real) - 2.0 * z.imag.sum()


def swapped_parts(x, w):
    z = np.zeros(3, dtype=np.complex128)
    for i in range(3):
        z[i] = complex(x[i], w[i])
        z[i] = complex(z[i].imag, z[i].real)
        z[i] += complex(z[i].imag, z[i].real * 2.0)
    return z.real, z.imag


def aliases(x, w):
    z = np.zeros(3, dtype=complex)
    y = z
    part = z.real
    y[1:] = x[1:] * (1j + w[:2])
    part[0] = x[0]
    z.imag[0] = w[2]
    return np.abs(y) + part


def places_change(x, w):
    a = x * (1.0 + 1j)
    b = w * 1j
    for _ in range(3):
        a, b = a * b + 1.0, a
    return a.real + b.imag


def chosen(x, w):
    s = 0.0
    for i in range(3):
        z = np.exp(1j * x[i]) if w[i] > 0.0 else complex(w[i], x[i])
        s += abs(z * z + 1.0) if z.imag > 0.5 and abs(z + w[i]) < 9.0 else z.real
        if z == w[i] + 1j * x[i] or abs(z * (1 + 1j)) ** 2 > 1.0:
            s += (z - 1j).real
    return s


def iterated(x, w):
    z = complex(x[0], w[0])
    k = 0
    while abs(z * z + complex(x[1], w[1])) < 4.0 and k < 20:
        z = z * z + complex(x[1], w[1])
        k += 1
    return z.real + k


def over_elements(x, w):
    z = x + 1j * w
    s = 0j
    for k, v in enumerate(z):
        s += k * v * v
    for v in z:
        s -= v * x[0]
    return s.real * s.imag


def outside(x, w):
    s = 0j
    for i in range(3):
        s += x[i] ** 2 * UNIT + w[i]
    return s.real, abs(s)


def _scaled(z, out):
    for i in range(z.shape[0]):
        out[i] = z[i] * 2j
    return z.size


def written_by_a_helper(x, w):
    z = x * np.exp(1j * w)
    out = np.empty_like(z)
    n = _scaled(z, out)
    return out.imag * n


def _phasor(t):
    return complex(math.cos(t), math.sin(t))


def helper_of_real_numbers(x, w):
    s = 0.0
    for i in range(len(x)):
        s += (_phasor(x[i]) * _phasor(w[i]) * w[i]).imag
    return s


def _one_of(x, early):
    if x < early:
        return 1.0
    return x * 1j


def real_on_a_path_of_a_helper(x, w):
    return abs(_one_of(x[0], 0.5) + _one_of(x[1], 0.5) * w[0] + 2.0)


def arrangements(x, w):
    z = np.concatenate((x, w * 1j))
    y = np.roll(z, 1) + z[::-1]
    m = y.reshape(2, 3).T.copy()
    t = np.where(np.abs(m) > 0.5, m, 0.1j)
    return t.sum(axis=0).real + np.mean(t).imag + np.vdot(z, y).imag


def rebound_in_place(x, w):
    phase = complex(1.0, 0.0)
    s = 0.0
    for i in range(3):
        phase *= np.exp(1j * x[i])
        phase /= 1.0 + w[i] * 1j
        phase -= x[i]
        s += phase.imag
    return s


def new_ones_in_place(x, w):
    flow = zeros(x.shape[0], dtype=complex128)
    for r in range(x.shape[0]):
        for k in range(x.shape[0]):
            flow[r] += conj((x[r] + 1j * w[k]) * x[k])
    flow *= x + 2j
    flow = np.conj(flow)
    flow *= flow[0]
    return flow.real.sum() + flow[1].imag


def array_in_place(x, w):
    z = np.zeros(3, dtype=np.complex128)
    z += x * 1j
    z *= 2.0 - 1j * w
    z /= 3.0
    return np.hypot(z.real, z.imag)


def parts_of_real_numbers(x, w):
    now = x[0]
    s = now if now.real < 1.0 else w[0]
    return s * x.real[1] + np.real(w[2])


def powers(x, w):
    z = complex(x[0], w[0])
    return (z**2).real + (z**3).imag + abs(z**-1) + (z**5 * 1j**2).real


def a_helper_that_changes_what_was_read(x, w):
    z = x * 1j

    def bump(k):
        z[0] = z[0] + k
        return 1j * k

    t = z[0] * 2.0 * bump(w[0])
    return t.imag + z[0].real


def products(x, w):
    a = np.outer(x * 1j + w, w)
    b = a @ (x - 1j * w)
    return np.abs(b) + (x @ b).real + b.dot(w).imag


def norms(x, w):
    z = x + 1j * w
    z[1] = 0.0
    z /= np.linalg.norm(z)
    m = np.outer(z, w)
    s = np.linalg.norm(m) + np.linalg.norm(m, axis=0).sum() + np.linalg.norm(m, 1)
    return s + np.linalg.norm(x - 1j * w, 3) + np.linalg.norm(1j * w - x, ord=np.inf)


def of_the_largest_singular_value(x, w):
    return np.linalg.norm(np.outer(x, w * 1j), 2)


ALL = [
    recurrence,
    functions,
    whole_arrays,
    pairs_of_a_helper,
    function_inside,
    matrices,
    complex_on_one_path,
    complex_in_a_loop_only,
    array_that_becomes_complex,
    shifted_in_place,
    swapped_parts,
    aliases,
    places_change,
    chosen,
    iterated,
    over_elements,
    outside,
    written_by_a_helper,
    helper_of_real_numbers,
    real_on_a_path_of_a_helper,
    arrangements,
    rebound_in_place,
    array_in_place,
    new_ones_in_place,
    parts_of_real_numbers,
    powers,
    a_helper_that_changes_what_was_read,
    products,
    norms,
]


@pytest.mark.parametrize("target", ["python", "numba"])
@pytest.mark.parametrize("f", ALL, ids=lambda f: f.__name__)
def test_real_functions_with_complex_numbers_inside_are_right(
    f: Callable[..., Any], target: str
) -> None:
    own = pyrev.differentiable(f, target=target)
    check(own, f, {"x": X.copy(), "w": W.copy()}, [], np.random.default_rng(3))


def stored_in_a_real_array(x, w):
    out = np.zeros(3)
    out[0] = x[0] * 1j
    return out


def made_a_float(x, w):
    return float(x[0] * 1j)


def function_of_math(x, w):
    return math.sin(x[0] * 1j)


def compared(x, w):
    return 1.0 if x[0] * 1j < 1j else w[0]


def the_larger(x, w):
    return np.max(x * 1j).real


def cast(x, w):
    return (x * 1j).astype(np.float64)


def of_single_precision(x, w):
    z = np.zeros(3, dtype=np.complex64)
    z[0] = x[0]
    return z.real


def as_a_truth(x, w):
    z = x[0] * 1j
    return w[0] if z else w[1]


def floor_divided(x, w):
    return ((x[0] * 1j) // 2.0).real


def changed_under_another_name(x, w):
    z = x * 1j
    y = z
    z *= 1j
    return y.real


REFUSED = [
    stored_in_a_real_array,
    made_a_float,
    function_of_math,
    compared,
    the_larger,
    cast,
    of_single_precision,
    as_a_truth,
    floor_divided,
    changed_under_another_name,
    of_the_largest_singular_value,
]


@pytest.mark.parametrize("f", REFUSED, ids=lambda f: f.__name__)
def test_no_part_is_dropped(f: Callable[..., Any]) -> None:
    with pytest.raises(pyrev.UnsupportedError):
        pyrev.differentiable(f)


def cuts(x):
    z = complex(-x, -0.0)
    roots = np.sqrt(z * 2.0), np.sqrt(z / 2.0), np.sqrt(z + 0), np.sqrt(-(x + 0j))
    log = np.log(complex(-2.0, -0.0)) * x
    return roots[0].imag, roots[1].imag, roots[2].imag, roots[3].imag, log.imag


def on_the_cuts(x):
    z = complex(-x, -0.0)
    a, b, c = np.sqrt(z * 2.0), np.sqrt(z / 2.0), np.sqrt(z + 0)
    d, e = np.sqrt(-(x + 0j)), np.log(z) * x
    return a.imag, b.imag, c.imag, d.imag, e.imag


@pytest.mark.parametrize("target", ["python", "numba"])
@pytest.mark.parametrize("plain", [on_the_cuts, cuts])
def test_zeros_have_the_signs_of_cpython_on_the_cuts(plain: Any, target: str) -> None:
    own = pyrev.differentiable(plain, target=target)
    value, _ = pyrev.vjp(own, 0.7)
    np.testing.assert_allclose(own(0.7), plain(0.7), rtol=1e-14)
    np.testing.assert_allclose(value, plain(0.7), rtol=1e-14)


def powers(x, w):
    z = x[:3] + 1j * w[:3]
    a = z ** w[0]
    b = z**0.5
    c = z ** (x[0] + 1j * w[1])
    d = 2.0 ** (z * 0.5)
    e = z ** -w[1]
    return np.sum(np.abs(a * w[1] + b)) + np.sum((c * d).real) + np.sum((e * b).imag)


def scaled_after_it_was_made(x, w):
    total = 0.0
    for _ in range(2):
        z = np.zeros(3, dtype=np.complex128)
        for k in range(3):
            z[k] += x[k] * 1j + w[k]
        z *= w[1]
        y = z
        z *= x[0] * 2j + 1.0
        z = z / (1.0 + total**2)
        total += np.sum(np.abs(y) ** 2) + z[1].real
    return total


def scaled_where_it_is_made(x, w):
    z = np.ones(3, dtype=np.complex128)
    if w[0] > 0.0:
        z *= x[:3] * 1j
    z, n = normed(z, 3)
    return n * z[1].imag


def normed(z, n):
    most = 0.0
    for i in range(n):
        most = max(most, abs(z[i]))
    for i in range(n):
        z[i] /= most
    return z, most


@pytest.mark.parametrize("target", ["python", "numba"])
@pytest.mark.parametrize(
    "plain", [powers, scaled_after_it_was_made, scaled_where_it_is_made]
)
def test_powers_and_arithmetic_in_place(plain: Any, target: str) -> None:
    f = pyrev.differentiable(plain, target=target)
    x, w = np.array([0.4, 0.9, 0.6]), np.array([0.8, 1.3, 0.5])
    check(f, plain, {"x": x, "w": w}, [], np.random.default_rng(3))


@pytest.mark.parametrize("c", [0.5, 2.5, -0.5, 0.0, 1.5 + 0.5j, -1.0 + 0.5j, 1j])
def test_powers_of_special_numbers_are_those_of_numpy(c: complex) -> None:
    def plain(z, c):
        return z**c

    z = np.array([0.0, 1.0, -2.0, 1j, complex(-2.0, -0.0), 3 - 4j, complex(np.nan, 1)])
    f = pyrev.differentiable(plain, target="numba")
    with np.errstate(all="ignore"):
        np.testing.assert_allclose(f(z, c), plain(z, c), rtol=1e-13, atol=1e-15)
