"""Fourier transforms and `np.einsum`: NumPy's values, and their derivatives."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.fft
from numpy.fft import irfft, rfft

import pyrev
from tests.tools.costs import differentiable
from tests.tools.oracle import check

R = np.random.default_rng(0)
X, Y = R.random(8), R.random(7)
A, B = R.random((4, 6)), R.random((5, 3))
C = R.random((3, 2, 4))


def power(x):
    z = np.fft.fft(x)
    s = 0.0
    for k in range(z.shape[0]):
        s += abs(z[k]) ** 2 * (k + 1)
    return s


def there_and_back(x):
    z = np.fft.fft(x * np.exp(0.3j * x))
    w = np.fft.ifft(z * z)
    return np.sum(w.real**3) + np.sum(w.imag * np.arange(x.shape[0]))


def burgers(u, nu, dt, steps):
    n = u.shape[0]
    k = 2.0 * np.pi * np.fft.rfftfreq(n, 1.0 / n)
    for _ in range(steps):
        v = np.fft.rfft(u)
        du = np.fft.irfft(1j * k * v, n)
        damped = np.exp(-nu * k * k * dt)
        u = np.fft.irfft(damped * (v - dt * np.fft.rfft(u * du)), n)
    return np.sum(u * u)


def kdv(u, dt, steps):
    n = u.shape[0]
    k = 2.0 * np.pi * np.fft.fftfreq(n)
    turn = np.exp(1j * k**3 * dt)
    v = np.fft.fft(u)
    for _ in range(steps):
        real = np.fft.ifft(v).real
        v = turn * (v - 3j * k * dt * np.fft.fft(real**2))
    return np.abs(v[1]) ** 2 + np.fft.ifft(v).real[0]


def wiener(image, kernel, noise):
    g = np.fft.rfft2(image)
    h = np.fft.rfft2(kernel)
    w = np.conj(h) / (np.abs(h) ** 2 + noise)
    return np.sum(np.fft.irfft2(w * g, s=image.shape) ** 3)


def poisson(f):
    n, m = f.shape
    kx = np.fft.fftfreq(n)
    ky = np.fft.fftfreq(m)
    z = np.fft.fft2(f)
    for i in range(n):
        for j in range(m):
            q = kx[i] ** 2 + ky[j] ** 2
            if q > 0.0:
                z[i, j] = z[i, j] / q
            else:
                z[i, j] = 0.0
    return np.sum(np.fft.ifft2(z).real ** 3)


def shifted(x):
    z = np.fft.fftshift(np.fft.fft(x))
    w = np.fft.ifftshift(z * np.arange(x.shape[0]))
    return np.sum(np.abs(w) ** 2 * np.arange(x.shape[0]))


def shifted_squares(a):
    z = np.fft.fftshift(np.fft.fft2(a))
    weight = np.fft.ifftshift(a * a)
    return np.sum(np.abs(z) ** 2 * np.fft.fftshift(weight))


def along_columns(a):
    z = np.fft.fft(a, axis=0)
    w = np.fft.ifft(z * np.exp(1j * a), axis=0, norm="ortho")
    return np.sum(np.abs(w) ** 4)


def along_any(a, axis):
    return np.sum(np.abs(np.fft.fft(a, axis=axis)))


def of_rows(a):
    z = np.fft.rfft(a, axis=-1)
    return np.sum(np.abs(z) ** 3) + np.sum(np.fft.irfft(z * z) ** 2)


def norms(x):
    a = np.fft.fft(x, norm="ortho")
    b = np.fft.ifft(a, norm="forward")
    c = np.fft.rfft(x, norm="forward")
    d = np.fft.irfft(c * c, x.shape[0], norm="backward")
    return np.sum(np.abs(a) ** 3) + np.sum(b.real**3) + np.sum(d**3) * 1e3


def of_all_axes(a):
    z = np.fft.fftn(a)
    return np.sum(np.abs(np.fft.ifftn(z * np.conj(z))) ** 2)


def imported(x):
    z = rfft(x)
    return np.sum(irfft(z * z * 1j, x.shape[0]) ** 2)


def of_scipy(x):
    z = scipy.fft.fft(x)
    return np.sum(np.abs(scipy.fft.ifft(z * z)) ** 2) + np.sum(
        np.abs(scipy.fft.rfft(x)) ** 2
    )


def helper(z, k):
    w = np.fft.fft(z) * k
    return w, np.sum(np.abs(w) ** 2)


def through_helpers(x):
    w, s = helper(x + 1j * x * x, 2.0)
    v, t = helper(w, 0.5)
    return s * t + np.sum(np.abs(v + w) ** 2)


def convolved(x, y):
    n = x.shape[0] + y.shape[0]
    a = np.zeros(n)
    b = np.zeros(n)
    a[: x.shape[0]] = x
    b[: y.shape[0]] = y
    c = np.fft.irfft(np.fft.rfft(a) * np.fft.rfft(b), n)
    return np.sum(c**3)


def spectrum(x, out):
    z = np.fft.rfft(x)
    for k in range(out.shape[0]):
        out[k] = z[k].real * z[k].imag


FOURIER: list[tuple[Any, dict[str, Any]]] = [
    (power, {"x": X}),
    (power, {"x": Y}),
    (there_and_back, {"x": X}),
    (burgers, {"u": X, "nu": 0.01, "dt": 0.02, "steps": 3}),
    (burgers, {"u": Y, "nu": 0.01, "dt": 0.02, "steps": 2}),
    (kdv, {"u": X, "dt": 0.01, "steps": 3}),
    (wiener, {"image": A, "kernel": R.random((4, 6)), "noise": 0.1}),
    (wiener, {"image": B, "kernel": R.random((5, 3)), "noise": 0.1}),
    (poisson, {"f": A}),
    (shifted, {"x": X}),
    (shifted, {"x": Y}),
    (shifted_squares, {"a": A}),
    (shifted_squares, {"a": B}),
    (along_columns, {"a": A}),
    (along_any, {"a": A, "axis": 0}),
    (along_any, {"a": A, "axis": -1}),
    (of_rows, {"a": A}),
    (norms, {"x": X}),
    (norms, {"x": Y}),
    (of_all_axes, {"a": A}),
    (of_all_axes, {"a": C}),
    (imported, {"x": X}),
    (of_scipy, {"x": Y}),
    (through_helpers, {"x": X}),
    (convolved, {"x": X, "y": Y}),
    (spectrum, {"x": X, "out": np.zeros(5)}),
]


def products(a, b):
    return np.einsum("ij,jk->ik", a, b)


def traced(a):
    return np.einsum("ii", a) + np.einsum("ii->i", a)[0] ** 2


def quadratic(x, a, y):
    return np.einsum("i,ij,j->", x, a, y)


def swapped(a):
    b = np.einsum("ij->ji", a)
    return np.einsum("ij,ij->j", b, b)


def batched(c, a):
    return np.einsum("bij,jk->bik", c, a, optimize=True)


def over_axes(c):
    return np.einsum("bij->j", c) * np.einsum("bij->", c * c)


def in_a_loop(a, steps):
    b = a.copy()
    for _ in range(steps):
        b = 0.5 * np.einsum("ij,jk", b, a)
    return np.sum(b)


def written_through(a):
    b = np.einsum("ij->ji", a)
    c = a.copy()
    d = np.einsum("ij->ji", c)
    d[0, 1] = 5.0 * c[0, 0]
    return np.sum(c * c) + np.sum(b)


def written_diagonal(a):
    c = a.copy()
    np.einsum("ii->i", c)[:] = 2.0 * c[0]
    return np.sum(c * c)


def changed_behind(a):
    c = a.copy()
    d = np.einsum("ij", c)
    e = np.einsum("jk->kj", d * 2.0)
    c[0, 0] = 3.0 * c[1, 1]
    return np.sum(d * d * e)


SUMS: list[tuple[Any, dict[str, Any]]] = [
    (products, {"a": A, "b": R.random((6, 3))}),
    (traced, {"a": R.random((4, 4))}),
    (quadratic, {"x": R.random(4), "a": A, "y": R.random(6)}),
    (swapped, {"a": A}),
    (batched, {"c": C, "a": R.random((4, 3))}),
    (over_axes, {"c": C}),
    (in_a_loop, {"a": R.random((4, 4)), "steps": 3}),
    (written_through, {"a": R.random((3, 3))}),
    (written_diagonal, {"a": R.random((3, 3))}),
    (changed_behind, {"a": R.random((3, 3))}),
]


@pytest.mark.parametrize(
    "target", ["python", pytest.param("numba", marks=pytest.mark.slow)]
)
@pytest.mark.parametrize("number", range(len(FOURIER + SUMS)))
def test_values_and_gradients(number: int, target: str) -> None:
    plain, arguments = (FOURIER + SUMS)[number]
    f = differentiable(plain, target=target)
    outputs = [n for n in arguments if n == "out"]
    check(f, plain, arguments, outputs, np.random.default_rng(number))
    if not outputs:
        own = f.primal(*arguments.values())
        np.testing.assert_allclose(own, plain(*arguments.values()), rtol=1e-10)


@pytest.mark.parametrize("number", [0, 1, 3, 6, 13, 14, 15, 20])
def test_second_derivatives(number: int) -> None:
    plain, arguments = FOURIER[number]
    name, x = next((n, v) for n, v in arguments.items() if isinstance(v, np.ndarray))
    others = {n: v for n, v in arguments.items() if n != name}
    f = pyrev.differentiable(plain, target="python")
    along = np.random.default_rng(number).random(x.shape)
    found = pyrev.hvp(f, **{name: x.copy()}, **others, tangents={name: along})
    gradient = pyrev.grad(f, wrt=name)
    h = 1e-5
    up, down = (gradient(**{name: x + s * along}, **others) for s in (h, -h))
    want = (up - down) / (2 * h)
    np.testing.assert_allclose(
        found[name], want, rtol=1e-6, atol=1e-6 * abs(want).max()
    )


def test_single_precision_stays_single() -> None:
    f = differentiable(power, target="numba")
    x = X.astype(np.float32)
    assert pyrev.grad(f)(x).x.dtype == np.float32
    np.testing.assert_allclose(f(x), power(x), rtol=1e-5)


def test_integers_are_transformed_as_floats() -> None:
    f = differentiable(power, target="numba")
    whole = np.arange(6)
    np.testing.assert_allclose(f(whole), power(whole), rtol=1e-12)


def padded(x):
    return np.sum(np.abs(np.fft.fft(x, 16)))


def half_along_first(a):
    return np.sum(np.abs(np.fft.rfft(a, axis=0)))


def half_of_complex(x):
    return np.sum(np.abs(np.fft.rfft(x * 1j)))


def with_dots(a):
    return np.einsum("...i->...", a)


def of_truths(m):
    return np.einsum("i->", m) * 2.0


@pytest.mark.parametrize(
    ("plain", "arguments", "message"),
    [
        (of_truths, (np.array([True, False, True]),), "does not count"),
        (padded, (X,), "another size"),
        (half_along_first, (A,), "along this axis"),
        (half_of_complex, (X,), "real numbers of complex"),
        (with_dots, (A,), "np.einsum"),
    ],
)
def test_what_is_not_read_is_refused(
    plain: Any, arguments: tuple[Any, ...], message: str
) -> None:
    with pytest.raises(pyrev.UnsupportedError, match=message):
        pyrev.differentiable(plain)(*arguments)


def test_lengths_that_do_not_fit_are_errors_as_in_numpy() -> None:
    f = differentiable(products, target="numba")
    with pytest.raises(ValueError, match="shape"):
        f(A, B)
    inverse = differentiable(wiener, target="numba")
    with pytest.raises((ValueError, pyrev.ArgumentError)):
        inverse(A, R.random((3, 6)), 0.1)
