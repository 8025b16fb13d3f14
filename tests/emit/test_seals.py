"""Digests that the loops of generated code make of the arrays that they read."""

from __future__ import annotations

import gc
import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pyrev
from pyrev.driver import held_inputs
from pyrev.driver.targets import NUMBA
from pyrev.driver.unit import Unit
from pyrev.emit.seals import sealed
from pyrev.runtime import code_cache
from pyrev.schedule.costs import SHIPPED
from tests.tools.costs import differentiable
from tests.tools.oracle import same_bits


def line(x, y, out):  # type: ignore[no-untyped-def]
    for i in range(1, x.shape[0] - 1):
        out[i] = x[i] * y[i] + x[i - 1] * x[i + 1]


def plane(u, a, out):  # type: ignore[no-untyped-def]
    for z in range(1, u.shape[0] - 1):
        for y in range(1, u.shape[1] - 1):
            around = u[z - 1, y] + u[z + 1, y] + u[z, y - 1] + u[z, y + 1]
            out[z, y] += a[z, y] * (around - 4 * u[z, y]) * u[z, y]


def every_third(x, out):  # type: ignore[no-untyped-def]
    for i in range(out.shape[0]):
        for j in range(out.shape[1]):
            out[i, j] = x[3 * i + 1, j] * x[3 * i, j]


def turned(x, out):  # type: ignore[no-untyped-def]
    for i in range(out.shape[0]):
        for j in range(out.shape[1]):
            out[i, j] = x[j, i] * x[j, i]


def rows(x, w, out):  # type: ignore[no-untyped-def]
    for i in range(out.shape[0]):
        total = 0.0
        for j in range(x.shape[1]):
            total += x[i, j] * x[i, j] * w[j]
        out[i] = total


def some_of(x, first, last, out):  # type: ignore[no-untyped-def]
    for i in range(first, last):
        for j in range(x.shape[1]):
            out[i, j] = x[i, j] ** 3


def weighted(x, w, out):  # type: ignore[no-untyped-def]
    for n in range(out.shape[0]):
        for a in range(out.shape[1]):
            for c in range(w.shape[0]):
                for k in range(w.shape[1]):
                    out[n, a, k] += x[n, a, c] * w[c, k]


def looked_up(x, w, out):  # type: ignore[no-untyped-def]
    for n in range(out.shape[0]):
        for a in range(out.shape[1]):
            for c in range(x.shape[2]):
                k = int(x[n, a, c] * 50)
                out[n, a] += x[n, a, c] * w[n, k]


@pytest.fixture
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is copied or compared as it is, however small."""
    monkeypatch.setattr(held_inputs, "FEW", -1)
    monkeypatch.setattr(held_inputs, "SMALL", -1)
    monkeypatch.setattr(held_inputs, "MOST", 0)


#: So few iterations make the digests of their shares.
FEW = SHIPPED.chunks


def random(*shape: int, dtype: type = np.float64) -> Any:
    return np.random.default_rng(sum(shape)).random(shape).astype(dtype)


#: Function, arguments, and the arrays of which the call and the sweep make digests.
CASES: dict[str, tuple[Callable[..., Any], Callable[[], list[Any]], str, str]] = {
    "a line": (
        line,
        lambda: [random(30_001), random(30_001), np.zeros(30_001)],
        "x y",
        "x",
    ),
    "a plane": (
        plane,
        lambda: [random(90, 70), random(90, 70), np.zeros((90, 70))],
        "u a",
        "u a",
    ),
    "in single precision": (
        plane,
        lambda: [
            random(91, 71, dtype=np.float32),
            random(91, 71, dtype=np.float32),
            np.zeros((91, 71), np.float32),
        ],
        "u a",
        "u a",
    ),
    "every third row": (
        every_third,
        lambda: [random(301, 50), np.zeros((100, 50))],
        "x",
        "x",
    ),
    "across the rows": (
        turned,
        lambda: [random(80, 80), np.zeros((80, 80))],
        "",
        "x",
    ),
    "sums of rows": (
        rows,
        lambda: [random(300, 70), random(70), np.zeros(300)],
        "x",
        "x",
    ),
    "chunks of many rows": (
        weighted,
        lambda: [random(101, 31, 9), random(9, 5), np.zeros((101, 31, 5))],
        "x",
        "x",
    ),
    "fewer rows than chunks": (
        weighted,
        lambda: [random(3, 301, 30), random(30, 7), np.zeros((3, 301, 7))],
        "x",
        "x",
    ),
    "rows that may end early": (
        looked_up,
        lambda: [random(4, 300, 70), random(4, 60), np.zeros((4, 300))],
        "x",
        "x",
    ),
    "no iteration at all": (
        some_of,
        lambda: [random(60, 50), 40, 40, np.zeros((60, 50))],
        "x",
        "x",
    ),
}


def units_of(f: Any) -> dict[str, Unit]:
    """What was compiled for the calls of a function."""
    name = f.python.__name__
    gc.collect()
    return {
        u.program.name: u
        for u in gc.get_objects()
        if type(u) is Unit and u.target is NUMBA
        if u.program.name in (name, f"{name}_adjoint")
    }


def numbers(unit: Unit, values: dict[str, Any], names: tuple[str, ...]) -> list[int]:
    """The digests that a unit makes of what it can of arrays, as it runs."""
    inputs = held_inputs.Inputs({name: values[name] for name in names})
    _, seals = inputs.run(unit, [values[p] for p in unit.params])
    return [seals[name] for name in unit.sealing(names).arrays]


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES)
@pytest.mark.usefixtures("at_once")
def test_the_digest_of_a_loop_is_that_of_the_array(case: str) -> None:
    function, make, ahead, back = CASES[case]
    f = differentiable(function, target="numba")
    args = make()
    inputs = [a for a in args[:-1] if isinstance(a, np.ndarray)]
    before = [held_inputs.digest(a) for a in inputs]
    result, pullback = pyrev.vjp(f, *args)
    d_out = random(*args[-1].shape, dtype=args[-1].dtype.type)
    found = pullback(out=d_out)
    assert [held_inputs.digest(a) for a in inputs] == before
    plain_args = make()
    function(*plain_args)
    np.testing.assert_allclose(args[-1], plain_args[-1], rtol=1e-5)

    names = f.python.__code__.co_varnames[: len(args)]
    values = dict(zip(names, args, strict=True)) | {"d_out": d_out}
    arrays = tuple(n for n in names[:-1] if isinstance(values[n], np.ndarray))
    for unit in units_of(f).values():
        want = ahead if unit.program.name == function.__name__ else back
        done = unit.sealing(arrays).arrays
        assert set(want.split()) <= set(done), unit.program.name
        assert numbers(unit, values, arrays) == [
            held_inputs.digest(values[n]) for n in done
        ]

    plain = pyrev.vjp(f, *make(), copy=True)[1](out=d_out)
    for name, gradient in plain.items():
        assert same_bits(gradient, found[name]), name


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES)
@pytest.mark.usefixtures("at_once")
def test_a_change_of_any_part_of_an_input_is_seen(case: str) -> None:
    function, make, _, _ = CASES[case]
    f = differentiable(function, target="numba")
    args = make()
    _, pullback = pyrev.vjp(f, *args)
    watched = pullback._held._inputs.arrays
    assert watched
    for name, array in watched.items():
        keep = array.copy()
        for k in (0, array.size // 3, array.size - 1):
            array.flat[k] += 1.0
            with pytest.raises(pyrev.ArgumentError, match=f"`{name}` changed"):
                pullback(out=1.0)
            array[...] = keep
    rng = np.random.default_rng(0)
    array = watched["x" if "x" in watched else "u"]
    keep = array.copy()
    for _ in range(5):
        i, j = rng.integers(0, array.size, 2)
        array.flat[[i, j]] = array.flat[[j, i]]
        if i != j:
            with pytest.raises(pyrev.ArgumentError, match="changed"):
                pullback(out=1.0)
        array[...] = keep
    pullback(out=1.0)


@pytest.mark.slow
@pytest.mark.usefixtures("at_once")
def test_arrays_of_any_layout_are_compared() -> None:
    base = random(200, 90)
    f = differentiable(plane, target="numba")
    packed = np.zeros(8 * 60 * 70 + 4, np.uint8)
    unaligned = packed[4:].view(np.float32).reshape(60, 140)
    for u in (
        base[:60, :70],
        base[::2, 3:],
        base.T,
        np.asfortranarray(base),
        unaligned,
        base[::-1],
    ):
        own = u.copy().astype(u.dtype)
        _, pullback = pyrev.vjp(f, u, own, np.zeros(u.shape, u.dtype))
        pullback(out=1.0)
        keep = u.copy()
        u[3, 5] += 1.0
        with pytest.raises(pyrev.ArgumentError, match="`u` changed"):
            pullback(out=1.0)
        u[...] = keep


@pytest.mark.slow
@pytest.mark.usefixtures("at_once")
def test_one_core_and_several_threads_make_the_same_digest(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    f = differentiable(plane, target="numba")
    args = [random(90, 70), random(90, 70), np.zeros((90, 70))]
    _, pullback = pyrev.vjp(f, *args)
    monkeypatch.setattr(code_cache, "_alone", True)  # as in a forked child
    want = pullback(out=1.0)
    monkeypatch.undo()
    faults: list[BaseException] = []

    def pull() -> None:
        try:
            for _ in range(5):
                assert same_bits(pullback(out=1.0).u, want.u)
        except BaseException as error:
            faults.append(error)

    threads = [threading.Thread(target=pull) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not faults


TEXT = """\
# Schedule of `f` in f.py.
import numpy as np
from numba import njit, prange

ENTRY = {"error_model": "numpy", "nogil": True, "cache": True}
SERIAL = {"error_model": "numpy", "nogil": True}
PARALLEL = {**SERIAL, "parallel": True}


@njit(**SERIAL)
def _f_1_i(out, i, x, digest_blocks):
    for j in range(x.shape[1]):
        out[i, j] = x[i, j] + digest_blocks[i, j]


@njit(**PARALLEL)
def _f_1(out, x, digest_blocks):
    for i in prange(x.shape[0]):
        _f_1_i(out, np.int64(i), x, digest_blocks)


@njit(**ENTRY)
def _f(x, digest_blocks, out, n):
    {call}


def f(x, digest_blocks, out, n):
    result = _f(x, digest_blocks, out, n)
    return result
"""


def test_names_of_the_user_are_left_alone() -> None:
    text = TEXT.replace("{call}", "_f_1(out, x, digest_blocks)")
    made = sealed(text, "f", ["digest_blocks"], FEW)
    assert made.arrays == ("digest_blocks",)
    assert "def digest_blocks_2(words, place, first, last)" in made.text
    assert made.text.startswith("# Schedule of `f` in f.py.\n")


@pytest.mark.parametrize(
    "call",
    [
        "if n > 0:\n        _f_1(out, x, digest_blocks)",
        "for _ in range(n):\n        _f_1(out, x, digest_blocks)",
        "_f_1(out, x, digest_blocks)\n    _f_1(out, x, digest_blocks)",
    ],
)
def test_loops_that_may_run_more_or_less_than_once_make_none(call: str) -> None:
    text = TEXT.replace("{call}", call)
    assert sealed(text, "f", ["x"], FEW).arrays == ()
    assert sealed(text, "f", ["x"], FEW).text == text


ROWS = """\
# Schedule of `f` in f.py.
import numpy as np
from numba import njit, prange

ENTRY = {"error_model": "numpy", "nogil": True, "cache": True}
SERIAL = {"error_model": "numpy", "nogil": True}
PARALLEL = {**SERIAL, "parallel": True}


@njit(**SERIAL)
def _f_1_n(out, n, x):
    for i in range({few}, x.shape[1]):
        {line}


@njit(**PARALLEL)
def _f_1(out, x):
    for n in prange({tasks}):
        _f_1_n(out, np.int64(n), x)


@njit(**ENTRY)
def _f(x, out):
    _f_1(out, x)


def f(x, out):
    result = _f(x, out)
    return result
"""
ALONG = "for j in range(3):\n            out[n, i] += x[n, i, j]"
ACROSS = "for j in range(3):\n            out[n, i] += x[n, j, i]"
AGAIN = "for j in range(9):\n            for k in range(3):\n"
AGAIN += "                out[n, k] += x[n, j, k]"
ONCE = "out[n, i] = x[n, i, 0]"


@pytest.mark.parametrize(
    ("tasks", "line", "inside"),
    [
        ("8", ALONG, True),
        ("8", ACROSS, False),
        ("8", ONCE, False),
        ("8", AGAIN, False),
        ("64", ALONG, False),
        ("x.shape[0]", ALONG, False),
    ],
)
def test_few_long_rows_make_the_digests_of_their_shares(
    tasks: str, line: str, inside: bool
) -> None:
    text = ROWS.replace("{tasks}", tasks).replace("{line}", line)
    made = sealed(text.replace("{few}", "1"), "f", ["x"], FEW)
    assert made.arrays == ("x",)
    assert ("shares_x" in made.text) == inside
    assert ("if here_x - done_x" in made.text) == inside
