from __future__ import annotations

import math
from functools import partial
from pathlib import Path
from types import FunctionType
from typing import Any

import burst
import numpy as np
import pytest

import pyrev
from tests.turns import full_size

RNG = np.random.default_rng(3)
IMAGE, FRAMES = RNG.random((6, 7, 3)), RNG.random((2, 5, 6))
HOMOGRAPHIES = RNG.normal(0, 0.05, (2, 8))
LOOPS: dict[str, tuple[Any, ...]] = {
    "keys": (0.3,),
    "sample": (IMAGE, 2, 3.4, 2.7),
    "project": (HOMOGRAPHIES[1], 0.3, -0.8),
    "misfit": (IMAGE, HOMOGRAPHIES, FRAMES),
    "roughness": (IMAGE, 0.1, 0.2),
    "burst_loss": (IMAGE, HOMOGRAPHIES, FRAMES, 0.1, 0.2),
}


def test_the_loops_agree_in_cpython_numba_and_pyrev() -> None:
    numba = pytest.importorskip("numba")
    compiled: dict[str, Any] = {"math": math}
    for name in LOOPS:
        plain = getattr(burst, name)
        compiled[name] = numba.njit(FunctionType(plain.__code__, compiled, name))
    for name, arguments in LOOPS.items():
        plain = getattr(burst, name)
        expected = plain(*arguments)
        by_pyrev = pyrev.differentiable(plain, target="python")(*arguments)
        np.testing.assert_allclose(compiled[name](*arguments), expected, rtol=1e-12)
        np.testing.assert_allclose(by_pyrev, expected, rtol=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("name", LOOPS)
def test_the_loops_have_right_gradients(name: str) -> None:
    # What contains all others is compiled by the command's own check.
    loop = pyrev.differentiable(getattr(burst, name), target="python")
    report = pyrev.check_grad(loop, *LOOPS[name])
    assert report.ok, str(report)


@pytest.mark.parametrize("t", [0.4, 1.0, 1.7, 2.0])
def test_the_weights_of_both_pieces_have_right_gradients(t: float) -> None:
    keys = pyrev.differentiable(burst.keys, target="python")
    report = pyrev.check_grad(keys, t)
    assert report.ok, str(report)


def test_sampling_reproduces_quadratic_images() -> None:
    v, u = np.indices((7, 8), np.float64)
    image = np.stack((u, v, 1 + 0.2 * u * v - 0.3 * v * v + 0.1 * u), -1)
    at_u, at_v = 3.3, 2.6
    expected = (at_u, at_v, 1 + 0.2 * at_u * at_v - 0.3 * at_v * at_v + 0.1 * at_u)
    for channel in range(3):
        assert burst.sample(image, channel, at_u, at_v) == pytest.approx(
            expected[channel]
        )


def test_a_homography_is_a_matrix_on_homogeneous_coordinates() -> None:
    h = HOMOGRAPHIES[0]
    u, v, w = (np.append(h, 0.0).reshape(3, 3) + np.eye(3)) @ (0.4, -0.7, 1.0)
    np.testing.assert_allclose(burst.project(h, 0.4, -0.7), (u / w, v / w))


def test_an_image_that_the_frames_were_sampled_from_has_no_misfit() -> None:
    y, x = np.indices((5, 6))
    frame = IMAGE[:5, :6][y, x, y % 2 + x % 2]
    still, moved = np.zeros((1, 8)), np.full((1, 8), 0.1)
    assert burst.misfit(IMAGE[:5, :6], still, frame[None]) < 1e-24
    assert burst.misfit(IMAGE[:5, :6], moved, frame[None]) > 1e-3


def test_frames_move_no_further_than_the_margin_allows() -> None:
    size = 64
    moved = burst.corners(burst.shaken(9, size, np.random.default_rng(4)), size)
    distance = np.abs(moved - moved[0]).max(axis=(1, 2))
    assert distance[0] == 0
    assert distance[1:].min() > 0.5
    assert distance.max() <= burst.SHIFT + burst.TILT
    # A sample reads two pixels to each side.
    assert burst.SHIFT + burst.TILT + 2 <= burst.MARGIN


def test_an_unmoved_exposure_is_the_mean_over_each_pixel() -> None:
    v, u = np.indices((24, 24), np.float64)
    photo = np.stack((u, v, u + v), -1)
    seen = burst.expose(photo, np.zeros(8))
    expected = photo.reshape(12, 2, 12, 2, 3).mean((1, 3))
    inside = np.s_[4:-4, 4:-4]
    np.testing.assert_allclose(seen[inside], expected[inside], atol=0.02)


@pytest.mark.parametrize("demosaick", [burst.bilinear, burst.malvar])
def test_demosaicking_reproduces_ramps_of_one_slope(demosaick: Any) -> None:
    v, u = np.indices((12, 14), np.float64)
    ramp = 0.2 + 0.03 * u - 0.02 * v
    image = np.stack((ramp, ramp + 0.1, ramp - 0.1), -1)
    inside = np.s_[2:-2, 2:-2]
    found = demosaick(burst.mosaic(image))
    np.testing.assert_allclose(found[inside], image[inside], atol=1e-12)


def test_phase_correlation_finds_moves_by_whole_blocks() -> None:
    frame = np.random.default_rng(5).random((32, 32))
    moved = np.roll(frame, (-4, 6), (0, 1))  # moved[y, x] == frame[y + 4, x - 6]
    found = burst.rough_homographies(np.stack((frame, moved)))
    expected = np.zeros(8)
    expected[[5, 2]] = np.array([4, -6]) / 15.5
    np.testing.assert_allclose(found, [np.zeros(8), expected], atol=1e-12)


@pytest.mark.slow
def test_a_small_burst_beats_one_frame_and_finds_the_motion() -> None:
    settings = burst.Settings(iterations=100)
    result = burst.solve(80, 5, settings, one_frame=False, progress=False)
    assert len(result.losses) == 100
    assert result.losses[-1] < result.losses[0]
    assert result.gain >= 2, result.summary()
    assert result.fall >= 2, result.summary()


@pytest.mark.slow
def test_the_command_line_says_which_bars_were_missed(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(burst, "solve", partial(burst.solve, one_frame=False))
    figure = tmp_path / "burst.png"
    arguments = ["--size", "80", "--frames", "5", "--iterations", "2"]
    status = burst.main([*arguments, "--output", str(figure)])
    printed = capsys.readouterr().out
    assert status == 1
    assert "gradient of burst_loss: right" in printed
    assert "missed: 2 dB more than one frame" in printed
    assert figure.read_bytes().startswith(b"\x89PNG")


@full_size
def test_the_full_burst_reaches_the_bars() -> None:
    result = burst.solve(progress=False)
    assert result.gain >= 2, result.summary()
    assert result.fall >= 5, result.summary()
    assert not result.missed()
