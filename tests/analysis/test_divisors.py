"""Counts that are no zero where a statement runs: by the loops around it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import product

import pytest

from pyrev.analysis.divisors import nonzero
from pyrev.ir.nodes import Assign, walk
from pyrev.ir.text import expr_text
from pyrev.parse import parse_block

LOOPS = [
    "range(n)",
    "range(1, n)",
    "range(-1, n)",
    "range(n + 1)",
    "range(1, n + 1)",
    "range(min(n, m))",
    "range(max(1, m - 1), min(n - 1, m))",
    "range(m, n)",
    "range(2 * n)",
    "range(n - m)",
    "reversed(range(n))",
    "range(0, n, 2)",
    "range(x, n)",
    "range(x - 1, n)",
]


def known(text: str) -> dict[str, set[str]]:
    """By the target of each assignment: the counts that are no zero there."""
    block = parse_block(text)
    found = nonzero(block)
    names: dict[str, set[str]] = {}
    for s in walk(block):
        if isinstance(s, Assign):
            names[expr_text(s.target)] = set(map(expr_text, found[id(s)]))
    return names


def test_a_loop_shows_its_count() -> None:
    assert known("for y in range(n):\n    a = 1\nb = 2") == {"a": {"n"}, "b": set()}
    two = "for y in range(1, min(n - 1, m)):\n    a = 1"
    assert known(two) == {"a": {"n", "m"}}


def test_a_count_that_changes_is_not_known() -> None:
    # The loop runs over what the count was, which has a name of its own.
    assert known("for y in range(n):\n    n = n - 1\n    a = 1")["a"] == {"stop"}
    nest = (
        "for z in range(n):\n    for y in range(2):\n        n = n - 1\n        a = 1"
    )
    assert "n" not in known(nest)["a"]


def test_one_statement_in_two_places_has_what_both_have() -> None:
    first, second = parse_block(
        "for y in range(n):\n    a = 1\nfor y in range(m):\n    b = 1"
    )
    shared = walk((first,))
    inner = [s for s in shared if isinstance(s, Assign)]

    twice = (first, replace(second, body=tuple(inner)))
    assert nonzero(twice)[id(inner[0])] == frozenset()


def bounds() -> Iterator[tuple[int, int]]:
    return product(range(-3, 4), range(-3, 4))


@pytest.mark.parametrize("outer", LOOPS)
@pytest.mark.parametrize("inner", LOOPS)
def test_no_iteration_has_a_zero(outer: str, inner: str) -> None:
    """Every iteration that runs, for counts around zero."""
    if "x" in outer.replace("max", ""):
        outer = outer.replace("x", "0", 1)
    text = f"for x in {outer}:\n    for y in {inner}:\n        a = 1"
    counts = known(text)["a"]
    traced = text.replace("a = 1", "seen.append(1)")
    for n, m in bounds():
        seen: list[int] = []
        exec(traced, {"n": n, "m": m, "seen": seen})
        if seen:
            assert all({"n": n, "m": m}[c] for c in counts), (n, m, counts)


def test_most_loops_show_something() -> None:
    found = [bool(known(f"for x in {one}:\n    a = 1")["a"]) for one in LOOPS[:12]]
    assert found == [
        True,
        True,
        False,
        False,
        True,
        True,
        True,
        False,
        False,
        False,
        True,
        True,
    ]
