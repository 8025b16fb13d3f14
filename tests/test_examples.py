from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import deblur
import numpy as np
import pytest

import pyrev
from tests import ROOT
from tests.turns import full_size

SMALL = deblur.Settings(rounds=2, image_steps=4, kernel_steps=4, final_steps=8)


def test_the_loops_blur_as_a_correlation_does() -> None:
    signal = pytest.importorskip("scipy.signal")
    rng = np.random.default_rng(0)
    image, kernel = rng.random((11, 12)), rng.random((3, 4))
    out = np.zeros((9, 9))
    deblur.blur(image, kernel, out)
    expected = signal.correlate2d(image, kernel, mode="valid")
    np.testing.assert_allclose(out, expected, rtol=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("loss", [deblur.image_loss, deblur.kernel_loss])
def test_the_losses_of_the_example_have_right_gradients(
    loss: pyrev.Differentiable,
) -> None:
    rng = np.random.default_rng(1)
    image, kernel, observed = rng.random((8, 9)), rng.random((3, 3)), rng.random((6, 7))
    if loss is deblur.image_loss:
        report = pyrev.check_grad(loss, image, kernel, observed, 0.1)
    else:
        report = pyrev.check_grad(loss, kernel, image, observed, 0.3, 0.2)
    assert report.ok, str(report)


def test_the_true_kernel_is_a_centred_blur_without_gain() -> None:
    kernel = deblur.motion()
    offsets = np.arange(deblur.WIDTH) - deblur.WIDTH // 2
    assert kernel.sum() == pytest.approx(1)
    assert kernel.min() >= 0
    assert offsets @ kernel.sum(1) == pytest.approx(0, abs=1e-12)
    assert offsets @ kernel.sum(0) == pytest.approx(0, abs=1e-12)


@pytest.mark.slow
def test_a_small_job_lowers_the_loss_and_keeps_the_kernel_a_kernel() -> None:
    result = deblur.solve(64, SMALL, progress=False)
    first = result.losses[: SMALL.image_steps]  # one round: the loss is one function
    assert all(after < before for before, after in zip(first, first[1:], strict=False))
    assert result.kernel.sum() == pytest.approx(1)
    assert result.kernel.min() >= 0
    assert result.psnr_with_true_kernel > result.psnr_blurred


@pytest.mark.slow
def test_the_command_line_prints_the_adjoint_and_the_check_and_saves_the_figure(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    figure = tmp_path / "deblur.png"
    status = deblur.main(["--size", "64", "--iterations", "1", "--output", str(figure)])
    printed = capsys.readouterr().out
    assert status == 0
    assert "def image_loss_adjoint(" in printed
    assert "gradient of image_loss: right" in printed
    assert "recovered" in printed
    assert figure.read_bytes().startswith(b"\x89PNG")


@full_size
def test_image_and_kernel_are_recovered_at_full_size() -> None:
    result = deblur.solve(512, deblur.Settings(), progress=False)
    assert result.psnr_recovered >= result.psnr_blurred + 4, result.summary()
    assert result.psnr_recovered >= result.psnr_with_true_kernel - 1, result.summary()
    assert result.kernel_error <= 0.5, result.summary()


def benchmark_inputs() -> dict[str, tuple[Any, ...]]:
    rng = np.random.default_rng(2)
    r = rng.random
    return {
        "conv2d": (r((1, 2, 5, 4)), r((2, 2, 3, 2)), np.zeros((1, 2, 3, 3))),
        "ckpt": (r((5, 6)), r((3, 2)), r((3, 5))),
        "heat3d": (r((4, 3, 5)), r((4, 3, 5)), np.zeros((4, 3, 5))),
        "rd2d": (r((3, 4)), r((3, 4)), 3, np.zeros((3, 4))),
        "dilconv": (r((1, 8, 8, 2)), r((2, 3, 2, 2)), np.zeros((1, 2, 2, 2))),
        "hmlstm": (
            *(rng.normal(size=(4, 3, 6))),
            np.array([0, 1, 0, 1, 0, 0]),
            np.array([1, 1, 0, 0, 1, 0]),
            np.zeros((3, 6)),
        ),
        "flownet": (
            r((1, 2, 4, 5)),
            rng.uniform(-2, 2, (1, 2, 4, 5)),
            np.zeros((1, 2, 4, 5)),
        ),
        "gmm": (r(2), r((2, 3)), r((2, 6)), r((4, 3))),
    }


@pytest.mark.slow
@pytest.mark.parametrize("name", benchmark_inputs())
def test_the_loops_of_the_benchmark_have_right_gradients(name: str) -> None:
    path = ROOT / "benchmarks" / "loops.py"
    spec = importlib.util.spec_from_file_location("benchmark_loops", path)
    assert spec is not None and spec.loader is not None
    loops = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(loops)
    function = pyrev.differentiable(getattr(loops, name), target="python")
    report = pyrev.check_grad(function, *benchmark_inputs()[name])
    assert report.ok, str(report)
