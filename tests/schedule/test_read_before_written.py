"""What an iteration reads of an array before anything overwrites it is no record: it is
what the array held before the loop, often the caller's argument itself.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pyrev
from tests.corpora.everything import on_targets
from tests.tools.oracle import check


def product(x, b):
    for i in range(x.shape[0]):
        x[i] = x[i] * b[i]


def squared_under_a_test(x, b):
    for i in range(x.shape[0]):
        if b[i] > 0.7:
            x[i] = x[i] * x[i] * b[i]


def used_again(x, b, y):
    for i in range(x.shape[0]):
        x[i] *= b[i]
    for i in range(x.shape[0]):
        y[i] = x[i] * x[i]


def sides_of_a_test(x, b):
    for i in range(x.shape[0]):
        if b[i] > 0.9:
            x[i] = b[i] * b[i]
        elif b[i] > 0.7:
            x[i] = b[i]
        else:
            x[i] *= b[i]


def of_the_next(x, b):
    for i in range(x.shape[0] - 1):
        x[i] = x[i + 1] * x[i + 1] * b[i]


def of_the_last_one(x, b):
    for i in range(1, x.shape[0]):
        x[i] = x[i - 1] * x[i] * b[i]


def of_the_last_one_coming_down(x, b):
    for i in range(x.shape[0] - 1, 0, -1):
        x[i] = x[i - 1] * x[i] * b[i]


def written_twice(x, b):
    for i in range(x.shape[0]):
        x[i] = x[i] * b[i]
        x[i] = x[i] * x[i]


def written_by_another_loop_inside(x, b):
    for i in range(x.shape[0]):
        for j in range(b.shape[0]):
            b[j] = b[j] + 0.1
        x[i] = x[i] * x[i] * b[i]


def one_nest_after_the_other(x, b):
    for i in range(x.shape[0]):
        x[i] *= b[i]
    for i in range(x.shape[0]):
        x[i] *= x[i] * b[i]


def with_a_copy_of_its_own(x, b):
    old = x.copy()
    for i in range(x.shape[0]):
        x[i] = x[i] * b[i] * old[i]
    for i in range(x.shape[0]):
        old[i] *= x[i]
    for i in range(x.shape[0]):
        x[i] += old[i] * old[i]


def with_a_copy_that_stays(x, b):
    old = x.copy()
    for i in range(x.shape[0]):
        x[i] = b[i] * old[x.shape[0] - 1 - i]
    for i in range(old.shape[0]):
        x[i] *= old[i]


def swapped_places(x, b):
    n = x.shape[0]
    for i in range(n):
        x[i] = x[n - 1 - i] * b[i]


def through_a_table(x, b):
    for i in range(x.shape[0]):
        j = (2 * i) % x.shape[0]
        x[i] = x[j] * x[j] * b[i]


def by_steps(x, b):
    for _ in range(3):
        for i in range(x.shape[0]):
            x[i] = x[i] * x[i] * b[i]


def on_skewed_rows(x, b):
    p = np.zeros((2 * x.shape[0], x.shape[0]))
    for i in range(p.shape[0]):
        for j in range(p.shape[1]):
            p[i, j] = 0.3 * x[j] + 0.02 * i
    for i in range(b.shape[0]):
        for j in range(1, x.shape[0]):
            p[i + j, j - 1] += 0.2 * p[i + j, j] * p[i + j, j] * b[i]
    for i in range(p.shape[0]):
        for j in range(p.shape[1]):
            p[i, j] *= 0.5
    for j in range(x.shape[0]):
        x[j] = p[j, j] + p[j + 1, 0]


EARLY = (product, squared_under_a_test, used_again, sides_of_a_test, of_the_next)
EARLY += (one_nest_after_the_other, with_a_copy_that_stays)
LATE = (of_the_last_one, written_twice, written_by_another_loop_inside)
LATE += (
    of_the_last_one_coming_down,
    on_skewed_rows,
    with_a_copy_of_its_own,
    swapped_places,
    through_a_table,
    by_steps,
)


def judged(plain: Callable[..., Any], target: str, n: int) -> None:
    rng = np.random.default_rng(n)
    f = pyrev.differentiable(plain, target=target)
    names = plain.__code__.co_varnames[: plain.__code__.co_argcount]
    given = {name: rng.uniform(0.5, 1.2, n) for name in names}
    outputs = ["x", *(n for n in names if n == "y")]
    if plain is written_by_another_loop_inside:
        outputs.append("b")
    check(f, plain, given, outputs, rng)


@pytest.mark.parametrize("n", [1, 2, 7])
@pytest.mark.parametrize(("plain", "target"), on_targets(EARLY + LATE, 4))
def test_its_gradient_is_right(plain: Callable[..., Any], target: str, n: int) -> None:
    judged(plain, target, n)


@pytest.mark.parametrize("plain", EARLY, ids=lambda f: f.__name__)
def test_nothing_is_recorded_element_by_element(plain: Callable[..., Any]) -> None:
    text = pyrev.differentiable(plain, target="python").adjoint.source
    assert "_tape" not in text, text


def test_the_argument_is_what_it_was() -> None:
    f = pyrev.differentiable(product, target="python")
    assert "x_2 = x.copy()" not in f.adjoint.source.replace("d_x_2 = d_x.copy()", "")
    assert "d_b[i] += d_x_2[i] * x[i]" in f.adjoint.source


def test_the_second_nest_begins_with_a_copy() -> None:
    f = pyrev.differentiable(one_nest_after_the_other, target="python")
    assert f.adjoint.source.count("x_before = x_2.copy()") == 1
