"""Parts of a formula that have nothing to do with each other are asked about apart."""

from __future__ import annotations

import itertools
import random

import pytest

from pyrev.analysis import poly
from pyrev.analysis.conjuncts import disjuncts, independent
from pyrev.analysis.poly import Space, conj, disj, exists, is_empty, negated
from pyrev.ir.nodes import Var


def formula(rng: random.Random, names: list[str], depth: int = 3) -> str:
    if depth == 0 or rng.random() < 0.2:
        a, b = rng.choice(names), rng.choice([*names, "0", "1", "2"])
        return f"{a} {rng.choice(['<', '<=', '=', '>', '>='])} {b}"
    parts = [formula(rng, names, depth - 1) for _ in range(rng.randint(1, 3))]
    made = rng.choice([conj, conj, disj])(parts)
    return negated(made) if rng.random() < 0.1 else made


def holds(text: str, values: dict[str, int]) -> bool:
    """A formula of ISL by Python's own rules, over values that are given."""
    return bool(eval(text.replace(" = ", " == "), {}, values))


@pytest.mark.parametrize("seed", range(40))
def test_parts_hold_together_exactly_where_the_formula_does(seed: int) -> None:
    rng = random.Random(seed)
    names = ["i", "k", "m", "s"]
    text = formula(rng, names)
    parts = independent([text])
    ways = disjuncts(text)
    for a, b in itertools.combinations(parts, 2):
        assert a.names.isdisjoint(b.names)
    for each in itertools.product(range(-1, 4), repeat=len(names)):
        values = dict(zip(names, each, strict=True))
        known = holds(text, values)
        assert all(holds(conj(p.conjuncts), values) for p in parts) == known
        assert any(holds(one, values) for one in ways) == known


@pytest.mark.parametrize("seed", range(40))
def test_a_formula_is_empty_exactly_where_counting_finds_nothing(seed: int) -> None:
    rng = random.Random(100 + seed)
    names = ["i", "k", "m"]
    inside = conj([f"-1 <= {n} and {n} <= 3" for n in names])
    text = conj([formula(rng, names), inside])
    known = any(
        holds(text, dict(zip(names, v, strict=True)))
        for v in itertools.product(range(-1, 4), repeat=len(names))
    )
    space = Space(frozenset(), frozenset())
    assert is_empty(space, names, text) != known


def test_many_cases_beside_each_other_are_within_the_budget() -> None:
    # 2 ** 24 conjunctions, if they are not asked about apart.
    cases = [
        f"((0 >= w{k} and s{k} = 0) or (w{k} > 0 and s{k} = w{k}))" for k in range(24)
    ]
    names = [f"{x}{k}" for k in range(24) for x in "ws"]
    space = Space(frozenset(["n"]), frozenset())
    (n,) = space.cases(Var("n"), {}) or ()
    inside = conj([*cases, f"0 <= i and i < {n.term}"])
    assert is_empty(space, [*names, "i"], conj([inside, f"i > {n.term}"]))
    assert not is_empty(space, [*names, "i"], inside)
    test = exists(space, [*names, "i"], disj([inside, conj([inside, "i = 7"])]))
    assert str(test) == str(exists(space, ["i"], f"0 <= i and i < {n.term}"))


def test_what_isl_cannot_say_of_a_part_is_not_said_of_the_whole(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def gives_up(question: object, budget: int = 0) -> object:
        raise poly.Unknown("too many operations")

    monkeypatch.setattr(poly, "_ask", gives_up)
    space = Space(frozenset(["n"]), frozenset())
    assert not is_empty(space, ["unheard"], "unheard > 0 and unheard < 0")
    with pytest.raises(poly.Unknown):
        exists(space, ["other"], "other > 0")


def test_a_question_with_less_budget_is_another_one() -> None:
    space = Space(frozenset(["n"]), frozenset())
    formula = "7 * a + 3 * b = c and 2 * c = 14 * a + 6 * b + 1"
    assert not is_empty(space, ["a", "b", "c"], formula, 1)
    assert is_empty(space, ["a", "b", "c"], formula)
    assert not is_empty(space, ["a", "b", "c"], formula, 1)
