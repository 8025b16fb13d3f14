"""What an iteration adds to an element of its own is added up in a number."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pyrev
from pyrev.ir.text import block_text
from pyrev.parse import parse_block
from pyrev.schedule.rows.owned import owned
from tests.tools.oracle import same_bits

TYPES = dict.fromkeys(("a", "b", "c", "d", "n"), "float64")

PLAIN = """
d = np.zeros(a.shape[0])
for i in range(a.shape[0]):
    if b[i] > 0.0:
        d[i] += a[i]
    d[i] += c[i]
"""

DONE = """
d = np.empty(a.shape[0])
for i in range(a.shape[0]):
    own_d = 0.0
    if b[i] > 0.0:
        own_d += a[i]
    own_d += c[i]
    d[i] = own_d
"""

STAYS = {
    "a part": PLAIN.replace("range(a.shape[0])", "range(1, a.shape[0])"),
    "another length": PLAIN.replace("range(a.shape[0])", "range(b.shape[0])"),
    "another element": PLAIN.replace("d[i] += c[i]", "d[i] += d[i - 1]"),
    "the element before": PLAIN.replace("d[i] += c", "d[i - 1] += c"),
    "an earlier store": PLAIN.replace("\nfor i", "\nd[0] = c[1]\nfor i"),
    "two loops": PLAIN + "    for j in range(3):\n        d[j] += c[i]\n",
    "ones": PLAIN.replace("zeros", "ones"),
}


def shown(text: str) -> str:
    return block_text(parse_block(text.strip("\n")))


def made(text: str, types: dict[str, str] = TYPES) -> str:
    block = parse_block(text.strip("\n"))
    return block_text(owned(block, types, {"a", "b", "c", "d", "i", "j", "n"}))


def test_sums_on_some_paths_are_kept_in_a_number() -> None:
    assert made(PLAIN) == shown(DONE)


@pytest.mark.parametrize("why", STAYS)
def test_anything_else_stays(why: str) -> None:
    assert made(STAYS[why]) == shown(STAYS[why])


def test_a_sum_in_a_wider_dtype_stays_where_it_rounds() -> None:
    narrow = {**TYPES, "d": "float32"}
    text = PLAIN.replace("np.zeros(a.shape[0])", "np.zeros(a.shape[0], np.float32)")
    assert made(text, narrow) == shown(text)
    assert "own_d" in made(text, {**narrow, "a": "float32", "c": "float32"})


def gate(x, on, w, out):  # type: ignore[no-untyped-def]
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            if on[j] > 0.5:
                out[i, j] = x[i, j] * w[i, j] * x[i, j]
            elif on[j] < -0.5:
                out[i, j] = np.tanh(x[i, j])
            else:
                out[i, j] = w[i, j]


@pytest.mark.slow
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_gradients_on_some_paths_are_those_of_the_plain_loops(dtype: Any) -> None:
    rng = np.random.default_rng(0)
    x, w = (rng.standard_normal((7, 9)).astype(dtype) for _ in range(2))
    on = rng.standard_normal(9).astype(dtype)
    d_out = rng.standard_normal((7, 9)).astype(dtype)
    compiled = pyrev.differentiable(gate, target="numba")
    plain = pyrev.differentiable(gate, target="python")
    gradients = [
        pyrev.vjp(f, x, on, w, np.zeros((7, 9), dtype), wrt=("x", "w"))[1](out=d_out)
        for f in (compiled, plain)
    ]
    # `tanh` is compiled to another one than NumPy's.
    close = 1e-5 if dtype is np.float32 else 1e-12
    np.testing.assert_allclose(gradients[0]["x"], gradients[1]["x"], rtol=close)
    assert same_bits(gradients[0]["w"], gradients[1]["w"])
    text = compiled.adjoint.source_for("numba", x, on, w, np.zeros((7, 9), dtype))
    assert "own_d_x" in text
    double = [np.asarray(a, np.float64) for a in (x, on, w)]
    report = pyrev.check_grad(compiled, *double, np.zeros((7, 9)))
    assert report.ok, report


def slope(x, scale):  # type: ignore[no-untyped-def]
    rise = np.zeros_like(x)
    for i in range(x.shape[0]):
        if i > 0:
            rise[i] = (x[i] - x[i - 1]) / scale
            if rise[i] < 0:
                rise[i] = 0.0
    return rise


def test_a_test_of_such_a_number_near_an_edge_has_a_dtype() -> None:
    x = np.random.default_rng(1).standard_normal(9)
    compiled = pyrev.differentiable(slope, target="numba")
    report = pyrev.check_grad(compiled, x, 0.5)
    assert report.ok, report
