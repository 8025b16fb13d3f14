"""Stores that all branches end with: one behind the test, and every bit stays."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

import pyrev
from pyrev.ir.dtypes import infer
from pyrev.ir.nodes import Param, Program, all_names
from pyrev.ir.text import block_text
from pyrev.parse import parse_block
from pyrev.schedule.common_tails import common_stores
from tests.tools import oracle

DTYPES = {"a": "float64", "b": "float64", "c": "float32", "k": "int64", "n": "int64"}
RANKS = {"a": 1, "b": 1, "c": 1, "k": 1}


def moved(text: str) -> str:
    params = tuple(Param(n, RANKS.get(n, 0), d) for n, d in DTYPES.items())
    program = Program("f", params, parse_block(text.strip("\n")))
    taken = {*all_names(program.body), *DTYPES}
    made = common_stores(program, infer(program, DTYPES), taken)
    return block_text(made.body).strip("\n")


MOVED = {
    "two arrays": (
        """
for x in range(n):
    if b[x] > 0.5:
        a[x] = b[x]
        c[x] = 2.0
    else:
        a[x] = 0.0
        c[x] = c[x - 1]
""",
        """
for x in range(n):
    if b[x] > 0.5:
        value_2 = b[x]
        value = 2.0
    else:
        value_2 = 0.0
        value = c[x - 1]
    a[x] = value_2
    c[x] = value
""",
    ),
    "a branch with branches": (
        """
for x in range(n):
    if b[x] > 0.5:
        if c[x] > 0.5:
            a[x] = 1.0
        else:
            a[x] = 2.0
    else:
        a[x] = 3.0
""",
        """
for x in range(n):
    if b[x] > 0.5:
        if c[x] > 0.5:
            value = 1.0
        else:
            value = 2.0
        value_2 = value
    else:
        value_2 = 3.0
    a[x] = value_2
""",
    ),
    "the same value": (
        """
for x in range(n):
    if b[x] > 0.5:
        b[x] = a[x]
        a[x] = 0.0
    else:
        a[x] = 0.0
""",
        """
for x in range(n):
    if b[x] > 0.5:
        b[x] = a[x]
    a[x] = 0.0
""",
    ),
}
LEFT = {
    "one branch only": """
for x in range(n):
    if b[x] > 0.5:
        a[x] = 1.0
""",
    "another element": """
for x in range(1, n):
    if b[x] > 0.5:
        a[x] = 1.0
    else:
        a[x - 1] = 2.0
""",
    "what comes after reads it": """
for x in range(n):
    if b[x] > 0.5:
        a[x] = 1.0
        b[x] = a[x]
    else:
        a[x] = 2.0
        b[x] += 1.0
""",
    "an integer and a float": """
for x in range(n):
    if b[x] > 0.5:
        c[x] = k[x]
    else:
        c[x] = b[x]
""",
    "a literal and a narrower float": """
for x in range(n):
    if b[x] > 0.5:
        a[x] = c[x]
    else:
        a[x] = 0.1
""",
    "increments": """
for x in range(n):
    if b[x] > 0.5:
        a[x] += 1.0
    else:
        a[x] += b[x]
""",
}


@pytest.mark.parametrize("name", MOVED)
def test_a_store_of_all_branches_stands_behind_them(name: str) -> None:
    text, expected = MOVED[name]
    assert moved(text) == expected.strip("\n")


@pytest.mark.parametrize("name", LEFT)
def test_other_stores_stay(name: str) -> None:
    assert moved(LEFT[name]) == LEFT[name].strip("\n")


def drawn(rng: random.Random) -> str:
    """A loop with branches that store, in branches, what others may read."""

    def statements(depth: int) -> list[str]:
        lines: list[str] = []
        for _ in range(rng.randint(1, 2)):
            if depth < 2 and rng.random() < 0.5:
                test = rng.choice(["b[x] > 0.5", "a[x] < 1.0", "c[x] > a[x]", "x > 3"])
                lines += [f"if {test}:", *indented(statements(depth + 1))]
                if rng.random() < 0.8:
                    lines += ["else:", *indented(statements(depth + 1))]
            else:
                at = rng.choice(["x", "x", "x", "x + 1"])
                value = rng.choice(["0.1", "b[x]", "a[x] * 2.0", "c[x]", "k[x]"])
                sign = rng.choice(["=", "=", "=", "+="])
                lines.append(f"{rng.choice('aabc')}[{at}] {sign} {value}")
        return lines

    def indented(lines: list[str]) -> list[str]:
        return ["    " + line for line in lines]

    return "\n".join(["for x in range(n):", *indented(statements(0))])


@pytest.mark.parametrize("seed", range(200))
def test_random_branches_keep_every_bit(seed: int) -> None:
    text = drawn(random.Random(seed))
    made = moved(text)

    def run(lines: str) -> list[Any]:
        rng = np.random.default_rng(seed)
        space: dict[str, Any] = {"n": 7}
        for name in "abc":
            space[name] = rng.normal(size=9).astype(DTYPES[name])
        space["k"] = rng.integers(1 << 55, 1 << 60, size=9)
        exec(lines, space)
        return [space[name].tolist() for name in "abc"]

    assert run(made) == run(text), f"{text}\n\n{made}"


def test_many_random_branches_have_a_store_less() -> None:
    texts = [drawn(random.Random(seed)) for seed in range(200)]
    stores = [(t.count("] = "), moved(t).count("] = ")) for t in texts]
    assert sum(after < before for before, after in stores) > 40


def scaled_rows(x: Any, m: Any, out: Any) -> None:
    row = np.empty(x.shape[1])
    for y in range(x.shape[0]):
        total = 0.0
        for k in range(x.shape[1]):
            if m[k] > 1:
                row[k] = x[y, k]
            elif m[k] == 1:
                row[k] = x[y, k] * x[y, k]
            else:
                row[k] = 2.0
            total += row[k] * row[k]
        for k in range(x.shape[1]):
            out[y, k] = row[k] / (1.0 + total)


def kept_at_times(x: Any, m: Any, out: Any) -> None:
    """Where no branch stores, the row has what the one before it has left."""
    row = np.ones(x.shape[1])
    for y in range(x.shape[0]):
        for k in range(x.shape[1]):
            if m[k] > 1:
                row[k] = x[y, k]
            elif m[k] == 1:
                row[k] *= x[y, k]
        for k in range(x.shape[1]):
            out[y, k] = row[k] * row[k]


@pytest.mark.parametrize("target", ["python", "numba"])
@pytest.mark.parametrize("function", [scaled_rows, kept_at_times])
def test_rows_that_data_fills_are_right(function: Any, target: str) -> None:
    rng = np.random.default_rng(3)
    args = {
        "x": rng.normal(size=(4, 9)),
        "m": rng.integers(0, 3, size=9),
        "out": np.zeros((4, 9)),
    }
    oracle.check(
        pyrev.differentiable(function, target=target), function, args, ("out",), rng
    )


def either(x: Any, narrow: Any, out: Any) -> None:
    for k in range(x.shape[0]):
        if x[k] > 0.0:
            out[k] = narrow[k]
        elif x[k] > -1.0:
            out[k] = 0.1
        else:
            out[k] = 0.1 * narrow[k]


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_what_is_stored_is_rounded_once(dtype: str) -> None:
    rng = np.random.default_rng(4)
    x = rng.normal(size=50)
    narrow = rng.normal(size=50).astype("float32")
    mine, theirs = np.zeros(50, dtype), np.zeros(50, dtype)
    pyrev.differentiable(either, target="numba").primal(x, narrow, mine)
    either(x, narrow, theirs)
    np.testing.assert_array_equal(mine, theirs)


def test_a_row_that_every_branch_stores_is_one_of_each_iteration() -> None:
    args = np.ones((64, 512)), np.ones(512, np.int64), np.ones((64, 512))
    text = pyrev.differentiable(scaled_rows, target="numba").primal.source_for(
        "numba", *args
    )
    assert "for y in prange(" in text
    kept = pyrev.differentiable(kept_at_times, target="numba").primal.source_for(
        "numba", *args
    )
    assert "for y in prange(" not in kept
