"""Both derivatives of a pair are right, and the count sees what a reader sees."""

from __future__ import annotations

from pathlib import Path
from statistics import geometric_mean

import pytest

from tests.tools import by_hand


@pytest.mark.parametrize("mode", by_hand.MODES)
@pytest.mark.parametrize("name", by_hand.NAMES)
def test_both_derivatives_are_right(name: str, mode: str) -> None:
    pair = by_hand.load(name, mode)
    made = by_hand.run_text(by_hand.generated(pair), pair.derivative)
    assert by_hand.worst(pair, pair.by_hand) < 1e-6
    assert by_hand.worst(pair, made) < 1e-6


@pytest.mark.parametrize(
    ("mode", "term", "left"),
    [
        ("adjoint", "alpha * d_level + d_result", "d_result"),
        ("tangent", "dot_alpha * error + alpha", "alpha"),
    ],
)
def test_a_derivative_that_forgets_a_term_is_seen(
    mode: str, term: str, left: str
) -> None:
    pair = by_hand.load("smoothing", mode)
    text = pair.text.replace(term, left)
    assert text != pair.text
    lame = by_hand.run_text(text, pair.derivative)
    assert by_hand.worst(pair, lame) > 1e-3


def test_a_tangent_with_another_value_is_seen() -> None:
    pair = by_hand.load("wave", "tangent")
    text = pair.text.replace("return now, dot_now", "return old, dot_now")
    lame = by_hand.run_text(text, pair.derivative)
    with pytest.raises(AssertionError, match="another value"):
        by_hand.worst(pair, lame)


def test_tangents_are_as_short_as_those_by_hand(
    capsys: pytest.CaptureFixture[str],
) -> None:
    for ratios in by_hand.table("tangent"):
        assert geometric_mean(ratios) <= 1.25
        assert max(ratios) <= 1.6
    assert "wave" in capsys.readouterr().out


def test_comments_and_layout_do_not_count() -> None:
    text = '''
def f(a,
      b):
    """A docstring.

    Of several lines.
    """
    # why
    return (a
            + b)  # what
'''
    bare = by_hand.bare(text, "f")
    assert bare == "def f(a, b):\n    return a + b\n"
    assert (by_hand.lines(bare), by_hand.tokens(bare)) == (2, 12)


def test_a_longer_text_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert by_hand.compare({"f": (4, 40)}, {"f": (3, 41)}) == 1
    assert "longer: f" in capsys.readouterr().out
    assert by_hand.compare({"f": (4, 40)}, {"f": (2, 20)}) == 0
    assert "geometric mean 0.5" in capsys.readouterr().out
