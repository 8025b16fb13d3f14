"""Every refused kind of node has a reason and a remedy, wherever it stands."""

from __future__ import annotations

import gast
import pytest

from pyrev.ir.diagnostics import CODES, UnsupportedError
from pyrev.parse import parse_block, parse_text
from pyrev.parse.fence import REJECTED


@pytest.mark.parametrize("node", REJECTED, ids=lambda node: node.__name__)
def test_a_refused_node_has_a_known_code_a_reason_and_a_remedy(
    node: type[gast.AST],
) -> None:
    code, because, help = REJECTED[node]
    assert code in CODES
    assert because
    assert help


def test_an_annotation_is_not_read_as_code() -> None:
    program = parse_text(
        """
        def f(x: "some {text}", y: [int] = 1.0) -> {"a": 1}:
            z: dict[str, (1, 2)] = x
            return z * y
        """
    )
    assert [p.name for p in program.params] == ["x", "y"]


def test_findings_of_a_helper_are_reported_once_for_two_calls() -> None:
    with pytest.raises(UnsupportedError) as caught:
        parse_text(
            """
            def g(x):
                del x
                return x

            def f(x):
                return g(x) + g(2.0 * x)
            """
        )
    assert len(caught.value.findings) == 1


def test_a_block_is_fenced_too() -> None:
    with pytest.raises(UnsupportedError, match="P101"):
        parse_block("class State:\n    pass")
