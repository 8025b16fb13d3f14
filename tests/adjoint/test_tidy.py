"""The copy of a cotangent goes where nobody would see that it was zeroed."""

from __future__ import annotations

import numpy as np
import pytest

import pyrev
from pyrev.adjoint.tidy import tidy
from pyrev.ir.text import program_text
from pyrev.ir.wellformed import check
from pyrev.parse import parse_text
from pyrev.testing import check_grad

HEAD = "def f(d_out, a, n, m):\n    d = d_out.copy()\n    g = np.zeros((n, m))\n"

GONE = {
    "read, then zeroed": """
    for y in range(n):
        for x in range(m):
            g[y, x] += d[y, x] * a[y, x]
            d[y, x] = 0.0
""",
    "zeroed in branches that exclude each other": """
    for y in range(n):
        for x in range(m):
            if a[y, x] > 0.0:
                g[y, x] += d[y, x]
                d[y, x] = 0.0
            else:
                g[y, x] += 2.0 * d[y, x]
                d[y, x] = 0.0
""",
    "read again and again by a further loop": """
    for y in range(n):
        for x in range(m):
            for k in range(3):
                g[y, x] += d[y, x] * a[k, x]
            d[y, x] = 0.0
""",
    "read in a loop before": """
    for y in range(n):
        for x in range(1, m):
            g[y, x] += d[y, x - 1]
    for y in range(n):
        for x in range(m):
            g[y, x] += d[y, x]
            d[y, x] = 0.0
""",
}

STAYS = {
    "read again in the iteration": """
    for y in range(n):
        for x in range(m):
            g[y, x] += d[y, x]
            d[y, x] = 0.0
            g[y, x] += d[y, x]
""",
    "a further loop stores it, too": """
    for y in range(n):
        for x in range(m):
            for k in range(3):
                g[y, x] += d[y, x] * a[k, x]
                d[y, x] = 0.0
""",
    "a neighbour reads it": """
    for y in range(n):
        for x in range(1, m):
            g[y, x] += d[y, x] + d[y, x - 1]
            d[y, x] = 0.0
""",
    "another iteration reads it": """
    for y in range(n):
        for x in range(m):
            g[y, x] += d[0, x]
            d[0, x] = 0.0
""",
    "read after a branch": """
    for y in range(n):
        for x in range(m):
            if a[y, x] > 0.0:
                d[y, x] = 0.0
            g[y, x] += d[y, x]
""",
    "a later loop reads it": """
    for y in range(n):
        for x in range(m):
            g[y, x] += d[y, x]
            d[y, x] = 0.0
    for y in range(n):
        g[y, 0] += d[y, 0]
""",
    "it gets more than zeros": """
    for y in range(n):
        for x in range(m):
            g[y, x] += d[y, x]
            d[y, x] = 1.0
            a[y, x] += d[y, x]
""",
    "a loop that comes again": """
    for k in range(3):
        for y in range(n):
            for x in range(m):
                g[y, x] += d[y, x]
                d[y, x] = 0.0
""",
}


def tidied(text: str, result: str = "g") -> str:
    lines = HEAD + text.strip("\n") + f"\n    return {result}\n"
    return program_text(tidy(parse_text(lines)))


@pytest.mark.parametrize("name", GONE)
def test_the_copy_goes(name: str) -> None:
    text = tidied(GONE[name])
    assert "copy()" not in text and "= 0.0" not in text
    assert "d_out[" in text


@pytest.mark.parametrize("name", STAYS)
def test_the_copy_stays(name: str) -> None:
    assert "d = d_out.copy()" in tidied(STAYS[name])


def test_a_gradient_that_is_returned_keeps_its_zeros() -> None:
    assert "d[y, x] = 0.0" in tidied(GONE["read, then zeroed"], "g, d")


WHOLE = """
def f(d_out, out, g):
    d = d_out.copy()
    for y in range(out.shape[0]):
        for x in reversed(range(out.shape[1])):
            g[y, x] += d[y, x]
            d[y, x] = 0.0
    return g, d
"""
PARTS = [
    ("range(out.shape[0])", "range(1, out.shape[0])"),
    ("range(out.shape[0])", "range(g.shape[0])"),
    ("range(out.shape[0])", "range(0, out.shape[0], 2)"),
    ("d[y, x]", "d[x, y]"),
    (
        "            d[y, x] = 0.0",
        "            if g[y, x] > 0.0:\n                d[y, x] = 0.0",
    ),
]


def returned(text: str, **outputs: str) -> str:
    return program_text(tidy(parse_text(text), outputs=outputs))


def test_a_gradient_whose_elements_are_all_zeroed_is_zeros() -> None:
    text = returned(WHOLE, d_out="out")
    assert "copy()" not in text and "= 0.0" not in text
    assert "g[y, x] += d_out[y, x]" in text
    rng = np.random.default_rng(0)
    d_out, out, g = rng.random((3, 2, 4))
    space: dict[str, object] = {"np": np}
    exec(text, space)  # noqa: S102
    first, zeros = space["f"](d_out, out, g.copy())  # type: ignore[operator]
    np.testing.assert_array_equal(first, g + d_out)
    np.testing.assert_array_equal(zeros, np.zeros((2, 4)))


@pytest.mark.parametrize(("old", "new"), PARTS)
def test_a_gradient_of_which_a_part_is_zeroed_is_no_zeros(old: str, new: str) -> None:
    assert old in WHOLE
    text = returned(WHOLE.replace(old, new), d_out="out")
    assert "d = d_out.copy()" in text and "] = 0.0" in text


def test_the_zeros_need_to_know_whose_cotangent_it_is() -> None:
    assert "d = d_out.copy()" in returned(WHOLE)


LATE = {
    "behind the uses of what was read": (
        """
for y in range(n):
    t = d[y, 0]
    d[y, 0] = 0.0
    g[y, 0] += t
""",
        """
for y in range(n):
    t = d[y, 0]
    g[y, 0] += t
    d[y, 0] = 0.0
""",
    ),
    "not behind another access": (
        """
for y in range(n):
    d[y, 0] = 0.0
    g[y, 0] += a[y, 0]
    d[m, 0] += a[y, 0]
""",
        """
for y in range(n):
    g[y, 0] += a[y, 0]
    d[y, 0] = 0.0
    d[m, 0] += a[y, 0]
""",
    ),
    "not behind a change of the subscript": (
        """
for y in range(n):
    m = y + 1
    d[m, 0] = 0.0
    g[m, 0] += a[y, 0]
    m = y
    g[m, 0] += a[y, 0]
""",
        """
for y in range(n):
    m = y + 1
    g[m, 0] += a[y, 0]
    d[m, 0] = 0.0
    m = y
    g[m, 0] += a[y, 0]
""",
    ),
    "not behind what is returned": (
        """
d[m, 0] = 0.0
g[m, 0] += a[m, 0]
""",
        """
g[m, 0] += a[m, 0]
d[m, 0] = 0.0
""",
    ),
}


@pytest.mark.parametrize("name", LATE)
def test_zeros_come_late(name: str) -> None:
    def text(body: str) -> str:
        lines = "".join(f"    {line}\n" for line in body.strip("\n").split("\n"))
        return f"def f(d, g, a, n, m):\n{lines}    return g, d\n"

    before, after = LATE[name]
    made = program_text(tidy(parse_text(text(before))))
    assert made.strip() == text(after).strip()


def layer(a, w, out):
    for y in range(a.shape[0]):
        for x in range(a.shape[1]):
            if a[y, x] > 0.3:
                out[y, x] = a[y, x] * w[x]
            else:
                out[y, x] = w[x] ** 2


@pytest.mark.parametrize("target", ["python", "numba"])
def test_the_gradient_and_the_cotangent_are_right(target: str) -> None:
    rng = np.random.default_rng(5)
    a, w, seed = rng.random((4, 3)), rng.random(3), rng.random((4, 3))
    f = pyrev.differentiable(layer, target=target)
    check_grad(f, a, w, np.zeros((4, 3)))
    _, pullback = pyrev.vjp(f, a, w, np.zeros((4, 3)), wrt=("a", "w"))
    given = seed.copy()
    first, second = pullback(out=given), pullback(out=given)
    np.testing.assert_array_equal(given, seed)
    np.testing.assert_array_equal(first["a"], np.where(a > 0.3, seed * w, 0.0))
    np.testing.assert_array_equal(first["w"], second["w"])


def test_an_array_that_only_a_dead_sum_reads_goes_with_the_sum() -> None:
    program = parse_text("""
def f(p):
    v = p.copy()
    total = 0.0
    for i in range(p.shape[0]):
        total += v[i]
    return p[0]
""")
    found = tidy(program)
    check(found)
    assert program_text(found) == "def f(p):\n    return p[0]"
