"""What arrays are as long as: the sizes of where they were made, not of later."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from pyrev.analysis.array_shapes import ArrayShapes
from pyrev.ir.nodes import Extent
from pyrev.ir.text import expr_text
from pyrev.parse import parse


def by_argument(n: int) -> Any:
    a = np.zeros(n)
    m = n - 1
    b = np.zeros(m)
    return a[0] + b[0]


def by_argument_before(n: int) -> Any:
    a = np.zeros(n)
    n = n - 1
    b = np.zeros(n)
    return a[0] + b[0]


@pytest.mark.parametrize(
    ("function", "known"),
    [(by_argument, ["n", "n - 1"]), (by_argument_before, [None, None])],
)
def test_a_parameter_with_another_value_measures_nothing(
    function: Any, known: list[str | None]
) -> None:
    shapes = ArrayShapes(parse(function).program)
    found = [shapes.known(Extent(a, 0)) for a in ("a", "b")]
    texts = [None if e is None else expr_text(e) for e in found]
    assert texts[0] == known[0]
    assert (texts[1] is None) == (known[1] is None)
