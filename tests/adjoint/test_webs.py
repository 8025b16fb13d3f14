"""A name used again for something else has another one in the adjoint."""

from __future__ import annotations

import math
import re

import numpy as np
import pytest

import pyrev
from pyrev.adjoint.webs import separated
from pyrev.ir.text import program_text
from pyrev.parse import parse_text
from pyrev.testing import check_grad

SPLIT = {
    "in a later nest": (
        """
    for i in range(n):
        s = a[i] * a[i]
        b[i] = s * s
    for i in range(n):
        s = b[i] + 1.0
        c[i] = s * s
""",
        {"s": 3, "s_2": 3},
    ),
    "twice in one iteration": (
        """
    for i in range(n):
        s = a[i] * a[i]
        b[i] = s * s
        s = b[i] + 1.0
        c[i] = s * s
""",
        {"s": 3, "s_2": 3},
    ),
    "in both branches": (
        """
    for i in range(n):
        if a[i] > 0.0:
            s = a[i] * 2.0
            b[i] = s
        else:
            s = a[i] * 3.0
            c[i] = s
""",
        {"s": 2, "s_2": 2},
    ),
    "a parameter that is overwritten": (
        """
    b[0] = x * a[0]
    x = a[1]
    c[0] = x * x
""",
        {"x": 1, "x_2": 3},
    ),
    "inside a loop that carries nothing": (
        """
    for t in range(n):
        s = 0.0
        for i in range(n):
            s += a[i]
        b[t] = s
        s = 1.0
        for i in range(n):
            s *= a[i]
        c[t] = s
""",
        {"s": 3, "s_2": 3},
    ),
}

WHOLE = {
    "carried from step to step": """
    s = 0.0
    for i in range(n):
        b[i] = s
        s = s * 0.5 + a[i]
    c[0] = s
""",
    "left by the last iteration": """
    s = 0.0
    for i in range(n):
        s = a[i]
    b[0] = s
""",
    "set on one path only": """
    s = a[0]
    if a[1] > 0.0:
        s = a[1]
    b[0] = s * s
""",
    "set in the test of a later step": """
    s = 1.0
    while s > 0.1:
        b[0] += s
        s = s * a[0]
""",
}

HEAD = "def f(a, b, c, n, x):"


@pytest.mark.parametrize("name", SPLIT)
def test_webs_part(name: str) -> None:
    body, reads = SPLIT[name]
    text = program_text(separated(parse_text(HEAD + body), frozenset()))
    names = re.findall(r"\w+", text.split("\n", 1)[1])
    counts = {n: names.count(n) for n in names if re.fullmatch(r"[sx](_\d)?", n)}
    assert counts == reads, text


@pytest.mark.parametrize("name", WHOLE)
def test_webs_stay_together(name: str) -> None:
    program = parse_text(HEAD + WHOLE[name])
    assert program_text(separated(program, frozenset())) == program_text(program)


def used_again(a, b, out):
    for i in range(a.shape[0]):
        s = 0.0
        for j in range(b.shape[0]):
            s += math.sin(a[i] * b[j]) * b[j]
        s = s * s
        t = s
        for j in range(b.shape[0]):
            t = t * 0.5 + math.cos(t * b[j])
        out[i] = s * t
    s = 0.0
    for j in range(b.shape[0]):
        s = s * 0.5 + b[j] * b[j]
        t = s * b[j]
        out[0] += t * t
    return s


@pytest.mark.slow
def test_what_an_iteration_owns_is_made_again_in_it() -> None:
    rng = np.random.default_rng(3)
    a, b, out = rng.uniform(0.2, 0.8, 5), rng.uniform(0.2, 0.8, 4), np.zeros(5)
    f = pyrev.differentiable(used_again)
    check_grad(f, a, b, out)
    report = f.explain()
    # Over the elements of `a` nothing is kept: each iteration is run again.
    assert re.search(
        r" t: taped \[b\.shape\[0\]\] float64 in each iteration of i", report
    )
    assert re.search(r" s: taped once, float64 in each iteration of i", report)
    assert "a.shape[0]" not in report, report
