"""What of a state that changes over time is kept, and what is computed again."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pyrev

U = np.random.default_rng(11).uniform(0.2, 0.8, 7)


def diffused(u, steps):
    """One intermediate, of neighbours in the state."""
    new = u.copy()
    for _ in range(steps):
        old = new.copy()
        for x in range(1, u.shape[0] - 1):
            bend = old[x - 1] - 2.0 * old[x] + old[x + 1]
            new[x] = old[x] + 0.1 * bend * bend
    return new


def branched(u, steps):
    """Intermediates that only exist on some paths."""
    state = u.copy()
    new = np.zeros_like(u)
    for _ in range(steps):
        for x in range(u.shape[0]):
            flux = 0.0
            if x > 0:
                d = state[x - 1] - state[x]
                flux += d * math.exp(-d * d)
            if x < u.shape[0] - 1:
                d = state[x + 1] - state[x]
                flux += d * math.exp(-d * d)
            new[x] = state[x] + 0.2 * flux
        for x in range(u.shape[0]):
            state[x] = new[x]
    return state


def until_flat(u, least):
    """As many steps as the data ask for."""
    state = u.copy()
    new = np.zeros_like(u)
    rough = 1.0
    while rough > least:
        for x in range(u.shape[0]):
            middle = 0.5 * (state[max(x - 1, 0)] + state[min(x + 1, u.shape[0] - 1)])
            new[x] = 0.5 * state[x] + 0.5 * middle * (1.0 + 0.01 * middle)
        rough = 0.0
        for x in range(u.shape[0]):
            rough += abs(new[x] - state[x])
            state[x] = new[x]
    return state


def sometimes(u, steps):
    """A nest that does not run in every step."""
    state = u.copy()
    for t in range(steps):
        if t % 2 == 0:
            old = state.copy()
            for x in range(1, u.shape[0]):
                step = old[x] * old[x - 1]
                state[x] = math.sin(step) + step * step
        else:
            for x in range(u.shape[0]):
                state[x] = state[x] * 1.1
    return state


def chosen(u, order, steps):
    """Neighbours that the data name: what is read is kept, not the whole."""
    state = u.copy()
    new = np.zeros_like(u)
    for _ in range(steps):
        for x in range(u.shape[0]):
            both = state[order[x]] + state[x]
            new[x] = both * both
        for x in range(u.shape[0]):
            state[x] = 0.3 * new[x]
    return state


def summed(u, w, steps):
    """A sum over neighbours is dearer than a value that is kept."""
    state = u.copy()
    new = np.zeros_like(u)
    for _ in range(steps):
        for x in range(u.shape[0] - 2):
            total = 0.0
            for j in range(3):
                total += w[j] * state[x + j]
            new[x] = total * total + state[x]
        for x in range(u.shape[0]):
            state[x] = new[x]
    return state


def measured(u, w):
    """A local array bounds a loop before all of its elements have their values."""
    v = np.empty_like(w)
    for t in range(1, 3):
        t4 = u[t]
        k = 0
        while k < t + 2:
            k += 1
            for i in range(v.shape[0]):
                if k % 2:
                    continue
                u[1] += t4 * w[i]
    v[1] = 0.5
    u[0] *= v[1]
    return u[1]


def used_twice(series, level, sigma):
    loss = 0.0
    for t in range(series.shape[0]):
        error = series[t] - level
        loss += math.exp(error) * sigma
        level += error * error
    return loss


def written_in_between(series, level, sigma):
    loss = 0.0
    for t in range(series.shape[0]):
        level = level * sigma
        loss += math.exp(level) * series[t]
        level = level + series[t] * level * level
        loss += math.sin(level)
    return loss


def used_in_branches(series, level, sigma):
    loss = 0.0
    for t in range(series.shape[0]):
        level = math.sin(level + series[t])
        if series[t] > 0.0:
            loss += level * level * sigma
        else:
            loss += level * sigma
        loss += math.cos(level)
    return loss


def used_under_a_test(series, level, sigma):
    loss = 0.0
    for t in range(series.shape[0]):
        level = math.sin(level + series[t])
        loss += level * level if series[t] > 0.0 else 0.0
        loss += math.exp(level) * sigma
        loss += level**3 if series[t] > 0.3 else level
    return loss


def used_by_loops(series, level, sigma):
    loss = 0.0
    for t in range(series.shape[0]):
        level = math.sin(level + series[t])
        for k in range(3):
            loss += level * series[k] * sigma
        loss += level * level
        for k in range(3):
            loss += level * series[k] ** 2
    return loss


def written_in_a_branch(series, level, sigma):
    loss = 0.0
    for t in range(series.shape[0]):
        level = math.sin(level + series[t])
        if series[t] > 0.0:
            loss += level * level * sigma
            level = level * sigma
        loss += math.cos(level)
    return loss


SERIES = (np.array([0.4, -0.2, 0.9, 0.1]), 0.3, 0.7)
#: How many tapes a function needs.
TAPES = {
    used_twice: 1,
    written_in_between: 2,
    used_in_branches: 1,
    used_under_a_test: 1,
    used_by_loops: 1,
    written_in_a_branch: 2,
}

CASES: dict[Callable[..., Any], tuple[Any, ...]] = {
    diffused: (U, 3),
    branched: (U, 3),
    until_flat: (U, 0.05),
    sometimes: (U, 4),
    chosen: (U, np.array([3, 0, 0, 6, 5, 1, 2]), 3),
    measured: (U.copy(), np.array([0.2, 0.3])),
    summed: (U, np.array([0.2, 0.3, 0.4]), 3),
    **dict.fromkeys(TAPES, SERIES),
}


def kept(f: Callable[..., Any]) -> set[str]:
    """What has a tape over the steps."""
    stored = pyrev.differentiable(f).adjoint.report().values
    return {s.name for s in stored if s.kind == "taped" and s.shape}


@pytest.mark.slow
@pytest.mark.parametrize("f", CASES, ids=lambda f: f.__name__)
@pytest.mark.parametrize("target", ["python", "numba"])
def test_gradients_are_right(f: Callable[..., Any], target: str) -> None:
    assert pyrev.check_grad(pyrev.differentiable(f, target=target), *CASES[f])


def test_intermediates_are_made_again_from_the_copy_of_the_state() -> None:
    assert "d" not in kept(branched)
    assert "middle" not in kept(until_flat)


def test_a_sum_is_kept_rather_than_made_again() -> None:
    assert "total" in kept(summed)


@pytest.mark.parametrize("f", TAPES, ids=lambda f: f.__name__)
def test_a_value_is_recorded_once(f: Callable[..., Any]) -> None:
    source = pyrev.differentiable(f).adjoint.source
    assert source.count("= np.empty(") == TAPES[f]
