# mypy: disallow-untyped-defs=False, disallow-untyped-calls=False
"""`f.adjoint(...)`, `f.primal(...)`, `f.tangent(...)`: checked as a call is."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pyrev


def neighbours(x, out):
    for i in range(1, x.shape[0]):
        out[i] = x[i - 1] * x[i]


@pytest.fixture(params=["python", "numba"])
def f(request: pytest.FixtureRequest) -> Any:
    return pyrev.differentiable(neighbours, target=str(request.param))


def numbers(n: int = 7) -> np.ndarray:
    return np.linspace(0.3, 1.1, n)


def test_overlapping_arguments_are_refused(f):
    x, d = numbers(), np.ones(7)
    with pytest.raises(pyrev.ArgumentError, match="`out`, which overlaps `x`"):
        f.primal(x, x)
    with pytest.raises(pyrev.ArgumentError, match="`out`, which overlaps `x`"):
        f.adjoint(x, x, d)
    with pytest.raises(pyrev.ArgumentError, match="`out`, which overlaps `x`"):
        f.tangent(x, x[:], d, d.copy())
    with pytest.raises(pyrev.ArgumentError, match="`dot_out`, which overlaps `dot_x`"):
        f.tangent(x, np.zeros(7), d, d)
    assert np.array_equal(x, numbers()) and np.array_equal(d, np.ones(7))


def test_what_is_written_must_be_writable_and_what_is_read_need_not(f):
    x, out, d = numbers(), np.zeros(7), np.ones(7)
    for array in (x, out, d):
        array.setflags(write=False)
    with pytest.raises(pyrev.ArgumentError, match="`out`, which is read-only"):
        f.primal(x, out)
    with pytest.raises(pyrev.ArgumentError, match="`out`, which is read-only"):
        f.tangent(x, out, d, np.ones(7))
    with pytest.raises(pyrev.ArgumentError, match="`dot_out`, which is read-only"):
        f.tangent(x, np.zeros(7), d, d)
    d_x, d_out = f.adjoint(x, out, d)
    # d (sum of x[i - 1] * x[i]) / d x; only out[0] keeps its initial value.
    expected = np.append(x[1:], 0.0) + np.append(0.0, x[:-1])
    assert np.array_equal(d_x, expected)
    assert np.array_equal(d_out, np.eye(7)[0])


def test_tangents_are_moved_in_the_arrays_that_were_given(f):
    x, out, dot_x, dot_out = numbers(), np.zeros(7), np.full(7, 2.0), np.zeros(7)
    f.tangent(x, out, dot_x, dot_out)
    step = 1e-20  # complex step of the plain function
    z, moved = x + step * 1j * dot_x, np.zeros(7, complex)
    neighbours(z, moved)
    np.testing.assert_allclose(dot_out, moved.imag / step, rtol=1e-14)
    assert np.array_equal(out, moved.real)
    strided = np.zeros((7, 2))
    f.tangent(x, np.zeros((7, 2))[:, 0], dot_x, strided[:, 0])
    assert np.array_equal(strided[:, 0], dot_out) and not strided[:, 1].any()
    with pytest.raises(pyrev.ArgumentError, match="`dot_out`.* kind of `out`"):
        f.tangent(x, out, dot_x, np.zeros(7, np.float32))
    with pytest.raises(pyrev.ArgumentError, match="`dot_x` has shape"):
        f.tangent(x, out, dot_x[1:], np.zeros(7))


def test_compiled_code_does_not_round_floats_to_integers():
    f = pyrev.differentiable(neighbours, target="numba")
    with pytest.raises(pyrev.ArgumentError, match="writes floats to `out`"):
        f.primal(numbers(), np.zeros(7, np.int64))


def square_vjp(x, result, d):
    return d * x  # it lacks the factor of two


@pyrev.custom_vjp(square_vjp)
def square(x):
    return x * x


def energy(x):
    total = 0.0
    for i in range(x.shape[0]):
        total += square(x[i])
    return total


def scaled(x, k):
    return k * x[0]


def test_the_tangent_of_a_number_is_a_number():
    f = pyrev.differentiable(scaled)
    assert f.tangent(numbers(), 3.0, np.ones(7), 1.0) == pytest.approx((0.9, 3.3))
    with pytest.raises(pyrev.ArgumentError, match=r"`dot_k` has shape \(7,\)"):
        f.tangent(numbers(), 3.0, np.ones(7), np.ones(7))


def test_a_rule_that_is_no_derivative_is_found():
    f = pyrev.differentiable(energy, target="numba")
    with pytest.raises(pyrev.ArgumentError, match="square"):
        f.adjoint(numbers(), 1.0)


def held(x, k=2.0):
    total = 0.0
    for i in range(x.shape[0]):
        total += k * x[i]
    return total


def test_the_arguments_are_given_as_the_text_names_them():
    f = pyrev.differentiable(held, target="numba")
    by_position = f.adjoint(numbers(), 3.0, 1.0)
    by_name = f.adjoint(numbers(), d_result=1.0, k=3.0)
    assert all(np.array_equal(a, b) for a, b in zip(by_position, by_name, strict=True))
    with pytest.raises(pyrev.ArgumentError, match=r"held_adjoint\(\): missing"):
        f.adjoint(numbers())
    with pytest.raises(pyrev.ArgumentError, match=r"held_adjoint\(\): too many"):
        f.adjoint(numbers(), 3.0, 1.0, 1.0)
