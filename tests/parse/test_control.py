"""What a user says about derivatives in the text of a function."""

from __future__ import annotations

from contextlib import nullcontext
from typing import Any

import numpy as np
import pytest

import pyrev
from tests.targets.cuda import needs, ondevice


def held(x, w):
    total = 0.0
    for i in range(x.shape[0]):
        fixed = pyrev.stop_gradient(x[i] * w)
        total += fixed * x[i] + pyrev.stop_gradient(w)
    return total


@pytest.mark.slow
@pytest.mark.parametrize(
    ("target", "place"),
    [
        ("python", nullcontext),
        ("numba", nullcontext),
        pytest.param("cuda", ondevice.standing_in, marks=needs.compiler),
    ],
)
def test_no_derivative_passes_where_it_is_stopped(target: str, place: Any) -> None:
    x, v = np.array([1.0, 2.0, 3.0]), np.array([1.0, 0.5, -1.0])
    with place():
        there = ondevice.there if target == "cuda" else np.array
        f = pyrev.differentiable(held, target=target)
        value, g = pyrev.value_and_grad(f)(there(x), 2.0)
        assert float(value) == held(x, 2.0) == 34.0
        np.testing.assert_array_equal(g.x, 2 * x)
        assert g.w == 0
        moves = {"x": there(v), "w": 1.0}
        _, moved = pyrev.jvp(f, there(x), 2.0, tangents=moves)
        assert float(moved["return"]) == 2 * (x @ v)


def test_it_stays_stopped_at_second_order() -> None:
    """The text of the adjoint says so, and is read again."""
    x = np.array([1.0, 2.0, 3.0])
    f = pyrev.differentiable(held)
    assert "def stop_gradient(x):\n    return x" in f.adjoint.source
    h = pyrev.hvp(f, x, 2.0, tangents={"x": x, "w": 1.0})
    assert not h.x.any() and h.w == 0
    assert f.adjoint(x, 2.0, 1.0)[0].tolist() == [2.0, 4.0, 6.0]


def test_an_array_is_not_stopped_as_a_whole() -> None:
    def f(x):
        y = pyrev.stop_gradient(x)
        return y[0] * x[0]

    with pytest.raises(pyrev.UnsupportedError):
        pyrev.grad(f)(np.ones(2))
