"""Expressions that are deeper than Python's recursion limit."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

import numpy as np
import pytest

import pyrev
from pyrev.runtime.stack_depth import deep

TERMS = 400


@pytest.mark.slow
def test_a_sum_of_many_terms_is_differentiated(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    total = " + ".join(f"x[{k % 5}] * x[{(3 * k + 1) % 5}]" for k in range(TERMS))
    (tmp_path / "many_terms.py").write_text(f"def f(x):\n    return {total}\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    f = importlib.import_module("many_terms").f
    limit = sys.getrecursionlimit()
    x = np.linspace(0.2, 0.9, 5)
    gradient = pyrev.grad(pyrev.differentiable(f, target="python"))(x)["x"]
    assert sys.getrecursionlimit() == limit
    for k in range(5):
        moved = x.astype(complex)
        moved[k] += 1e-30j
        np.testing.assert_allclose(gradient[k], f(moved).imag / 1e-30, rtol=1e-12)


def test_what_never_ends_still_raises() -> None:
    def endless(n: int) -> int:
        return endless(n + 1) + 1

    limit = sys.getrecursionlimit()
    with pytest.raises(RecursionError):
        deep(endless)(0)
    assert sys.getrecursionlimit() == limit


def test_other_errors_come_through_as_they_are() -> None:
    calls: list[int] = []

    @deep
    def fails() -> None:
        calls.append(1)
        if len(calls) == 1:
            raise RecursionError
        raise ValueError("second")

    with pytest.raises(ValueError, match="second"):
        fails()
    assert len(calls) == 2
