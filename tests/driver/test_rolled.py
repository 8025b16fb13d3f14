"""Swaps of names stay swaps in the readable text: one body for each loop."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pyrev
from tests.tools import rotations
from tests.turns import TURN


def diffusion(start, k, steps):
    now = start.copy()
    new = np.zeros_like(start)
    for _ in range(steps):
        for i in range(1, start.shape[0] - 1):
            new[i] = now[i] + k * (now[i - 1] - 2.0 * now[i] + now[i + 1]) * now[i]
        now, new = new, now
    return now


def until_it_is_small(start, k, steps):
    now = start.copy()
    new = np.zeros_like(start)
    t = 0
    while t < steps and now[0] < 10.0:
        for i in range(start.shape[0]):
            new[i] = k * now[i] * now[i]
        now, new = new, now
        t += 1
    return now


def in_the_loop_of_another(start, k, steps):
    u = start.copy()
    v = 0.5 * start
    w = np.zeros_like(start)
    for _ in range(steps):
        for _ in range(2):
            for i in range(start.shape[0]):
                w[i] = k * u[i] * v[i]
            u, v, w = v, w, u
        u, v = v, u
    return u


def of_the_caller(start, k, steps):
    new = np.zeros_like(start)
    for _ in range(steps):
        for i in range(start.shape[0]):
            new[i] = k * start[i] * start[i]
        start, new = new, start
    return np.sum(new) + 2.0 * np.sum(start)


def of_two_shapes(start, k, steps):
    u = start.copy()
    v = np.ones(2)
    for _ in range(4):
        u[0] = u[0] * k
        v[0] = v[0] + u[0] * u[1]
        u, v = v, u
    return np.sum(u) + v[0] + steps


FUNCTIONS = [diffusion, until_it_is_small, in_the_loop_of_another]
OTHERS = [of_the_caller, of_two_shapes]


def slope(f: Any, start: Any, k: float, steps: int, u: Any, h: float) -> Any:
    ahead, behind = (f(start + e * u, k + e, steps) for e in (h, -h))
    return (ahead - behind) / (2 * h)


@pytest.mark.slow
@pytest.mark.parametrize("function", [*FUNCTIONS, *OTHERS])
@pytest.mark.parametrize("steps", range(6))
def test_the_gradient_is_that_of_the_plain_function(function: Any, steps: int) -> None:
    f = pyrev.differentiable(function, target="python")
    rng = np.random.default_rng(steps)
    start, u = rng.uniform(0.2, 0.8, (2, 5))
    value, pull = pyrev.vjp(f, start.copy(), 0.3, steps)
    wanted = function(start.copy(), 0.3, steps)
    assert np.array_equal(value, wanted)
    weight = np.asarray(rng.uniform(0.5, 1.5, np.shape(wanted)))
    found = pull(weight if weight.ndim else float(weight))
    want = np.sum(weight * slope(function, start, 0.3, steps, u, 1e-6))
    assert np.sum(found.start * u) + found.k == pytest.approx(want, rel=1e-6, abs=1e-8)


@pytest.mark.parametrize("function", FUNCTIONS)
def test_there_is_one_body_and_the_names_change_places(function: Any) -> None:
    f = pyrev.differentiable(function, target="python")
    for text in (f.adjoint.source, f.primal.source):
        code = [x.partition("#")[0].strip() for x in text.splitlines()]
        assert {"now, new = new, now", "u, v, w = v, w, u"} & {*code}, text
        assert "_held" not in text and "% 2" not in text and "% 3" not in text, text


def test_the_state_is_recorded_once() -> None:
    f = pyrev.differentiable(diffusion, target="python")
    assert f.adjoint.source.count("np.empty(") == 1
    assert "now_before[t] = now" in f.adjoint.source


@pytest.mark.parametrize("function", OTHERS)
def test_what_others_know_has_a_body_for_each_order(function: Any) -> None:
    source = pyrev.differentiable(function, target="python").adjoint.source
    assert source.count(" = k * ") + source.count(" * k") > 1 and "_held" not in source


@pytest.mark.slow
def test_the_readable_text_is_differentiated_again() -> None:
    f = pyrev.differentiable(diffusion, target="python")
    start, u = np.random.default_rng(0).uniform(0.2, 0.8, (2, 5))
    adjoint = pyrev.differentiable(f.adjoint.python, target="python")
    _, pull = pyrev.vjp(adjoint, start, 0.3, 3, np.ones(5))
    found = pull((u, 0.0))
    h = 1e-6
    ahead, behind = (f.adjoint(start + e * u, 0.3, 3, np.ones(5))[0] for e in (h, -h))
    assert np.allclose(found.start, (ahead - behind) / (2 * h), rtol=1e-6, atol=1e-8)


@pytest.mark.slow
def test_programs_that_rotate_arrays_are_right_or_refused() -> None:
    first = TURN % 10**6 * 40
    found = [rotations.judged(seed) for seed in range(first, first + 40)]
    assert {seed: why for seed, verdict, why in found if verdict == "wrong"} == {}
    assert sum(verdict == "right" for _, verdict, _ in found) > 20


def of_a_part_of_the_caller_s(x, y, n):
    x[0] = 0.5 * y[0] + 1.0
    v = y[::-1]
    y, v = v, y
    v += 0.25 * v
    for _ in range(2):
        y[:] = 0.5 * x
        x, y = y, x
    return np.sum(x) + 2.0 * np.sum(y) + n


def test_what_the_caller_has_is_what_the_plain_function_leaves() -> None:
    f = pyrev.differentiable(of_a_part_of_the_caller_s, target="python")
    mine, theirs = np.random.default_rng(0).uniform(0.5, 1.5, (2, 2, 3))
    theirs[:] = mine
    assert f.primal(*mine, 1) == of_a_part_of_the_caller_s(*theirs, 1)
    assert np.array_equal(mine, theirs)
