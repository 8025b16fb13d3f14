# mypy: disallow-untyped-defs=False, disallow-untyped-calls=False
"""Dictionaries and objects of a module, or of the function around, that are read."""

from __future__ import annotations

import copy
import threading
from collections import namedtuple
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import pyrev

X = np.array([0.3, 0.7, 1.1])
CFG = SimpleNamespace(
    k=2.0,
    w=np.array([1.0, 2.0, 3.0]),
    mode="fast",
    limit=None,
    inner=SimpleNamespace(dx=0.5, table=np.array([[1.0, 2.0], [3.0, 4.0]])),
    law=np.sin,
    lock=threading.Lock(),
)
PARAMS = {"k": 2.0, "w": np.array([1.0, 2.0, 3.0]), "of": {"dx": 0.5}, "a b": 3.0}
Pair = namedtuple("Pair", ["left", "right"])
PAIR = Pair(0.25, np.array([4.0, 5.0]))


class Body:
    g = 9.81

    def __init__(self, mass):
        self.mass = mass

    def weight(self, scale=1.0):
        return self.mass * self.g * scale

    def grow(self, by):
        self.mass += by


BODY = Body(3.0)


def of_an_object(x):
    s = 0.0
    for i in range(x.shape[0]):
        s += CFG.w[i] * x[i] * CFG.k + CFG.inner.dx * x[i] ** 2
    return s * CFG.inner.table[1, 0]


def of_a_dictionary(x):
    s = PARAMS["a b"]
    for i in range(x.shape[0]):
        s += PARAMS["w"][i] * x[i] ** PARAMS["k"] + PARAMS["of"]["dx"]
    return s


def of_a_tuple(x):
    return PAIR.left * x[0] + PAIR[1][1] * x[1]


def by_a_text(x):
    if CFG.mode == "fast":
        return x[0] * CFG.k
    return x[1] * CFG.k


def where_none(x):
    if CFG.limit is None:
        return x[0]
    return min(x[0], CFG.limit)


def a_function_in_it(x):
    return CFG.law(x[0]) * x[1]


def helper(p, v):
    return p["k"] * v + p["of"]["dx"]


def given_to_a_helper(x):
    return helper(PARAMS, x[0]) * helper(PARAMS, x[1])


def methods(x):
    return BODY.weight() * x[0] + BODY.weight(scale=x[1])


def by_a_helper(v):
    return v * CFG.k + BODY.mass


def in_helpers(x):
    return by_a_helper(x[0]) * by_a_helper(x[1]) * CFG.k


def in_a_function_inside(x):
    def f(v):
        return v * CFG.k + CFG.w[1]

    return f(x[0]) * f(x[1])


def around(model):
    def f(x):
        return model.weight() * x[0] + model.mass * x[1] ** 2

    return f


#: Two functions of one module whose free names stand for different objects.
ONE, OTHER = around(Body(2.0)), around(Body(5.0))


def of_both(x):
    return ONE(x) * OTHER(x)


EVERY: list[Any] = [
    *(of_an_object, of_a_dictionary, of_a_tuple, by_a_text, where_none),
    *(a_function_in_it, given_to_a_helper, methods, in_helpers, of_both),
    *(in_a_function_inside, ONE, OTHER),
]


def differences(f: Any, h: float = 1e-6) -> Any:
    found = np.zeros(X.size)
    for i in range(X.size):
        for sign in (1.0, -1.0):
            moved = X.copy()
            moved[i] += sign * h
            found[i] += sign * f(moved) / (2 * h)
    return found


@pytest.mark.parametrize("target", ["python", "numba"])
@pytest.mark.parametrize("f", EVERY, ids=lambda f: f.__name__)
def test_a_structure_from_outside_is_read_field_by_field(f: Any, target: str) -> None:
    ours = pyrev.differentiable(target=target)(f)
    value, gradient = pyrev.value_and_grad(ours, wrt="x")(X)
    assert value == pytest.approx(f(X), rel=1e-14)
    np.testing.assert_allclose(gradient, differences(f), rtol=1e-7, atol=1e-9)


CHANGES: list[tuple[Any, Any, str, Any]] = [
    (of_an_object, CFG, "k", 5.0),
    (of_an_object, CFG, "w", np.array([3.0, 1.0, 2.0])),
    (of_an_object, CFG, "k", 7),
    (of_an_object, CFG, "inner", SimpleNamespace(dx=9.0, table=np.ones((2, 2)))),
    (of_an_object, CFG.inner, "dx", 4.0),
    (by_a_text, CFG, "mode", "slow"),
    (where_none, CFG, "limit", 0.1),
    (a_function_in_it, CFG, "law", np.cos),
    (methods, BODY, "mass", 8.0),
    (methods, Body, "g", 1.62),
    (methods, Body, "weight", lambda self, scale=1.0: scale * 2.0),
    (of_a_dictionary, PARAMS, "k", 3.0),
    (of_a_dictionary, PARAMS, "of", {"dx": 7.0}),
    (of_a_dictionary, PARAMS["of"], "dx", 6.0),
    (given_to_a_helper, PARAMS, "k", 6.0),
]


@pytest.mark.parametrize("number", range(len(CHANGES)))
def test_what_it_holds_at_a_call_counts(
    number: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    f, of, key, new = CHANGES[number]
    ours = pyrev.differentiable(target="python")(f)
    gradient = pyrev.value_and_grad(ours)
    for _ in range(3):  # the later ones take a short way
        before = gradient(X)
    assert before[0] == pytest.approx(f(X), rel=1e-14)
    if isinstance(of, dict):
        monkeypatch.setitem(of, key, new)
    else:
        monkeypatch.setattr(of, key, new)
    expected, slopes = f(X), differences(f)
    for _ in range(3):
        after = gradient(X)
        assert after[0] == pytest.approx(expected, rel=1e-14)
        np.testing.assert_allclose(after[1].x, slopes, rtol=1e-7, atol=1e-9)
    assert expected != pytest.approx(before[0], rel=1e-9)
    monkeypatch.undo()
    assert gradient(X)[0] == pytest.approx(before[0], rel=1e-14)


def test_what_is_no_more_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    ours = pyrev.differentiable(target="python")(of_an_object)
    assert ours(X) == pytest.approx(of_an_object(X), rel=1e-14)
    monkeypatch.delattr(CFG, "k")
    with pytest.raises(pyrev.PyrevError):
        pyrev.grad(ours)(X)


# ------------------------------------------------------------------ refused


def writes(x):
    CFG.k = x[0]
    return CFG.k * 2.0


def counts(x):
    BODY.grow(1.0)
    return x[0] * BODY.mass


def counts_in_a_dictionary(x):
    PARAMS["k"] += 1.0
    return x[0] * PARAMS["k"]


def asks_for_keys(x):
    if "extra" in PARAMS:
        return x[0]
    return x[1] * PARAMS["k"]


def gives_it(x):
    return CFG, x[0]


def has_its_length(x):
    return x[0] * len(PARAMS)


@pytest.mark.parametrize(
    "f",
    [writes, counts, counts_in_a_dictionary, asks_for_keys, gives_it, has_its_length],
)
def test_what_else_is_done_to_it_is_refused(f: Any) -> None:
    before = copy.copy(vars(CFG)), copy.copy(PARAMS), BODY.mass
    with pytest.raises(pyrev.PyrevError):
        pyrev.differentiable(target="python")(f)(X)
    assert repr(before) == repr((vars(CFG), PARAMS, BODY.mass))


def written_and_read(model, x):
    model.grow(x[0])
    return BODY.mass * x[1]


def written_there(model, x):
    model[0] = x[0]
    return CFG.w[0] * x[1]


def test_what_is_written_is_not_read_from_outside_too() -> None:
    ours = pyrev.differentiable(target="python")(written_and_read)
    other = Body(1.0)
    assert pyrev.vjp(ours, other, X)[0] == pytest.approx(BODY.mass * X[1])
    before = BODY.mass
    with pytest.raises(pyrev.ArgumentError, match="one number"):
        pyrev.vjp(ours, BODY, X)
    assert BODY.mass == before
    arrays = pyrev.differentiable(target="python")(written_there)
    assert pyrev.vjp(arrays, np.zeros(3), X)[0] == pytest.approx(CFG.w[0] * X[1])
    with pytest.raises(pyrev.ArgumentError):
        pyrev.vjp(arrays, CFG.w, X)


def test_the_text_names_the_fields() -> None:
    text = pyrev.differentiable(of_an_object).adjoint.source
    assert "CFG_k" in text and "CFG_inner_dx" in text
