# mypy: disallow-untyped-defs=False, disallow-untyped-calls=False
"""Names with annotations are what they are without: lists, structures, None."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import pyrev
from tests.tools.oracle import check

A, B = np.array([0.3, 0.7, 1.1]), np.array([0.35, 0.75, 2.0])


@dataclass
class Wave:
    height: float
    at: np.ndarray


def _pairs(a, b, tolerance):
    found = []
    for i in range(len(a)):
        for j in range(len(b)):
            if abs(a[i] - b[j]) < tolerance:
                found.append((i, j))
    return found


def of_a_helper_that_gives_a_list(a, b):
    pairs: list[tuple[int, int]] = _pairs(a, b, 0.1)
    s: float = 0.0
    for i, j in pairs:
        s += a[i] * b[j]
    return s


def of_a_list(a, b):
    found: list[float] = []
    for v in a:
        if v > 0.5:
            found.append(v * b[0])
    best: float | None = None
    for v in found:
        if best is None or v > best:
            best = v
    return best if best is not None else 0.0


def of_a_structure(a, b):
    wave: Wave = Wave(a[0] * 2.0, b)
    n: int = len(wave.at)
    parts: tuple[float, float] = (wave.height, wave.at[n - 1])
    return parts[0] * parts[1] ** 2


@pytest.mark.parametrize("target", ["python", "numba"])
@pytest.mark.parametrize(
    "plain", [of_a_helper_that_gives_a_list, of_a_list, of_a_structure]
)
def test_they_are_as_without(plain: Any, target: str) -> None:
    f = pyrev.differentiable(plain, target=target)
    check(f, plain, {"a": A, "b": B}, [], np.random.default_rng(1))
