"""Like nests of a large module are one function, and compute what each did."""

from __future__ import annotations

import importlib
import re
import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

import pyrev
from pyrev.schedule.costs import SHIPPED

MANY = SHIPPED.cpu.shared_nests


def module(
    folder: Path, body: list[str], monkeypatch: pytest.MonkeyPatch
) -> ModuleType:
    lines = ["def f(x, a, b):", *(f"    {line}" for line in body)]
    (folder / "many_nests.py").write_text("\n".join(lines) + "\n")
    monkeypatch.syspath_prepend(str(folder))
    sys.modules.pop("many_nests", None)
    return importlib.import_module("many_nests")


def nests(count: int, text: str) -> list[str]:
    lines = []
    for k in range(count):
        one, two = ("a", "b") if k % 2 else ("b", "a")
        lines.append("for i in range(1, x.shape[0]):")
        lines.append("    " + text.format(one=one, two=two, c=0.5 + k / 8))
    return lines


LINEAR = "{one}[i] = {two}[i - 1] * x[i] + {one}[i] * {c}"
POWER = "{one}[i] = {two}[i - 1] * x[i] ** {c}"


def functions(text: str) -> int:
    return len(re.findall(r"^@njit\(\*\*(?!ENTRY)", text, flags=re.MULTILINE))


def test_nests_that_differ_in_names_and_numbers_are_one_function(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    f = pyrev.differentiable(module(tmp_path, nests(MANY, LINEAR), monkeypatch).f)
    text = f.adjoint.source_for("numba")
    assert functions(text) <= 12 < 4 * MANY
    assert "stands for" in text


def test_a_module_of_few_nests_has_a_function_for_each(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    f = pyrev.differentiable(module(tmp_path, nests(2, LINEAR), monkeypatch).f)
    text = f.adjoint.source_for("numba")
    assert "stands for" not in text
    assert functions(text) == 2 * 3  # one forward nest is not needed; body and driver


def test_exponents_stay_literals(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    f = pyrev.differentiable(module(tmp_path, nests(MANY, POWER), monkeypatch).f)
    text = f.adjoint.source_for("numba")
    for k in range(MANY):
        assert f"** {0.5 + k / 8}" in text or 0.5 + k / 8 == 1.0


def test_shared_functions_compute_what_the_plain_loops_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain = module(tmp_path, nests(MANY, LINEAR), monkeypatch).f
    rng = np.random.default_rng(5)
    given = {n: rng.uniform(0.5, 1.0, 5) for n in ("x", "a", "b")}
    seeds = {n: rng.standard_normal(5) for n in ("a", "b")}
    made = {n: v.copy() for n, v in given.items()}
    _, pullback = pyrev.vjp(pyrev.differentiable(plain), **made)
    gradients = pullback(**seeds)

    def run(values: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
        copies = {n: v.copy() for n, v in values.items()}
        plain(**copies)
        return copies

    for name, expected in run(given).items():
        np.testing.assert_allclose(made[name], expected, rtol=1e-12)
    for name in given:
        for k in range(5):
            moved = {n: v.astype(complex) for n, v in given.items()}
            moved[name][k] += 1e-30j
            found = run(moved)
            slope = sum((seeds[n] * found[n].imag).sum() for n in seeds) / 1e-30
            np.testing.assert_allclose(gradients[name][k], slope, rtol=1e-11)
