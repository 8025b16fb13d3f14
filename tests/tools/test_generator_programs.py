"""Random whole programs: what the generator makes, its judge, and what they say.

`python -m tests.tools.generator --programs` is the same hunt with fresh seeds and any
count.
"""

from __future__ import annotations

import ast
import os
import re
import warnings
from collections import Counter
from typing import Any

import numpy as np
import pytest

import pyrev
from tests.tools.generator import __main__ as command
from tests.tools.generator import shrink
from tests.tools.generator.judge import REFUSED, RIGHT
from tests.tools.generator.program import Argument, Generated
from tests.tools.generator.programs.judge import judge
from tests.tools.generator.programs.writer import generated

EXAMPLES = int(os.environ.get("PYREV_EXAMPLES", "120"))
COMPILED = int(os.environ.get("PYREV_COMPILED_EXAMPLES", "6"))
BATCH = 20
SHRINKING = 60.0
VECTOR = Argument("float", ("n",))
#: What some programs of eight hundred have.
FEATURES = (
    "2 names change places",
    "3 names change places",
    "4 names change places",
    "broadcast",
    "call in an expression",
    "call of 0 results",
    "call of 1 results",
    "call of 2 results",
    "closure",
    "default",
    "discarded value",
    "double buffer",
    "else of a loop",
    "keyword",
    "lambda",
    "module lambda",
    "nan as missing data",
    "narrow integers",
    "nested function",
    "rebound",
    "rebound by a call",
    "return",
    "row view",
    "second name",
    "swap on some paths",
    "temporary of another shape",
    "view",
    "while",
)


def assert_right(program: Generated, target: str) -> str:
    """The kind of the verdict; a wrong one fails with the smallest program."""
    verdict = judge(program, target)
    if verdict.wrong:
        small = shrink.shrunk(program, target, SHRINKING, judge)
        pytest.fail(f"{verdict.kind}: {verdict.detail}\n{small}\nfrom\n{program}")
    return verdict.kind


def by_hand(source: str, **arguments: Argument) -> Generated:
    text = f"import numpy as np\n\n\n{source}\n"
    return Generated(text, tuple(arguments.items()), {"n": 3, "m": 2, "z": 1}, 7)


# ---------------------------------------------------------------- the hunt


@pytest.mark.slow
@pytest.mark.parametrize("batch", range(EXAMPLES // BATCH))
def test_generated_programs_are_right_or_refused(batch: int) -> None:
    kinds = Counter(
        assert_right(generated(seed), "python")
        for seed in range(BATCH * batch, BATCH * (batch + 1))
    )
    assert kinds[RIGHT] + kinds[REFUSED] > BATCH // 2
    assert kinds[REFUSED] <= 2


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(20_000, 20_000 + COMPILED))
def test_compiled_programs_are_right(seed: int) -> None:
    assert_right(generated(seed), "numba")


# ---------------------------------------------------------------- the generator


@pytest.mark.slow
def test_programs_have_everything_that_they_are_made_of() -> None:
    programs = 800
    counts = Counter(p for seed in range(programs) for p in generated(seed).productions)
    assert not set(FEATURES) - set(counts)
    functions = [
        sum(isinstance(n, ast.FunctionDef) for n in ast.walk(ast.parse(p.source)))
        for p in map(generated, range(200))
    ]
    assert max(functions) >= 5
    assert np.mean(functions) > 1.5


def test_programs_are_legal_where_they_are_called() -> None:
    illegal: list[int] = []
    for seed in range(200):
        program = generated(seed)
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                program.double()(**program.made())
            except (ArithmeticError, ValueError, IndexError):  # sizes that are small
                if min(program.sizes.values()) > 2:
                    illegal.append(seed)
            except Exception:
                illegal.append(seed)
    assert illegal == []


def test_a_seed_always_gives_the_same_program() -> None:
    assert [generated(s) for s in range(20)] == [generated(s) for s in range(20)]


# ---------------------------------------------------------------- the judge


STEPS = """
def step(u, c=0.5):
    new = np.zeros_like(u)
    for i in range(1, u.shape[0]):
        new[i] = c * u[i] * u[i - 1]
    return new


def f(a, b):
    for t in range(2):
        a, b = b, step(a)
    return a[2] * b[1]
"""


def damaged(monkeypatch: pytest.MonkeyPatch, name: str, by: float) -> None:
    """Make one entry of what `vjp` or `jvp` gives wrong."""
    plain = getattr(pyrev, name)

    def vjp(f: Any, **arguments: Any) -> Any:
        result, pullback = plain(f, **arguments)

        def pull(*args: Any, **kw: Any) -> Any:
            found = dict(pullback(*args, **kw).items())
            found["a"][1] += by
            return found

        return result, pull

    def jvp(f: Any, **arguments: Any) -> Any:
        result, moved = plain(f, **arguments)
        return result, {**moved, "return": moved["return"] + by}

    monkeypatch.setattr(pyrev, name, vjp if name == "vjp" else jvp)


@pytest.mark.parametrize(
    "name, kind", [("vjp", "wrong gradient"), ("jvp", "wrong tangent")]
)
def test_the_judge_sees_one_wrong_entry(
    monkeypatch: pytest.MonkeyPatch, name: str, kind: str
) -> None:
    program = by_hand(STEPS, a=VECTOR, b=VECTOR)
    assert judge(program).kind == RIGHT
    damaged(monkeypatch, name, 1e-4)
    assert judge(program).kind == kind


def test_the_judge_sees_a_gradient_that_is_nan_where_nothing_was_measured(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    source = """
def f(a, obs):
    s = 0.0
    for i in range(obs.shape[0]):
        if not np.isnan(obs[i]):
            s += (a[i] - obs[i]) ** 2
    return s
"""
    program = by_hand(source, a=VECTOR, obs=Argument("missing", ("n",)))
    assert judge(program).kind == RIGHT
    damaged(monkeypatch, "vjp", np.nan)
    assert judge(program).kind == "wrong gradient"


def test_the_judge_sees_another_dtype_of_a_result(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    program = by_hand("def f(a):\n    return a + a", a=VECTOR)
    vjp = pyrev.vjp

    def narrower(f: Any, **arguments: Any) -> Any:
        result, pullback = vjp(f, **arguments)
        return result.astype(np.float16).astype(np.float32), pullback

    assert judge(program).kind == RIGHT
    monkeypatch.setattr(pyrev, "vjp", narrower)
    assert judge(program).kind == "wrong values"


# ---------------------------------------------------------------- the shrinker


def test_the_shrinker_takes_helpers_and_their_parameters_apart() -> None:
    source = """
def blend(u, v, c, d=0.3):
    w = u * c
    w = w + v
    w = w + d
    return w


def f(a, b, s):
    t = 0.5 * s
    u = blend(a, b, t, d=s)
    v = u + a
    return np.sum(v) + np.spacing(a)[0]
"""
    program = by_hand(source, a=VECTOR, b=VECTOR, s=Argument("float"))
    assert judge(program).kind == REFUSED
    small = shrink.shrunk(program, "python", 60.0, judge)
    assert judge(small).symptom == judge(program).symptom
    assert "np.spacing" in small.source
    assert small.source.count("\n") <= 5, small.source


# ---------------------------------------------------------------- the command


@pytest.mark.slow
def test_the_command_counts_programs_and_refusals(
    capsys: pytest.CaptureFixture[str],
) -> None:
    command.main(["--programs", "--seed", "40", "--count", "5"])
    shown = capsys.readouterr().out
    assert '"first seed": 40' in shown
    assert re.search(r'"judged": \d+', shown)
    assert '"refused, in percent"' in shown
