# mypy: disallow-untyped-defs=False, disallow-untyped-calls=False
"""Complex numbers that differentiated functions take and return."""

from __future__ import annotations

import cmath
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pyrev
from tests.tools.oracle import check

Z = np.array([0.3 + 0.7j, -0.4 + 1.1j, 0.9 - 0.5j])
W = np.array([0.5 - 0.2j, 0.8 + 0.3j, -0.6 + 1.2j])
X = np.array([0.3, 0.7, 1.1])


def norm(z):
    s = 0.0
    for i in range(z.shape[0]):
        s += abs(z[i]) ** 2 * (1 + i)
    return s


def squares(z):
    return z * z.conj() + z**2


def stacked(z, x):
    s = np.zeros_like(z)
    for i in range(len(z)):
        s[i] = z[i] / abs(z[i]) * np.exp(1j * x[i])
    return s, np.abs(s.sum())


def scalar(z, k=0.5 - 2j, *, n=3):
    for _ in range(n):
        z = z * z + k
    return z


def in_place(z, x):
    z[1:] *= x[1:]
    z.real[0] = x[0] * z[0].imag
    z.imag[2] += x[1]
    z[1] += 2j * z[0]


def in_place_and_returned(z, w):
    for i in range(3):
        z[i] = z[i] * w[i] - w[i].conjugate()
    return z


def row(z, x):
    m = np.zeros((2, 3), dtype=complex)
    m[0] = z * x
    m[1] = x + 2j
    return m[1], m[0, 0], x[0]


def only_arrays_in_one_part(x, w):
    z = x + 2j
    z = z + 1j * w.real
    return z.sum(), (x[:, None] + 1j * x[None, :2]).mean()


def transform(z):
    n = z.shape[0]
    out = np.zeros(n, dtype=np.complex128)
    for k in range(n):
        for j in range(n):
            out[k] += z[j] * np.exp(-2j * np.pi * j * k / n)
    return out


def _halves(z, w):
    t = w * z[1]
    return z[0] + t, z[0] - t


def butterfly(z, w):
    a, b = _halves(z[:2], w[0])
    c, d = _halves(z[1:], w[1])
    return a * d.conjugate(), b + c


def _matrix(r, phase):
    m = np.zeros((2, 2), dtype=complex)
    m[0, 0] = cmath.exp(-1j * phase)
    m[0, 1] = r * cmath.exp(-1j * phase)
    m[1, 0] = r * cmath.exp(1j * phase)
    m[1, 1] = cmath.exp(1j * phase)
    return m


def reflectance(z, x):
    m = np.eye(2, dtype=complex)
    for i in range(3):
        r = (1.0 - z[i]) / (1.0 + z[i])
        m = m @ _matrix(r, x[i] * z[i]) / (1.0 + r)
    r = m[1, 0] / m[0, 0]
    return (r * np.conj(r)).real, r


def real_or_complex(z):
    s = 0.0
    for i in range(3):
        s = s + z[i] * z[i] * (i + 1)
    return s


def angles(z, x):
    s = 0.0
    for c, v in zip(z, x):  # noqa: B905
        s += np.angle(c) * v + c.imag
    return s


def in_structures(p, x):
    p["z"][0] = p["z"][1] * p["k"]
    return {"w": p["z"] * x, "s": x[0] ** 2}


def branches(z, x):
    if x[0] > 0.0:
        out = z * 1j
    else:
        out = z.copy()
    for i in range(3):
        if z[i].real > 0.0:
            out[i] = x[i]
    return out


def swapped(z, w):
    for _ in range(3):
        z, w = w * 0.5, z + w
    return z


def matrix(m, z):
    return m @ z, m.T.dot(z)


def parameter_itself(z, w):
    return z


def view(z):
    z[2] *= 1j
    return z[1:]


def appended(z, x):
    out = np.zeros(0, dtype=np.complex128)
    for i in range(len(z)):
        out = np.append(out, z[i] * z[i - 1])
    return np.append(out, x), np.append(x, z)


CASES: list[tuple[Callable[..., Any], tuple[Any, ...], tuple[str, ...]]] = [
    (appended, (Z, X), ()),
    (norm, (Z,), ()),
    (norm, (Z[::2],), ()),
    (squares, (Z,), ()),
    (squares, (Z.reshape(1, 3),), ()),
    (squares, (np.complex128(0.5 - 1j),), ()),
    (stacked, (Z, X), ()),
    (scalar, (0.3 + 0.2j,), ()),
    (scalar, (0.3 + 0.2j, 0.5), ()),
    (scalar, (0.4, 1j), ()),
    (scalar, (0.4, 0.25), ()),
    (in_place, (Z, X), ("z",)),
    (in_place_and_returned, (Z, W), ("z",)),
    (row, (Z, X), ()),
    (only_arrays_in_one_part, (X, W), ()),
    (transform, (Z,), ()),
    (transform, (X,), ()),
    (butterfly, (Z, W), ()),
    (reflectance, (Z, X), ()),
    (reflectance, (Z, W), ()),
    (real_or_complex, (Z,), ()),
    (real_or_complex, (X,), ()),
    (angles, (Z, X), ()),
    (in_structures, ({"z": Z, "k": 0.5}, X), ("p",)),
    (in_structures, ({"z": Z, "k": 0.5j}, X), ("p",)),
    (branches, (Z, X), ()),
    (branches, (Z, -X), ()),
    (swapped, (Z, W), ()),
    (swapped, (X, W), ()),
    (matrix, (np.outer(Z, W), Z), ()),
    (matrix, (np.outer(X, X), Z), ()),
    (parameter_itself, (Z, W), ()),
    (view, (Z,), ("z",)),
]
NAMES = [f"{f.__name__}{k}" for k, (f, _, _) in enumerate(CASES)]


@pytest.mark.parametrize("target", ["python", "numba"])
@pytest.mark.parametrize(("f", "given", "written"), CASES, ids=NAMES)
def test_functions_of_complex_numbers_are_right(f, given, written, target):
    d = pyrev.differentiable(f, target=target)
    names = f.__code__.co_varnames
    check(
        d, f, dict(zip(names, given, strict=False)), written, np.random.default_rng(3)
    )


def test_gradients_follow_steepest_ascent():
    """The derivative along the real axis, and `1j` times that along the imaginary."""
    _, pullback = pyrev.vjp(norm, Z)
    weights = np.array([1.0, 2.0, 3.0])
    np.testing.assert_allclose(pullback(1.0)["z"], 2.0 * Z * weights)
    # That of ``z * w`` by `z` is the cotangent times the conjugate of `w`.
    _, pullback = pyrev.vjp(lambda z, w: z * w, Z, W)
    np.testing.assert_allclose(pullback(X + 1j)["z"], (X + 1j) * W.conj())


@pytest.mark.parametrize("target", ["python", "numba"])
def test_results_are_those_of_numpy(target):
    def results(z, x):
        s = z[0] * x[0]
        return z, z[1:], z * 2, s, z.real, z.shape[0]

    d = pyrev.differentiable(results, target=target)
    for dtype in ("complex128", "complex64"):
        own = Z.astype(dtype)
        x = X.astype(own.real.dtype)
        found, expected = d(own, x), results(own, x)
        assert found[0] is own
        assert np.shares_memory(found[1], own)
        for a, b in zip(found, expected, strict=True):
            assert np.asarray(a).dtype == np.asarray(b).dtype
            np.testing.assert_allclose(a, b, rtol=1e-6)
        (_, pullback) = pyrev.vjp(d, own, x)
        gradients = pullback((None, None, own, 1j, None, None))
        assert gradients["z"].dtype == dtype
        assert gradients["x"].dtype == x.dtype
    empty = d.python  # an empty array has no first element, as in NumPy
    assert pyrev.vjp(lambda z: z * 2j, np.zeros(0, complex))[0].dtype == complex
    assert empty is results


def test_numbers_of_python_give_gradients_that_are_such():
    _, pullback = pyrev.vjp(scalar, 0.3 + 0.2j, n=2)
    assert type(pullback(1.0)["z"]) is complex
    one = np.complex64(0.3 + 0.2j)
    _, pullback = pyrev.vjp(squares, one)
    assert type(pullback(1.0)["z"]) is np.complex64


@pytest.mark.parametrize("target", ["python", "numba"])
def test_tangents_are_complex(target):
    d = pyrev.differentiable(stacked, target=target)
    along = {"z": W, "x": X}
    result, tangents = pyrev.jvp(d, Z, X, tangents=along)
    step = 1e-6
    up, down = (stacked(Z + h * W, X + h * X) for h in (step, -step))
    for k in (0, 1):
        slope = (up[k] - down[k]) / (2 * step)
        np.testing.assert_allclose(tangents["return"][k], slope, atol=1e-8)
        np.testing.assert_allclose(result[k], stacked(Z, X)[k])
    several = np.stack([W, 1j * W])
    _, tangents = pyrev.jvp(d, Z, X, tangents={"z": several})
    assert tangents["return"][0].shape == (2, 3)
    own = Z.copy()
    _, tangents = pyrev.jvp(in_place, own, X, tangents={"z": W})
    up, down = Z + step * W, Z - step * W
    in_place(up, X), in_place(down, X)
    np.testing.assert_allclose(tangents["z"], (up - down) / (2 * step), atol=1e-8)


def test_what_is_asked_for_and_added_to():
    value, gradient = pyrev.value_and_grad(norm, wrt="z")(Z)
    assert value == norm(Z)
    assert gradient.dtype == complex
    assert tuple(pyrev.grad(angles, wrt=("x",))(Z, X)) == ("x",)
    _, pullback = pyrev.vjp(in_place, Z.copy(), X, wrt=0)
    buffer = np.ones(3, complex)
    found = pullback(z=W, into={"z": buffer})
    assert found["z"] is buffer
    fresh = pyrev.vjp(in_place, Z.copy(), X, wrt="z")[1](cotangents={"z": W})
    np.testing.assert_allclose(buffer, 1.0 + fresh["z"])


def test_the_shown_text_runs_without_pyrev(tmp_path):
    d = pyrev.differentiable(squares, target="python")
    path = d.adjoint.save(tmp_path / "squares_adjoint.py", "python", Z)
    text = path.read_text()
    assert "def squares_adjoint(z_re, z_im, d_result_0, d_result_1):" in text
    assert "pyrev" not in text.split("import numpy", 1)[1]
    own: dict[str, Any] = {}
    exec(text, own)
    re, im = own["squares_adjoint"](Z.real, Z.imag, W.real, W.imag)
    expected = pyrev.vjp(d, Z)[1](W)["z"]
    np.testing.assert_allclose(re + 1j * im, expected)


def test_second_derivatives_are_those_of_a_function_of_parts():
    def of_parts(x, y):
        z = x + 1j * y
        return abs(scalar(z, 0.3 - 0.1j)) ** 2

    found = pyrev.hessian(of_parts)(0.3, 0.2)
    assert np.isfinite(np.asarray(found["x"]["y"]))
    with pytest.raises(pyrev.ArgumentError, match="complex numbers"):
        pyrev.hessian(norm)(Z)


def test_what_does_not_fit_is_refused():
    with pytest.raises(pyrev.ArgumentError, match=r"`\.real` or `abs"):
        pyrev.grad(scalar)(0.3 + 0.2j)
    with pytest.raises(pyrev.ArgumentError, match="one precision"):
        pyrev.vjp(stacked, Z.astype(np.complex64), X)
    with pytest.raises(pyrev.ArgumentError, match="clongdouble|complex256"):
        pyrev.vjp(norm, Z.astype(np.clongdouble))
    with pytest.raises(pyrev.ArgumentError, match="0-d array"):
        pyrev.vjp(scalar, np.array(1j))
    with pytest.raises(pyrev.UnsupportedError, match="conjugate of a real"):
        pyrev.vjp(squares, X)
