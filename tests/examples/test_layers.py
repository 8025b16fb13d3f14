from __future__ import annotations

import math
from types import FunctionType
from typing import Any

import layer_loops as loops
import numpy as np
import pytest

import pyrev

# The layers that PyTorch trains are in tests/bridges/test_layers.py.

LAYERS = loops.small_arguments()
HELPERS: dict[str, tuple[Any, ...]] = {
    "tent": (-0.3,),
    "cubic": (1.3,),
    "windowed_sinc": (-2.2,),
    "scaled": (2.3, 5),
    "pixel": (0.4, 5),
}
PLANE = ("bilinear", "bicubic", "lanczos")


def still(name: str, shift: tuple[float, ...], image: np.ndarray) -> np.ndarray:
    """An image moved by pixels, towards its first element."""
    axes = len(shift)
    theta = np.eye(axes, axes + 1)[None]
    sizes = np.array(image.shape[:1:-1])
    theta[0, :, -1] = 2 * np.array(shift) / (sizes - 1)
    out = np.full_like(image, math.nan)
    getattr(loops, name)(image, theta, out)
    return out


@pytest.mark.slow
def test_the_loops_agree_in_cpython_numba_and_pyrev() -> None:
    numba = pytest.importorskip("numba")
    compiled: dict[str, Any] = {"math": math}
    for name in (*HELPERS, *LAYERS):
        plain = getattr(loops, name)
        compiled[name] = numba.njit(FunctionType(plain.__code__, compiled, name))
    for name, arguments in LAYERS.items():
        plain = getattr(loops, name)
        *given, _ = arguments
        found = []
        by_pyrev = pyrev.differentiable(plain, target="python")
        for run in (plain, compiled[name], by_pyrev):
            out = np.zeros_like(arguments[-1])
            run(*given, out)
            found.append(out)
        assert np.any(found[0] != 0)
        for other in found[1:]:
            np.testing.assert_allclose(other, found[0], rtol=1e-12, atol=1e-15)


@pytest.mark.slow
@pytest.mark.parametrize("name", [*HELPERS, *LAYERS])
def test_the_loops_have_right_gradients(name: str) -> None:
    loop = pyrev.differentiable(getattr(loops, name), target="python")
    report = pyrev.check_grad(loop, *{**HELPERS, **LAYERS}[name])
    assert report.ok, str(report)


@pytest.mark.parametrize("t", [0.0, 5e-4, -1.0, 1.0, 2.0, 2.7, -3.0])
def test_the_weights_of_lanczos_are_smooth_at_their_joints(t: float) -> None:
    kernel = pyrev.differentiable(loops.windowed_sinc, target="python")
    assert pyrev.check_grad(kernel, t).ok
    assert kernel(t) == pytest.approx(np.sinc(t) * np.sinc(t / 3), abs=1e-11)


@pytest.mark.parametrize("t", [0.0, 1.0, 1.7, -2.0])
def test_the_weights_of_cubic_convolution_are_smooth_at_their_joints(t: float) -> None:
    report = pyrev.check_grad(pyrev.differentiable(loops.cubic, target="python"), t)
    assert report.ok, str(report)


@pytest.mark.parametrize("name", PLANE)
def test_a_move_by_whole_pixels_copies_them(name: str) -> None:
    image = np.random.default_rng(1).random((1, 2, 5, 6))
    out = still(name, (2.0, -1.0), image)
    expected = np.zeros_like(image)
    expected[..., 1:, :-2] = image[..., :-1, 2:]
    np.testing.assert_allclose(out, expected, atol=1e-12)


def test_a_volume_moves_along_each_of_its_axes() -> None:
    solid = np.random.default_rng(1).random((1, 1, 4, 5, 6))
    out = still("trilinear", (1.0, -2.0, 0.0), solid)
    expected = np.zeros_like(solid)
    expected[..., 2:, :-1] = solid[..., :-2, 1:]
    np.testing.assert_allclose(out, expected, atol=1e-12)


@pytest.mark.parametrize(("name", "degree"), [("bilinear", 1), ("bicubic", 2)])
def test_polynomials_are_reproduced(name: str, degree: int) -> None:
    y, x = np.indices((9, 8), np.float64)

    def value(u: np.ndarray, v: np.ndarray) -> Any:
        return 1 + 0.3 * u - 0.2 * v + (degree - 1) * (0.1 * u * u + v * v)

    out = still(name, (0.4, -0.3), value(x, y)[None, None])
    inside = np.s_[0, 0, 3:-3, 3:-3]
    np.testing.assert_allclose(out[inside], value(x + 0.4, y - 0.3)[3:-3, 3:-3])


def test_lanczos_keeps_constants_and_comes_nearest_to_a_wave() -> None:
    x = np.arange(24.0)
    wave = np.tile(np.sin(1.1 * x), (12, 1))[None, None]
    errors = []
    for name in PLANE:
        out = still(name, (0.5, 0.0), wave)[0, 0, 6, 4:-4]
        errors.append(np.max(np.abs(out - np.sin(1.1 * (x + 0.5))[4:-4])))
    assert errors[0] > 2 * errors[1] > 2 * errors[2]
    out = still("lanczos", (0.5, 0.3), np.ones((1, 1, 9, 9)))
    np.testing.assert_allclose(out[0, 0, 3:-3, 3:-3], 1.0, rtol=1e-12)


def test_derivatives_at_whole_pixels_are_those_to_the_right() -> None:
    image = np.array([[0.0, 1.0, 3.0, 3.5]]).repeat(2, 0)[None, None]
    loop = pyrev.differentiable(loops.warp, target="python")
    arguments = (image, np.zeros((1, 2, 2, 4)), np.zeros_like(image))
    _, pullback = pyrev.vjp(loop, *arguments, wrt="flow")
    flow = pullback(out=1.0).flow
    np.testing.assert_allclose(flow[0, 0, 0], [1.0, 2.0, 0.5, -3.5])


def test_a_flow_that_is_a_map_warps_as_the_map_does() -> None:
    image, theta, out = LAYERS["bilinear"]
    y, x = np.indices(image.shape[2:], np.float64)
    gx, gy = loops.scaled(x, image.shape[3]), loops.scaled(y, image.shape[2])
    flow = np.empty((2, 2, *image.shape[2:]))
    for k, (at, size) in enumerate(((x, image.shape[3]), (y, image.shape[2]))):
        a = theta[:, k, :, None, None]
        flow[:, k] = loops.pixel(a[:, 0] * gx + a[:, 1] * gy + a[:, 2], size) - at
    by_map, by_flow = np.zeros_like(out), np.zeros_like(out)
    loops.bilinear(image, theta, by_map)
    loops.warp(image, flow, by_flow)
    np.testing.assert_allclose(by_flow, by_map, atol=1e-12)


def test_a_grid_of_one_map_applies_it_everywhere() -> None:
    rng = np.random.default_rng(2)
    image, guide, maps = rng.random((1, 3, 4, 5)), rng.random((1, 4, 5)), rng.random(12)
    grid = np.tile(maps.reshape(1, 3, 4, 1, 1, 1), (1, 1, 1, 3, 2, 2))
    out = np.zeros((1, 3, 4, 5))
    loops.slice_grid(image, guide, grid, out)
    matrix = maps.reshape(3, 4)
    expected = np.tensordot(matrix[:, :3], image[0], 1) + matrix[:, 3, None, None]
    np.testing.assert_allclose(out[0], expected)


def test_a_grid_is_linear_between_its_cells_and_flat_outside() -> None:
    # One channel in and out, the only coefficient the constant one: layers 0, 2 and 8.
    grid = np.zeros((1, 1, 2, 3, 1, 1))
    grid[0, 0, 1, :, 0, 0] = (0.0, 2.0, 8.0)
    guide = np.array([[[0.0, 1 / 6, 1 / 3, 0.5, 0.75, 1.0]]])
    out = np.zeros((1, 1, 1, 6))
    loops.slice_grid(np.zeros((1, 1, 1, 6)), guide, grid, out)
    np.testing.assert_allclose(out[0, 0, 0], [0, 0, 1, 2, 6.5, 8], atol=1e-12)
