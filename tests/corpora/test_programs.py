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

import pyrev
from tests.corpora import programs
from tests.corpora.programs._judge import (
    NAMES,
    REFUSED,
    RIGHT,
    Program,
    Verdict,
    assert_right,
    judge,
    load,
    several,
)
from tests.tools.structured import leaves
from tests.turns import share_of

#: What the language leaves out, by the codes of its message; the reason beside it.
REFUSALS: dict[str, tuple[str, ...]] = {
    # An array is put into a list, written to there, and read under its own name.
    "ensemble_restart": ("P202", "P203", "P206"),
}

#: What is wrong, dies or is refused without need, by what the program does there. An
#: entry leaves with its fault: a program that has become right fails as long as it
#: stands here.
OPEN: dict[str, str] = {}

#: One program in so many is compiled in each run.
SHARES = 64
#: One in so many is judged in each run, and all that are refused.
JUDGED = 12
FOLDER = Path(programs.__file__).parent


@functools.cache
def verdict(name: str) -> Verdict:
    return judge(name)


def state(value: Any) -> Any:
    """What is in a generator of random numbers; any other value itself."""
    if isinstance(value, np.random.Generator):
        return str(value.bit_generator.state)
    return value


def same(a: Any, b: Any) -> bool:
    """Are two arguments alike in all that is in them?"""
    one, other = leaves(a), leaves(b)
    pairs = [
        (np.asarray(state(v)), np.asarray(state(other[path])))
        for path, v in one.items()
        if path in other
    ]
    return one.keys() == other.keys() and all(
        p.dtype == q.dtype and p.shape == q.shape and p.tobytes() == q.tobytes()
        for p, q in pairs
    )


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
    with np.errstate(over="ignore"):  # of narrow integers
        found = program.function(**copy.deepcopy(arguments))
    assert all(np.all(np.isfinite(value)) for value in several(found))


# ------------------------------------------------------------------ the judgement


@pytest.mark.parametrize("name", sorted({*share_of(NAMES, JUDGED), *REFUSALS, *OPEN}))
def test_a_program_is_right_or_refused_for_a_stated_reason(
    name: str, request: pytest.FixtureRequest
) -> None:
    if name in OPEN:
        request.applymarker(pytest.mark.xfail(strict=True, reason=OPEN[name]))
    found = verdict(name)
    if name in REFUSALS:
        assert (found.outcome, found.codes) == (REFUSED, REFUSALS[name]), found
    else:
        assert found.outcome == RIGHT, f"{found.outcome}: {found.message}"


def test_the_judge_sees_a_term_that_is_missing() -> None:
    def plain(x: Any, k: float) -> Any:
        return k * x[0] * x[1]

    def lame(x: Any, k: float) -> Any:
        return k * x[0] * pyrev.stop_gradient(x[1])

    def inputs(rng: np.random.Generator) -> dict[str, Any]:
        return {"x": rng.normal(size=3), "k": 1.5}

    program = Program("plain", plain, inputs)
    assert_right(pyrev.differentiable(plain, target="python"), program)
    with pytest.raises(AssertionError, match="wrong gradients"):
        assert_right(pyrev.differentiable(lame, target="python"), program)


def test_the_judge_sees_a_result_of_another_type() -> None:
    def plain(x: Any) -> Any:
        return x * 2.0

    def wide(x: Any) -> Any:
        return x.astype(np.float64) * 2.0

    def inputs(rng: np.random.Generator) -> dict[str, Any]:
        return {"x": rng.normal(size=3).astype(np.float32)}

    program = Program("plain", plain, inputs)
    assert_right(pyrev.differentiable(plain, target="python"), program)
    with pytest.raises(AssertionError, match="float64 for float32"):
        assert_right(pyrev.differentiable(wide, target="python"), program)


def test_the_judge_excuses_no_kink() -> None:
    def plain(x: Any) -> Any:
        return np.sum(np.maximum(x, 0.0))

    def inputs(rng: np.random.Generator) -> dict[str, Any]:
        return {"x": np.array([1.0, 0.0])}

    with pytest.raises(AssertionError, match="differences"):
        assert_right(
            pyrev.differentiable(plain, target="python"),
            Program("plain", plain, inputs),
        )


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", share_of([n for n in NAMES if n not in {*REFUSALS, *OPEN}], SHARES)
)
def test_a_program_is_right_compiled(name: str) -> None:
    found = judge(name, "numba")
    assert found.outcome == RIGHT, f"{found.outcome}: {found.message}"
