"""Random sequences of calls and changes: a share of `tests.tools.sequences`."""

from __future__ import annotations

from collections.abc import Callable
from types import FunctionType
from typing import Any

import numpy as np
import pytest

import pyrev
from pyrev.parse import grounds, source
from tests.tools import sequences
from tests.tools.sequences import agrees, attempt, expected, hunt, unlike
from tests.turns import TURN

SHARE = 40


@pytest.mark.slow
def test_every_call_of_a_sequence_answers_for_the_function_of_that_moment() -> None:
    ends, wrong = hunt(SHARE * TURN, SHARE)
    assert not wrong, wrong
    assert ends["right"] > 4 * SHARE
    assert 0 < ends["refused"] < 0.2 * ends["right"]


@pytest.mark.slow
def test_compiled_sequences_agree_too() -> None:
    ends, wrong = hunt(SHARE * TURN, 2, "numba")
    assert not wrong, wrong
    assert ends["right"]


#: What is put back: an attribute, and what it was like before it was mended.
Mutant = tuple[object, str, Callable[..., Any]]


def _no_functions(self: Any, f: FunctionType) -> None:
    pass


def _names_only(own: Any, other: Any) -> bool:
    return bool(own.co_name == other.co_name)


def _code_only(own: Any, other: Any) -> bool:
    return own.co_code == other.co_code and own.co_names == other.co_names


def _always(self: Any) -> bool:
    return True


def _no_places(self: Any, space: object, ask: object, name: str, found: object) -> None:
    pass


def _unread(self: Any, f: FunctionType, name: str) -> object:
    return grounds.lookup(f, name)


MUTANTS: dict[str, Mutant] = {
    "code and defaults are not looked at": (grounds.Grounds, "function", _no_functions),
    "names are not looked at": (grounds.Grounds, "_note", _no_places),
    "helpers are looked up once": (grounds.Grounds, "lookup", _unread),
    "nothing is compared": (grounds.Grounds, "hold", _always),
    "any text of that name will do": (source, "_equal", _names_only),
    "nested code is not compared": (source, "_equal", _code_only),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", MUTANTS)
def test_sequences_catch_what_was_put_back(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(*MUTANTS[name])
    for seed in range(SHARE):
        if attempt(seed)[1]:
            return
    raise AssertionError("no sequence is wrong")


def test_a_wrong_value_and_a_wrong_gradient_are_seen() -> None:
    def f(x):  # type: ignore[no-untyped-def]
        return np.sum(x * x)

    x = np.array([1.0, 2.0])
    assert agrees(f, x)
    value, slopes, tolerance = expected(f, x)
    assert value == 5.0
    assert not unlike({"x": 2 * x}, slopes, tolerance)
    assert unlike({"x": 2.01 * x}, slopes, tolerance)
    with pytest.raises(AssertionError, match="value"):
        true = 5.1, slopes, tolerance
        wrong = sequences.disagreement(
            pyrev.differentiable(f, target="python"), true, x
        )
        assert not wrong, wrong
