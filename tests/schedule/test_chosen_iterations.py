"""A loop of which a test chooses one iteration is that iteration."""

from __future__ import annotations

import numpy as np
import pytest

import pyrev
from pyrev.ir.nodes import For
from pyrev.ir.text import block_text
from pyrev.parse import parse_block
from pyrev.schedule.chosen_iterations import chosen_iteration
from tests.corpora.everything import EVERY
from tests.tools.oracle import check


def chosen(text: str) -> str | None:
    (loop,) = parse_block(text)
    assert isinstance(loop, For)
    found = chosen_iteration(loop, {"n", "k"})
    return None if found is None else block_text(found)


@pytest.mark.parametrize(
    "text, wanted",
    [
        (
            "for j in range(n):\n    if j == 0:\n        y[j] = x[j]",
            "if 0 < n:\n    y[0] = x[0]",
        ),
        ("for j in range(4):\n    if j == 2:\n        y[j] = 1.0", "y[2] = 1.0"),
        ("for j in range(4):\n    if j == 7:\n        y[j] = 1.0", ""),
        (
            "for j in range(n - 1, -1, -1):\n    if j == n - 1:\n        y[j] = 1.0",
            "if n >= 1:\n    y[n - 1] = 1.0",
        ),
        (
            "for j in range(1, n):\n    if k == j:\n        y[j] = 1.0",
            "if 1 <= k and k < n:\n    y[k] = 1.0",
        ),
    ],
)
def test_it_runs_where_the_loop_did(text: str, wanted: str) -> None:
    assert chosen(text) == wanted


@pytest.mark.parametrize(
    "text",
    [
        "for j in range(0, n, 2):\n    if j == k:\n        y[j] = 1.0",
        "for j in range(n):\n    if j == p[0]:\n        y[j] = 1.0",
        "for j in range(n):\n    if j == k:\n        y[j] = 1.0\n        k = k + 1",
        "for j in range(n):\n    if j == 0.5:\n        y[j] = 1.0",
        "for j in range(n):\n    if j == 0:\n        z = y\n    else:\n        z = w",
        "for j in range(n):\n    if j < 1:\n        y[j] = 1.0",
        "for j in range(n):\n    y[j] = 1.0",
    ],
)
def test_what_is_no_choice_of_one_stays(text: str) -> None:
    assert chosen(text) is None


def first_and_others(u, w, out):
    n, m = u.shape
    for j in range(m):
        if j == 0:
            for i in range(n):
                out[i, j] = u[i, j] * w[i]
        elif j == m - 1:
            for i in range(n):
                out[i, j] = u[i, j] ** 2
        else:
            for i in range(n):
                out[i, j] = u[i, j] + 0.5 * out[i, j - 1]


@pytest.mark.parametrize("target", ["python", "numba"])
@pytest.mark.parametrize("m", [1, 2, 5])
def test_gradients_are_right(m: int, target: str) -> None:
    rng = np.random.default_rng(m)
    given = dict(u=rng.random((4, m)), w=rng.random(4), out=rng.random((4, m)))
    wrapped = pyrev.differentiable(first_and_others, target=target)
    check(wrapped, first_and_others, given, ("out",), rng)


def test_the_first_row_of_a_sweep_is_for_all_cores_and_for_a_gpu() -> None:
    f = pyrev.differentiable(EVERY["vertical_advection"].plain)
    text = f.adjoint.source_for("numba")
    assert "if j == 0:\n        bcol" not in text
    assert "__global__" in f.adjoint.source_for("cuda")
