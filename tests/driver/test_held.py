"""Inputs that change between a call and its pullback: they do nothing, or are seen."""

from __future__ import annotations

import copy
import gc
import tempfile
import threading
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import pyrev
from pyrev.analysis.steering import steering
from pyrev.driver import held_inputs
from pyrev.emit.digest import BLOCK
from pyrev.parse import parse
from pyrev.testing import draw_cotangents, run
from tests.corpora.everything import EVERY, accepted
from tests.tools.costs import differentiable
from tests.tools.oracle import same_bits
from tests.turns import share_of

WEIGHTS = np.array([1.0, 2.0, 3.0])


def cubes(x):  # type: ignore[no-untyped-def]
    total = 0.0
    for i in range(x.shape[0]):
        total += x[i] ** 3
    return total


def weighed(x):  # type: ignore[no-untyped-def]
    total = 0.0
    for i in range(x.shape[0]):
        total += WEIGHTS[i % 3] * x[i] ** 2
    return total


def both(x, y, out):  # type: ignore[no-untyped-def]
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            out[i, j] += x[i, j] * y[i, j]


def picked(x, index):  # type: ignore[no-untyped-def]
    total = 0.0
    for i in range(index.shape[0]):
        total += x[index[i]] ** 2
    return total


def steps(u, a, n):  # type: ignore[no-untyped-def]
    for _ in range(n):
        for i in range(1, u.shape[0]):
            u[i] = u[i] * u[i - 1] * a[i]


@pytest.fixture
def nothing_copied(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every input is held by its digest, as large ones are."""
    monkeypatch.setattr(held_inputs, "FEW", -1)
    monkeypatch.setattr(held_inputs, "SMALL", -1)
    monkeypatch.setattr(held_inputs, "MOST", 0)


def make(f: Callable[..., Any], target: str = "numba") -> Any:
    return differentiable(f, target=target)


@pytest.fixture(params=["python", "numba"])
def target(request: pytest.FixtureRequest) -> str:
    return str(request.param)


# --------------------------------------------------------------- what the contract says


@pytest.mark.parametrize("size", [1, 200, 1000, 20_000])
@pytest.mark.parametrize("at", [0, 1, -1])
def test_a_change_of_one_element_never_makes_a_wrong_gradient(
    target: str, size: int, at: int
) -> None:
    if size > 1000 and target == "python":
        size = 3000
    x = np.ones(size)
    _, pullback = pyrev.vjp(make(cubes, target), x)
    x[min(at, size - 1)] = 100.0
    np.testing.assert_array_equal(pullback(1.0).x, np.full(size, 3.0))


@pytest.mark.slow
@pytest.mark.usefixtures("nothing_copied")
def test_what_is_not_copied_is_compared_as_a_whole() -> None:
    x = np.linspace(1.0, 2.0, 300)
    want = 3.0 * x**2
    _, pullback = pyrev.vjp(make(cubes), x)
    for k in range(x.size):
        before = x[k]
        x[k] = np.nextafter(before, 9.0)
        with pytest.raises(pyrev.ArgumentError, match=r"`x` changed .*copy=True"):
            pullback(1.0)
        x[k] = before
    np.testing.assert_allclose(pullback(1.0).x, want, rtol=1e-12)


@pytest.mark.usefixtures("nothing_copied")
def test_copy_allows_every_change(target: str) -> None:
    f = make(both, target)
    x, y = np.full((4, 5), 2.0), np.full((4, 5), 3.0)
    _, pullback = pyrev.vjp(f, x.T, y[::-1].T, np.zeros((5, 4)), copy=True)
    x[...], y[...] = -1.0, np.nan
    for _ in range(2):
        g = pullback(out=1.0)
        np.testing.assert_array_equal(g.x, np.full((5, 4), 3.0))
        np.testing.assert_array_equal(g.y, np.full((5, 4), 2.0))


@pytest.mark.slow
@pytest.mark.usefixtures("nothing_copied")
def test_only_what_the_sweep_reads_is_held(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of two arrays that are read at all, a sweep for `x` needs `y`."""
    x, y = np.full((2, 2), 2.0), np.full((2, 2), 3.0)
    _, pullback = pyrev.vjp(make(both), x, y, np.zeros((2, 2)), wrt="x")
    x[...] = 7.0
    np.testing.assert_array_equal(pullback(out=1.0).x, y)
    y[0, 0] = 7.0
    with pytest.raises(pyrev.ArgumentError, match="`y` changed"):
        pullback(out=1.0)


def test_a_gradient_in_one_call_holds_nothing(
    target: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("copied", "seal"):
        monkeypatch.setattr(held_inputs, name, None)
    x = np.full(4, 2.0)
    f = make(cubes, target)
    np.testing.assert_array_equal(pyrev.grad(f, wrt="x")(x), np.full(4, 12.0))
    value, g = pyrev.value_and_grad(f, wrt="x")(x)
    assert value == 32.0 and np.array_equal(g, np.full(4, 12.0))


@pytest.mark.slow
@pytest.mark.usefixtures("nothing_copied")
def test_what_two_sweeps_still_read_is_watched() -> None:
    u, a = np.full(4, 0.5), np.full(4, 2.0)
    f = make(steps)
    _, pullback = pyrev.vjp(f, u, a, 2)
    _, own = pyrev.vjp(f, np.full(4, 0.5), a, 2, copy=True)
    before = own(u=np.ones(4))["u"]
    u[:] = 7.0  # it is written: what is needed of it was saved
    np.testing.assert_array_equal(pullback(u=np.ones(4))["u"], before)
    a[1] = 3.0
    with pytest.raises(pyrev.ArgumentError, match="changed"):
        pullback(u=np.ones(4))
    np.testing.assert_array_equal(own(u=np.ones(4))["u"], before)


# ------------------------------------------------------------------- ways to change one


@pytest.mark.parametrize("copies", [True, False])
def test_a_captured_array_may_change(
    copies: bool, target: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not copies:
        monkeypatch.setattr(held_inputs, "SMALL", -1)
        monkeypatch.setattr(held_inputs, "MOST", 0)
    own = np.array([1.0, 2.0, 3.0])
    monkeypatch.setattr("tests.driver.test_held.WEIGHTS", own)
    _, pullback = pyrev.vjp(make(weighed, target), np.ones(6))
    own[1] = 9.0
    try:
        np.testing.assert_array_equal(pullback(1.0).x, [2.0, 4.0, 6.0] * 2)
    except pyrev.ArgumentError as error:
        assert not copies and "`WEIGHTS` changed" in str(error)


@pytest.mark.filterwarnings("ignore:Setting the shape:DeprecationWarning")
@pytest.mark.parametrize("copies", [True, False])
def test_the_shape_of_an_input_may_be_assigned_to(
    copies: bool, target: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not copies:
        monkeypatch.setattr(held_inputs, "SMALL", -1)
        monkeypatch.setattr(held_inputs, "MOST", 0)
    x, y, out = np.full((4, 3), 2.0), np.full((4, 3), 3.0), np.zeros((4, 3))
    _, pullback = pyrev.vjp(make(both, target), x, y, out)
    for array in (x, y, out):
        array.shape = (2, 6)
    np.testing.assert_array_equal(pullback(out=np.ones((4, 3))).x, np.full((4, 3), 3.0))


@pytest.mark.slow
@pytest.mark.usefixtures("nothing_copied")
def test_a_change_through_the_base_is_seen() -> None:
    base = np.ones((6, 8))
    views = {
        "rows": base[1:5],
        "every other": base[::2, ::2],
        "shared": np.broadcast_to(base[2], (3, 8)),
    }
    f = make(both)
    for what, x in views.items():
        y = np.full(x.shape, 2.0)
        _, pullback = pyrev.vjp(f, y, x, np.zeros(x.shape))
        np.testing.assert_array_equal(pullback(out=1.0).x, x, what)
        base[2, 4] = 5.0
        with pytest.raises(pyrev.ArgumentError, match="`y` changed"):
            pullback(out=1.0)
        base[2, 4] = 1.0


@pytest.mark.slow
@pytest.mark.usefixtures("nothing_copied")
def test_a_file_in_memory_may_change_below_a_read_only_array() -> None:
    with tempfile.TemporaryFile() as file:
        writer = np.memmap(file, np.float64, "w+", shape=(50,))
        writer[:] = 2.0
        x = np.asarray(np.memmap(file, np.float64, "r", shape=(50,)))
        assert not x.flags.writeable
        _, pullback = pyrev.vjp(make(cubes), x)
        np.testing.assert_array_equal(pullback(1.0).x, np.full(50, 12.0))
        writer[7] = 3.0
        with pytest.raises(pyrev.ArgumentError, match="`x` changed"):
            pullback(1.0)


@pytest.mark.slow
@pytest.mark.usefixtures("nothing_copied")
def test_indices_that_change_lead_nowhere_outside() -> None:
    x, index = np.arange(1.0, 5.0), np.array([0, 3, 3])
    _, pullback = pyrev.vjp(make(picked), x, index)
    index[1] = 10**9
    with pytest.raises(pyrev.ArgumentError, match="`index` changed"):
        pullback(1.0)


@pytest.mark.usefixtures("nothing_copied")
def test_arrays_without_elements_do_not_change() -> None:
    _, pullback = pyrev.vjp(make(cubes), np.ones(0))
    assert pullback(1.0).x.shape == (0,)
    empty = np.ones((3, 0))[:, ::2]
    _, pullback = pyrev.vjp(make(both), empty, empty.copy(), np.ones((3, 0)))
    assert pullback(out=1.0).x.shape == (3, 0)


@pytest.mark.usefixtures("nothing_copied")
def test_a_thread_that_changes_an_input_meanwhile_is_seen(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    x = np.ones(8)
    _, pullback = pyrev.vjp(make(cubes), x)
    call = pullback._unit.call

    def interrupted(*args: Any) -> Any:
        other = threading.Thread(target=x.__setitem__, args=(3, 5.0))
        other.start()
        other.join()
        return call(*args)

    monkeypatch.setattr(pullback._unit, "call", interrupted)
    buffer = np.zeros(8)
    with pytest.raises(pyrev.ArgumentError, match="`x` changed"):
        pullback(1.0, into={"x": buffer})
    assert not buffer.any()


def test_what_a_probe_calls_may_change_inputs_and_cotangents() -> None:
    x, d_out = np.ones(4), np.ones(4)

    def change(_: float) -> None:
        x[:], d_out[:] = 7.0, 7.0

    def probed(x):  # type: ignore[no-untyped-def]
        total = 0.0
        for i in range(x.shape[0]):
            total += pyrev.probe(x[i] ** 3, change)
        return total

    def squares(x, out):  # type: ignore[no-untyped-def]
        for i in range(x.shape[0]):
            out[i] = pyrev.probe(x[i] ** 2, change)

    for gradient in (
        lambda: pyrev.grad(probed, wrt="x")(x),
        lambda: pyrev.value_and_grad(probed, wrt="x")(x)[1],
        lambda: pyrev.vjp(probed, x)[1](1.0).x,
    ):
        x[:] = 1.0
        np.testing.assert_array_equal(gradient(), np.full(4, 3.0))
    x[:], d_out[:] = 1.0, 1.0
    _, pullback = pyrev.vjp(squares, x, np.zeros(4))
    np.testing.assert_array_equal(pullback(out=d_out).x, np.full(4, 2.0))


def test_a_buffer_that_overlaps_an_input_is_refused_though_there_is_a_copy(
    target: str,
) -> None:
    x = np.ones(4)
    _, pullback = pyrev.vjp(make(cubes, target), x)
    with pytest.raises(pyrev.ArgumentError, match="overlaps"):
        pullback(1.0, into={"x": x})
    assert (x == 1.0).all()


def _scribble(value: Any) -> None:
    """Change all that can be changed."""
    if isinstance(value, (tuple, list)):
        for one in value:
            _scribble(one)
    elif isinstance(value, np.ndarray) and value.dtype == bool:
        value[...] = ~value
    elif isinstance(value, np.ndarray):
        value[...] = value * 2 + 1


@pytest.mark.slow
@pytest.mark.parametrize("name", share_of(EVERY, 32))
def test_nothing_that_the_caller_has_reaches_a_pullback(name: str) -> None:
    entry = EVERY[name]
    accepted(entry, "python")
    size = max(3, entry.least)
    given = entry.make(size, np.float64, entry.generator(size))
    expected = run(entry.plain, given, entry.outputs)
    weights = draw_cotangents(expected, np.random.default_rng(0))
    f = make(entry.function, "python")

    def pull(pullback: Any) -> Any:
        none = weights.structure is None
        seed = () if none else (weights.positional,)
        return pullback(*seed, cotangents=weights.written)

    before = copy.deepcopy(weights)
    want = pull(pyrev.vjp(f, **copy.deepcopy(given))[1])
    own = copy.deepcopy(given)
    result, pullback = pyrev.vjp(f, **own)
    _scribble(result)
    _scribble([*own.values()])
    for _ in range(2):
        found = pull(pullback)
        for n, gradient in want.items():
            assert same_bits(gradient, found[n]), f"the gradient of `{n}`"
        _scribble([*found.values()])
        for mine, theirs in zip(
            (*weights.returned, *weights.written.values()),
            (*before.returned, *before.written.values()),
            strict=True,
        ):
            assert same_bits(mine, theirs), "a gradient is the caller's cotangent"


# ------------------------------------------------------------------------ what it costs


@pytest.fixture
def room(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[int], None]]:
    """Sets the bytes that pullbacks may take for copies that are not small."""
    gc.collect()

    def most(size: int) -> None:
        monkeypatch.setattr(held_inputs, "MOST", held_inputs._taken + size)

    yield most
    gc.collect()


def _holds(pullback: Any, x: Any) -> str:
    mine = pullback._held.arrays["x"]
    return "a digest" if np.shares_memory(mine, x) else "a copy"


@pytest.mark.slow
def test_many_pullbacks_do_not_mean_many_copies(room: Callable[[int], None]) -> None:
    x, f = np.ones(1000), make(cubes)
    room(20_000)
    pullbacks = [pyrev.vjp(f, x)[1] for _ in range(4)]
    found = [_holds(p, x) for p in pullbacks]
    assert found == ["a copy", "a copy", "a digest", "a digest"]
    del pullbacks[0]
    gc.collect()
    assert _holds(pyrev.vjp(f, x)[1], x) == "a copy"


def test_a_bound_of_memory_leaves_no_room_for_copies(
    room: Callable[[int], None],
) -> None:
    room(1 << 20)
    x = np.ones(1000)
    _, pullback = pyrev.vjp(pyrev.differentiable(cubes, memory="1MB"), x)
    assert _holds(pullback, x) == "a digest"
    assert _holds(pyrev.vjp(make(cubes), x)[1], x) == "a copy"


# -------------------------------------------------------------------------- the digests


def test_a_digest_differs_for_every_change_of_one_element() -> None:
    nan = np.array([0x7FF8000000000000, 0x7FF8000000000001], np.uint64)
    for value, other in (
        (0.0, -0.0),
        (1.0, -1.0),
        (1.0, 2.0),
        (1.0, np.nextafter(1.0, 2.0)),
        (*nan.view(np.float64),),
    ):
        for n in (1, 7, 64, 1001):
            a = np.full(n, value)
            before = held_inputs.digest(a)
            found = {before}
            for k in range(n):
                a[k] = other
                found.add(held_inputs.digest(a))
                a[k] = value
            assert len(found) == n + 1 and held_inputs.digest(a) == before


def test_a_digest_differs_where_elements_change_places_or_signs() -> None:
    rng = np.random.default_rng(0)
    for a in (
        rng.random(200),
        rng.integers(0, 9, 200),
        np.arange(200.0, dtype=np.float32),
        np.repeat([1.0, 2.0], 100),
    ):
        before = held_inputs.digest(a)
        for _ in range(200):
            i, j = rng.integers(0, 200, 2)
            b = a.copy()
            b[[i, j]] = b[[j, i]]
            assert (held_inputs.digest(b) == before) == (a[i] == a[j])
            b = a.copy()
            b[i], b[j] = -b[i], -b[j]
            assert (held_inputs.digest(b) == before) == (a.tobytes() == b.tobytes())
        assert held_inputs.digest(a[::-1].copy()) != before or a[0] == a[-1]


@pytest.mark.parametrize("dtype", ["f4", "f8", "i8"])
def test_a_digest_differs_where_equal_elements_move_apart_by_as_much(
    dtype: str,
) -> None:
    # Sums weighed by a linear function of the place are as they were.
    rng = np.random.default_rng(0)
    for _ in range(300):
        p, q, k = rng.integers(100, 900), rng.integers(1000, 1800), rng.integers(1, 90)
        before, after = np.zeros(2000, dtype), np.zeros(2000, dtype)
        before[[p, q]] = after[[p - k, q + k]] = 1
        assert held_inputs.digest(before) != held_inputs.digest(after)


@pytest.mark.parametrize("dtype", ["?", "i1", "u2", "f4", "f8"])
def test_a_digest_sees_each_element_of_any_layout(dtype: str) -> None:
    base = np.zeros((5, 6, 7), dtype)
    apart = np.zeros(7, [("a", "u1"), ("b", dtype)])
    packed = np.zeros(9 * base.itemsize + 3, np.uint8)
    layouts = {
        "whole": base,
        "turned": base[::-1, :, ::-1],
        "permuted": base.transpose(1, 2, 0),
        "inside": base[1:-1, 1:-1, 1:-1],
        "every other": base[::2, ::3, ::2],
        "one axis of three": base[:, 2, 3],
        "repeated": np.broadcast_to(base[1], (4, 6, 7)),
        "windows": np.lib.stride_tricks.sliding_window_view(base, 3, 1),
        "fields": apart["b"],
        "unaligned": packed[3:].view(dtype),
    }
    for what, a in layouts.items():
        before = held_inputs.digest(a)
        root = base if np.shares_memory(a, base) else a
        for place in np.ndindex(root.shape):
            root[place] = 1
            assert (held_inputs.digest(a) != before) == bool(a.any()), (what, place)
            root[place] = 0
        assert held_inputs.digest(a) == before


def test_a_digest_differs_where_elements_of_two_pieces_change_places() -> None:
    # Rows that are not contiguous are read in pieces, each of which begins anew.
    a = np.random.default_rng(0).random((3, 80_000))[:, ::2]
    before = held_inputs.digest(a)
    rows = [piece.size for piece in held_inputs.pieces(a)]
    assert len(rows) > 2
    # Single elements, and blocks: those that change places whole keep their digests.
    for first, count in (
        (0, 1),
        (5, 1),
        (rows[1] - 1, 1),
        (0, BLOCK),
        (3 * BLOCK, 256),
    ):
        for turn in range(2):
            for k in range(first, first + count):
                one, other = divmod(k, 40_000), divmod(k + rows[0], 40_000)
                a[one], a[other] = a[other], a[one]
            assert (held_inputs.digest(a) != before) == (turn == 0)


def test_a_digest_does_not_depend_on_threads() -> None:
    import numba

    a = np.random.default_rng(0).random(4_300_001)
    threads = numba.get_num_threads()
    before = held_inputs.digest(a)
    try:
        numba.set_num_threads(1)
        assert held_inputs.digest(a) == before
    finally:
        numba.set_num_threads(threads)
    halves = [held_inputs.digest(part) for part in np.split(a[:-1], 2)]
    assert before not in halves
    a[-1] = -a[-1]
    assert held_inputs.digest(a) != before


# ---------------------------------------------------------------- what steers


def chosen(x, mask, table, out):  # type: ignore[no-untyped-def]
    for i in range(out.shape[0]):
        v = out[i]
        # A choice between two numbers, and one of what is read.
        out[i] = 2.0 * v if mask[i] > 0.0 else 0.0
        out[i] += x[int(table[i])] if table[i] < x.shape[0] else 0.0


def test_a_choice_between_numbers_does_not_steer_and_one_of_reads_does() -> None:
    found = steering(parse(chosen).program)
    assert "mask" not in found
    assert {"table", "i"} <= found


def guarded_read(x, on, out):  # type: ignore[no-untyped-def]
    for i in range(out.shape[0]):
        out[i] = x[i + 1] if on[i] > 0.0 and x[i + 1] > 0.0 else 0.0


def test_what_keeps_an_array_from_being_read_steers() -> None:
    assert "on" in steering(parse(guarded_read).program)
