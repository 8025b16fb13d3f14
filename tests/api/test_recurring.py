"""A call like one before it: less of pyrev runs, and nothing else is different."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import pyrev
from tests.tools.oracle import bits_of

GAIN = 2.0
TABLE = np.array([1.0, 2.0, 3.0])


def energy(u):
    s = 0.0
    for i in range(u.shape[0]):
        s += GAIN * u[i] * u[i]
    return s


def tabled(u):
    s = 0.0
    for i in range(u.shape[0]):
        s += TABLE[i % 3] * u[i]
    return s


def shifted(u, out):
    for i in range(1, u.shape[0]):
        out[i] = 3.0 * u[i - 1]


def picked(u, k):
    s = 0.0
    for i in range(k.shape[0]):
        s += u[k[i]] * u[k[i]]
    return s


def in_place(u, n):
    for _ in range(n):
        for i in range(1, u.shape[0]):
            u[i] = 0.5 * (u[i] + u[i - 1])
    return u


def scaled(u, w=2.0, n=1):
    return n * w * u[0]


def of_numbers(a, b):
    return a * b + 1.0


@pytest.fixture
def f() -> Callable[..., Any]:
    return lambda function: pyrev.differentiable(function, target="numba")


def known(f: Any) -> int:
    """For how many sizes, and purposes, are the rests of calls known?"""
    return len(f._readings.now()[0].recurring)


def test_the_second_call_is_a_short_one(f: Any) -> None:
    run, u = f(energy), np.arange(4.0)
    gradient = pyrev.value_and_grad(run)
    for count, way in enumerate((run, gradient, pyrev.grad(run, "u")), 1):
        first = way(u)
        assert known(run) == count
        assert bits_of(way(u)) == bits_of(first)
        assert bits_of(way(2.0 * u)) != bits_of(first)
        assert known(run) == count
    value, gradients = gradient(u)
    assert value == 28.0
    np.testing.assert_array_equal(gradients.u, 4.0 * u)


def test_a_constant_that_changes_is_seen(f: Any, monkeypatch: Any) -> None:
    run, u = f(energy), np.arange(4.0)
    ways = run, pyrev.grad(run)
    before = [w(u) for w in ways for _ in range(2)]
    monkeypatch.setitem(globals(), "GAIN", 3.0)
    assert run(u) == energy(u) == 1.5 * before[0]
    np.testing.assert_array_equal(ways[1](u).u, 6.0 * u)
    monkeypatch.setitem(globals(), "GAIN", "no number")
    with pytest.raises(pyrev.UnsupportedError):
        run(u)


def test_a_captured_array_that_changes_is_seen(f: Any, monkeypatch: Any) -> None:
    run, u = f(tabled), np.arange(4.0)
    assert run(u) == run(u) == tabled(u)
    monkeypatch.setattr(f"{__name__}.TABLE", np.array([7.0, 2.0, 3.0]))
    assert run(u) == tabled(u)
    np.testing.assert_array_equal(pyrev.grad(run)(u).u, [7.0, 2.0, 3.0, 7.0])
    TABLE[0] = 5.0
    assert run(u) == tabled(u)
    np.testing.assert_array_equal(pyrev.grad(run)(u).u, [5.0, 2.0, 3.0, 5.0])
    monkeypatch.setitem(globals(), "TABLE", np.array([1.0, 1.0, 1.0, 4.0]))
    assert run(u) == tabled(u)


def test_another_code_is_seen(f: Any) -> None:
    module = ModuleType("edited")
    exec("def g(u):\n    return u[0]\n", module.__dict__)
    own = energy.__code__
    run, u = f(energy), np.arange(4.0)
    assert run(u) == run(u) == energy(u)
    try:
        energy.__code__ = tabled.__code__
        assert run(u) == tabled(u)
    finally:
        energy.__code__ = own
    assert run(u) == energy(u)


def test_what_is_written_is_looked_at_in_every_call(f: Any) -> None:
    run, u, out = f(shifted), np.arange(6.0), np.zeros(6)
    for _ in range(3):
        out[:] = 0.0
        assert run(u, out) is None
        np.testing.assert_array_equal(out[1:], 3.0 * u[:-1])
    memory = np.zeros(12)
    with pytest.raises(pyrev.ArgumentError, match="overlaps"):
        run(memory[:6], memory[3:9])
    fixed = np.zeros(6)
    fixed.flags.writeable = False
    with pytest.raises(pyrev.ArgumentError, match="read-only"):
        run(u, fixed)
    twice = np.lib.stride_tricks.as_strided(memory, (6,), (0,))
    with pytest.raises(pyrev.ArgumentError, match="overlap"):
        run(u, twice)
    # Arrays that only lie between each other's elements are none that overlap.
    rows = np.zeros((6, 2))
    rows[:, 0] = u
    run(rows[:, 0], rows[:, 1])
    np.testing.assert_array_equal(rows[1:, 1], 3.0 * u[:-1])


def test_data_that_decide_are_looked_at_in_every_call(f: Any) -> None:
    run, u = f(picked), np.arange(4.0)
    for way in (run, pyrev.value_and_grad(run, "u")):
        good = way(u, np.array([1, 2]))
        assert bits_of(way(u, np.array([1, 2]))) == bits_of(good)
        with pytest.raises(IndexError):
            way(u, np.array([1, 4]))
        negative = way(u, np.array([-1, 2]))
        value = negative if way is run else negative[0]
        assert value == picked(u, np.array([-1, 2]))


def test_a_result_that_is_an_argument_is_that_one(f: Any) -> None:
    run, u = f(in_place), np.arange(5.0)
    for _ in range(3):
        assert run(u, 2) is u
    v = np.arange(6.0)
    assert run(v, 2) is v


def test_integers_and_their_types_are_sizes(f: Any) -> None:
    run, u = f(scaled), np.arange(1.0, 3.0)
    for _ in range(2):
        for arguments in ((u,), (u, 3.0), (u, 3.0, 2), (u, 3.0, 5), (u, 3, 2)):
            assert bits_of(run(*arguments)) == bits_of(scaled(*arguments))
        with pytest.raises(pyrev.ArgumentError):
            run(u, "two")


@pytest.mark.parametrize(
    ("a", "b"),
    [
        (2.0, 3.0),
        (np.float64(2.0), 3.0),
        (np.float32(2.0), 3.0),
        (2.0, np.float32(3.0)),
    ],
)
def test_numbers_come_back_in_their_types(f: Any, a: Any, b: Any) -> None:
    run = f(of_numbers)
    for way in (run, pyrev.value_and_grad(run), pyrev.grad(run, "a")):
        first = way(a, b)
        assert bits_of(way(a, b)) == bits_of(first)
    assert run(a, b) == of_numbers(a, b)


def test_names_that_are_asked_for_may_change(f: Any) -> None:
    run, names = f(of_numbers), ["a"]
    gradient = pyrev.grad(run, names)
    assert [*gradient(2.0, 3.0)] == [*gradient(2.0, 3.0)] == ["a"]
    names[0] = "b"
    assert [*gradient(2.0, 3.0)] == ["b"]
    both = pyrev.grad(run, ("b", "a"))
    assert [*both(2.0, 3.0)] == [*both(2.0, 3.0)] == ["a", "b"]


def test_what_does_not_fit_is_said_after_what_did(f: Any) -> None:
    run, u = f(energy), np.arange(4.0)
    gradient = pyrev.grad(run)
    for way in (run, gradient):
        way(u), way(u)
        for wrong in (np.zeros((2, 2)), "text", None, [1.0]):
            with pytest.raises(pyrev.PyrevError):
                way(wrong)
        with pytest.raises(pyrev.ArgumentError):
            way(u, u)
        assert bits_of(way(u)) == bits_of(way(u))
