"""What ISL has proved of a function is not asked again by the next process."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pyrev
from pyrev.analysis import poly


def smooth(x, w, out):  # type: ignore[no-untyped-def]
    for i in range(1, out.shape[0] - 1):
        for j in range(w.shape[0]):
            out[i] += x[3 * i - 2 * j + 1] * w[j]


GIVEN = {"x": np.ones(32), "w": np.ones(3), "out": np.zeros(10)}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("PYREV_CACHE_DIR", str(tmp_path))
    return tmp_path


def made_anew(monkeypatch: pytest.MonkeyPatch) -> tuple[str, int]:
    """The adjoint as a new process makes it, and how often ISL is asked for a proof."""
    monkeypatch.setattr(poly, "_empty_answers", {})
    asked = 0
    ask = poly._ask

    def counted(question: Callable[[Any, Any], Any]) -> Any:
        nonlocal asked
        asked += isinstance(found := ask(question), bool)
        return found

    monkeypatch.setattr(poly, "_ask", counted)
    f = pyrev.differentiable(smooth)
    text = f.adjoint.source_for("numba", **GIVEN)
    monkeypatch.setattr(poly, "_ask", ask)
    return text, asked


def test_the_next_process_asks_nothing_again(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, asked = made_anew(monkeypatch)
    (kept,) = folder.glob("*.isl")
    assert asked > 3
    assert made_anew(monkeypatch) == (first, 0)
    before = kept.read_bytes()
    assert made_anew(monkeypatch) == (first, 0)
    assert kept.read_bytes() == before


@pytest.mark.parametrize("wrong", ["", "{", "[1]", '{"a": 1}'])
def test_a_damaged_record_is_asked_anew(
    folder: Path, monkeypatch: pytest.MonkeyPatch, wrong: str
) -> None:
    first, asked = made_anew(monkeypatch)
    (kept,) = folder.glob("*.isl")
    kept.write_text(wrong, encoding="utf-8")
    assert made_anew(monkeypatch) == (first, asked)
    assert made_anew(monkeypatch) == (first, 0)


def test_another_version_of_islpy_is_asked_anew(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, asked = made_anew(monkeypatch)
    monkeypatch.setattr("importlib.metadata.version", lambda name: "0.0")
    assert made_anew(monkeypatch) == (first, asked)
    assert len(list(folder.glob("*.isl"))) == 2
