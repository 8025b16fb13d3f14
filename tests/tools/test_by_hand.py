"""Both adjoints of a pair are right, and the count sees what a reader sees."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.tools import by_hand


@pytest.mark.parametrize("name", by_hand.NAMES)
def test_both_adjoints_are_right(name: str) -> None:
    pair = by_hand.load(name)
    made = by_hand.run_text(by_hand.generated(pair), f"{name}_adjoint")
    assert by_hand.worst(pair, pair.by_hand) < 1e-6
    assert by_hand.worst(pair, made) < 1e-6


def test_an_adjoint_that_forgets_a_term_is_seen() -> None:
    pair = by_hand.load("smoothing")
    text = pair.text.replace("alpha * d_level + d_result", "d_result")
    assert text != pair.text
    lame = by_hand.run_text(text, "smoothing_adjoint")
    assert by_hand.worst(pair, lame) > 1e-3


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
