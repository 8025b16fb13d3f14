"""How much work a nest is, and that little of it stays on one core."""

from __future__ import annotations

import numpy as np
import pytest

import pyrev
from pyrev.ir.nodes import For
from pyrev.ir.text import expr_text
from pyrev.parse import parse_block
from pyrev.schedule.costs import SHIPPED
from pyrev.schedule.ownership import LITTLE
from pyrev.schedule.work import operations, operations_briefly

MEASURED = {
    "for i in range(n):\n    a[i] += b[i] * c": "max(n, 0) * 2",
    "for i in range(2, 12):\n    a[i] = b[i]": "10 * 1",
    "for i in range(n):\n    for j in range(i, n):\n        a[i] += b[j]": (
        "max(n, 0) * max(n, 0)"
    ),
    "for i in reversed(range(n)):\n    if b[i] > 0.0:\n        a[i] = 1.0\n": (
        "max(n, 0) * 2"
    ),
}
UNKNOWN = {
    "data decides how long rows are": (
        "for i in range(n):\n    for j in range(p[i]):\n        a[i] += b[j]"
    ),
    "data decides how often": (
        "for i in range(n):\n    while a[i] < 1.0:\n        a[i] += b[i]"
    ),
    "a bound is no line": (
        "for i in range(n):\n    for j in range(i % 3):\n        a[i] += b[j]"
    ),
}


@pytest.mark.parametrize("text", MEASURED)
def test_the_operations_of_a_nest(text: str) -> None:
    (loop,) = parse_block(text)
    assert isinstance(loop, For)
    found = operations(loop, SHIPPED)
    assert found is not None
    assert expr_text(found) == MEASURED[text]


BRIEFLY = {
    "three rows of neighbours": (
        "for u in range(n):\n    for y in range(max(0, u - 1), min(n, u + 2)):\n"
        "        for x in range(m):\n            a[u, x] += c * b[y, x]",
        "6 * n * m",
    ),
    "parts between edges": (
        "for x in range(min(1, m)):\n    a[x] = b[0]\n"
        "for x in range(1, m - 1):\n    a[x] = b[x - 1]\n"
        "for x in range(max(1, m - 1), m):\n    a[x] = b[m - 1]\n",
        "n * m",
    ),
    "the same twice": (
        "for x in range(m):\n    a[x] = b[x]\nfor y in range(m):\n    b[y] = c * a[y]",
        "3 * n * m",
    ),
    "blocks of a length": (
        "for x in range(64 * i, min(m, 64 * i + 64)):\n    a[x] = b[x]",
        "64 * n",
    ),
    "data decides": ("for x in range(p[i]):\n    a[x] = b[x]", None),
}


@pytest.mark.parametrize("what", BRIEFLY)
def test_the_operations_of_a_nest_in_few_words(what: str) -> None:
    text, words = BRIEFLY[what]
    if not text.startswith("for u"):
        inside = "".join(f"    {line}\n" for line in text.splitlines())
        text = f"for i in range(n):\n{inside}"
    (loop,) = parse_block(text)
    assert isinstance(loop, For)
    found = operations_briefly(loop, SHIPPED)
    assert (None if found is None else expr_text(found)) == words


@pytest.mark.parametrize("why", UNKNOWN)
def test_it_is_not_known_how_many_there_are(why: str) -> None:
    *_, loop = parse_block(UNKNOWN[why])
    assert isinstance(loop, For)
    assert operations(loop, SHIPPED) is None


def scaled(x, out):  # type: ignore[no-untyped-def]
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            out[i, j] = x[i, j] * 2.0 + 1.0


@pytest.mark.slow
def test_little_work_stays_on_one_core_and_much_does_not() -> None:
    f = pyrev.differentiable(scaled, target="numba")

    def text(n: int) -> str:
        return f.primal.source_for("numba", np.ones((n, n)), np.ones((n, n)))

    assert LITTLE in text(8) and "prange" not in text(8)
    # Some millions of operations: less is done at once by what is there already.
    assert LITTLE not in text(1500) and "prange" in text(1500)
    # Without sizes nobody knows.
    assert "prange" in f.primal.source_for("numba")
    for n in (8, 1500, 8):
        x, out = np.random.default_rng(n).random((n, n)), np.zeros((n, n))
        f(x, out)
        np.testing.assert_array_equal(out, x * 2.0 + 1.0)


@pytest.mark.slow
def test_a_size_that_divides_may_be_zero() -> None:
    def shared(x, n):  # type: ignore[no-untyped-def]
        if n > 0:
            for i in range(x.shape[0] // n):
                x[i] *= 0.5

    f = pyrev.differentiable(shared, target="numba")
    for n, left in ((2, 0.5), (0, 1.0), (4, 0.5), (0, 1.0)):
        x = np.ones(8)
        f(x, n)
        assert x[0] == left


def test_a_short_nest_in_a_long_loop_is_not_shared_out_each_time() -> None:

    def steps(u, n):  # type: ignore[no-untyped-def]
        for t in range(n):
            for i in range(1, u.shape[0]):
                u[i] += 0.1 * u[i] * u[0] * t

    f = pyrev.differentiable(steps, target="numba")
    assert "prange" not in f.primal.source_for("numba", np.ones(50), 10**6)
