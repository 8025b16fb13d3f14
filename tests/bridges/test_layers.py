# mypy: disallow-untyped-defs=False, disallow-untyped-calls=False
from __future__ import annotations

import functools
from pathlib import Path
from typing import Any

import layer_loops as loops
import numpy as np
import pytest

import pyrev

torch = pytest.importorskip("torch", reason="PyTorch is not installed")
layers = pytest.importorskip("layers")

SMALL = loops.small_arguments()


def tensors(name: str, dtype: Any = None) -> tuple[Any, ...]:
    """What a layer is called with: all arguments of its loop but the last."""
    return tuple(
        torch.from_numpy(a).to(dtype or torch.float64).requires_grad_()
        for a in SMALL[name][:-1]
    )


@functools.cache
def interpreted(loop: Any) -> Any:
    """A loop that is not compiled, which takes seconds."""
    return pyrev.differentiable(loop, target="python")


def layer(name: str) -> Any:
    loop = interpreted(getattr(loops, name))
    if name == "warp":
        return layers.Warp(loop)
    if name == "slice_grid":
        return layers.BilateralSlice(loop)
    return layers.SpatialTransformer(loop)


@pytest.mark.parametrize("name", SMALL)
def test_gradcheck_passes(name: str) -> None:
    assert torch.autograd.gradcheck(
        layer(name), tensors(name), fast_mode=name == "slice_grid"
    )


@pytest.mark.parametrize("name", ["bilinear", "trilinear"])
def test_transformers_are_those_of_pytorch(name: str) -> None:
    image, theta = tensors(name)
    grid = torch.nn.functional.affine_grid(theta, image.shape, align_corners=True)
    expected = torch.nn.functional.grid_sample(image, grid, align_corners=True)
    agree(layer(name)(image, theta), expected, (image, theta))


def test_the_warp_is_that_of_pytorch() -> None:
    image, flow = tensors("warp")
    height, width = image.shape[2:]
    y, x = torch.meshgrid(torch.arange(height), torch.arange(width), indexing="ij")
    at = torch.stack(
        (
            2 * (x + flow[:, 0]) / (width - 1) - 1,
            2 * (y + flow[:, 1]) / (height - 1) - 1,
        ),
        -1,
    )
    expected = torch.nn.functional.grid_sample(image, at, align_corners=True)
    agree(layer("warp")(image, flow), expected, (image, flow))


def test_slicing_is_sampling_of_volumes_in_pytorch() -> None:
    image, guide, grid = tensors("slice_grid")
    height, width = guide.shape[1:]
    y, x = torch.meshgrid(torch.arange(height), torch.arange(width), indexing="ij")
    y, x = (2 * y + 1) / height - 1, (2 * x + 1) / width - 1
    at = torch.stack((x.expand_as(guide), y.expand_as(guide), 2 * guide - 1), -1)
    maps = torch.nn.functional.grid_sample(
        grid.flatten(1, 2), at[:, None], padding_mode="border", align_corners=False
    )[:, :, 0].unflatten(1, grid.shape[1:3])
    expected = (maps[:, :, :-1] * image[:, None]).sum(2) + maps[:, :, -1]
    # Where the guide leaves the grid nothing changes with it: no kink of PyTorch's.
    agree(layer("slice_grid")(image, guide, grid), expected, (image, guide, grid))


def agree(found: Any, expected: Any, given: tuple[Any, ...]) -> None:
    """Values and gradients."""
    torch.testing.assert_close(found, expected)
    weights = torch.from_numpy(np.random.default_rng(4).normal(size=found.shape))
    a = torch.autograd.grad(found, given, weights)
    b = torch.autograd.grad(expected, given, weights)
    for x, y in zip(a, b, strict=True):
        torch.testing.assert_close(x, y)


@pytest.mark.parametrize("axes", [2, 3])
def test_a_rigid_map_turns_by_its_angle_and_errors_are_in_pixels(axes: int) -> None:
    theta = layers.turned(axes, rigid=True)
    matrix = theta[:, :-1]
    np.testing.assert_allclose(matrix @ matrix.T, np.eye(axes), atol=1e-12)
    assert layers.degrees(theta) == pytest.approx(layers.TURN)
    moved = theta.copy()
    moved[0, -1] += 0.1
    assert layers.corner_error(moved, theta, 21) == pytest.approx(1.0)


def test_a_photograph_that_is_not_moved_is_seen_as_it_is() -> None:
    rows, columns = np.indices((24, 24), np.float64)
    photo = np.stack((rows, columns, rows + columns), -1)
    picture = layers.seen(photo, layers.still)[0].numpy()
    expected = np.moveaxis(photo.reshape(12, 2, 12, 2, 3).mean((1, 3)), -1, 0)
    inside = np.s_[:, 3:-3, 3:-3]
    np.testing.assert_allclose(picture[inside], expected[inside], atol=0.02)


def test_the_flow_is_as_long_as_it_says() -> None:
    line = np.arange(64.0)
    flow = layers.smooth_flow(64)(*np.meshgrid(line, line))
    assert np.linalg.norm(flow, axis=0).max() == pytest.approx(layers.FLOW)


def test_one_map_for_all_pixels_is_found_where_there_is_one() -> None:
    photo = np.random.default_rng(5).integers(0, 256, (9, 8, 3)) / 255
    np.testing.assert_allclose(layers.best_curves(photo, photo**2), photo**2)
    mixed = photo @ np.random.default_rng(6).normal(size=(3, 3)) + 0.3
    np.testing.assert_allclose(layers.best_affine(photo, mixed), mixed, atol=1e-12)


def test_a_tone_mapper_starts_as_the_identity() -> None:
    image = torch.rand(1, 3, 6, 7)
    mapper = layers.ToneMapper(depth=3, cells=2)
    mapper.slice = layer("slice_grid")
    torch.testing.assert_close(mapper(image), image)


def test_changed_lines_are_those_that_are_new() -> None:
    assert layers.changed(loops.bilinear, loops.bilinear)[0] == 0
    for loop in (loops.bicubic, loops.warp):
        lines, of = layers.changed(loop, loops.bilinear)
        assert 0 < lines < of / 3


def test_small_trainings_improve_and_the_command_says_what_was_missed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    function = pyrev.torch.function
    monkeypatch.setattr(pyrev.torch, "function", lambda f: function(interpreted(f)))
    monkeypatch.setattr(layers, "KERNELS", (loops.bilinear,))
    monkeypatch.setattr(layers, "checks", lambda: [])
    monkeypatch.setattr(layers, "BLURS", (1.0, 0.0))  # the pictures are small
    small = layers.Settings(24, 8, 6, steps=16, flow_steps=16, tone_steps=8)
    result = layers.solve(small, progress=False)
    for found in result.maps:
        assert found.errors[-1] < 0.8 * found.errors[0], result.summary()
    assert result.flow.errors[-1] < 0.8 * result.flow.errors[0], result.summary()
    assert result.tone.psnr["grid"] > result.tone.psnr["photo"], result.summary()

    monkeypatch.setattr(layers, "solve", lambda _: result)
    figure = tmp_path / "layers.png"
    status = layers.main(["--quick", "--output", str(figure)])
    printed = capsys.readouterr().out
    assert status == (1 if result.missed() else 0)
    assert all(bar in printed for bar in result.missed())
    assert figure.read_bytes().startswith(b"\x89PNG")
