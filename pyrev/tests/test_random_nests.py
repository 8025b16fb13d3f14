"""Random functions of the language against central differences: the bug hunter.

Run as a program it hunts on: `python -m pyrev.tests.test_random_nests START COUNT`
checks that many seeds, and prints each failure as the smallest function it can find by
deleting lines. A third argument is the target: python, numba, or text (for Numba,
interpreted).
"""

from __future__ import annotations

import copy
import os
import sys
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, note, settings

import pyrev
from pyrev.api import Call
from pyrev.testing import (
    Outcome,
    comparisons,
    derivative,
    distance,
    draw_cotangents,
    floats,
    outcome,
    run,
)
from pyrev.tests.interpreted import (
    Recorder,
    Recording,
    RecordingNumpy,
    interpreted,
    shuffled,
)
from pyrev.tests.oracle import check
from pyrev.tests.strategies import Nest, nest_from, nests

EXAMPLES = int(os.environ.get("PYREV_EXAMPLES", "150"))
COMPILED = int(os.environ.get("PYREV_COMPILED_EXAMPLES", "6"))
TOO_LARGE = 100.0


def tame(nest: Nest) -> bool:
    """Does the function have a float argument, run, and return small values?"""
    own = nest.arguments()
    if not floats(own):
        return False
    with np.errstate(all="ignore"):
        try:
            result = nest.function()(**own)
        except (OverflowError, ValueError):
            return False
    values = outcome(result, own, nest.writes).values()
    return all(bool(np.all(np.abs(np.asarray(v)) < TOO_LARGE)) for v in values)


def smooth(nest: Nest) -> bool:
    """Do central differences converge at these arguments, in a random direction?

    Conditions on data and min, max, abs may sit on a kink by chance. The test asks the
    plain function only, so it never hides a wrong gradient.
    """
    function, arguments = nest.function(), nest.arguments()
    rng = np.random.default_rng(nest.seed)
    with np.errstate(all="ignore"):
        weights = draw_cotangents(run(function, arguments, nest.writes), rng)
        for _ in range(3):
            along = {
                name: rng.uniform(-1.0, 1.0, np.shape(value))
                for name, value in arguments.items()
                if name in ("a", "u", "m", "w", "s")
            }
            found = [
                derivative(function, arguments, nest.writes, weights, along, step)
                for step in (8e-3, 2e-3)
            ]
            scale = max(1.0, abs(found[0].value))
            if not abs(found[0].value - found[1].value) <= 1e-6 * scale:
                return False
            if not all(e.error <= 1e-6 * scale for e in found):
                return False
    return True


def judge(nest: Nest, target: str) -> None:
    """Accepted functions have right gradients; a refusal is an `UnsupportedError`."""
    if target == "text":
        with np.errstate(all="ignore"):
            return judge_text(nest)
    f = pyrev.differentiable(nest.function(), target=target)
    rng = np.random.default_rng(nest.seed)
    arguments = nest.arguments()
    with np.errstate(all="ignore"):
        check(
            f,
            nest.function(),
            arguments,
            nest.writes,
            rng,
            entries=12,
            directions=2,
            tolerance=2e-6,
        )


def judge_text(nest: Nest) -> None:
    """The text for Numba, interpreted: right, and the same bits in any order."""
    f = pyrev.differentiable(nest.function(), target="numba")
    arguments = nest.arguments()
    rng = np.random.default_rng(nest.seed)
    expected = run(nest.function(), arguments, nest.writes)
    weights = draw_cotangents(expected, rng)
    primal = f.primal.source_for("numba", *arguments.values())
    adjoint = f.adjoint.source_for("numba", *arguments.values())
    seen = []
    for seed in (0, 1):
        own = copy.deepcopy(arguments)
        raw = interpreted(primal, "f", shuffled(seed))(*own.values())
        raw = tuple(raw) if isinstance(raw, (tuple, list)) else raw
        off = distance(expected, outcome(raw, own, nest.writes))
        assert off < 1e-11, f"the primal is off by {off}"
        own = copy.deepcopy(arguments)
        given = (*own.values(), *weights.written.values(), *weights.returned)
        seen.append(interpreted(adjoint, "f_adjoint", shuffled(seed))(*given))
    assert [np.asarray(g).tobytes() for g in seen[0]] == [
        np.asarray(g).tobytes() for g in seen[1]
    ], "the order of iterations matters"
    found = comparisons(
        nest.function(),
        arguments,
        nest.writes,
        weights,
        dict(zip(floats(arguments), seen[0], strict=True)),
        rng,
        entries=12,
        directions=2,
    )
    wrong = [str(c) for c in found if not c.error <= 2e-6]
    assert not wrong, "\n".join(["wrong gradients:", *wrong[:8]])


@pytest.mark.slow
@settings(
    max_examples=EXAMPLES,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.filter_too_much, HealthCheck.too_slow],
)
@given(nests())
def test_gradients_of_random_functions_are_right(nest: Nest) -> None:
    assume(tame(nest) and smooth(nest))
    note(str(nest))
    try:
        judge(nest, "python")
    except pyrev.UnsupportedError:
        assume(False)


@pytest.mark.parametrize("seed", range(100, 140))
def test_the_text_for_numba_is_right_for_seeded_functions(seed: int) -> None:
    nest = nest_from(seed)
    if not (tame(nest) and smooth(nest)):
        pytest.skip("no derivative here")
    try:
        with np.errstate(all="ignore"):
            judge_text(nest)
    except pyrev.UnsupportedError as refused:
        pytest.skip(f"refused: {refused}")
    except Exception as failure:
        failure.add_note(str(nest))
        raise


@pytest.mark.parametrize("seed", range(40))
def test_gradients_of_seeded_functions_are_right(seed: int) -> None:
    nest = nest_from(seed)
    if not (tame(nest) and smooth(nest)):
        pytest.skip("no derivative here")
    try:
        judge(nest, "python")
    except pyrev.UnsupportedError as refused:
        pytest.skip(f"refused: {refused}")
    except Exception as failure:
        failure.add_note(str(nest))
        raise


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(1000, 1000 + COMPILED))
def test_compiled_gradients_of_seeded_functions_are_right(seed: int) -> None:
    nest = nest_from(seed)
    if not (tame(nest) and smooth(nest)):
        pytest.skip("no derivative here")
    try:
        judge(nest, "numba")
    except pyrev.UnsupportedError as refused:
        pytest.skip(f"refused: {refused}")
    except Exception as failure:
        failure.add_note(str(nest))
        raise


def test_few_random_functions_are_refused() -> None:
    refused = 0
    for seed in range(100):
        try:
            pyrev.differentiable(nest_from(seed).function(), target="python")
        except pyrev.UnsupportedError:
            refused += 1
    assert refused <= 10


# ----------------------------------------------------------------- out of bounds


def stay_inside(nest: Nest) -> str:
    """What happens at arguments that may be too small: a word, or an assertion.

    Where the plain function raises, so does the call. Where it runs, the call gives the
    same values or is refused. The text for Numba never leaves an array.
    """
    function, arguments = nest.function(), nest.arguments()
    plain: Any = None
    try:
        with np.errstate(all="ignore"):
            plain = run(function, arguments, nest.writes)
    except (IndexError, ZeroDivisionError, OverflowError, ValueError) as error:
        plain = error
    f = pyrev.differentiable(function, target="numba")
    try:
        Call(f, (), copy.deepcopy(arguments)).check()
    except (IndexError, pyrev.ArgumentError):
        return "refused" if isinstance(plain, Outcome) else "raised"
    texts = {
        "f": f.primal.source_for("numba", *arguments.values()),
        "f_adjoint": f.adjoint.source_for("numba", *arguments.values()),
    }
    for name, text in texts.items():
        recorder = Recorder()
        own = copy.deepcopy(arguments)
        given = [*own.values()]
        if name == "f_adjoint":
            if not isinstance(plain, Outcome):
                return "raised"
            weights = draw_cotangents(plain, np.random.default_rng(nest.seed))
            given += [*weights.written.values(), *weights.returned]
        wrapped = [
            Recording(recorder, v) if isinstance(v, np.ndarray) else v for v in given
        ]
        called = interpreted(text, name, recorder.turns, RecordingNumpy(recorder))
        try:
            with np.errstate(all="ignore"):
                called(*wrapped)
        except IndexError:
            assert isinstance(plain, IndexError), (
                f"{name} raises, the function does not"
            )
            return "raised"
        except (ZeroDivisionError, OverflowError, ValueError) as error:
            assert type(error) is type(plain), f"{name} raises {error!r}, not {plain!r}"
            return "raised"
        if name == "f":
            assert not isinstance(plain, IndexError), f"{plain!r} was not raised"
            if isinstance(plain, Outcome):
                for key, value in plain.written.items():
                    np.testing.assert_allclose(own[key], value, rtol=1e-9, atol=1e-9)
        assert recorder.races() == []
    return "ran"


@pytest.mark.parametrize("seed", range(60))
def test_no_access_leaves_its_array_whatever_the_input(seed: int) -> None:
    nest = nest_from(seed, wild=True)
    if not floats(nest.arguments()):
        pytest.skip("no float argument")
    try:
        stay_inside(nest)
    except pyrev.UnsupportedError as refused:
        pytest.skip(f"refused: {refused}")
    except Exception as failure:
        failure.add_note(str(nest))
        raise


# ----------------------------------------------------------------- hunting by hand


def symptom(nest: Nest, target: str) -> str:
    """What goes wrong, in a word; empty if nothing does."""
    try:
        if not (tame(nest) and smooth(nest)):
            return ""
    except Exception:  # the reduced text is no longer a function that runs
        return ""
    try:
        judge(nest, target)
    except pyrev.UnsupportedError:
        return ""
    except AssertionError as wrong:
        return "assertion: " + str(wrong).splitlines()[0].split(":")[0]
    except Exception as crash:
        return f"{type(crash).__name__}: {str(crash)[:60]}"
    return ""


def reduced(nest: Nest, fails: Callable[..., bool]) -> Nest:
    """The nest with as many lines deleted or unindented as the failure survives."""
    shrinking = True
    while shrinking:
        shrinking = False
        head, _, body = nest.source.partition("def f(")
        lines = body.split("\n")
        for k in range(len(lines) - 1, 0, -1):
            deep = len(lines[k]) - len(lines[k].lstrip())
            end = k + 1
            while end < len(lines) and (
                len(lines[end]) - len(lines[end].lstrip()) > deep and lines[end].strip()
            ):
                end += 1
            inner = [line[4:] for line in lines[k + 1 : end]]
            for replacement in ([], inner):
                if end == k + 1 and replacement is inner:
                    continue
                text = (
                    head
                    + "def f("
                    + "\n".join([*lines[:k], *replacement, *lines[end:]])
                )
                smaller = replace(nest, source=text)
                try:
                    compile(text, "<reduced>", "exec")
                except SyntaxError:
                    continue
                if fails(smaller):
                    nest, shrinking = smaller, True
                    break
            if shrinking:
                break
    return nest


def hunt(start: int, count: int, target: str = "python") -> dict[str, list[int]]:
    """Check many seeds; print each new kind of failure, reduced."""
    seen: dict[str, list[int]] = {}
    for seed in range(start, start + count):
        nest = nest_from(seed)
        found = symptom(nest, target)
        if not found:
            continue
        seen.setdefault(found, []).append(seed)
        if len(seen[found]) <= 2:
            small = reduced(nest, lambda n, same=found: symptom(n, target) == same)
            print(f"=== seed {seed}: {found}\n{small}", flush=True)
            try:
                judge(small, target)
            except Exception as failure:
                print(f"--- {type(failure).__name__}: {str(failure)[:600]}", flush=True)
    return seen


if __name__ == "__main__":
    argv = sys.argv[1:]
    totals = hunt(int(argv[0]), int(argv[1]), *argv[2:])
    print({k: len(v) for k, v in totals.items()})
