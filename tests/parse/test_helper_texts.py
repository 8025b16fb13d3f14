"""A helper of helpers is looked at once, not on every path that leads to it."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import pyrev
from pyrev.parse.rewriting.helper_texts import looked, remembering
from pyrev.parse.rewriting.structures import fields

CHAIN = """
def h{k}(x, n):
    a, b = h{before}(x, n)
    if a > 1.0:
        a, b = h{before}(x, n)
    return a, b
"""
LAST = """
def f(x, n):
    s = 0.0
    for i in range(n):
        a, b = h{k}(x, n)
        s += a
    return s
"""


def chain(folder: Path, depth: int) -> ModuleType:
    """A function of helpers, each of which calls the next one twice."""
    text = "def h0(x, n):\n    return x[0] * 2.0, n\n\n"
    text += "\n".join(CHAIN.format(k=k, before=k - 1) for k in range(1, depth + 1))
    file = folder / f"chain_of_{depth}.py"
    file.write_text(text + LAST.format(k=depth))
    spec = importlib.util.spec_from_file_location(file.stem, file)
    assert spec is not None and spec.loader is not None
    made = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    return made


def test_looks_at_helpers_do_not_double_with_each_level(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    looks = [0]
    inner = fields._taken_apart

    def counted(*args: Any) -> Any:
        looks[0] += 1
        return inner(*args)

    monkeypatch.setattr(fields, "_taken_apart", counted)
    found = []
    for depth in (2, 4, 6):
        looks[0] = 0
        pyrev.differentiable(chain(tmp_path, depth).f)
        found.append(looks[0])
    # Without what is remembered they were 44, 710 and 11,376.
    assert found[2] - found[1] == found[1] - found[0] < 20


def test_what_depends_on_where_a_look_began_is_not_remembered() -> None:
    def f() -> Any:
        return looked("f", "x", lambda: ("f", g()), None)

    def g() -> Any:
        return looked("g", "x", lambda: ("g", f()), None)

    with remembering():
        assert f() == ("f", ("g", None))
        assert g() == ("g", ("f", None))


def test_what_was_found_is_remembered_within_one_reading() -> None:
    looks = [0]

    def look() -> int:
        looks[0] += 1
        return looks[0]

    with remembering():
        with remembering():
            assert looked("f", "x", look, 0) == 1
        assert looked("f", "x", look, 0) == 1
        assert looked("f", "x", look, 0, "given") == 2
        assert looked("f", "y", look, 0) == 3
    assert looked("f", "x", look, 0) == 4
    with remembering():
        assert looked("f", "x", look, 0) == 5
