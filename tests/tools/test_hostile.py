"""Hostile calls: a sample of `tests.tools.hostile`, and the judge judged."""

from __future__ import annotations

import os
import subprocess
from typing import Any

import numpy as np
import pytest

from tests.tools import hostile
from tests.tools.hostile import VICTIMS, attempt, hunt, summary

ROTATION = int(os.environ.get("PYREV_ROTATION", "0")) % 8


@pytest.mark.slow
@pytest.mark.parametrize(("target", "count"), [("numba", 200), ("python", 400)])
def test_hostile_calls_end_in_a_result_or_an_exception(target: str, count: int) -> None:
    reports = hunt(count * ROTATION, count, target)
    assert len(reports) == count
    wrong = [f"seed {r.seed}: {r.what}\n    {r.wrong}" for r in reports if r.wrong]
    assert not wrong, "\n".join(wrong)
    ends = {r.ended for r in reports}
    assert ends >= {"result", "gradients", "ArgumentError", "IndexError"}, ends
    assert summary(reports).startswith(f"{count} calls")


def test_a_wrong_result_and_a_changed_argument_are_reported(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    victim = VICTIMS[[v.function.__name__ for v in VICTIMS].index("masked")]

    class Wrong:
        def __init__(self, damage: str) -> None:
            self.damage = damage

        def __call__(self, f: Any, g: Any) -> None:
            if self.damage == "result":
                g[:] = 77.0
            else:
                f[:] = 77.0
                victim.function(np.ones_like(f), g)

    monkeypatch.setattr(hostile, "VICTIMS", (victim,))
    monkeypatch.setattr(hostile, "spoil", lambda arguments, rng: [])
    calls = [s for s in range(40) if not _pulled(s)]
    for damage, word in (("result", "for"), ("argument", "it changed ['f']")):
        wrong = Wrong(damage)
        monkeypatch.setattr(hostile, "victim", lambda k, target, costs, w=wrong: w)
        assert word in attempt(calls[0], "python").wrong


def _pulled(seed: int) -> bool:
    """Does this seed, with nothing spoilt, ask for a pullback?"""
    rng = np.random.default_rng(seed)
    rng.integers(0, 1)
    hostile.VICTIMS[0].make(int(rng.choice([1, 2, 5, 9])), rng)
    return bool(rng.integers(0, 3))


def test_a_child_that_dies_is_reported_with_its_seed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    died = "import os, sys; print('{\"begun\": 5}', flush=True); os.abort()"
    script = ["-c", died]

    def start(command: list[str], **options: object) -> object:
        return real([command[0], *script], **options)

    real = subprocess.Popen
    monkeypatch.setattr(subprocess, "Popen", start)
    (report,) = hunt(5, 1, "python")
    assert report.seed == 5
    assert report.wrong == "the process died with -6"
