"""`f.bind`: a function with arguments that are fixed, in every call that there is."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import numpy as np
import pytest

import pyrev
import pyrev.dask
import pyrev.scipy
from pyrev.testing import check_grad


def misfit(weights, shift, data, power=2):  # type: ignore[no-untyped-def]
    total = 0.0
    for i in range(data.shape[0]):
        total += (weights[i % 3] * data[i] + shift - 1.0) ** power
    return total


def smooth(u, out, steps):  # type: ignore[no-untyped-def]
    for i in range(u.shape[0]):
        out[i] = u[i]
    for _ in range(steps):
        for i in range(1, u.shape[0]):
            out[i] += 0.5 * out[i - 1]


WEIGHTS, SHIFT = np.array([0.5, -1.0, 2.0]), 0.25
DATA = np.random.default_rng(1).normal(size=17)


def f(target: str = "numba") -> Any:
    return pyrev.differentiable(misfit, target=target)


@pytest.mark.parametrize("target", ["python", "numba"])
def test_the_rest_of_the_arguments_is_given_in_order_or_by_name(target: str) -> None:
    whole = f(target)
    bound = whole.bind(data=DATA)
    expected = misfit(WEIGHTS, SHIFT, DATA)
    assert bound(WEIGHTS, SHIFT) == pytest.approx(expected, rel=1e-14)
    assert bound(shift=SHIFT, weights=WEIGHTS) == bound(WEIGHTS, SHIFT)
    cubed = misfit(WEIGHTS, SHIFT, DATA, 3)
    assert bound(WEIGHTS, SHIFT, 3) == pytest.approx(cubed, rel=1e-14)
    assert bound.bind(power=3)(WEIGHTS, SHIFT) == bound(WEIGHTS, SHIFT, 3)
    # A name is taken in place of what is fixed.
    half = misfit(WEIGHTS, SHIFT, DATA[:5])
    assert bound(WEIGHTS, SHIFT, data=DATA[:5]) == pytest.approx(half, rel=1e-14)
    assert whole.bind(WEIGHTS, SHIFT, DATA)() == bound(WEIGHTS, SHIFT)


def test_gradients_are_with_respect_to_what_is_not_fixed() -> None:
    bound = f().bind(data=DATA)
    both = pyrev.grad(f())(WEIGHTS, SHIFT, DATA)
    found = pyrev.grad(bound)(WEIGHTS, SHIFT)
    assert [*found] == ["weights", "shift"]
    assert np.array_equal(found.weights, both.weights)
    # Again, when calls like it are short.
    assert np.array_equal(pyrev.grad(bound)(2 * WEIGHTS, SHIFT).weights.shape, (3,))
    again = pyrev.grad(f())(2 * WEIGHTS, SHIFT, DATA)
    assert np.array_equal(pyrev.grad(bound)(2 * WEIGHTS, SHIFT).weights, again.weights)
    value, weights = pyrev.value_and_grad(bound, "weights")(WEIGHTS, SHIFT)
    assert value == bound(WEIGHTS, SHIFT)
    assert np.array_equal(weights, both.weights)
    # What is fixed may be asked for; where all is, all are.
    assert np.array_equal(pyrev.grad(bound, "data")(WEIGHTS, SHIFT), both.data)
    everything = pyrev.grad(f().bind(WEIGHTS, SHIFT, DATA))()
    assert [*everything] == ["weights", "shift", "data"]


def test_every_derivative_takes_it() -> None:
    bound, whole = f().bind(data=DATA), f()
    result, pullback = pyrev.vjp(bound, WEIGHTS, SHIFT)
    assert result == bound(WEIGHTS, SHIFT)
    assert [*pullback(1.0)] == ["weights", "shift"]
    moves = {"weights": np.ones(3)}
    _, moved = pyrev.jvp(bound, WEIGHTS, SHIFT, tangents=moves)
    assert moved["return"] == pytest.approx(pullback(1.0).weights.sum(), rel=1e-12)
    curved = pyrev.hvp(bound, WEIGHTS, SHIFT, tangents=moves)
    straight = pyrev.hvp(whole, WEIGHTS, SHIFT, DATA, tangents=moves)
    assert np.array_equal(curved.weights, straight.weights)
    hessian = pyrev.hessian(bound, wrt="weights")(WEIGHTS, SHIFT)
    assert np.allclose(hessian.sum(axis=1), curved.weights)
    jacobian = pyrev.jacobian(bound)(WEIGHTS, SHIFT)
    assert [*jacobian] == ["weights", "shift"]
    report = check_grad(bound, WEIGHTS, SHIFT)
    assert report.ok
    looked_at = {c.parameter for c in report.entries}
    assert looked_at == {"a random direction", "weights", "shift"}


def test_arrays_that_it_holds_are_the_callers_own() -> None:
    u, out = np.arange(5.0), np.zeros(5)
    plain = np.zeros(5)
    run = pyrev.differentiable(smooth, target="numba").bind(u, out, steps=2)
    smooth(u, plain, 2)
    run()
    assert np.allclose(out, plain)
    u[0] = 7.0
    smooth(u, plain, 2)
    run()
    assert np.allclose(out, plain)
    assert run.fixed["out"] is out


def test_reports_and_texts_are_those_of_the_function() -> None:
    bound, whole = f().bind(data=DATA), f()
    assert bound.adjoint.source == whole.adjoint.source
    assert str(bound.explain()) == str(whole.explain())
    full = bound.bind(WEIGHTS, SHIFT)
    expected = str(whole.explain("numba", WEIGHTS, SHIFT, DATA))
    assert str(full.explain("numba")) == expected
    assert str(bound.explain("numba", WEIGHTS, SHIFT)) == expected
    assert "misfit" in str(full.report())
    assert "bound: data" in repr(bound)
    assert full.frozen()(WEIGHTS, SHIFT, DATA, 2) == full()


def test_it_travels_with_what_it_holds() -> None:
    bound = differentiable_smooth.bind(steps=2)
    u, out = np.arange(5.0), np.zeros(5)
    for other in (pickle.loads(pickle.dumps(bound)), copy.copy(bound)):
        out[:] = 0.0
        other(u, out)
        assert out[-1] != 0.0
    held = f().bind(data=DATA)
    assert copy.deepcopy(held).fixed["data"] is not DATA
    assert copy.copy(held).fixed["data"] is DATA


differentiable_smooth = pyrev.differentiable(smooth, target="numba")


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: f().bind(dta=DATA), "dta"),
        (lambda: f().bind(1, 2, 3, 4, 5), "too many positional arguments"),
        (lambda: f().bind(data=DATA)(), "missing a required argument"),
        (lambda: f().bind(data=DATA)(WEIGHTS, SHIFT, 2, 3), "it takes weights, shift"),
        (lambda: f().bind(data=DATA)(WEIGHTS, 1.0, weights=WEIGHTS), "by position and"),
        (lambda: f().bind(data=DATA)(WEIGHTS, 1.0, other=2), "no parameter `other`"),
    ],
)
def test_a_wrong_call_is_said(call: Any, message: str) -> None:
    with pytest.raises(pyrev.ArgumentError, match=message):
        call()


def scaled(x, *, a=2.0):  # type: ignore[no-untyped-def]
    total = 0.0
    for i in range(x.shape[0]):
        total += a * x[i] ** 2
    return total


scaled_by_five = pyrev.differentiable(scaled).bind(a=5.0)


def around(x):  # type: ignore[no-untyped-def]
    return scaled_by_five(x)


def taking(x, g):  # type: ignore[no-untyped-def]
    return g(x)


def test_what_is_bound_is_never_lost_inside_of_another_function() -> None:
    x = np.array([1.0, 2.0])
    refused = (pyrev.UnsupportedError, pyrev.ArgumentError)
    for target in ("python", "numba"):
        for function, more in ((around, ()), (taking, (scaled_by_five,))):
            with pytest.raises(refused):
                f = pyrev.differentiable(function, target=target)  # type: ignore[call-overload]
                pyrev.vjp(f, x, *more)
    with pytest.raises(pyrev.ArgumentError, match="is bound"):
        pyrev.differentiable(scaled_by_five, fastmath=True)


def test_bridges_take_what_is_bound() -> None:
    x = np.array([1.0, 2.0])
    value, slope = pyrev.scipy.objective(scaled_by_five, x, wrt="x")(x)
    assert value == 25.0
    assert slope.tolist() == [10.0, 20.0]
    pytest.importorskip("dask.array", reason="dask is not installed")
    with pytest.raises(pyrev.ArgumentError, match="is bound"):
        pyrev.dask.distribute(scaled_by_five)


def gather(x, out):  # type: ignore[no-untyped-def]
    for i in range(x.shape[0]):
        out[i] += x[i] ** 2


@pytest.mark.parametrize("target", ["python", "numba"])
def test_reports_leave_what_is_bound(target: str) -> None:
    x, out = np.array([1.0, 2.0]), np.zeros(2)
    pyrev.differentiable(gather, target=target).bind(out=out).report(x)
    assert not out.any()


def several(x, *ys):  # type: ignore[no-untyped-def]
    return x[0] * ys[0][0] + ys[1][0]


def in_order(x, /, y, a=2.0):  # type: ignore[no-untyped-def]
    return x[0] * y[0] * a


def test_parameters_of_every_kind() -> None:
    x = np.array([3.0])
    bound = pyrev.differentiable(several).bind(x)
    assert bound(x, 2 * x) == 15.0
    whole = pyrev.differentiable(in_order)
    assert whole.bind(x)(x) == 18.0
    assert whole.bind(a=1.0)(x, x) == 9.0
    assert check_grad(whole, x, x)
    assert check_grad(whole.bind(x), x)
