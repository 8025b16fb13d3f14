"""Blocks of rows: two loops as one, or left alone, and every value stays."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import pyrev
from pyrev.analysis.poly import integer_names
from pyrev.ir.liveness import live_out
from pyrev.ir.nodes import Const, Expr, For, Program, all_names
from pyrev.ir.text import expr_text, program_text
from pyrev.parse import parse_text
from pyrev.schedule.costs import CpuCosts
from pyrev.schedule.legality import parallelise
from pyrev.schedule.rows import overlap
from pyrev.schedule.rows.overlap import overlapped
from tests.corpora.workloads import steep_flow
from tests.tools.costs import FORMS, differentiable


def proven(program: Program) -> Program:
    live = live_out(program)
    whole = integer_names(program.body)
    body = tuple(
        parallelise(s, (), live | frozenset({"mid"}), whole)
        if isinstance(s, For)
        else s
        for s in program.body
    )
    return replace(program, body=body)


def yes(count: Expr, least: int) -> bool | None:
    """Everything is large, and the rows of everything are small."""
    return least != CpuCosts().window_elements + 1


def in_blocks(text: str, rows: int = 32) -> str:
    program = proven(parse_text(text))
    taken = {*all_names(program.body), *(p.name for p in program.params)}
    return program_text(overlapped(program, taken, yes, CpuCosts(block_rows=rows)))


TWO = """
def f(x, out):
    mid = np.empty((x.shape[0], x.shape[1]))
    for a in range(x.shape[0]):
        for b in range(x.shape[1]):
            mid[a, b] = x[a, b] * x[a, b]
    for u in range(out.shape[0]):
        for j in range(3):
            if u - j >= 0 and u - j < x.shape[0]:
                for b in range(x.shape[1]):
                    out[u, b] += mid[u - j, b]
"""


def test_rows_are_made_just_before_they_are_read() -> None:
    assert (
        in_blocks(TWO).strip()
        == """
def f(x, out):
    for block in range((out.shape[0] + 31) // 32):
        mid_rows = np.empty((3, x.shape[1]))
        # mid_rows: the last 3 rows
        for a_2 in range(block * 32 - 2, min(block * 32 + 32, out.shape[0])):
            if a_2 >= 0 and a_2 < x.shape[0]:
                for b in range(x.shape[1]):
                    mid_rows[a_2 % 3, b] = x[a_2, b] * x[a_2, b]
            if a_2 >= block * 32:
                for j in range(3):
                    if a_2 - j >= 0 and a_2 - j < x.shape[0]:
                        for b in range(x.shape[1]):
                            out[a_2, b] += mid_rows[(a_2 - j) % 3, b]
""".strip()
    )


LEFT = {
    "a row that depends on data": ("mid[u - j, b]", "mid[int(out[u, b]), b]"),
    "rows far away": ("range(3)", "range(20)"),
    "as many rows as there are": ("range(3)", "range(x.shape[0])"),
    "rows in reverse": ("mid[u - j, b]", "mid[x.shape[0] - 1 - u, b]"),
    "rows of another loop's order": ("mid[a, b] =", "mid[x.shape[0] - 1 - a, b] ="),
    "what else the first loop writes": ("mid[a, b] =", "out[a, b] = mid[a, b] ="),
    "what the second writes the first reads": ("out[u, b] +=", "x[u, b] +="),
    "read once more": ("def f(x, out):", "def f(x, out):\n    y = out"),
}


@pytest.mark.parametrize("case", LEFT)
def test_what_is_left_alone(case: str) -> None:
    before, after = LEFT[case]
    text = TWO.replace(before, after)
    assert text != TWO
    if case == "read once more":
        text = TWO + "    out[0, 0] = mid[0, 0]\n"
    assert "_rows" not in in_blocks(text)


def test_what_is_not_worth_it_stays() -> None:
    program = proven(parse_text(TWO))
    taken = set(all_names(program.body))
    assert overlapped(program, taken, lambda *_: None, CpuCosts()) == program
    assert overlapped(program, taken, yes, CpuCosts(), frozenset({"mid"})) == program


LESS_ONE = TWO.replace("np.empty((x.shape[0],", "np.empty((x.shape[0] - 1,").replace(
    "range(x.shape[0])", "range(x.shape[0] - 1)"
)


def test_a_count_that_may_be_negative_is_asked_for() -> None:
    program = proven(parse_text(LESS_ONE))
    names = {*all_names(program.body), *(p.name for p in program.params)}
    asked: list[tuple[str, int]] = []

    def ask(count: Expr, least: int) -> bool | None:
        asked.append((expr_text(count), least))
        return True

    none: frozenset[str] = frozenset()
    done = overlapped(program, {*names}, yes, CpuCosts(), none, ask)
    assert "mid_rows: the last 3 rows" in program_text(done)
    assert asked == [("x.shape[0] - 1", 0)]
    assert overlapped(program, {*names}, yes, CpuCosts(), none) == program


def test_less_than_no_rows_are_an_error_in_shared_code() -> None:
    costs = FORMS["overlapping blocks"].costs
    flow = differentiable(steep_flow, costs, target="numba")
    for rows in 12, 14:
        given = np.random.default_rng(rows).normal(size=(rows, 5))
        out = np.zeros_like(given)
        text = flow.adjoint.source_for("numba", u=given, out=out)
        assert "_rows: the last " in text
        flow(given, out)
    nothing = np.zeros((0, 5))
    with pytest.raises(ValueError, match="negative dimensions"):
        flow(nothing, nothing.copy())
    with pytest.raises(ValueError, match="negative dimensions"):
        pyrev.vjp(flow, nothing, nothing.copy())


# ------------------------------------------------------------------ random pairs


def pair(rng: random.Random) -> str:
    """Two loops over rows: the second reads some that are near, guarded or clamped."""
    lines = [
        "def f(x, out):",
        "    mid = np.empty((x.shape[0], x.shape[1]))",
        "    for a in range(x.shape[0]):",
        "        for b in range(x.shape[1]):",
        "            mid[a, b] = x[a, b] * 2.0 - x[a, 0]",
    ]
    if rng.random() < 0.4:
        lines += [
            "        for b in range(1, x.shape[1]):",
            "            mid[a, b] += mid[a, b - 1]",
        ]
    if rng.random() < 0.3:
        lines += ["    s = 3.0"]
    lines += ["    for u in range(out.shape[0]):"]
    for _ in range(rng.randint(1, 3)):
        form = rng.choice(["tap", "taps", "clamped", "low", "high"])
        k, n = rng.randint(-3, 3), rng.randint(1, 4)
        inside = "{r} >= 0 and {r} < x.shape[0]"
        match form:
            case "tap":
                row = f"u + {k}" if k >= 0 else f"u - {-k}"
                lines += [f"        if {inside.format(r=row)}:"]
            case "taps":
                row = rng.choice(["u - j", "u + j", "u - 2 * j", "u + j - 1"])
                lines += [f"        for j in range({n}):"]
                lines += [f"            if {inside.format(r=row)}:"]
            case "clamped":
                row = f"min(max(u - {n}, 0), x.shape[0] - 1)"
            case "low":
                row = f"max(u - {n}, 0)"
                lines += ["        if u < x.shape[0]:"]
            case _:
                row = f"min(u + {n}, out.shape[0] - 1)"
                lines += ["        if out.shape[0] <= x.shape[0]:"]
        deep = {"taps": 4, "clamped": 2}.get(form, 3)
        lines += [
            "    " * deep + "for b in range(x.shape[1]):",
            "    " * (deep + 1) + f"out[u, b] += mid[{row}, b] * {rng.randint(1, 5)}.0",
        ]
    return "\n".join(lines) + "\n"


def run(text: str, x: Any, out: Any) -> Any:
    space: dict[str, Any] = {"np": Unset}
    exec(text, space)
    own = out.copy()
    space["f"](x.copy(), own)
    return own


class Unset:
    """Memory that nobody has filled is not a number."""

    @staticmethod
    def empty(shape: tuple[int, ...]) -> Any:
        return np.full(shape, np.nan)


@pytest.mark.parametrize("seed", range(150))
def test_random_pairs_keep_every_value(seed: int) -> None:
    rng = random.Random(seed)
    size = rng.choice([1, 2, 3, 32])
    text = pair(rng)
    made = in_blocks(text, size)
    if rng.random() < 0.5:  # the blocks in another order
        made = made.replace("for block in range(", "for block in reversed(range(", 1)
        made = made.replace(f"// {size}):", f"// {size})):", 1)
    draw = np.random.default_rng(seed)
    for rows, others in ((7, 7), (5, 9), (9, 4), (1, 3), (0, 2), (3, 0)):
        x, out = draw.random((rows, 4)), draw.random((others, 4))
        if "min(max(" in text and rows == 0:
            continue  # there is no such row
        np.testing.assert_array_equal(run(made, x, out), run(text, x, out))


@pytest.mark.slow
def test_most_random_pairs_are_made_one() -> None:
    made = [in_blocks(pair(random.Random(seed))) for seed in range(150)]
    assert sum("block" in text for text in made) > 90


def test_a_constant_row_is_not_near() -> None:
    assert overlap._apart(Const(0), _loop(), {}) is None


def _loop() -> For:
    (loop,) = (s for s in parse_text(TWO).body[-1:] if isinstance(s, For))
    return loop
