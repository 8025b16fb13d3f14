from __future__ import annotations

import inspect
import math
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

import numpy as np
import pytest

import pyrev
from tests.turns import full_size

RNG = np.random.default_rng(3)
IMAGE, OBSERVED = RNG.random((2, 4, 5)), RNG.random((2, 3, 3))
BLUR = RNG.random((2, 2, 3))
BLUR /= BLUR.sum((1, 2), keepdims=True)
FILTERS, WEIGHTS = RNG.normal(size=(2, 2, 2)), np.log([0.2, 0.3])
TARGETS = RNG.normal(0, 0.1, (2, 2, 3, 4))
PATH = np.concatenate((IMAGE[None], np.zeros((2, *IMAGE.shape))))
SPREADS, THRESHOLDS = np.array([0.0, -0.2]), np.log([0.3, 0.5])
PROBLEM = (OBSERVED, BLUR, FILTERS, WEIGHTS, TARGETS)
LOOPS: dict[str, tuple[Any, ...]] = {
    "objective": (IMAGE, *PROBLEM),
    "gradient": (IMAGE, *PROBLEM),
    "curvature": (IMAGE, *PROBLEM, RNG.normal(size=IMAGE.shape)),
    "minimise": (PATH[:, :1], OBSERVED[:1], BLUR[:1], FILTERS, WEIGHTS, TARGETS[:1]),
    "smooth": (IMAGE[:1], SPREADS, 2, 3, np.zeros((1, 4, 5))),
    "aim": (IMAGE[:1], FILTERS, THRESHOLDS, SPREADS, 2, 3, np.zeros((1, 2, 3, 4))),
    "distance": (IMAGE, RNG.random((2, 4, 5)), 1),
}


@pytest.fixture(scope="module")
def example() -> ModuleType:
    # Importing it derives the solver's gradient, into the cache of this session.
    import deconvolution

    return deconvolution


@pytest.fixture(scope="module")
def network(example: ModuleType) -> Any:
    """Two steps in each stage, and no compiled code: what is tiny needs none."""
    return example.Network(2, "python")


def run(loop: Any, arguments: tuple[Any, ...]) -> list[Any]:
    """What is returned and what the arrays hold then."""
    copies = [a.copy() if isinstance(a, np.ndarray) else a for a in arguments]
    found = loop(*copies)
    return [*([] if found is None else [found]), *copies]


def dense(blur: Any, filters: Any, weights: Any, shape: tuple[int, int]) -> Any:
    """The matrices of blur and of all filters, the latter times roots of weights."""

    def matrix(kernel: Any) -> Any:
        rows, columns = (n - k + 1 for n, k in zip(shape, kernel.shape, strict=True))
        found = np.zeros((rows, columns, *shape))
        for y in range(rows):
            for x in range(columns):
                found[y, x, y : y + kernel.shape[0], x : x + kernel.shape[1]] = kernel
        return found.reshape(rows * columns, -1)

    roots = np.exp(0.5 * weights)
    parts = [r * matrix(kernel) for r, kernel in zip(roots, filters, strict=True)]
    return matrix(blur), np.concatenate(parts)


@pytest.mark.slow
def test_the_loops_agree_in_cpython_numba_and_pyrev(
    example: ModuleType, network: Any
) -> None:
    numba = pytest.importorskip("numba")
    compiled: dict[str, Any] = {"math": math, "np": np}
    for name in ("slope_of", "bend_of", *LOOPS):
        plain = getattr(example, name)
        assert not inspect.get_annotations(plain)
        found = FunctionType(plain.__code__, compiled, name)
        compiled[name] = numba.njit(found)
    for name in ("objective", "minimise", "aim", "distance"):  # they call the others
        plain = getattr(example, name)
        by_pyrev = getattr(network, name, None)
        by_pyrev = by_pyrev or pyrev.differentiable(plain, target="python")
        expected = run(plain, LOOPS[name])
        for other in (compiled[name], by_pyrev):
            for one, two in zip(run(other, LOOPS[name]), expected, strict=True):
                np.testing.assert_allclose(one, two, rtol=1e-9, atol=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("name", LOOPS)
def test_the_loops_have_right_gradients(
    name: str, example: ModuleType, network: Any
) -> None:
    loop = getattr(network, name, None)
    loop = loop or pyrev.differentiable(getattr(example, name), target="python")
    report = pyrev.check_grad(loop, *LOOPS[name])
    assert report.ok, str(report)


def test_gradient_and_curvature_are_those_of_least_squares(example: ModuleType) -> None:
    image, observed, targets = IMAGE[0], OBSERVED[0], TARGETS[0]
    blur, prior = dense(BLUR[0], FILTERS, WEIGHTS, image.shape)
    aims = (np.exp(0.5 * WEIGHTS)[:, None, None] * targets).ravel()
    slope = blur.T @ (blur @ image.ravel() - observed.ravel())
    slope += prior.T @ (prior @ image.ravel() - aims)
    found = example.gradient(IMAGE, *PROBLEM)
    np.testing.assert_allclose(found[0].ravel(), slope, rtol=1e-9)
    direction = RNG.normal(size=IMAGE.shape)
    bend = (blur.T @ blur + prior.T @ prior) @ direction[0].ravel()
    found = example.curvature(IMAGE, *PROBLEM, direction)
    np.testing.assert_allclose(found[0].ravel(), bend, rtol=1e-9)
    by_hvp = pyrev.hvp(
        pyrev.differentiable(example.objective, target="python"),
        *(IMAGE, *PROBLEM),
        tangents={"image": direction},
    )
    np.testing.assert_allclose(found, by_hvp.image, rtol=1e-9)


def test_the_solver_finds_the_dense_least_squares_solution(
    example: ModuleType,
) -> None:
    path = np.zeros((31, *IMAGE.shape))
    example.minimise(path, *PROBLEM)
    for n, found in enumerate(path[-1]):
        blur, prior = dense(BLUR[n], FILTERS, WEIGHTS, found.shape)
        aims = (np.exp(0.5 * WEIGHTS)[:, None, None] * TARGETS[n]).ravel()
        expected, *_ = np.linalg.lstsq(
            np.concatenate((blur, prior)), np.append(OBSERVED[n], aims), rcond=None
        )
        np.testing.assert_allclose(found.ravel(), expected, atol=1e-8)


def test_the_grid_keeps_constants_and_edges_and_smooths_noise(
    example: ModuleType,
) -> None:
    image = np.full((1, 12, 13), 0.2)
    image[:, :, 6:] = 0.9
    out = np.zeros_like(image)
    example.smooth(image, SPREADS, 4, 10, out)
    np.testing.assert_allclose(out, image, atol=1e-12)
    noisy = image + np.random.default_rng(5).normal(0, 0.02, image.shape)
    example.smooth(noisy, SPREADS, 4, 10, out)
    assert np.std(out - image) < 0.5 * np.std(noisy - image)


def test_small_responses_are_dropped_and_large_ones_stay(example: ModuleType) -> None:
    found = example.dropped(np.array([-1.0, 0.0, 0.001, 0.1]), 0.01)
    np.testing.assert_allclose(found, [-1.0, 0.0, 0.0, 0.1], atol=1e-4)


def test_the_domain_transform_keeps_edges_and_smooths_the_rest(
    example: ModuleType,
) -> None:
    image = np.zeros((16, 18))
    image[:, 9:] = 1.0
    found = example.domain_transform(image, 5.0, 0.01)
    np.testing.assert_allclose(found, image, atol=1e-3)
    noisy = 0.001 * np.random.default_rng(6).normal(size=image.shape)
    assert np.std(example.domain_transform(noisy, 5.0, 0.1)) < 0.3 * np.std(noisy)


def test_kernels_are_centred_blurs_without_gain(example: ModuleType) -> None:
    offsets = np.arange(example.WIDTH) - example.WIDTH // 2
    for seed in range(9):
        kernel = example.motion(np.random.default_rng(seed))
        assert kernel.shape == (example.WIDTH, example.WIDTH)
        assert kernel.min() >= 0
        assert kernel.sum() == pytest.approx(1)
        assert offsets @ kernel.sum(1) == pytest.approx(0, abs=1e-9)
        assert offsets @ kernel.sum(0) == pytest.approx(0, abs=1e-9)


def test_both_baselines_restore_what_was_blurred(example: ModuleType) -> None:
    y, x = np.indices((70, 70)) / 8
    photo = 0.5 + 0.4 * np.sign(np.sin(x) * np.cos(y))
    rng = np.random.default_rng(7)
    observed, blurs, truths = example.shots([photo], 40, rng)
    restored = example.two_stages(observed[0], blurs[0])[None]
    before = example.psnr(observed, truths)[0]
    assert example.psnr(restored, truths)[0] > before + 4


class Toy:
    """Two stages on a tiny image."""

    def __init__(self, example: ModuleType) -> None:
        self.p = example.start(2)
        for name in example.LEARNED[1:]:
            getattr(self.p, name)[...] += 0.3
        rng = np.random.default_rng(8)
        photo = np.round(rng.random((12, 12)), 1)
        self.truth = photo[None, :7, :7]
        self.blur = rng.random((1, 3, 3)) / 4.5
        self.observed = rng.random((1, 5, 5))

    def loss(self, example: ModuleType) -> float:
        """The same in plain CPython, one stage after the other."""
        images = example.widened(self.observed, 3)
        targets = example.no_targets(images, self.p.filters[0])
        for k, (filters, weights, thresholds, spreads) in enumerate(self.p.stages()):
            if k:
                more = (thresholds, spreads, example.CELL, example.DEPTH)
                example.aim(images, filters, *more, targets)
            path = np.zeros((3, *images.shape))
            path[0] = images
            example.minimise(path, self.observed, self.blur, filters, weights, targets)
            images = path[-1]
        return float(example.distance(images, self.truth, 1))


@pytest.mark.slow
def test_gradients_through_all_stages_are_differences_of_plain_python(
    example: ModuleType, network: Any
) -> None:
    toy = Toy(example)
    loss, slope = network.slope(toy.p, toy.observed, toy.blur, toy.truth)
    assert loss == pytest.approx(toy.loss(example))
    rng = np.random.default_rng(9)
    for name in example.LEARNED:
        array, found = getattr(toy.p, name), getattr(slope, name)
        direction, keep = rng.normal(size=array.shape), array.copy()
        values = []
        for move in (1e-5, -1e-5):
            array[...] = keep + move * direction
            values.append(toy.loss(example))
        array[...] = keep
        expected = (values[0] - values[1]) / 2e-5
        assert float(np.sum(found * direction)) == pytest.approx(expected, rel=1e-4)


def test_adam_steps_lower_the_loss(example: ModuleType, network: Any) -> None:
    toy = Toy(example)
    adams = [example.Adam(getattr(toy.p, name), 0.01) for name in example.LEARNED]
    losses = []
    for _ in range(3):
        loss, slope = network.slope(toy.p, toy.observed, toy.blur, toy.truth)
        losses.append(loss)
        for adam, name in zip(adams, example.LEARNED, strict=True):
            adam.step(getattr(slope, name), 1.0)
    assert losses[2] < losses[1] < losses[0]


@full_size
def test_the_command_reaches_the_bar_and_saves_the_figure(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], example: ModuleType
) -> None:
    figure = tmp_path / "deconvolution.png"
    assert example.main(["--output", str(figure)]) == 0
    printed = capsys.readouterr().out
    assert "gradient of minimise: right" in printed
    assert "missed" not in printed
    assert figure.read_bytes().startswith(b"\x89PNG")
