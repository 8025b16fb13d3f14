"""Walks that go in a circle, and texts that several readings share."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import gast
import numpy as np
import pytest

import pyrev
from pyrev.ir.nodes import Assign, Const, Var
from pyrev.parse.bindings import loose_names
from pyrev.parse.settling import _Round


def _walk(statements: int) -> Any:
    return SimpleNamespace(body=(Assign(Var("t"), Const(1.0)),) * statements)


@pytest.mark.parametrize("left", range(1, 12))
def test_a_circle_ends_with_the_walk_that_would_be_the_last(left: int) -> None:
    begins: list[Any] = [({"a": k}, {}, {}, frozenset(), frozenset()) for k in range(4)]
    walks = [_walk(k + 1) for k in range(4)]
    circle = _Round()
    circle.add(begins[0], walks[0], False)  # what it found is new
    for k in (1, 2, 3):
        assert not circle.closed(begins[k])
        circle.add(begins[k], walks[k], True)
    assert not circle.closed(begins[0])
    assert circle.closed(begins[1])
    turns = [1 + k % 3 for k in range(left + 1)]
    last, then, count = circle.last(left)
    assert last is walks[turns[left - 1]]
    assert then is begins[turns[left]]
    assert count == sum(len(walks[k].body) for k in turns[:left])


def _scale(v):
    return 2.0 * v


def _longer(v):
    return 3.0 * v


_used = _scale


def _guessed(x, w):
    parts = [_used(w[i]) for i in range(w.shape[0])]
    total = 0.0
    for i in range(x.shape[0]):
        total += np.dot(x[i], w) * parts[i]
    return total


def test_what_was_looked_up_for_a_shared_text_is_noted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    x, w = np.arange(6.0).reshape(2, 3), np.array([1.0, 2.0, 4.0])
    f = pyrev.differentiable(_guessed)
    assert f(x, w) == _guessed(x, w)
    monkeypatch.setitem(globals(), "_used", _longer)
    assert f(x, w) == _guessed(x, w)
    step = 1e-20j
    moved = [_guessed(x, w + step * np.eye(3)[k]).imag / 1e-20 for k in range(3)]
    assert pyrev.grad(f, wrt="w")(x, w) == pytest.approx(moved)


def test_the_names_that_are_more_than_indices() -> None:
    text = """
def f(n, a):
    for i in range(n):
        for j in range(i):
            a[i] += j
        k = j
    for j in range(n):
        a[j] = 0.0
        for m in range(3):
            m = 2
    for i, v in enumerate(a):
        a[i] = v
    for q in range(2):
        for q in range(3):
            a[q] = 1.0
"""
    found = loose_names(gast.parse(text).body[0])
    assert found == {"n", "a", "range", "enumerate", "k", "j", "m", "v", "q"}
