"""`f.tune`: other schedules are timed, right, and remembered."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pyrev
from pyrev.runtime.code_cache import module_path, tuning


def spread(x, w, out):  # type: ignore[no-untyped-def]
    total = 0.0
    for i in range(x.shape[0]):
        s = 0.0
        for j in range(x.shape[1]):
            s += x[i, j] * w[j]
            out[i, j] = s * s
        total += s
    return total


@pytest.fixture
def arguments(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    monkeypatch.setenv("PYREV_CACHE_DIR", str(tmp_path))
    rng = np.random.default_rng(0)
    x, w = rng.random((14, 9)), rng.random(9)
    return {"x": x, "w": w, "out": np.zeros((14, 9))}


def said(monkeypatch: pytest.MonkeyPatch, was: float, now: float) -> None:
    monkeypatch.setattr("pyrev.driver.tune._beside", lambda one, other, run: (was, now))


def texts(f: pyrev.Differentiable, given: dict[str, Any]) -> tuple[str, str]:
    return (
        f.primal.source_for("numba", **given),
        f.adjoint.source_for("numba", **given),
    )


def test_what_is_faster_is_used_from_then_on(
    arguments: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    f = pyrev.differentiable(spread)
    before = texts(f, arguments)
    assert all("serial: too little work" in text for text in before)
    said(monkeypatch, 1.0, 0.5)
    found = f.tune(**arguments, progress=False)
    assert {t.part for t in found.trials} == {"primal", "adjoint"}
    assert all(t.taken for t in found.trials)
    assert "0.500 ms" not in str(found) and "500.000 ms instead of" in str(found)
    after = texts(f, arguments)
    assert all("prange" in text for text in after)
    # Another process would find the same.
    assert texts(pyrev.differentiable(spread), arguments) == after
    # Other sizes are another question.
    few = {"x": np.ones((2, 3)), "w": np.ones(3), "out": np.ones((2, 3))}
    assert texts(f, few) == texts(pyrev.differentiable(spread), few)


@pytest.mark.slow
def test_what_is_no_faster_is_not_taken(
    arguments: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    f = pyrev.differentiable(spread)
    before = texts(f, arguments)
    said(monkeypatch, 1.0, 0.5)
    f.tune(**arguments, progress=False)
    said(monkeypatch, 1.0, 0.99)
    found = f.tune(**arguments, progress=False)
    assert found.trials and not any(t.taken for t in found.trials)
    assert texts(f, arguments) == before


@pytest.mark.slow
def test_arguments_stay_as_they_are_and_the_tuned_gradient_is_right(
    arguments: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    f = pyrev.differentiable(spread)
    given = {name: value.copy() for name, value in arguments.items()}
    monkeypatch.setattr("pyrev.driver.tune.FASTER", 1e9)  # whatever the clock says
    found = f.tune(**arguments, progress=False)
    assert found.trials and all(t.taken and t.seconds > 0.0 for t in found.trials)
    for name, value in given.items():
        np.testing.assert_array_equal(arguments[name], value)
    report = pyrev.check_grad(f, **arguments)
    assert report.ok, str(report)
    assert "prange" in f.adjoint.source_for("numba", **arguments)


def test_a_record_that_is_no_list_of_tests_is_left_out(
    arguments: dict[str, Any],
) -> None:
    text = pyrev.differentiable(spread).primal.source_for("numba", **arguments)
    path = module_path(text, "spread").with_suffix(".tuned")
    for wrong in ("{", '{"a": 1}', "[1, 2]", ""):
        path.write_text(wrong, encoding="utf-8")
        assert tuning(text, "spread") == ()
    path.write_text('["x.shape[0] >= 3"]', encoding="utf-8")
    assert tuning(text, "spread") == ("x.shape[0] >= 3",)


def test_the_python_target_has_nothing_to_tune(arguments: dict[str, Any]) -> None:
    f = pyrev.differentiable(spread, target="python")
    with pytest.raises(pyrev.ArgumentError, match="one schedule"):
        f.tune(**arguments)


def test_a_call_that_raises_is_not_tuned(arguments: dict[str, Any]) -> None:
    f = pyrev.differentiable(spread)
    with pytest.raises(IndexError):
        f.tune(arguments["x"], arguments["w"][:-1], arguments["out"])


def steps(u, n):  # type: ignore[no-untyped-def]
    for _ in range(n):
        for i in range(u.shape[0]):
            u[i] = u[i] * u[i] - 0.5


@pytest.mark.slow
def test_the_two_sweeps_of_an_adjoint_are_tuned_apart(
    arguments: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    f = pyrev.differentiable(steps)
    monkeypatch.setattr("pyrev.driver.tune.FASTER", 1e9)  # whatever the clock says
    found = f.tune(np.full(14, 0.3), 3, progress=False)
    assert {t.part for t in found.trials} == {"primal", "forward", "reverse"}
    u = np.full(14, 0.3)
    _, pullback = pyrev.vjp(f, u, 3)
    np.testing.assert_allclose(u[0], ((0.3**2 - 0.5) ** 2 - 0.5) ** 2 - 0.5)
    np.testing.assert_allclose(
        pullback(u=np.ones(14))["u"], 8 * 0.3 * (0.09 - 0.5) * ((0.09 - 0.5) ** 2 - 0.5)
    )
