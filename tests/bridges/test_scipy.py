# mypy: disallow-untyped-defs=False, disallow-untyped-calls=False
from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pyrev
from pyrev.scipy import objective, residuals
from tests.bridges.functions import (
    arguments,
    blur,
    example,
    gathered,
    heat,
    huber,
    smoothed,
)

optimize = pytest.importorskip("scipy.optimize", reason="SciPy is not installed")


def floats(name: str) -> tuple[str, ...]:
    f, args = arguments()[name]
    names = f.__code__.co_varnames
    return tuple(
        n for n, a in zip(names, args, strict=False) if "f" in np.asarray(a).dtype.kind
    )


@pytest.mark.parametrize("name", ["heat", "huber"])
def test_the_gradient_of_an_objective_agrees_with_differences(name: str) -> None:
    f, args = arguments()[name]
    interpreted = pyrev.differentiable(f, target="python")
    fun = objective(interpreted, *args, wrt=floats(name))
    x = fun.x0
    value, gradient = fun(x)
    assert value == pytest.approx(f(*args), rel=1e-13)
    assert gradient.dtype == np.float64 and gradient.shape == x.shape
    error = optimize.check_grad(lambda x: fun(x)[0], lambda x: fun(x)[1], x)
    assert error < 1e-6


@pytest.mark.parametrize("name", ["blur", "gathered", "smoothed", "heat", "huber"])
def test_the_jacobian_of_residuals_agrees_with_differences(name: str) -> None:
    f, args = arguments()[name]
    before = [np.array(a) for a in args]
    fun = residuals(pyrev.differentiable(f, target="python"), *args, wrt=floats(name))
    x = fun.x0 + 0.01
    differences = optimize.approx_fprime(x, fun, 1e-7)
    jacobian = fun.jac(x)
    assert jacobian.shape == (fun(x).size, x.size)
    np.testing.assert_allclose(jacobian, np.atleast_2d(differences), atol=1e-5)
    for a, b in zip(args, before, strict=True):
        assert np.array_equal(a, b)


def test_a_kernel_is_found_from_what_it_blurred() -> None:
    _, (image, kernel, _) = arguments()["blur"]
    seen = np.zeros((4, 4))
    blur(image, kernel, seen)
    fun = residuals(blur, image, np.zeros((2, 3)), -seen, wrt="kernel")
    found = optimize.least_squares(fun, fun.x0, jac=fun.jac)
    assert found.success
    np.testing.assert_allclose(fun.unpack(found.x), kernel, atol=1e-10)


def test_values_are_found_from_products_of_them() -> None:
    _, (values, index) = arguments()["gathered"]
    seen = gathered(values, index)
    fun = residuals(gathered, values + 0.1, index, wrt="values")
    found = optimize.least_squares(lambda x: fun(x) - seen, fun.x0, jac=fun.jac)
    np.testing.assert_allclose(gathered(fun.unpack(found.x), index), seen, atol=1e-8)


@pytest.mark.parametrize("method", ["L-BFGS-B", "BFGS", "CG", "TNC"])
def test_the_minimum_of_a_time_loop_is_found(method: str) -> None:
    _, (start, c, steps) = arguments()["heat"]
    fun = objective(heat, start, c, steps, wrt="start")
    found = optimize.minimize(fun, fun.x0, jac=True, method=method)
    assert found.fun < 1e-8
    np.testing.assert_allclose(fun.unpack(found.x), np.zeros(6), atol=1e-3)


def test_a_robust_mean_is_found() -> None:
    def spread(centre, data, delta):
        shifted = np.zeros(data.shape[0])
        for i in range(data.shape[0]):
            shifted[i] = data[i] - centre
        return huber(shifted, delta)

    data = np.array([1.0, 1.2, 0.9, 50.0])
    fun = objective(spread, 0.0, data, 0.5, wrt="centre")
    found = optimize.minimize(fun, fun.x0, jac=True)
    # The outlier pulls with the force delta, which the three others share.
    assert fun.unpack(found.x) == pytest.approx((3.1 + 0.5) / 3, abs=1e-5)


def test_numbers_are_found_from_the_steps_they_made() -> None:
    _, (x, gain, shift, repeat, out) = arguments()["smoothed"]
    seen = smoothed(x, gain, shift, repeat, out.copy())[1]
    wrt = ("gain", "shift")
    interpreted = pyrev.differentiable(smoothed, target="python")
    fun = residuals(interpreted, x, 0.0, 0.0, repeat, out, wrt=wrt, of="out")
    lowest = fun.pack({"gain": 0.0, "shift": 0.0})
    highest = fun.pack({"gain": 0.9, "shift": 1.0})
    found = optimize.least_squares(
        lambda v: fun(v) - seen, fun.x0 + 0.1, jac=fun.jac, bounds=(lowest, highest)
    )
    assert fun.unpack(found.x) == pytest.approx(
        {"gain": gain, "shift": shift}, abs=1e-5
    )


# ------------------------------------------------------------------- packing


def test_packing_goes_there_and_back() -> None:
    def all_kinds(a, b, c, k):
        return a[0, 0] * b[0] * c * k

    a = np.arange(6.0).reshape(2, 3).T
    b = np.array([7, 8], np.float32)
    fun = objective(all_kinds, a, b, 9.0, 2, wrt=("c", "a", "b"))
    assert fun.names == ("a", "b", "c")
    assert fun.x0.tolist() == [0.0, 3.0, 1.0, 4.0, 2.0, 5.0, 7.0, 8.0, 9.0]
    found = fun.unpack(fun.x0)
    assert np.array_equal(found["a"], a) and found["a"].flags.c_contiguous
    assert np.array_equal(found["b"], b) and found["b"].dtype == np.float32
    assert found["c"] == 9.0 and type(found["c"]) is float
    assert np.array_equal(fun.pack(found), fun.x0)
    found["a"][:] = 0.0
    assert fun.x0[1] == 3.0
    assert fun.pack({"a": 1.0, "b": np.inf, "c": 2.0}).tolist() == (
        [1.0] * 6 + [np.inf] * 2 + [2.0]
    )


def test_one_name_is_packed_bare_and_a_tuple_of_one_is_not() -> None:
    fun = objective(huber, np.ones(3), 0.5, wrt="x")
    assert np.array_equal(fun.unpack(fun.x0), np.ones(3))
    assert np.array_equal(fun.pack(np.zeros(3)), np.zeros(3))
    assert objective(huber, np.ones(3), 0.5, wrt=0).names == ("x",)
    fun = objective(huber, np.ones(3), 0.5, wrt=("x",))
    assert list(fun.unpack(fun.x0)) == ["x"]


def test_float32_parameters_have_float64_vectors() -> None:
    fun = objective(huber, np.ones(3, np.float32), np.float32(2.0), wrt="x")
    value, gradient = fun(fun.x0 + 0.5)
    assert value == pytest.approx(3 * 0.5 * 1.5**2)
    assert gradient.dtype == np.float64 and gradient.tolist() == [1.5] * 3


def test_what_does_not_fit_is_refused() -> None:
    def count(x, hits):
        for i in range(x.shape[0]):
            hits[i] += x[i] > 0.0

    _, args = arguments()["blur"]
    refused: list[tuple[Any, str]] = [
        (lambda: objective(blur, *args, wrt="image"), "returns nothing"),
        (lambda: objective(smoothed, *arguments()["smoothed"][1], wrt="x"), "2 values"),
        (lambda: objective(huber, np.ones(3), 1.0, wrt="y"), "no such parameter"),
        (lambda: objective(heat, np.ones(3), 1.0, 2, wrt="steps"), "only float"),
        (lambda: residuals(blur, *args, wrt="image", of="image"), "does not write"),
        (lambda: residuals(count, np.ones(3), np.zeros(3, int), wrt="x"), "int64"),
    ]
    fun = objective(huber, np.ones(3), 1.0, wrt=("x", "delta"))
    refused += [
        (lambda: fun.pack({"x": np.ones(3)}), "each of x, delta"),
        (lambda: fun.pack(np.ones(3)), "each of x, delta"),
        (lambda: fun.pack({"x": np.ones(4), "delta": 1.0}), r"shape \(4,\)"),
        (lambda: fun(np.ones(3)), r"shape \(3,\)"),
        (lambda: fun.unpack(np.ones((2, 2))), r"shape \(2, 2\)"),
    ]
    for call, match in refused:
        with pytest.raises(pyrev.ArgumentError, match=match):
            call()


def test_the_example_of_the_page_runs(tmp_path: Path) -> None:
    names = example("SciPy", tmp_path)
    assert names["found"].success


def chain(x, k):
    total = 0.0
    for i in range(x.shape[0] - 1):
        total += k * (x[i + 1] - x[i] ** 2) ** 2 + (1 - x[i]) ** 2
    return total + (k - 2.0) ** 4


@pytest.mark.slow
def test_newtons_method_takes_hessians_and_their_products() -> None:
    fun = objective(chain, np.full(6, 0.4), 1.0, wrt=("x", "k"))
    dense = fun.hess(fun.x0).toarray()
    for k in range(fun.x0.size):
        unit = np.eye(fun.x0.size)[k]
        np.testing.assert_allclose(fun.hessp(fun.x0, unit), dense[:, k], rtol=1e-10)
        up, down = (fun(fun.x0 + s * 1e-5 * unit)[1] for s in (1, -1))
        np.testing.assert_allclose(dense[:, k], (up - down) / 2e-5, atol=1e-6)
    options: dict[str, Any] = {"jac": True, "hessp": fun.hessp, "tol": 1e-9}
    found = optimize.minimize(fun, fun.x0, method="trust-ncg", **options)
    np.testing.assert_allclose(fun.unpack(found.x)["x"], np.ones(6), atol=1e-3)


def test_a_sparse_jacobian_serves_least_squares() -> None:
    def bent(x, y, out):
        for i in range(out.shape[0]):
            out[i] = x[i] + 0.1 * x[i + 1] ** 3 - y[i]

    y = np.linspace(0.1, 1.0, 12)
    fun = residuals(bent, np.ones(13), y, np.zeros(12), wrt="x", sparse=True)
    dense = residuals(bent, np.ones(13), y, np.zeros(12), wrt="x")
    assert fun.jac(fun.x0).nnz == 24
    np.testing.assert_allclose(fun.jac(fun.x0).toarray(), dense.jac(fun.x0))
    found = optimize.least_squares(fun, fun.x0, jac=fun.jac)
    assert found.cost < 1e-12
