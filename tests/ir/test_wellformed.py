"""What is not well formed is found before text is made of it."""

from __future__ import annotations

from dataclasses import replace

import pytest

import pyrev
from pyrev.ir.nodes import For, Program
from pyrev.ir.wellformed import check
from pyrev.parse import parse_text
from tests.tools.interpreted import called_parallel

HEAD = "def f(a, b, n):\n    s = 0.0\n"


def in_parallel(text: str) -> Program:
    """The program of the text, its outermost loop called parallel."""
    program = parse_text(HEAD + text)
    body = (called_parallel(s) if isinstance(s, For) else s for s in program.body)
    return replace(program, body=tuple(body))


def test_a_scalar_may_live_in_one_iteration() -> None:
    check(
        in_parallel("""    for i in range(n):
        s = a[i] * 2.0
        if s > 1.0:
            b[i] = s
""")
    )


@pytest.mark.parametrize(
    "text",
    [
        """    for i in range(n):
        s = a[i] * 2.0
        b[i] = s
    b[0] = s
""",
        """    for i in range(n):
        b[i] = s
        s = a[i] * 2.0
""",
        """    for i in range(n):
        s += a[i]
    return s
""",
        """    for i in range(n):
        if a[i] > 0.0:
            s = a[i]
        b[i] = s
""",
        """    for i in range(n):
        for j in range(i):
            s = a[j]
        b[i] = s
""",
    ],
)
def test_a_scalar_that_is_handed_on_is_found(text: str) -> None:
    with pytest.raises(pyrev.InternalError, match="the parallel loop .* hands on `s`"):
        check(in_parallel(text))
