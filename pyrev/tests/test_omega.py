"""What is decided without ISL is what ISL says."""

from __future__ import annotations

import random
from collections import Counter

import islpy
import pytest

from pyrev import omega
from pyrev.poly import conj, disj, negated, some

NAMES = ("a0", "a1", "b0", "p0", "p1")


def term(rng: random.Random, names: tuple[str, ...], depth: int = 2) -> str:
    kind = rng.randrange(9 if depth else 3)
    if kind < 2:
        return rng.choice(names)
    if kind == 2:
        return rng.choice(["0", "1", "2", "7", "(-1)", "(-3)"])
    inner = term(rng, names, depth - 1)
    if kind < 6:
        op = rng.choice("+-")
        return f"({inner} {op} {term(rng, names, depth - 1)})"
    if kind == 6:
        return rng.choice([f"({rng.randrange(-3, 4)} * {inner})", f"(-{inner})"])
    k = rng.randrange(1, 4)
    if kind == 7:
        return f"floor(({inner}) / {k})"
    return f"((({inner}) mod {k}))"


def atom(rng: random.Random, names: tuple[str, ...]) -> str:
    one, two = term(rng, names), term(rng, names)
    if rng.random() < 0.1:
        return f"{one} <= {two} and {two} < {term(rng, names)}"
    if rng.random() < 0.1:
        return f"({one} - {two}) mod {rng.randrange(1, 4)} = {rng.randrange(2)}"
    return f"{one} {rng.choice(['<', '<=', '>', '>=', '=', '!='])} {two}"


def formula(rng: random.Random, names: tuple[str, ...], depth: int = 3) -> str:
    kind = rng.randrange(8) if depth else 0
    if kind < 2:
        return atom(rng, names)
    if kind < 5:
        count = rng.randrange(1, 5)
        return conj([formula(rng, names, depth - 1) for _ in range(count)])
    if kind == 5:
        return disj([formula(rng, names, depth - 1) for _ in range(rng.randrange(3))])
    if kind == 6:
        return negated(formula(rng, names, depth - 1))
    bound = tuple(f"c{depth}{k}" for k in range(rng.randrange(1, 3)))
    return some(bound, formula(rng, (*names, *bound, *bound), depth - 1))


def by_isl(formulas: tuple[str, ...]) -> bool:
    """Is there a solution?"""
    text = " and ".join(f"({f})" for f in formulas)
    known = islpy.Set.read_from_str(
        islpy.DEFAULT_CONTEXT, f"[p0, p1] -> {{ [a0, a1, b0] : {text} }}"
    )
    return not known.is_empty()


@pytest.mark.parametrize("first", range(0, 2000, 250))
def test_what_is_decided_is_what_isl_says(first: int) -> None:
    found: Counter[bool | None] = Counter()
    for seed in range(first, first + 250):
        rng = random.Random(seed)
        bounds = [f"{n} >= {rng.randrange(-2, 2)}" for n in NAMES if rng.random() < 0.7]
        bounds += [f"{n} <= p0 + 1" for n in NAMES[:3] if rng.random() < 0.3]
        formulas = conj([formula(rng, NAMES)]), conj(bounds)
        got = omega.satisfiable(formulas)
        found[got] += 1
        assert got is None or got == by_isl(formulas), (seed, formulas)
    assert found[True] > 60 and found[False] > 20, found


@pytest.mark.parametrize(
    ("formulas", "answer"),
    [
        # Of two rational bounds there is no integer between.
        (("2 * a > 0", "2 * a < 2"), False),
        (("2 * a = 1",), False),
        (("2 * a + 4 * b = 1",), False),
        (("a < 3 and a > 1 and a != 2",), False),
        (("a = 2 * b", "a mod 2 = 1"), False),
        (("a mod 3 = 1", "(a + 1) mod 3 = 2", "a > 5"), True),
        # There is a quotient wherever a remainder is denied.
        ((negated("(a mod 3) = 1"), "a = 4"), False),
        ((negated("(a mod 3) = 1"), "a = 5"), True),
        # A name that is bound is not the one outside; a quotient of it neither.
        ((some(("a",), "a = 1"), "a = 2"), True),
        ((some(("a",), "a mod 2 = 1"), "a mod 2 = 0"), True),
        ((conj([some(("a",), "a mod 2 = b"), some(("a",), "a = b + 1")]),), True),
        (
            (negated(some(("c",), "0 <= c and c < n and c = a")), "0 <= a", "a < n"),
            False,
        ),
        (
            (negated(some(("c",), "0 <= c and c < n and c = a")), "0 <= a", "a <= n"),
            True,
        ),
        ((disj([]),), False),
        ((conj([]),), True),
        # What is not linear may hold or not.
        (("a * b = 1",), None),
        ((negated("a * b = 1"),), None),
        (("a * b = 1", "a > 0", "a < 1"), False),
        (("7 * a + 5 * b = 1", "0 <= a", "a <= b"), None),
    ],
)
def test_what_is_decided(formulas: tuple[str, ...], answer: bool | None) -> None:
    assert omega.satisfiable(formulas) is answer


def test_what_cannot_be_read_is_left_open() -> None:
    assert omega.satisfiable(("a => b",)) is None
    assert omega.satisfiable(("a + ",)) is None


def test_a_formula_knows_its_parts_and_is_its_text() -> None:
    made = some(("c0", "c1"), conj(["c0 = a", negated("c1 = b")]))
    assert made == "exists (c0, c1 : (c0 = a) and (not (c1 = b)))"
