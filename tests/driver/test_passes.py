"""Passes run in the order of their list, and each is verified after itself."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import pyrev
from pyrev.driver import passes
from pyrev.driver.passes import CPU, CUDA, READABLE, Pass, run
from pyrev.driver.setting import Setting
from pyrev.ir.nodes import For, Program, Var
from pyrev.parse import parse_text
from tests.corpora.everything import EVERY, accepted
from tests.driver.examples import (
    BITS,
    PARTS,
    Example,
    applied,
    example,
    parsed,
    printed,
    results,
)
from tests.schedule.strip_mine import STRIP_MINE
from tests.tools.interpreted import called_parallel
from tests.turns import share_of

PROGRAM = parse_text("""
def f(a, b):
    for i in range(1, a.shape[0]):
        a[i] = a[i - 1] * b[i]
""")


def step(change: object) -> Pass:
    def applied(program: Program, setting: Setting) -> Program:
        (loop,) = program.body
        assert isinstance(loop, For) and callable(change)
        return replace(program, body=(change(loop),))

    return Pass("damage", applied, "nothing", "nothing")


def unbound(loop: For) -> For:
    return replace(loop, hi=Var("nobody"))


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (called_parallel, "after damage the loop over i has no proof"),
        (unbound, "`nobody` is read before it exists"),
    ],
)
def test_damage_is_found_behind_the_pass_that_does_it(
    change: object, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(passes, "AFTER", [passes.well_formed, passes.proved])
    after: list[str] = []

    def noted(program: Program, setting: Setting) -> Program:
        after.append("run")
        return program

    steps = (step(change), Pass("next", noted, "nothing", "nothing"))
    with pytest.raises(pyrev.InternalError, match=said):
        run(steps, PROGRAM, Setting({}))
    assert not after
    monkeypatch.setattr(passes, "AFTER", [])
    if change is called_parallel:  # what is not well formed is found in the end
        assert run(steps, PROGRAM, Setting({})).program.body == (
            called_parallel(PROGRAM.body[0]),
        )
    else:
        with pytest.raises(pyrev.InternalError, match=said):
            run(steps, PROGRAM, Setting({}))
    assert after


@pytest.mark.parametrize("steps", [READABLE, CPU, CUDA])
def test_every_pass_has_a_name_of_its_own_and_says_what_it_keeps(
    steps: tuple[Pass, ...],
) -> None:
    names = [p.name for p in steps]
    assert len({*names}) == len(names)
    assert all(p.relies_on and p.keeps for p in steps)


def test_programs_are_printed_after_the_passes_that_are_asked_for(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PYREV_DUMP", "gather,reuse")
    run(READABLE, PROGRAM, Setting({}))
    said = [line for line in capsys.readouterr().err.splitlines() if "# after" in line]
    assert said == ["# after gather", "# after reuse"]


@pytest.mark.slow
@pytest.mark.parametrize("target", ["python", "numba", "cuda"])
@pytest.mark.parametrize("name", share_of(EVERY, 12))
def test_every_proof_holds_after_every_pass(
    name: str, target: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(passes, "AFTER", [passes.proved])
    f = accepted(EVERY[name], "python")
    try:
        f.adjoint.source_for(target)
    except pyrev.UnsupportedError as refused:
        assert target == "cuda", refused


CHUNKED = """
def f(a, b, parts):
    for c in range(4):
        own = 0.0
        for i in range(a.shape[0] * c // 4, {end}):
            own += b[i]
            a[{at}] = b[i]
        parts[c] = own
"""


@pytest.mark.parametrize(
    ("end", "at", "holds"),
    [
        ("a.shape[0] * (c + 1) // 4", "i", True),
        ("max(a.shape[0] * (c + 1) // 4, a.shape[0] * c // 4)", "i", True),
        ("a.shape[0] * (c + 1) // 4 + 1", "i", False),
        ("a.shape[0] * (c + 1) // 4", "i // 2", False),
        ("a.shape[0] * (c + 1) // 4", "0", False),
    ],
)
def test_chunks_are_verified_however_their_ranges_are_parted(
    end: str, at: str, holds: bool
) -> None:
    program = parse_text(CHUNKED.format(end=end, at=at))
    (loop,) = program.body
    assert isinstance(loop, For)
    program = replace(program, body=(called_parallel(loop),))
    if holds:
        passes.proved("a pass", program)
    else:
        with pytest.raises(pyrev.InternalError, match="over c has no proof"):
            passes.proved("a pass", program)


EACH = {step.name: step for step in (*READABLE, *CPU, *CUDA, STRIP_MINE)}


@pytest.mark.parametrize("name", EACH)
def test_a_pass_makes_of_its_example_what_its_docstring_shows(name: str) -> None:
    shown = example(EACH[name])
    program = parsed(shown.before)
    assert printed(program) == shown.before != shown.after
    assert applied(EACH[name], program, shown) == shown.after


def same(shown: Example, whole: bool) -> bool:
    """Do both texts leave the same bits, or at least values, for a few arguments?"""
    for seed in range(2):
        arguments = shown.arguments(seed, whole)
        before = results(shown.before, arguments)
        after = results(shown.after, arguments, seed)
        for a, b in zip(before, after, strict=True):
            if a is None and b is None:
                continue
            assert np.isfinite(a).all() and a.dtype == b.dtype
            if not np.array_equal(a, b):
                return False
            if shown.law.startswith(BITS) and a.tobytes() != b.tobytes():
                return False
    return True


@pytest.mark.slow
@pytest.mark.parametrize("name", EACH)
def test_a_pass_keeps_its_law_in_its_example_whatever_the_order_of_threads(
    name: str,
) -> None:
    shown = example(EACH[name])
    assert same(shown, whole=True)
    # Sums in another order are other bits: a law that gives these up has to.
    assert same(shown, whole=False) == shown.law.startswith(BITS)


@pytest.mark.parametrize("part", [*PARTS, "The same bits"])
def test_a_docstring_of_a_pass_without_one_of_its_parts_is_found(part: str) -> None:
    def lacking(program: Program, setting: Setting) -> Program:
        return program

    whole = STRIP_MINE.run.__doc__
    assert whole is not None and whole.count(part) == 1
    step = Pass("lacking", lacking, "nothing", "nothing")
    lacking.__doc__ = whole
    assert example(step) == example(STRIP_MINE)
    lacking.__doc__ = whole.replace(part, "Besides")
    with pytest.raises(ValueError, match="the docstring of `lacking`"):
        example(step)
