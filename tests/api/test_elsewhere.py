"""Arrays of other libraries on the host: taken where they are, given back alike."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import pyrev
import pyrev.scipy
from tests.tools.costs import differentiable

TARGETS = pytest.mark.parametrize("target", ["python", "numba"])


class Labelled:
    """What matters of an `xarray.DataArray`."""

    def __init__(self, data: Any, coords: dict[str, Any]) -> None:
        self.data, self.dims, self.coords = data, tuple(coords), coords

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(self.data.shape)

    def copy(self, *, data: Any) -> Labelled:
        return Labelled(data, self.coords)


class Exported:
    """What hands out its memory, and nothing else."""

    def __init__(self, array: Any) -> None:
        self._array = array

    def __dlpack__(self, **options: Any) -> Any:
        return self._array.__dlpack__(**options)

    def __dlpack_device__(self) -> tuple[int, int]:
        return (1, 0)


def energy(u, c):
    total = 0.0
    for i in range(1, u.shape[0]):
        total += c * (u[i] - u[i - 1]) ** 2
    return total


def smoothed(u, out):
    for i in range(1, u.shape[0] - 1):
        out[i] = 0.5 * u[i] * (u[i - 1] + u[i + 1])
    return out * 2.0


X = np.array([0.3, 0.8, -0.4, 1.2])


def labelled(x: Any) -> Labelled:
    return Labelled(x, {"t": [*range(len(x))]})


@TARGETS
def test_a_gradient_has_the_labels_of_its_argument(target: str) -> None:
    f = differentiable(energy, target=target)
    want = pyrev.grad(f)(X, 2.0)
    u = labelled(X.copy())
    for _ in range(3):
        assert f(u, 2.0) == f(X, 2.0)
        gradient = pyrev.grad(f)(u, 2.0)
        assert isinstance(gradient.u, Labelled) and gradient.u.coords is u.coords
        np.testing.assert_array_equal(gradient.u.data, want.u)
        assert type(gradient.c) is float and gradient.c == want.c
    value, alone = pyrev.value_and_grad(f, wrt="u")(u, c=2.0)
    assert value == f(X, 2.0) and isinstance(alone, Labelled)
    _, moved = pyrev.jvp(f, u, 2.0, tangents={"u": labelled(np.ones(4))})
    assert moved["return"] == pytest.approx(want.u.sum())


@TARGETS
def test_what_is_written_is_written_in_place(target: str) -> None:
    f = differentiable(smoothed, target=target)
    own = np.zeros(4)
    u, out = labelled(X.copy()), labelled(own)
    result, pullback = pyrev.vjp(f, u, out)
    np.testing.assert_array_equal(own, smoothed(X, np.zeros(4)) / 2.0)
    np.testing.assert_array_equal(result, 2.0 * own)
    gradient = pullback(result, out=labelled(np.ones(4)))
    _, plain = pyrev.vjp(f, X, np.zeros(4))
    want = plain(2.0 * own, out=np.ones(4))
    np.testing.assert_array_equal(gradient.u.data, want.u)
    np.testing.assert_array_equal(gradient.out.data, want.out)
    _, moved = pyrev.jvp(f, u, out, tangents={"u": np.ones(4)})
    assert isinstance(moved["out"], Labelled)


@TARGETS
def test_whatever_hands_out_its_memory_is_taken(target: str) -> None:
    f = differentiable(energy, target=target)
    gradient = pyrev.grad(f)(Exported(X), 2.0)
    np.testing.assert_array_equal(gradient.u, pyrev.grad(f)(X, 2.0).u)
    out = np.zeros(4)
    differentiable(smoothed, target=target)(Exported(X), Exported(out))
    np.testing.assert_array_equal(out, smoothed(X, np.zeros(4)) / 2.0)


def test_memory_that_may_not_be_written_is_not() -> None:
    out = np.zeros(4)
    out.flags.writeable = False
    f = differentiable(smoothed, target="numba")
    with pytest.raises((pyrev.ArgumentError, BufferError)):
        f(labelled(X), labelled(out))
    u = labelled(X.copy())
    with pytest.raises(pyrev.ArgumentError, match="overlaps"):
        f(u, u)


def test_what_has_no_arrays_of_their_kind_to_give_back_takes_them() -> None:
    f = differentiable(energy, target="numba")
    u = labelled(X.copy())
    assert pyrev.check_grad(f, u, 2.0).ok
    hessian = pyrev.hessian(f, wrt="u")
    np.testing.assert_array_equal(hessian(u, 2.0), hessian(X, 2.0))
    assert f.frozen(u, 2.0)(X, 2.0) == f(X, 2.0)
    assert str(f.explain("numba", u, 2.0)) == str(f.explain("numba", X, 2.0))
    minimised = pyrev.scipy.objective(f, u, 2.0, wrt="u")
    value, gradient = minimised(minimised.x0)
    assert value == f(X, 2.0)
    np.testing.assert_array_equal(gradient, pyrev.grad(f, wrt="u")(X, 2.0))


def test_calls_with_and_without_labels_take_turns() -> None:
    f = differentiable(energy, target="numba")
    run = pyrev.value_and_grad(f)
    for k in range(6):
        x = X * (k + 1)
        value, gradient = run(labelled(x) if k % 2 else x, 2.0)
        assert value == pytest.approx(energy(x, 2.0), rel=1e-14)
        assert isinstance(gradient.u, Labelled) == bool(k % 2)


@dataclass
class Grid:
    dims: float
    coords: Any
    data: Any


def on_grid(grid):
    total = 0.0
    for i in range(grid.data.shape[0]):
        total += grid.dims * grid.data[i] * grid.coords[i]
    return total


def test_a_structure_with_such_names_is_a_structure() -> None:
    f = differentiable(on_grid, target="numba")
    grid = Grid(2.0, X.copy(), X + 1.0)
    gradient = pyrev.grad(f)(grid)
    np.testing.assert_allclose(gradient.grid.data, 2.0 * X)


def test_xarray() -> None:
    xarray = pytest.importorskip("xarray")
    t = [10.0, 20.0, 30.0, 40.0]
    u = xarray.DataArray(X.copy(), dims=("t",), coords={"t": t})
    f = differentiable(energy, target="numba")
    gradient = pyrev.grad(f, wrt="u")(u, 2.0)
    assert isinstance(gradient, xarray.DataArray)
    np.testing.assert_array_equal(gradient.t, t)
    at = gradient.sel(t=20.0).item()
    assert at == pyrev.grad(f, wrt="u")(X, 2.0)[1]
    u[:] = 0.0  # no copy was kept where it might be changed unseen
    assert f(u, 2.0) == 0.0


def test_the_array_api_standard() -> None:
    strict = pytest.importorskip("array_api_strict")
    f = differentiable(smoothed, target="numba")
    u, out = strict.asarray(X), strict.zeros(4)
    result, pullback = pyrev.vjp(f, u, out)
    assert type(result) is type(u)
    np.testing.assert_array_equal(np.from_dlpack(result), smoothed(X, np.zeros(4)))
    np.testing.assert_array_equal(np.from_dlpack(out), smoothed(X, np.zeros(4)) / 2.0)
    gradient = pullback(np.ones(4))
    assert type(gradient.u) is type(u)
    _, plain = pyrev.vjp(f, X, np.zeros(4))
    np.testing.assert_array_equal(np.from_dlpack(gradient.u), plain(np.ones(4)).u)
