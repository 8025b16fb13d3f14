"""An array on a device stays as long as it was made, however its size changes later."""

from __future__ import annotations

import pytest

from tests.targets.cuda import needs
from tests.targets.cuda.suite import right

#: Functions that give a parameter another value behind an array that it measures.
CHANGED = [
    "one_row_fewer",
    "shorter_than_before",
    "as_long_as_before",
    "longer_than_read",
    "window_by_its_last",
    "sums_in_one_more",
    "whole_arrays_of_fewer",
    "gaps_in_turn",
]


@needs.compiler
@pytest.mark.parametrize("name", CHANGED)
def test_arrays_on_a_device_are_as_long_as_they_were_made(name: str) -> None:
    right(name)
