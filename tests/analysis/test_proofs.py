"""What ISL has proved of a function is not asked again by the next process."""

from __future__ import annotations

import json
import subprocess
import sys
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


def tell() -> None:
    """Print the adjoint, and how often ISL is asked for a proof."""
    asked = 0
    ask = poly._ask

    def counted(question: Callable[[Any, Any], Any], *budget: int) -> Any:
        nonlocal asked
        asked += isinstance(found := ask(question, *budget), bool)
        return found

    poly._ask = counted  # type: ignore[assignment]
    text = pyrev.differentiable(smooth).adjoint.source_for("numba", **GIVEN)
    print(json.dumps([text, asked]))


def made_anew(first: str = "") -> tuple[str, int]:
    """What a new process tells that runs `first`."""
    run = f"{first}\nfrom tests.analysis.test_proofs import tell\ntell()"
    done = subprocess.run(
        [sys.executable, "-c", run], capture_output=True, text=True, check=True
    )
    text, asked = json.loads(done.stdout)
    return text, asked


def test_the_next_process_asks_nothing_again(folder: Path) -> None:
    first, asked = made_anew()
    (kept,) = folder.glob("*.isl")
    assert asked > 3
    before = kept.read_bytes()
    assert made_anew() == (first, 0)
    assert kept.read_bytes() == before


@pytest.mark.parametrize("wrong", ["", "{", "[1]", '{"a": 1}'])
def test_a_damaged_record_is_asked_anew(folder: Path, wrong: str) -> None:
    first, asked = made_anew()
    (kept,) = folder.glob("*.isl")
    kept.write_text(wrong, encoding="utf-8")
    assert asked > 3
    assert made_anew() == (first, asked)
    assert made_anew() == (first, 0)


def test_another_version_of_islpy_is_asked_anew(folder: Path) -> None:
    first, asked = made_anew()
    other = "import importlib.metadata as m; m.version = lambda name: '0.0'"
    assert asked > 3
    assert made_anew(other) == (first, asked)
    assert len(list(folder.glob("*.isl"))) == 2
