# mypy: disallow-untyped-defs=False, disallow-untyped-calls=False
"""Structures: parameters, locals and results that are taken apart."""

from __future__ import annotations

import dataclasses
import math
from collections import namedtuple
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np
import pytest

import pyrev
from tests.tools.oracle import check

X = np.array([0.3, 0.7, 1.1])
P = namedtuple("P", "k w")


@dataclasses.dataclass
class Wire:
    rate: float
    n: int
    w: np.ndarray


def keys(x, p):
    s = 0.0
    for i in range(x.shape[0]):
        s += x[i] * p["k"] * p["w"][i] ** p["n"]
    return s


def _rate(p, v):
    return p["k"] * v * v + p["w"][0]


def keys_in_a_helper(x, p):
    s = 0.0
    for i in range(x.shape[0]):
        s += _rate(p, x[i])
    return s


def attributes(x, p):
    return np.sum(x * p.w) * p.k


def fields_of_an_object(x, wire):
    s = 0.0
    for i in range(wire.n):
        s += wire.rate * x[i] * wire.w[i]
    return s


def inner(x, p):
    return x[0] * p["a"]["k"] + x[1] * p["a"]["m"] + p["c"]


def options(x, p):
    if p["mode"] == "a" and p["w"] is None:
        return x[0] * p["k"]
    return x[0]


def unpacked(x, p):
    a, b = p
    return x[0] * a + x[1] * b


def unpacked_fields(x, p):
    k, w = p
    w[1] = k * x[0]
    k = k * 2.0
    return k * x[0] * p.w[1] + p.k


def _unpacks(p, v):
    k, w = p
    return k * v * w[0]


def unpacked_in_a_helper(x, p):
    s = 0.0
    for i in range(x.shape[0]):
        s += _unpacks(p, x[i])
    return s


def unpacked_local(x):
    s = P(x[0], x * 2.0)
    k, w = s
    s = P(k * 2.0, w * k)
    a, b = s
    return k * a * np.sum(w * b)


def records(x, r):
    s = 0.0
    for i in range(len(r)):
        s += r[i]["m"] * x[0] * r["v"][i]
    return s


def a_record(x, r):
    return x[0] * r["m"] + r["v"] * x[1]


def a_local_dictionary(x):
    q = {"a": x[0], "b": 2.0}
    for i in range(3):
        q["a"] *= q["b"] + x[i]
    return q["a"]


def a_returned_dictionary(x):
    a = np.sum(x)
    return {"total": a, "squares": x * x, "inner": {"first": x[0] * x[1]}}


def a_returned_named_tuple(x):
    return P(np.sum(x), x * 2)


def tuples_in_tuples(x):
    if x[0] > 5.0:
        return (x[0], x * 3), x[2]
    return (x[0] * x[0], x * 2), x[1]


def _step(p, dt):
    return P(p.k + dt * p.k * p.k, p.w * (1.0 - dt))


def a_state_that_is_made_anew(x, n):
    s = P(x[0], x * 1.0)
    for _ in range(n):
        s = _step(s, 0.1)
    return s.k + np.sum(s.w)


def replaced(x, p):
    q = p._replace(k=p.k * x[0])
    return q.k * np.sum(q.w) + p.k


def written(p):
    for i in range(p["x"].shape[0]):
        p["x"][i] = p["x"][i] * p["k"]


def asked_for(x, p):
    s = p.get("scale", 2.0) * x[0] + p.get("k", 1.0)
    if "w" in p:
        s += p["w"][0]
    return s * len(p)


def _with_defaults(v, a=1.0, b=2.0, p=None):
    if p is None:
        return v * a
    return v * a * p["k"] + b * p["w"]


def defaults_beside_fields(x):
    s = _with_defaults(x[0], b=3.0, p={"k": x[1], "w": x[2]})
    return s + _with_defaults(x[1], 4.0) * x[2]


def a_function(x, g):
    s = 0.0
    for i in range(len(x)):
        s += g(x[i])
    return s


def _cubed(v):
    return v * v * v


R = np.zeros(3, dtype=[("m", "f8"), ("v", "f8"), ("id", "i8")])
R["m"], R["v"] = X, X + 1

CALLS: list[tuple[Callable[..., Any], dict[str, Any]]] = [
    (keys, {"x": X, "p": {"k": 2.0, "w": X + 1, "n": 2, "unused": 3.0}}),
    (keys_in_a_helper, {"x": X, "p": {"k": 2.0, "w": X + 1}}),
    (attributes, {"x": X, "p": P(2.0, X + 1)}),
    (attributes, {"x": X, "p": SimpleNamespace(k=2.0, w=X + 1)}),
    (fields_of_an_object, {"x": X, "wire": Wire(0.5, 3, X + 1)}),
    (inner, {"x": X, "p": {"a": {"k": 2.0, "m": 3.0}, "c": 1.0}}),
    (options, {"x": X, "p": {"mode": "a", "w": None, "k": 3.0}}),
    (options, {"x": X, "p": {"mode": "b", "w": None, "k": 3.0}}),
    (unpacked, {"x": X, "p": (2.0, 3.0)}),
    (unpacked_fields, {"x": X, "p": P(2.0, X + 1)}),
    (unpacked_in_a_helper, {"x": X, "p": P(2.0, X + 1)}),
    (unpacked_local, {"x": X}),
    (records, {"x": X, "r": R}),
    (a_record, {"x": X, "r": R[1]}),
    (a_local_dictionary, {"x": X}),
    (a_returned_dictionary, {"x": X}),
    (a_returned_named_tuple, {"x": X}),
    (tuples_in_tuples, {"x": X}),
    (a_state_that_is_made_anew, {"x": X, "n": 3}),
    (replaced, {"x": X, "p": P(2.0, X + 1)}),
    (asked_for, {"x": X, "p": {"k": 2.0, "w": X}}),
    (defaults_beside_fields, {"x": X}),
    (a_function, {"x": X, "g": math.sin}),
    (a_function, {"x": X, "g": np.exp}),
    (a_function, {"x": X, "g": _cubed}),
    (a_function, {"x": X, "g": lambda v: v * v}),
]


@pytest.mark.parametrize(
    "target", ["python", pytest.param("numba", marks=pytest.mark.slow)]
)
@pytest.mark.parametrize("number", range(len(CALLS)))
def test_each_number_in_a_structure_has_its_derivative(
    number: int, target: str
) -> None:
    plain, given = CALLS[number]
    f = pyrev.differentiable(plain, target=target)
    written = ("p",) if plain is unpacked_fields else ()
    check(f, plain, given, written, np.random.default_rng(number))


@pytest.mark.parametrize("target", ["python", "numba"])
def test_arrays_in_structures_are_the_caller_s(target: str) -> None:
    f = pyrev.differentiable(written, target=target)
    p = {"x": X.copy(), "k": 3.0}
    _, pullback = pyrev.vjp(f, p)
    np.testing.assert_allclose(p["x"], 3.0 * X)
    found = pullback(cotangents={"p.x": np.ones(3)}).p
    np.testing.assert_allclose(found["x"], 3.0)
    np.testing.assert_allclose(found["k"], np.sum(X))


def test_gradients_come_in_the_structure_of_the_argument() -> None:
    given = {"k": 2.0, "w": X + 1, "n": 2}
    found = pyrev.grad(keys)(X, given)
    assert set(found) == {"x", "p"}
    assert set(found.p) == {"k", "w", "n"}
    assert found.p["n"] is None
    alone = pyrev.grad(keys, wrt="p")(X, given)
    np.testing.assert_array_equal(alone["w"], found.p["w"])
    field = pyrev.grad(keys, wrt="p.k")(X, given)
    assert field == found.p["k"]
    tuples = pyrev.grad(attributes)(X, P(2.0, X))
    assert isinstance(tuples.p, P)
    made = pyrev.grad(fields_of_an_object)(X, Wire(0.5, 3, X))
    assert isinstance(made.wire, Wire) and made.wire.n is None


def test_tangents_are_given_by_field() -> None:
    given = {"k": 2.0, "w": X + 1, "n": 2}
    want = pyrev.grad(keys, wrt="p.k")(X, given)
    _, moved = pyrev.jvp(keys, X, given, tangents={"p.k": 1.0})
    np.testing.assert_allclose(moved["return"], want)
    _, moved = pyrev.jvp(keys, X, given, tangents={"p": {"k": 1.0}})
    np.testing.assert_allclose(moved["return"], want)


def test_one_function_takes_structures_of_several_kinds() -> None:
    f = pyrev.differentiable(attributes)
    for _ in range(2):
        for p in (P(2.0, X), SimpleNamespace(k=2.0, w=X)):
            np.testing.assert_allclose(pyrev.grad(f, wrt="x")(X, p), 2.0 * X)
    f = pyrev.differentiable(a_function)
    for _ in range(2):
        np.testing.assert_allclose(pyrev.grad(f)(X, math.sin).x, np.cos(X))
        np.testing.assert_allclose(pyrev.grad(f)(X, _cubed).x, 3 * X * X)


def test_a_cotangent_of_another_structure_is_refused() -> None:
    _, pullback = pyrev.vjp(tuples_in_tuples, X)
    for wrong in ((1.0, X, 1.0), ((1.0,), 1.0), 1.0):
        with pytest.raises(pyrev.ArgumentError):
            pullback(wrong)
    _, pullback = pyrev.vjp(a_returned_dictionary, X)
    with pytest.raises(pyrev.ArgumentError, match="total"):
        pullback({"sum": 1.0})


def test_a_key_that_is_missing_says_so() -> None:
    f = pyrev.differentiable(keys)
    with pytest.raises((KeyError, pyrev.ArgumentError, pyrev.UnsupportedError)):
        f(X, {"k": 2.0})


def _changes(p):
    p["k"] = 2.0 * p["k"]
    return p["k"]


def changes_what_is_the_caller_s(x):
    p = {"k": x[0]}
    a = _changes(p)
    return a + p["k"]


def changes_under_two_names(x):
    p = {"k": x[0]}
    q = p
    q["k"] = 2.0 * x[1]
    return p["k"]


def changes_inside_of_another(x):
    p = {"a": x[0]}
    q = {"in": p, "z": x[2]}
    q["in"]["a"] = x[1]
    return p["a"] * x[2]


def _same(p):
    return p


def changes_what_a_helper_hands_on(x):
    p = {"a": x[0]}
    q = _same(p)
    q["a"] = x[1]
    return p["a"]


def a_record_that_changes_later(x, r):
    q = r[1]
    r["m"][1] = 5.0 * x[0]
    return q["m"] * q["v"]


@pytest.mark.parametrize(
    "plain",
    [
        changes_what_is_the_caller_s,
        changes_under_two_names,
        changes_inside_of_another,
        changes_what_a_helper_hands_on,
    ],
)
def test_a_dictionary_that_changes_under_another_name_is_refused(plain: Any) -> None:
    with pytest.raises(pyrev.UnsupportedError):
        pyrev.differentiable(plain).adjoint.source  # noqa: B018


@pytest.mark.parametrize("target", ["python", "numba"])
def test_a_record_is_a_view_of_its_array(target: str) -> None:
    f = pyrev.differentiable(a_record_that_changes_later, target=target)
    given = {"x": X.copy(), "r": R.copy()}
    rng = np.random.default_rng(1)
    check(f, a_record_that_changes_later, given, ("r",), rng)


def made_of_what_it_was(x):
    s = 0.0
    p = {"a": x[1], "b": x[2]}
    for i in range(3):
        p = {"a": x[i], "b": p["a"]}
        s += p["a"] * p["b"] * (i + 1)
    return s


def test_fields_are_assigned_at_once() -> None:
    for target in ("python", "numba"):
        f = pyrev.differentiable(made_of_what_it_was, target=target)
        check(f, made_of_what_it_was, {"x": X}, (), np.random.default_rng(1))


def one_field(x, p):
    return x[0] * p["k"]


def test_fields_that_are_asked_for_exist() -> None:
    given = {"k": 2.0, "w": X + 1, "n": 2}
    with pytest.raises(pyrev.ArgumentError, match="zz"):
        pyrev.jvp(keys, X, given, tangents={"p": {"k": 1.0, "zz": 1.0}})
    alone = {"k": 2.0, "c": 1.0, "other": 3.0}
    assert pyrev.grad(one_field, wrt="p.k")(X, alone) == X[0]
    with pytest.raises(pyrev.ArgumentError, match="has no 'w'"):
        pyrev.differentiable(keys)(X, {"k": 2.0, "n": 2})


@dataclasses.dataclass
class Shares:
    """It changes what it is given."""

    a: float
    b: float

    def __post_init__(self):
        total = self.a + self.b
        self.a, self.b = self.a / total, self.b / total


def shares(x, d):
    return x[0] * d.a + d.b * d.b * x[1]


def test_a_class_that_changes_what_it_is_given_is_not_called_for_gradients() -> None:
    f = pyrev.differentiable(shares)
    check(f, shares, {"x": X, "d": Shares(1.0, 3.0)}, (), np.random.default_rng(1))
    assert isinstance(pyrev.grad(f)(X, Shares(1.0, 3.0)).d, SimpleNamespace)


def test_what_has_no_form_for_structures_says_so() -> None:
    given = {"k": 2.0, "w": X + 1, "n": 2}
    for ask in (
        lambda: pyrev.hvp(keys, X, given, tangents={"x": X}),
        lambda: pyrev.hessian(keys)(X, given),
        lambda: pyrev.jacobian(keys)(X, given),
        lambda: pyrev.check_grad(keys, X, given),
        lambda: pyrev.jacobian(a_returned_dictionary)(X),
    ):
        with pytest.raises(pyrev.ArgumentError, match="structures"):
            ask()


class Table:
    """It holds more than numbers and arrays."""

    def __init__(self):
        self.blocks = object()

    def __call__(self, v):
        return v

    __hash__ = None


def test_what_is_no_structure_is_no_argument() -> None:
    f = pyrev.differentiable(shares)
    for other in (Table(), [1.0, 2.0], {1.0}, object()):
        with pytest.raises((pyrev.ArgumentError, pyrev.UnsupportedError)):
            f(X, other)
        with pytest.raises(pyrev.ArgumentError, match="pass a number or a NumPy array"):
            f(other, Shares(1.0, 3.0))


#: Parameters have its name: nothing may read it in their place.
held = 3.0


def all_of_a_parameter(x, held):
    return x * held


def a_field_and_all(x, held):
    return x[0] * held.a * len([held])


def all_of_it_inside(x, held):
    def inner(v):
        return v * held

    return inner(x)


def _times(v, held):
    return v * held


def all_of_a_local(x):
    p = {"a": x[0]}
    q = p
    return x * q


def records_that_count(x, held):
    s = 0.0
    for i in range(2):
        for k in range(held[i], held[i + 1]):
            s += x[k]
    return s


def a_loop_over_all_of_it(x, held):
    s = 0.0
    for v in held:
        s += x[0] * v
    return s


def all_of_an_inner_parameter(x):
    held = 3.0

    def inner(v, held):
        return v * held

    return inner(x, {"a": 1.0}) * held


def all_of_a_lambda_s_parameter(x):
    held = 3.0
    g = lambda v, held: v * held  # noqa: E731
    return g(x, P(1.0, x[1])) * held


def in_a_loop_of_an_inner_function(x):
    held = x[0]

    def inner(v, held):
        s = 0.0
        for i in range(2):
            s += v[i] * held
        return s

    return inner(x, {"a": x[0]}) * held


def given_to_a_helper(x):
    return _times(x, {"a": 1.0})


WHOLE = [
    *((all_of_a_parameter, v) for v in ((1.0, 2.0), P(1.0, X), {"a": 1.0})),
    (all_of_a_parameter, SimpleNamespace(a=1.0)),
    (all_of_a_parameter, R[0]),
    (a_field_and_all, SimpleNamespace(a=1.0)),
    (all_of_it_inside, (1.0, 2.0)),
    (all_of_it_inside, {"a": 1.0}),
    (records_that_count, R),
    *((a_loop_over_all_of_it, v) for v in (R, {"a": 1.0}, P(1.0, 2.0))),
    (all_of_a_local, None),
    (all_of_an_inner_parameter, None),
    (all_of_a_lambda_s_parameter, None),
    (in_a_loop_of_an_inner_function, None),
    (given_to_a_helper, None),
]


@pytest.mark.parametrize("case", range(len(WHOLE)))
def test_what_is_used_as_a_whole_is_nothing_outside(case: int) -> None:
    plain, given = WHOLE[case]
    arguments = (X,) if given is None else (X, given)
    with pytest.raises((pyrev.UnsupportedError, pyrev.ArgumentError)):
        pyrev.vjp(pyrev.differentiable(plain, target="numba"), *arguments)


class Limits(NamedTuple):
    min: float
    max: float
    mean: float


def within_limits(x, lim):
    s = 0.0
    for i in range(x.shape[0]):
        s += min(max(x[i], lim.min), lim.max) * lim.mean
    return s


EVENTS = np.dtype([("flags", "u8"), ("price", "f8"), ("amount", "f8")])


def of_events(x, events):
    s = 0.0
    for i in range(1, len(events)):
        if events[i].price > 0:
            s += events[i].amount * x[0] + events[i - 1]["price"]
    return s * events.shape[0]


def events() -> Any:
    found = np.zeros(3, EVENTS).view(np.recarray)
    found["price"], found["amount"] = 1.0, [1.0, 2.0, 3.0]
    return found


@pytest.mark.parametrize("target", ["python", "numba"])
def test_fields_named_as_methods_and_records_with_fields_that_nobody_reads(target):
    x = np.array([0.1, 0.5, 0.9])
    for f, given in ((within_limits, Limits(0.2, 0.6, 2.0)), (of_events, events())):
        ours = pyrev.differentiable(target=target)(f)
        assert ours(x, given) == f(x, given)
        found = pyrev.grad(ours, wrt="x")(x, given)
        step = 1e-6 * np.eye(3)
        expected = [(f(x + h, given) - f(x - h, given)) / 2e-6 for h in step]
        np.testing.assert_allclose(found, expected, atol=1e-8)
