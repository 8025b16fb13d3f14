from __future__ import annotations

import math
from pathlib import Path
from types import FunctionType
from typing import Any

import enoki
import numpy as np
import pytest

import pyrev
from tests.turns import full_size

RNG = np.random.default_rng(1)
AXIS = np.array([0.3, -0.8, 0.5])
LOOPS: dict[str, tuple[Any, ...]] = {
    "square_and_root": (2.0,),
    "scaled_root": (2.0, 3.0),
    "angle_of": (1.0, 2.0),
    "error_function": (np.linspace(-2.0, 2.0, 7) + 0.1, np.zeros(7)),
    "rotation": (AXIS, 0.7, np.zeros((3, 3))),
    "rotate": (AXIS, 0.7, enoki.SOURCE, np.zeros(3)),
    "rotation_error": (AXIS, 0.7, enoki.SOURCE, enoki.TARGET),
    "gather": (RNG.random(10), enoki.INDEX, np.zeros(4)),
    "scatter": (RNG.random(4), enoki.INDEX, np.ones(10)),
    "scatter_add": (RNG.random(4), enoki.INDEX, np.ones(10)),
    "square_in_place": (0.9 + 0.2 * RNG.random(7), 5),
    "square_each": (0.9 + 0.2 * RNG.random(7), np.zeros(7), 5),
}


def ran(loop: Any, arguments: tuple[Any, ...]) -> list[Any]:
    """What a call returned, and what its arguments hold after it."""
    own = [a.copy() if isinstance(a, np.ndarray) else a for a in arguments]
    result = loop(*own)
    return [*own, *(() if result is None else np.atleast_1d(result))]


@pytest.mark.slow
def test_the_loops_agree_in_cpython_numba_and_pyrev() -> None:
    numba = pytest.importorskip("numba")
    compiled: dict[str, Any] = {"math": math, "np": np}
    for name in LOOPS:
        plain = getattr(enoki, name)
        compiled[name] = numba.njit(FunctionType(plain.__code__, compiled, name))
    for name, arguments in LOOPS.items():
        plain = getattr(enoki, name)
        expected = ran(plain, arguments)
        by_pyrev = pyrev.differentiable(plain, target="python")
        for other in (compiled[name], by_pyrev):
            for a, b in zip(ran(other, arguments), expected, strict=True):
                np.testing.assert_allclose(a, b, rtol=1e-12, err_msg=name)


def test_the_error_function_is_one_edge() -> None:
    assert enoki.edges(False) >= 20
    assert enoki.edges(True) == 1
    x, out = np.linspace(-3, 3, 13), np.zeros(13)
    enoki.error_function(x, out)
    np.testing.assert_allclose(out, [math.erf(v) for v in x], atol=1.5e-7)


def test_the_angle_goes_through_pytorch_too() -> None:
    pytest.importorskip("torch", reason="PyTorch is not installed")
    row = enoki.through_pytorch()
    assert row is not None and row.agrees


def test_the_loops_have_right_gradients() -> None:
    reports = enoki.checks()
    assert len(reports) == len(LOOPS)
    for report in reports:
        assert report.ok, str(report)


@pytest.fixture(scope="module")
def descent() -> enoki.Descent:
    return enoki.learn_rotation()


def test_every_number_of_the_article_is_reproduced(descent: enoki.Descent) -> None:
    for row in enoki.rows(descent):
        assert row.agrees, str(row)


def test_the_errors_of_the_rotation(descent: enoki.Descent) -> None:
    assert len(descent.errors) == 20
    assert f"{descent.errors[0]:.4f}" == "1.3406"
    assert f"{descent.errors[2]:.5f}" == "1.12665"
    assert f"{descent.errors[19]:.4f}" == "0.0654"
    for error, rotated in zip(descent.errors, descent.rotated, strict=True):
        assert np.linalg.norm(rotated) == pytest.approx(1)
        assert np.linalg.norm(rotated - enoki.TARGET) == pytest.approx(error)


def test_a_matrix_of_rotation_turns_about_its_axis() -> None:
    matrix = np.zeros((3, 3))
    enoki.rotation(2 * AXIS, 0.7, matrix)
    np.testing.assert_allclose(matrix @ matrix.T, np.eye(3), atol=1e-15)
    np.testing.assert_allclose(matrix @ AXIS, AXIS)
    assert np.trace(matrix) == pytest.approx(1 + 2 * math.cos(0.7))
    enoki.rotation(np.array([0.0, 0.0, 1.0]), math.pi / 2, matrix)
    np.testing.assert_allclose(matrix @ (1, 0, 0), (0, 1, 0), atol=1e-15)


def test_products_of_roots_and_angles() -> None:
    def derived(loop: Any, *at: float) -> list[float]:
        function = pyrev.differentiable(loop, target="python")
        return [float(v) for v in pyrev.grad(function)(*at).values()]

    assert derived(enoki.scaled_root, 2.0, 3.0) == pytest.approx(
        [math.sqrt(3), 1 / math.sqrt(3)]
    )
    assert derived(enoki.angle_of, 1.0, 2.0) == pytest.approx([0.4, -0.2])


def test_scatters_become_gathers() -> None:
    found = enoki.scattered()
    assert found["scatter"] == (1, 0, 8, 4)
    assert found["scatter_add"] == (1, 4, 8, 4)


def test_a_row_that_differs_says_so() -> None:
    row = enoki.Row("a number", (1.25,), (1.2501,))
    assert not row.agrees
    assert "DIFFERS" in str(row)
    assert enoki.Row("a number", (1.25,), (1.2501,), 4).agrees


def test_the_closed_form_is_the_derivative_of_the_power() -> None:
    x, times = np.exp(np.linspace(-1, 1, 9) * 2.0**-20), 20
    expected = 2.0**times * np.exp(np.linspace(-1, 1, 9) * (1 - 2.0**-20))
    np.testing.assert_allclose(enoki.closed_form(x, times), expected, rtol=1e-8)
    slopes = enoki.closed_form(np.array([-1.0, 0.0, 1.0, 0.999]), 1000)
    assert list(slopes) == [-(2.0**1000), 0.0, 2.0**1000, 0.0]


@pytest.mark.parametrize("budget", [0, 8 * 64 * 8])
def test_squarings_in_place_are_differentiated_within_a_budget(budget: int) -> None:
    x, times = np.exp(np.linspace(-1, 1, 64) * 2.0**-20), 20
    expected = enoki.closed_form(x, times)
    options: dict[str, Any] = {"memory": budget} if budget else {}
    loop = pyrev.differentiable(enoki.square_in_place, target="python", **options)
    _, pullback = pyrev.vjp(loop, x.copy(), times)
    np.testing.assert_allclose(pullback(x=np.ones(64)).x, expected, rtol=1e-12)


def test_a_thousand_squarings_of_a_few_numbers() -> None:
    run = enoki.differentiate_squarings(
        enoki.square_each, 64, 1000, target="python", repeats=1
    )
    assert run.right, str(run)


def test_memory_beyond_the_budget_is_missed() -> None:
    run = enoki.Run("loop", 800, 1.0, 1101.0, 100, True)
    assert not run.fits
    assert enoki.Run("loop", 800, 1.0, 1100.0, 100, True).fits


@pytest.mark.slow
@pytest.mark.parametrize(
    "sizes",
    [
        ["--count", "65536", "--squarings", "100"],
        pytest.param([], id="full size", marks=full_size),
    ],
)
def test_the_command_reproduces_the_article(
    sizes: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    figure = tmp_path / "enoki.png"
    status = enoki.main([*sizes, "--output", str(figure)])
    printed = capsys.readouterr().out
    assert status == 0, printed
    assert "DIFFERS" not in printed
    assert figure.read_bytes().startswith(b"\x89PNG")
