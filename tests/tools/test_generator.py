"""Random functions of the whole language: the generator, its judge, and what they say.

`python -m tests.tools.generator` is the same hunt with fresh seeds and any count.
"""

from __future__ import annotations

import json
import os
import random
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, note, settings
from hypothesis import strategies as st

import pyrev
from tests.tools.generator import __main__ as command
from tests.tools.generator import judge as judging
from tests.tools.generator import shrink
from tests.tools.generator.judge import REFUSED, RIGHT, TEXT, Verdict, judge
from tests.tools.generator.productions import PRODUCTIONS
from tests.tools.generator.program import Argument, Generated
from tests.tools.generator.races import stays_inside, too_small
from tests.tools.generator.writer import Writer, generated

EXAMPLES = int(os.environ.get("PYREV_EXAMPLES", "120"))
COMPILED = int(os.environ.get("PYREV_COMPILED_EXAMPLES", "6"))
BATCH = 20
SHRINKING = 60.0
# What the judge counts, not the writer.
JUDGED = ("zero-size", "other sizes")


def assert_right(program: Generated, target: str) -> str:
    """The kind of the verdict; a wrong one fails with the smallest program."""
    verdict = judge(program, target)
    if verdict.wrong:
        small = shrink.shrunk(program, target, SHRINKING)
        pytest.fail(f"{verdict.kind}: {verdict.detail}\n{small}\nfrom\n{program}")
    return verdict.kind


def by_hand(body: str, **arguments: Argument) -> Generated:
    source = f"import numpy as np\n\n\ndef f({', '.join(arguments)}):\n    {body}\n"
    return Generated(source, tuple(arguments.items()), {"n": 3, "m": 2, "z": 1}, 7)


VECTOR = Argument("float", ("n",))

# ---------------------------------------------------------------- the hunt


@pytest.mark.slow
@pytest.mark.parametrize("batch", range(EXAMPLES // BATCH))
def test_generated_programs_are_right_or_refused(batch: int) -> None:
    kinds = Counter(
        assert_right(generated(seed), "python")
        for seed in range(BATCH * batch, BATCH * (batch + 1))
    )
    assert kinds[RIGHT] + kinds[REFUSED] > BATCH // 2
    assert kinds[REFUSED] <= 1


@pytest.mark.slow
@settings(
    max_examples=20,
    deadline=None,
    derandomize=True,
    suppress_health_check=list(HealthCheck),
)
@given(st.randoms(use_true_random=False))
def test_programs_that_hypothesis_draws_are_right(rng: random.Random) -> None:
    program = Writer(rng).generated(0)
    note(str(program))
    verdict = judge(program)
    assert not verdict.wrong, verdict


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(10_000, 10_030))
def test_the_text_for_numba_is_right_in_any_order_of_iterations(seed: int) -> None:
    assert_right(generated(seed), TEXT)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(20_000, 20_000 + COMPILED))
def test_compiled_programs_are_right(seed: int) -> None:
    assert_right(generated(seed), "numba")


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(30_000, 30_050))
def test_no_access_leaves_its_array_whatever_the_input(seed: int) -> None:
    program = too_small(generated(seed))
    try:
        stays_inside(program)
    except pyrev.UnsupportedError as refused:
        pytest.skip(f"refused: {refused}")
    except Exception as failure:
        failure.add_note(str(program))
        raise


# ---------------------------------------------------------------- the generator


@pytest.mark.slow
def test_every_production_is_in_one_program_of_a_hundred() -> None:
    programs = 3000
    counts = Counter(p for seed in range(programs) for p in generated(seed).productions)
    rare = {p: counts[p] for p in PRODUCTIONS if counts[p] < programs / 100}
    assert set(rare) <= set(JUDGED), rare
    assert set(counts) <= set(PRODUCTIONS)


def test_generated_programs_are_legal_at_their_sizes() -> None:
    illegal: list[int] = []
    for seed in range(400):
        program = generated(seed)
        with np.errstate(all="ignore"):
            try:
                program.double()(**program.made())
            except (ArithmeticError, ValueError):  # too large a number, in `math`
                continue
            except Exception:
                illegal.append(seed)
    assert illegal == []


def test_a_seed_always_gives_the_same_program_and_arguments() -> None:
    one, other = generated(11), generated(11)
    assert one == other
    for mine, theirs in zip(one.made().values(), other.made().values(), strict=True):
        assert np.array_equal(mine, theirs)


def test_an_excluded_production_does_not_occur() -> None:
    without = frozenset(["while True", "np.zeros", "lambda", "slice view"])
    for seed in range(200):
        assert not without & set(generated(seed, without).productions)


# ---------------------------------------------------------------- the judge


def test_the_judge_sees_one_wrong_entry(monkeypatch: pytest.MonkeyPatch) -> None:
    vjp = pyrev.vjp

    def slightly_off(f: Any, **arguments: Any) -> Any:
        result, pullback = vjp(f, **arguments)

        def pull(*args: Any, **kw: Any) -> Any:
            found = dict(pullback(*args, **kw).items())
            found["a"][1] += 1e-4
            return found

        return result, pull

    program = by_hand("return np.sum(a) * a[0]", a=VECTOR)
    assert judge(program).kind == RIGHT
    monkeypatch.setattr(pyrev, "vjp", slightly_off)
    assert judge(program).kind == "wrong gradient"


@pytest.mark.parametrize(
    "body, reason",
    [
        ("return abs(a[0] - a[0]) + a[1]", RIGHT),
        ("return max(a[0], 2.0 * a[0] - a[0]) + abs(0.0 * a[1])", RIGHT),
        ("return abs(a[0] - b) + a[1]", "not differentiable: a kink"),
        ("return a[7]", "illegal: IndexError"),
        ("v = np.empty(3)\n    return v[0] * a[0]", "not tame"),
        ("return 1e9 * a[0]", "not tame"),
        ("while True:\n        a[0] = 0.5", "illegal: runs for ever"),
    ],
)
def test_what_is_no_evidence_is_told_apart(body: str, reason: str) -> None:
    program = by_hand(body, a=VECTOR, b=Argument("float"))
    if reason == "not differentiable: a kink":
        body = f"return abs(a[0] - {program.made()['a'][0]!r}) + b"
        program = by_hand(body.replace("np.float64", ""), a=VECTOR, b=Argument("float"))
    assert judge(program).kind == reason


def test_a_crash_is_told_by_its_place_and_not_by_its_names() -> None:
    one = Verdict("wrong: crash", "KeyError in lower._name: 'v7'")
    other = Verdict("wrong: crash", "KeyError in lower._name: 'v12'")
    assert one.symptom == other.symptom
    assert (
        one.symptom != Verdict("wrong: crash", "KeyError in lower._call: 'v7'").symptom
    )


# ---------------------------------------------------------------- the shrinker


def test_the_shrinker_keeps_the_symptom_and_little_else(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def swaps(candidate: Generated, _: str = "python") -> Verdict:
        names = set(candidate.names)
        candidate.double()(**candidate.made())
        lines = candidate.source.splitlines()
        swapped = any("] = " in x and x.count("[") == 4 and ", " in x for x in lines)
        return Verdict("wrong gradient" if swapped and names else RIGHT)

    program = next(
        p for p in map(generated, range(500)) if swaps(p).kind == "wrong gradient"
    )
    monkeypatch.setattr(shrink, "judge", swaps)
    small = shrink.shrunk(program, "python", 20.0)
    assert swaps(small).kind == "wrong gradient"
    assert small.source.count("\n") <= 6, small.source


# ---------------------------------------------------------------- the command


@pytest.mark.slow
def test_the_command_writes_its_figures_and_seeds(tmp_path: Path) -> None:
    out = tmp_path / "results.json"
    command.main(["--start", "40", "--count", "5", "--out", str(out)])
    found = json.loads(out.read_text())
    assert found["first seed"] == 40
    assert found["judged"] >= 5
    assert found["judged"] == found["right"] + found["refused"] + found["wrong"]
    assert found["seeds"] == found["judged"] + sum(found["rejected"].values())
    assert list(found["productions"]) == list(PRODUCTIONS)


def test_a_program_that_takes_too_long_is_wrong(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def sleeps(*_: Any, **__: Any) -> None:
        while True:
            pass

    monkeypatch.setattr(judging, "PYREV_SECONDS", 0.2)
    monkeypatch.setattr(pyrev, "differentiable", sleeps)
    program = by_hand("return a[0]", a=VECTOR)
    assert judge(program).kind == "wrong: takes too long"
