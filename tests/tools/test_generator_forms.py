"""Random programs of structures, lists, draws and the like: what is made, the judge.

`python -m tests.tools.generator --forms` is the same hunt with fresh seeds and any
count.
"""

from __future__ import annotations

import os
import warnings
from collections import Counter
from typing import Any

import numpy as np
import pytest

import pyrev
from tests.tools.generator import shrink
from tests.tools.generator.forms.judge import judge
from tests.tools.generator.forms.kinds import Special
from tests.tools.generator.forms.writer import HEADER, THEMES, generated
from tests.tools.generator.judge import RIGHT
from tests.tools.generator.program import Argument, Generated

EXAMPLES = int(os.environ.get("PYREV_EXAMPLES", "120"))
COMPILED = int(os.environ.get("PYREV_COMPILED_EXAMPLES", "6"))
BATCH = 20
SHRINKING = 60.0
VECTOR = Argument("float", ("n",))


def assert_right(program: Generated, target: str) -> str:
    """The kind of the verdict; a wrong one fails with the smallest program."""
    verdict = judge(program, target)
    if verdict.wrong:
        small = shrink.shrunk(program, target, SHRINKING, judge)
        pytest.fail(f"{verdict.kind}: {verdict.detail}\n{small}\nfrom\n{program}")
    return verdict.kind


def by_hand(source: str, **arguments: Argument) -> Generated:
    sizes = {"n": 3, "m": 2, "z": 1}
    return Generated(HEADER + source, tuple(arguments.items()), sizes, 7)


# ---------------------------------------------------------------- the hunt


@pytest.mark.slow
@pytest.mark.parametrize("batch", range(EXAMPLES // BATCH))
def test_generated_programs_are_right_or_refused(batch: int) -> None:
    seeds = range(BATCH * batch, BATCH * (batch + 1))
    kinds = Counter(assert_right(generated(seed), "python") for seed in seeds)
    assert kinds[RIGHT] > BATCH // 3


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(20_000, 20_000 + COMPILED))
def test_compiled_programs_are_right(seed: int) -> None:
    assert_right(generated(seed), "numba")


# ---------------------------------------------------------------- the generator


def test_programs_have_everything_that_they_are_made_of() -> None:
    counts = Counter(p for seed in range(400) for p in generated(seed).productions)
    arguments = {"argument: records", "argument: function", "argument: draws"}
    recursion = {"recursion: tail", "recursion: tree", "recursion: search"}
    rest = {"partial", "closure", "None as a default", "int for a float", "enumerate"}
    assert not ({*THEMES} | arguments | recursion | rest) - {*counts}


def test_programs_are_legal_where_they_are_called() -> None:
    illegal: list[int] = []
    raised = 0
    for seed in range(200):
        program = generated(seed)
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                program.function()(**program.made())
            except (ArithmeticError, ValueError, RuntimeError, KeyError):
                raised += 1
            except (AssertionError, IndexError):  # also of sizes that are small
                raised += 1
            except Exception:
                illegal.append(seed)
    assert illegal == []
    assert raised < 20


def test_a_seed_always_gives_the_same_program() -> None:
    assert [generated(s) for s in range(20)] == [generated(s) for s in range(20)]


# ---------------------------------------------------------------- the judge

WRITES = """
def f(x, p, nodes, gen):
    p["w"][0] = x[0] * gen.normal()
    for node in nodes:
        node["at"] *= p["k"]
    return [np.sum(x) * p["k"], x[1] * np.sum(p["w"])]
"""
GIVEN = {
    "x": VECTOR,
    "p": Special("structure dict"),
    "nodes": Special("nodes"),
    "gen": Special("draws"),
}


def slightly_off(monkeypatch: pytest.MonkeyPatch, path: tuple[str, str]) -> None:
    """Make one number in the gradient of a structure wrong."""
    plain = pyrev.vjp

    def vjp(f: Any, **arguments: Any) -> Any:
        result, pullback = plain(f, **arguments)

        def pull(*args: Any, **kw: Any) -> Any:
            found = dict(pullback(*args, **kw).items())
            found[path[0]][path[1]] = found[path[0]][path[1]] + 1e-4
            return found

        return result, pull

    monkeypatch.setattr(pyrev, "vjp", vjp)


@pytest.mark.parametrize("path", [("p", "k"), ("p", "w"), ("nodes", "mass")])
def test_the_judge_sees_one_wrong_entry(
    monkeypatch: pytest.MonkeyPatch, path: tuple[str, str]
) -> None:
    program = by_hand(WRITES, **GIVEN)
    assert judge(program).kind == RIGHT
    slightly_off(monkeypatch, path)
    assert judge(program).kind == "wrong gradient"


@pytest.mark.parametrize("other", [tuple, np.array, lambda r: [*r, 0.0]])
def test_the_judge_sees_another_type_of_a_result(
    monkeypatch: pytest.MonkeyPatch, other: Any
) -> None:
    program = by_hand(WRITES, **GIVEN)
    vjp = pyrev.vjp

    def changed(f: Any, **arguments: Any) -> Any:
        result, pullback = vjp(f, **arguments)
        return other(result), pullback

    monkeypatch.setattr(pyrev, "vjp", changed)
    assert judge(program).kind == "wrong values"


RAISES = """
def f(x):
    x[0] = 2.0
    if x[0] > 1.0:
        raise ValueError("too large")
    return x[1]
"""


def test_the_judge_asks_for_the_same_exception(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    program = by_hand(RAISES, x=VECTOR)
    assert judge(program).kind == RIGHT

    def vjp(f: Any, **arguments: Any) -> Any:
        raise ValueError("too small")

    monkeypatch.setattr(pyrev, "vjp", vjp)
    assert judge(program).kind == "wrong exception"
