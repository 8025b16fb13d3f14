from __future__ import annotations

import functools
import math
from pathlib import Path
from types import FunctionType
from typing import Any

import hm_lstm
import numpy as np
import pytest

import pyrev

# What is compared with PyTorch is in tests/bridges/test_hm_lstm.py.

LOOPS = hm_lstm.small_arguments()
OF = ("c", "f", "i", "g")


def ran(loop: Any, arguments: tuple[Any, ...]) -> list[Any]:
    """What a call returned, and what its arguments hold after it."""
    own = [a.copy() if isinstance(a, np.ndarray) else a for a in arguments]
    result = loop(*own)
    return [*own, *(() if result is None else np.atleast_1d(result))]


@functools.cache
def interpreted(name: str) -> Any:
    return pyrev.differentiable(getattr(hm_lstm, name), target="python")


@pytest.mark.slow
def test_the_loops_agree_in_cpython_numba_and_pyrev() -> None:
    numba = pytest.importorskip("numba")
    compiled: dict[str, Any] = {"math": math, "np": np}
    for name in LOOPS:
        plain = getattr(hm_lstm, name)
        compiled[name] = numba.njit(FunctionType(plain.__code__, compiled, name))
    for name, arguments in LOOPS.items():
        expected = ran(getattr(hm_lstm, name), arguments)
        for other in (compiled[name], interpreted(name)):
            for a, b in zip(ran(other, arguments), expected, strict=True):
                np.testing.assert_allclose(a, b, rtol=1e-12, err_msg=name)


@pytest.mark.slow
@pytest.mark.parametrize("name", LOOPS)
def test_the_loops_have_right_gradients(name: str) -> None:
    report = pyrev.check_grad(interpreted(name), *LOOPS[name])
    assert report.ok, str(report)


@pytest.mark.parametrize("own", [0, 1])
@pytest.mark.parametrize("below", [0, 1])
def test_a_cell_has_the_partials_of_its_branch(own: int, below: int) -> None:
    c, f, i, g = 0.4, -0.3, 0.7, 0.2
    found = pyrev.grad(interpreted("cell"), wrt=OF)(c, f, i, g, own, below)

    def s(x: float) -> float:
        return 1 / (1 + math.exp(-x))

    gates = (s(i) * (1 - s(i)) * math.tanh(g), s(i) * (1 - math.tanh(g) ** 2))
    expected = (0.0, 0.0, *gates)
    if not own:
        forget = s(f), s(f) * (1 - s(f)) * c
        expected = (*forget, *gates) if below else (1.0, 0.0, 0.0, 0.0)
    assert [found[name] for name in OF] == pytest.approx(expected)


def test_value_and_partials_in_one_loop_are_the_gradients() -> None:
    c, f, i, g, own, below, out = LOOPS["update"]
    given = hm_lstm.Cells(c, f, i, g, own, below)
    assert set(given.branch.tolist()) == {0, 1, 2}
    made, found = hm_lstm.partials(given, "python")
    hm_lstm.update(*given.arguments[:-1], out)
    np.testing.assert_allclose(made, out, rtol=1e-12)
    cotangent = np.random.default_rng(1).normal(size=out.shape)
    slopes = hm_lstm.gradients(given, cotangent, "python")
    for name in OF:
        np.testing.assert_allclose(slopes[name], found[name] * cotangent, rtol=1e-12)


def test_gates_of_cells_that_copy_reach_nothing() -> None:
    given, poisoned = hm_lstm.cells(8, 3), hm_lstm.cells(8, 3, poisoned=True)
    assert np.isnan(poisoned.f).any()
    made, found = hm_lstm.partials(given, "python")
    again, same = hm_lstm.partials(poisoned, "python")
    np.testing.assert_array_equal(again, made)
    for name in OF:
        np.testing.assert_array_equal(same[name], found[name])


def test_texts_count_the_words_that_end_as_they_began() -> None:
    text = hm_lstm.write(6, 30, np.random.default_rng(3))
    for n in range(6):
        start, same, count = 0, 0, 0
        for t in range(30):
            if text.words[n, t]:
                assert 2 <= t + 1 - start <= 5
                same += text.letters[n, start, 0] == text.letters[n, t, 0]
                start, count = t + 1, count + 1
            if text.sentences[n, t]:
                assert text.words[n, t]
                assert 2 <= count <= 4
                assert text.wanted[n, t] == same
                same, count = 0, 0


def test_a_level_without_boundaries_copies_whatever_its_gates_hold() -> None:
    weights, x, _, _, t, gates, c, h = LOOPS["advance"]
    c, h = c.copy(), h.copy()
    hm_lstm.advance(weights, x, 0, 0, t, np.full_like(gates, math.nan), c, h)
    np.testing.assert_array_equal(c[t + 1], c[t])
    np.testing.assert_array_equal(h[t + 1], h[t])


@pytest.mark.slow
def test_a_small_training_lowers_the_error_and_the_command_shows_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    loop = interpreted("reading_loss")
    sizes: dict[str, Any] = {"sequences": 4, "length": 12, "units": 2}
    read = hm_lstm.learn(True, 16, lambda: None, **sizes, loss_of=loop)
    assert read.losses[-1] < 0.9 * read.losses[0], str(read)

    draw = hm_lstm.draw
    monkeypatch.setattr(hm_lstm, "learn", lambda *_: read)
    monkeypatch.setattr(hm_lstm, "checks", lambda: [])
    monkeypatch.setattr(hm_lstm, "draw", lambda *given: draw(*given, "python"))
    monkeypatch.setattr(hm_lstm.importlib.util, "find_spec", lambda _: None)
    figure = tmp_path / "hm_lstm.png"
    assert hm_lstm.main(["--steps", "1", "--output", str(figure)]) == 0
    printed = capsys.readouterr().out
    assert "def update_adjoint(" in printed
    assert "not compared" in printed
    assert str(read) in printed
    assert figure.read_bytes().startswith(b"\x89PNG")
