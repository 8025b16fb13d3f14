from __future__ import annotations

from pathlib import Path
from types import FunctionType
from typing import Any

import from_scratch
import numpy as np
import pytest

import pyrev
from tests.turns import full_size

RNG = np.random.default_rng(1)
GUESS, OBSERVED = RNG.random((2, 5 * 4 * 3))
LOOPS: dict[str, tuple[Any, ...]] = {
    "square_plus_product": (2.0, 3.0),
    "power": (1.3, 4),
    "blur": (GUESS, 5, 4, np.zeros(60)),
    "distance": (GUESS, OBSERVED, 5, 4),
}


def test_the_loops_agree_in_cpython_numba_and_pyrev() -> None:
    numba = pytest.importorskip("numba")
    compiled: dict[str, Any] = {"np": np}
    for name in LOOPS:
        plain = getattr(from_scratch, name)
        compiled[name] = numba.njit(FunctionType(plain.__code__, compiled, name))
    for name, arguments in LOOPS.items():
        plain = getattr(from_scratch, name)
        by_pyrev = pyrev.differentiable(plain, target="python")
        found = []
        for loop in (plain, compiled[name], by_pyrev):
            *given, last = arguments
            last = last.copy() if isinstance(last, np.ndarray) else last
            result = loop(*given, last)
            found.append(last if result is None else result)
        np.testing.assert_allclose(found[1], found[0], rtol=1e-12, err_msg=name)
        np.testing.assert_allclose(found[2], found[0], rtol=1e-12, err_msg=name)


def test_the_loops_have_right_gradients() -> None:
    reports = from_scratch.checks()
    assert len(reports) == len(LOOPS)
    for report in reports:
        assert report.ok, str(report)


def test_four_ways_to_the_same_gradient() -> None:
    ways = from_scratch.ways()
    differences = ways.pop("numerical, h = 0.001")
    assert differences == pytest.approx([7.001, 2], abs=1e-9)
    assert list(ways) == ["symbolic, by hand", "forward", "reverse"]
    for found in ways.values():
        assert found == [7, 2]


def test_second_derivatives() -> None:
    f = pyrev.differentiable(from_scratch.square_plus_product, target="python")
    rows = [pyrev.hvp(f, 2.0, 3.0, tangents=t) for t in ({"x": 1.0}, {"y": 1.0})]
    assert rows[0].x == 2
    assert rows[1].y == 0
    mixed = pyrev.hvp(f, 2.0, 3.0, tangents={"x": 1.0}, wrt=("x", "y"))
    assert (mixed.x, mixed.y) == (2, 1)


@pytest.mark.parametrize("n", [2, 5])
def test_three_orders_of_a_power(n: int) -> None:
    x = 2.0
    expected = [n * x ** (n - 1), n * (n - 1) * x ** (n - 2)]
    expected.append(n * (n - 1) * (n - 2) * x ** (n - 3))
    assert from_scratch.orders(x, n) == pytest.approx(expected)


def test_the_printed_derivatives_are_python() -> None:
    f = pyrev.differentiable(from_scratch.square_plus_product, target="python")
    scope: dict[str, Any] = {}
    exec(f.tangent.source + "\n" + f.adjoint.source, scope)
    assert scope["square_plus_product_tangent"](2.0, 3.0, 1.0, 0.0) == (10, 7)
    assert scope["square_plus_product_adjoint"](2.0, 3.0, 1.0) == (7, 2)


def test_the_blur_is_a_box_with_repeated_borders() -> None:
    ndimage = pytest.importorskip("scipy.ndimage")
    image = GUESS.reshape(4, 5, 3)
    out = np.zeros(60)
    from_scratch.blur(GUESS, 5, 4, out)
    expected = ndimage.uniform_filter(image, (3, 3, 1), mode="nearest")
    np.testing.assert_allclose(out.reshape(4, 5, 3), expected)


def test_the_gradient_of_the_distance_is_the_blur_of_twice_the_residual() -> None:
    loss = pyrev.differentiable(from_scratch.distance, target="python")
    g = pyrev.grad(loss, wrt="guess")(GUESS, OBSERVED, 5, 4)
    blurred, expected = np.zeros(60), np.zeros(60)
    from_scratch.blur(GUESS, 5, 4, blurred)
    from_scratch.blur(2 * (blurred - OBSERVED), 5, 4, expected)
    np.testing.assert_allclose(g, expected)


def test_descent_lowers_the_loss_at_each_step_and_recovers_some() -> None:
    result = from_scratch.deblur(10, 40, target="python", progress=False)
    assert len(result.losses) == 41
    assert result.monotone
    assert result.fall >= 100, result.summary()
    assert result.errors[-1] < result.errors[0]


def test_steps_above_one_overshoot() -> None:
    result = from_scratch.deblur(8, 12, step_size=1.1, target="python", progress=False)
    assert result.losses[-1] > result.losses[-2] > result.losses[-3]
    assert "the loss falls at each step" in result.missed()


@pytest.mark.slow
@pytest.mark.parametrize(
    "sizes",
    [["--size", "24", "--steps", "10"], pytest.param([], id="full", marks=full_size)],
)
def test_the_command_recovers_the_photograph(
    sizes: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    figure = tmp_path / "from_scratch.png"
    status = from_scratch.main([*sizes, "--output", str(figure)])
    printed = capsys.readouterr().out
    # Ten steps are too few for the bar of the whole.
    assert status == 0 or sizes, printed
    assert "def square_plus_product_adjoint(" in printed
    assert figure.read_bytes().startswith(b"\x89PNG")
