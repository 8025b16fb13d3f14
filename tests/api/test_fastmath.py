"""`fastmath=True`: numbers meet in any order, and go nowhere else."""

from __future__ import annotations

import math
import pickle
from typing import Any

import numpy as np
import pytest

import pyrev
from tests.targets.cuda import ondevice
from tests.targets.cuda.needs import compiler, nvidia

FLAGS = '{"fastmath": {"contract", "nsz", "reassoc"}}'


def energy(a, b, out):  # type: ignore[no-untyped-def]
    total = 0.0
    for i in range(a.shape[0]):
        out[i] = a[i] / 3.0 + b[i] * a[i]
        if i % 2 == 0:
            total += np.exp(-a[i] * a[i]) * b[i] / 7.0
    return total


def first_above(x, level):  # type: ignore[no-untyped-def]
    found = 0
    for i in range(x.shape[0]):
        if x[i] * x[i] + 1.0 > level:
            found = i
    return x[found] * 2.0


def looked_up(x, table, out):  # type: ignore[no-untyped-def]
    for i in range(x.shape[0]):
        k = int(x[i] * 3.0 + 0.5)
        out[i] = table[max(0, min(k, table.shape[0] - 1))] * x[i]


def relaxed(x):  # type: ignore[no-untyped-def]
    y = 1.0
    while abs(y * y - x) > 1e-10:
        y = 0.5 * (y + x / y)
    return y


def missing(x):  # type: ignore[no-untyped-def]
    total = 0.0
    for i in range(x.shape[0]):
        total += np.where(np.isnan(x[i]), 0.0, x[i]) * 3.0
    return total


def fast(f: Any, target: str = "numba") -> Any:
    return pyrev.differentiable(f, target=target, fastmath=True)


def given(n: int = 1000) -> dict[str, Any]:
    rng = np.random.default_rng(n)
    a, b = rng.normal(size=(2, n))
    return {"a": a, "b": b, "out": np.zeros(n)}


def test_values_and_gradients_are_those_of_the_function_up_to_rounding() -> None:
    mine, strict = given(), given()
    result, pullback = pyrev.vjp(fast(energy), **mine)
    assert result == pytest.approx(energy(**strict), rel=1e-12)
    assert np.allclose(mine["out"], strict["out"], rtol=1e-14, atol=1e-14)
    strict = given()
    _, strictly = pyrev.vjp(pyrev.differentiable(energy, target="numba"), **strict)
    ones = np.ones_like(mine["out"])
    found, expected = pullback(1.0, out=ones), strictly(1.0, out=ones)
    for name in found:
        assert np.allclose(found[name], expected[name], rtol=1e-13, atol=1e-15)
    assert pyrev.check_grad(fast(energy), **given(50))


def test_the_text_says_so_and_so_does_the_report() -> None:
    f = fast(energy)
    text = f.adjoint.source_for("numba", **given())
    assert f"ENTRY |= {FLAGS}" in text
    assert f"SERIAL |= {FLAGS}" in text
    said = f.explain("numba", *given().values())
    assert "all sums and products, by fastmath=True" in said
    strict = pyrev.differentiable(energy, target="numba")
    assert "ENTRY |=" not in strict.adjoint.source_for("numba", **given())
    # What is read is the same.
    assert f.adjoint.source == strict.adjoint.source


@pytest.mark.parametrize(
    ("f", "arguments", "which"),
    [
        (first_above, (np.arange(9.0), 5.0), "`>`"),
        (looked_up, (np.arange(3.0), np.arange(9.0), np.zeros(3)), "`int`"),
        (relaxed, (2.0,), "`abs`"),
        (missing, (np.arange(3.0),), "`isnan`"),
    ],
)
def test_where_rounding_may_decide_nothing_changes(
    f: Any, arguments: tuple[Any, ...], which: str
) -> None:
    strict = pyrev.differentiable(f, target="numba")
    for part in ("primal", "adjoint"):
        text = getattr(fast(f), part).source_for("numba", *arguments)
        assert text == getattr(strict, part).source_for("numba", *arguments)
    said = fast(f).explain("numba", *arguments)
    assert "none by fastmath=True: rounding may decide where" in said
    assert which in said


def jumping(x, y, z, out, kept):  # type: ignore[no-untyped-def]
    stored = np.zeros(x.shape[0])
    for i in range(x.shape[0]):
        product = x[i] * y[i]
        kept[i] = product
        stored[i] = (product - z[i]) != 0.0
    for i in range(x.shape[0]):
        out[i] = stored[i] * x[i] + np.floor(kept[i] - z[i]) * x[i]


def test_a_value_and_its_gradient_are_on_the_same_side() -> None:
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(2, 4000))
    out, kept = np.zeros((2, 4000))
    _, pullback = pyrev.vjp(fast(jumping), x, y, x * y, out, kept)
    assert not out.any()
    assert not pullback(out=np.ones(4000)).x.any()


def divided(a, b, out):  # type: ignore[no-untyped-def]
    for i in range(a.shape[0]):
        out[i] = a[i] / b[0]


def test_nan_and_infinities_stay_what_they_are() -> None:
    x = np.array([1.0, np.nan, 2.0, np.inf])
    assert fast(missing)(x[:3]) == 9.0
    assert fast(missing)(x) == np.inf
    assert np.array_equal(pyrev.grad(fast(missing))(x[:3])["x"], [3.0, 0.0, 3.0])
    small = np.array([0.0, 1e-310, 1e-300, 1.0])
    b, out = np.full(4, 1e-310), np.zeros(4)
    fast(divided)(small, b, out)
    with np.errstate(all="ignore"):
        assert np.array_equal(out, small / b)


def test_a_frozen_function_has_it_and_it_travels() -> None:
    values = given()
    frozen = fast(energy).frozen(**values)
    assert frozen(*values.values()) == pytest.approx(energy(**given()), rel=1e-12)
    again = pickle.loads(pickle.dumps(fast(energy)))
    assert again._options.arithmetic.fast
    with pytest.raises(pyrev.ArgumentError, match="fastmath"):
        pyrev.differentiable(energy, fastmath="yes")  # type: ignore[call-overload]


def steep(x, out):  # type: ignore[no-untyped-def]
    for i in range(x.shape[0]):
        out[i] = math.exp(x[i]) * math.tanh(x[i])


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_functions_are_as_exact_as_ever(dtype: type) -> None:
    x = np.linspace(-30.0, 80.0, 5001).astype(dtype)
    out = np.zeros_like(x)
    fast(steep)(x, out)
    wide = x.astype(np.float64)
    near = 1e-6 if dtype is np.float32 else 1e-15
    assert np.allclose(out, np.exp(wide) * np.tanh(wide), rtol=near, atol=0)


@compiler
@nvidia
def test_kernels_are_compiled_so() -> None:
    with ondevice.standing_in():
        text = fast(energy, "cuda").adjoint.source_for("cuda")
        assert "--fmad=true" in text
        assert "--fmad=false" in fast(first_above, "cuda").primal.source_for("cuda")
