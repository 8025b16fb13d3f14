"""Whole programs: every one is right, or refused with the codes that stand here."""

from __future__ import annotations

import ast
import copy
import functools
import inspect
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pyrev.tests import programs
from pyrev.tests.everything import share_of
from pyrev.tests.programs._judge import (
    NAMES,
    REFUSED,
    RIGHT,
    Verdict,
    judge,
    load,
)

#: What the language leaves out, by the codes of its message; the reason beside it.
REFUSALS: dict[str, tuple[str, ...]] = {}

#: One program in so many is compiled in each run.
SHARES = 32
FOLDER = Path(programs.__file__).parent


@functools.cache
def verdict(name: str) -> Verdict:
    return judge(name)


def same(a: Any, b: Any) -> bool:
    p, q = np.asarray(a), np.asarray(b)
    return p.dtype == q.dtype and p.shape == q.shape and p.tobytes() == q.tobytes()


# ------------------------------------------------------------------ the programs


def test_there_are_enough_programs_and_few_are_refused() -> None:
    assert len(NAMES) >= 150
    assert set(REFUSALS) <= set(NAMES)
    assert len(REFUSALS) <= 0.05 * len(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_a_program_is_whole(name: str) -> None:
    text = (FOLDER / f"{name}.py").read_text()
    assert 30 <= text.count("\n") <= 150
    module = ast.parse(text)
    assert ast.get_docstring(module)
    defined = {n.name for n in ast.walk(module) if isinstance(n, ast.FunctionDef)}
    assert len(defined - {"inputs"}) >= 2


@pytest.mark.parametrize("name", NAMES)
def test_the_inputs_of_a_program_are_its_parameters_and_always_the_same(
    name: str,
) -> None:
    program = load(name)
    arguments, again = program.arguments(), program.arguments()
    inspect.signature(program.function).bind(**arguments)
    assert all(same(arguments[n], again[n]) for n in arguments)
    found = program.function(**copy.deepcopy(arguments))
    assert found is None or all(map(np.all, map(np.isfinite, np.atleast_1d(found))))


# ------------------------------------------------------------------ the judgement


@pytest.mark.parametrize("name", NAMES)
def test_a_program_is_right_or_refused_for_a_stated_reason(name: str) -> None:
    found = verdict(name)
    if name in REFUSALS:
        assert (found.outcome, found.codes) == (REFUSED, REFUSALS[name]), found
    else:
        assert found.outcome == RIGHT, f"{found.outcome}: {found.message}"


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", share_of([n for n in NAMES if n not in REFUSALS], SHARES)
)
def test_a_program_is_right_compiled(name: str) -> None:
    found = judge(name, "numba")
    assert found.outcome == RIGHT, f"{found.outcome}: {found.message}"
