"""Calls go to one thread or to all, whichever took less, and try the other rarely."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pytest

import pyrev
from pyrev.driver.unit import Unit
from pyrev.runtime import pace
from pyrev.runtime.pace import Pace
from tests.tools.costs import differentiable


@pytest.fixture(autouse=True)
def free(monkeypatch: pytest.MonkeyPatch) -> None:
    """The cores of these tests are free, whatever else runs."""
    monkeypatch.setattr(pace, "_are_busy", lambda: False)


def calls(found: Pace, one: float, all_: float, count: int) -> Iterator[bool]:
    """Which of so many calls run on one thread, by what they take there and on all."""
    for _ in range(count):
        alone = found.alone(2)
        found.note(alone, one if alone else all_, 2)
        yield alone


@pytest.mark.parametrize("work", [None, 1e5, 1e9])
def test_calls_go_where_they_take_less(work: float | None) -> None:
    ways = [*calls(Pace(work), 1e-3, 0.6e-3, 400)]
    assert sum(ways) <= 20
    ways = [*calls(Pace(work), 1e-3, 0.03, 2000)]
    spent = sum(1e-3 if alone else 0.03 for alone in ways)
    assert spent <= 1.1 * 2000 * 1e-3 + 0.06


def test_a_change_of_load_is_noticed() -> None:
    found = Pace(1e5)
    assert sum(calls(found, 1e-3, 0.6e-3, 100)) <= 10
    ways = [*calls(found, 1e-3, 0.03, 500)]  # others come
    assert sum(ways) >= 490
    ways = [*calls(found, 1e-3, 0.6e-3, 2000)]  # and go
    assert not any(ways[-10:])


def test_one_slow_call_changes_nothing() -> None:
    found = Pace(1e9)
    assert sum(calls(found, 1.0, 0.6, 100)) >= 1  # both are known
    for _ in range(20):
        found.note(False, 5.0, 2)
        ways = [*calls(found, 1.0, 0.6, 3)]
        assert sum(ways) <= 1 and not found._alone


def test_what_would_take_long_on_one_thread_is_not_tried_there_soon() -> None:
    found = Pace(1e13)
    ways = []
    for _ in range(1000):
        ways.append(found.alone(64))
        found.note(ways[-1], 600.0 if ways[-1] else 10.0, 64)
    assert not any(ways)


def test_beside_others_little_work_is_not_tried_on_all(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(pace, "_are_busy", lambda: True)
    found = Pace(1e7)
    assert all(calls(found, 1e-3, 0.03, 200))
    monkeypatch.setattr(pace, "_are_busy", lambda: False)
    assert sum(calls(found, 1e-3, 0.6e-3, 200)) <= 10


def test_who_is_done_with_the_cores_is_not_beside(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The threads of another library wait for a while where its last loop has ended."""
    found = Pace(1e7)
    ways = []
    for _ in range(9):  # between calls others seem to keep them
        monkeypatch.setattr(pace, "_are_busy", lambda: True)
        ways.append(found.alone(2))
        monkeypatch.setattr(pace, "_are_busy", lambda: False)
        found.note(ways[-1], 1e-3 if ways[-1] else 0.6e-3, 2)
    assert sum(ways) <= 2


def test_the_other_cores_are_not_looked_at_all_the_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    looks = []
    monkeypatch.setattr(pace, "_are_busy", lambda: bool(looks.append(1)) or True)
    found = Pace(1e5)
    looks.clear()
    assert all(calls(found, 1e-5, 1e-5, 1000))
    assert 5 <= len(looks) <= 12


def test_a_slow_look_at_the_other_cores_comes_seldom(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A call of 2 ms that looks for 0.2 ms each time takes a tenth longer."""
    clock = [0.0]

    def look() -> bool:
        clock[0] += 0.2e-3
        return True

    monkeypatch.setattr(pace, "_are_busy", look)
    monkeypatch.setattr(pace.time, "perf_counter", lambda: clock[0])
    found = Pace(1e5)
    begin = clock[0]
    assert all(calls(found, 2e-3, 2e-3, 1000))
    assert 10 * 0.2e-3 <= clock[0] - begin <= 0.025 * 1000 * 2e-3


def heat(u, steps):
    for _ in range(steps):
        v = u.copy()
        for i in range(1, u.shape[0] - 1):
            for j in range(1, u.shape[1] - 1):
                around = u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1]
                v[i, j] = u[i, j] + 0.2 * (around - 4 * u[i, j])
        u = v
    return np.sum(u * u)


def failing(u, k, out):
    for i in range(u.shape[0]):
        for j in range(u.shape[1]):
            out[i, j] = u[i, j] + u[k[i], j]


def test_either_way_gives_the_same_bits_and_leaves_the_number_of_threads(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    numba = pytest.importorskip("numba")
    before = numba.get_num_threads()
    if before == 1:
        pytest.skip("one thread only")
    paces: list[Pace] = []

    def kept(unit: Unit, values: Sequence[Any]) -> Pace:
        paces.append(made(unit, values))
        return paces[-1]

    made = Unit.pace
    monkeypatch.setattr(Unit, "pace", kept)
    f = differentiable(heat, target="numba")
    u = np.random.default_rng(0).random((200, 200))
    bits = set()
    for _ in range(40):
        value, gradient = pyrev.value_and_grad(f)(u, 4)
        bits.add((value, gradient.u.tobytes()))
        assert numba.get_num_threads() == before
    ways = {alone for p in paces for alone, took in p._took.items() if took}
    assert ways == {True, False} and len(bits) == 1


def test_a_call_that_raises_leaves_the_number_of_threads() -> None:
    numba = pytest.importorskip("numba")
    before = numba.get_num_threads()
    f = differentiable(failing, target="numba")
    u, k = np.ones((300, 200)), np.zeros(300, int)
    f(u, k, np.zeros_like(u))
    with pytest.raises(IndexError):
        f(u, k + 300, np.zeros_like(u))
    assert numba.get_num_threads() == before


ON_WORKQUEUE = """
import sys
import numpy as np
import pyrev
from pyrev.driver.unit import Unit
from pyrev.runtime import pace
from tests.runtime.test_pace import heat

pace._are_busy = lambda: False
f = pyrev.differentiable(heat, target="numba")
u = np.random.default_rng(0).random((200, 200))
made = []
serial = pace.Pace._would_wait
def would_wait(self):
    self._first = min(self._first or 0.0, 0.01)  # its compilation pays at once
    made.append(serial(self))
    return made[-1]
pace.Pace._would_wait = would_wait
seen = {f(u, 5) for _ in range(100)}
assert len(seen) == 1, seen
print(any(made))
"""


@pytest.mark.slow
def test_numbas_own_layer_runs_code_without_threads_in_the_end() -> None:
    given = {"NUMBA_THREADING_LAYER": "workqueue", "NUMBA_NUM_THREADS": "2"}
    done = subprocess.run(
        [sys.executable, "-c", ON_WORKQUEUE],
        env={**os.environ, **given},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == "True"
