"""Code for the sizes of one call serves others: right, the same again, few texts."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import pyrev
from pyrev.schedule.costs import SHIPPED
from tests.corpora.conformance.table import REFUSED, RIGHT, judge
from tests.corpora.everything import EVERY
from tests.tools.costs import SHARING, differentiable
from tests.turns import share_of

#: Sides of an image and of a kernel.
SIZES = (
    (16, 3),
    (64, 5),
    (128, 3),
    (256, 7),
    (512, 5),
    (1024, 3),
    (2048, 9),
    (4096, 3),
)


def convolution(x, k, out):
    for i in range(out.shape[0]):
        for j in range(out.shape[1]):
            s = 0.0
            for p in range(k.shape[0]):
                for q in range(k.shape[1]):
                    s += x[i + p, j + q] * k[p, q]
            out[i, j] = s


def diffusion(u, c, steps):
    for _ in range(steps):
        v = u.copy()
        for i in range(1, u.shape[0] - 1):
            for j in range(1, u.shape[1] - 1):
                around = u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1]
                v[i, j] = u[i, j] + c[i, j] * (around - 4.0 * u[i, j])
        u = v
    return np.sum(u)


def distances(x, y, out):
    for i in range(x.shape[0]):
        for j in range(y.shape[0]):
            s = 0.0
            for k in range(x.shape[1]):
                s += (x[i, k] - y[j, k]) ** 2
            out[i, j] = np.sqrt(s + 1e-3)


def of_convolution(n: int, m: int) -> tuple[Any, ...]:
    """Arguments of which nothing but the sizes counts."""
    sizes = (n, n), (m, m), (n - m + 1, n - m + 1)
    return tuple(np.broadcast_to(0.0, s).view() for s in sizes)


def texts(f: pyrev.Differentiable, calls: Iterable[Sequence[Any]]) -> list[Any]:
    """The compiled texts that calls with such arguments run, in this order."""
    return [
        (
            str(f.primal.source_for("numba", *a)),
            str(f.adjoint.source_for("numba", *a)),
        )
        for a in calls
    ]


@pytest.mark.parametrize("turn", range(10))
def test_a_convolution_has_few_texts_for_eight_sizes_in_any_order(turn: int) -> None:
    """Two, or three: one for little, one with numbers, and then one without."""
    order = [*SIZES] if turn else [*reversed(SIZES)]
    if turn > 1:
        random.Random(turn).shuffle(order)
    f = pyrev.differentiable(convolution)
    found = texts(f, [of_convolution(*s) for s in order])
    most = 2 if turn <= 1 else 3
    assert all(len(set(of_one)) <= most for of_one in zip(*found, strict=True))


def test_small_numbers_are_in_the_text_as_long_as_they_stay_the_same() -> None:
    f = pyrev.differentiable(convolution)
    calls = [of_convolution(n, 3) for n in (16, 512, 1024)]
    found = [primal for primal, _ in texts(f, calls)]
    assert "k.shape" in found[0] and "k.shape" not in found[1]
    assert found[1] == found[2]
    assert "k.shape" in texts(f, [of_convolution(512, 5)])[0][0]
    assert [primal for primal, _ in texts(f, calls)] == found
    deterministic = pyrev.differentiable(convolution, deterministic=True)
    (three, _), (five, _) = texts(
        deterministic, [of_convolution(512, n) for n in (3, 5)]
    )
    assert "k.shape" not in three and "k.shape" not in five


CALLS = {
    convolution: [
        of_convolution(n, m) for n, m in itertools.product((9, 40, 130, 700), (1, 3, 9))
    ],
    diffusion: [
        (np.broadcast_to(0.0, (n, m)), np.broadcast_to(0.0, (n, m)), steps)
        for n, m, steps in itertools.product((3, 60, 900), (5, 300), (1, 40))
    ],
    distances: [
        tuple(np.broadcast_to(0.0, s) for s in ((n, k), (m, k), (n, m)))
        for n, m, k in itertools.product((4, 70, 3000), (9, 500), (2, 3, 64))
    ],
}


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("function", CALLS, ids=lambda f: f.__name__)
def test_calls_of_the_same_sizes_run_the_same_text(function: Any, seed: int) -> None:
    rng = random.Random(seed)
    f = pyrev.differentiable(function)
    calls = rng.sample(CALLS[function], 8)
    first = {}
    for _ in range(30):
        k = rng.randrange(len(calls))
        (text,) = texts(f, [calls[k]])
        assert first.setdefault(k, text) == text


@pytest.mark.slow
@pytest.mark.parametrize("name", share_of(EVERY, 7))
def test_code_for_other_sizes_is_right(name: str) -> None:
    entry = EVERY[name]
    # Of every other function what was made for the largest size serves all.
    sizes = sorted({*entry.sizes, entry.real}, reverse=bool([*EVERY].index(name) % 2))
    costs = replace(SHARING, compiled_elements=0)
    found = judge(entry, "numba", sizes, costs=costs)
    if found.outcome == REFUSED:  # that is for the conformance suite to judge
        pytest.skip(found.message)
    assert found.outcome == RIGHT, found.message


def test_a_call_that_takes_seconds_has_code_of_its_own() -> None:
    f = differentiable(convolution, replace(SHIPPED, own_operations=10_000_000))
    calls = [of_convolution(1024, m) for m in (3, 5, 7)]
    assert len({primal for primal, _ in texts(f, calls)}) == 3
