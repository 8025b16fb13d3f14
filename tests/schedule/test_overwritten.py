"""`overwritten_after` against execution: which reads lose their value later."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pyrev.analysis.dependence import overwritten_after
from pyrev.ir.nodes import Assign, Block, For, If, Load, Stmt, walk, walk_expr
from pyrev.parse import parse_block


def numbered(block: Block) -> Block:
    """`block` with ids 0, 1, 2... in textual order."""
    count = iter(range(1000))

    def number(s: Stmt) -> Stmt:
        k = next(count)
        match s:
            case For():
                return replace(s, id=k, body=tuple(map(number, s.body)))
            case If():
                then = tuple(map(number, s.then))
                return replace(s, id=k, then=then, orelse=tuple(map(number, s.orelse)))
            case _:
                return replace(s, id=k)

    return tuple(map(number, block))


def answers(text: str) -> dict[str, bool]:
    """Per load on a right side, in order: may it be overwritten?"""
    from pyrev.ir.text import expr_text

    body = numbered(parse_block(text))
    found = {}
    for s in walk(body):
        if isinstance(s, Assign):
            for e in walk_expr(s.value):
                if isinstance(e, Load):
                    found[f"{s.id}: {expr_text(e)}"] = overwritten_after(body, s.id, e)
    return found


CASES = {
    "in place": (
        "for i in range(n):\n    u[i] = u[i] * u[i]",
        {"1: u[i]": True},
    ),
    "ping pong planes": (
        """
for t in range(T):
    for i in range(1, n - 1):
        v[t + 1, i] = v[t, i - 1] * v[t, i + 1]
""",
        {"2: v[t, i - 1]": False, "2: v[t, i + 1]": False},
    ),
    "left neighbour is new, right one is old": (
        "for i in range(1, n - 1):\n    u[i] = u[i - 1] * u[i + 1]",
        {"1: u[i - 1]": False, "1: u[i + 1]": True},
    ),
    "descending, the other way round": (
        "for i in range(n - 2, 0, -1):\n    u[i] = u[i - 1] * u[i + 1]",
        {"1: u[i - 1]": True, "1: u[i + 1]": False},
    ),
    "reversed, the other way round": (
        "for i in reversed(range(1, n - 1)):\n    u[i] = u[i - 1] * u[i + 1]",
        {"1: u[i - 1]": True, "1: u[i + 1]": False},
    ),
    "a later nest with the same index name": (
        """
for i in range(n):
    b[i] = a[i] * a[i]
for i in range(n, 2 * n):
    a[i] = 0.0
""",
        {"1: a[i]": False},
    ),
    "a later nest that meets it": (
        """
for i in range(n):
    b[i] = a[i] * a[i]
for i in range(n - 1, 2 * n):
    a[i] = 0.0
""",
        {"1: a[i]": True},
    ),
    "an earlier nest": (
        """
for i in range(n):
    a[i] = 0.0
for i in range(n):
    b[i] = a[i] * a[i]
""",
        {"3: a[i]": False},
    ),
    "written under a test that excludes it": (
        """
for i in range(n):
    b[i] = a[i] * a[i]
for i in range(n):
    if i >= n:
        a[i] = 0.0
""",
        {"1: a[i]": False},
    ),
    "written under a test on data": (
        """
for i in range(n):
    b[i] = a[i] * a[i]
    if b[i] > 0:
        a[i] = 0.0
""",
        {"1: a[i]": True},
    ),
    "written at a data index": (
        "for i in range(n):\n    b[i] = a[i]\n    a[idx[i]] = 0.0",
        {"1: a[i]": True},
    ),
    "another column": (
        "for i in range(n):\n    u[i, 1] = u[i, 0] * u[i, 0]",
        {"1: u[i, 0]": False},
    ),
    "odd and even": (
        "for i in range(n):\n    u[2 * i] = u[2 * i + 1] * u[2 * i + 1]",
        {"1: u[2 * i + 1]": False},
    ),
    "a time loop around": (
        """
for t in range(T):
    for i in range(n):
        b[i] = a[i]
    for i in range(n):
        a[i] = b[i]
""",
        {"2: a[i]": True, "4: b[i]": True},
    ),
    "an increment": (
        "for i in range(n):\n    b[i] = a[i]\n    a[i] += 1.0",
        {"1: a[i]": True},
    ),
    "triangle": (
        "for i in range(n):\n    for j in range(i):\n        l[i, j] = l[j, j]",
        {"2: l[j, j]": False},
    ),
    "lower overwrites what upper reads": (
        "for i in range(n):\n    for j in range(n):\n        l[i, j] = l[j, i]",
        {"2: l[j, i]": True},
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_a_value_is_lost_exactly_if_a_later_write_may_meet_it(name: str) -> None:
    text, expected = CASES[name]
    found = answers(text)
    assert {k: found[k] for k in expected} == expected


def test_an_unknown_statement_is_answered_with_yes() -> None:
    body = parse_block("for i in range(n):\n    b[i] = a[i]")
    assert overwritten_after(body, 99, Load("a", ()))
