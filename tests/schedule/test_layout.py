"""Arrays in the layout that a nest wants."""

from __future__ import annotations

import pytest

from pyrev.ir.nodes import Expr
from pyrev.ir.text import program_text
from pyrev.parse import parse_text
from pyrev.schedule.costs import CpuCosts
from pyrev.schedule.layout import turned

HEAD = "def f(at, table, out):\n"

READ = """    for x in range(at.shape[0]):
        k = int(at[x])
        for c in range(3):
            out[x, c] += table[c, k] * table[c, k + 1]
"""

SUMMED = """    sums = np.zeros((3, 64))
    for x in range(at.shape[0]):
        k = int(at[x])
        for c in range(3):
            sums[c, k] += at[x] * c
    return sums
"""

STAYS = {
    "neighbours are used": READ.replace("table[c, k + 1]", "table[c, x]"),
    "records are last": READ.replace("[c, k]", "[k, c]").replace(
        "[c, k + 1]", "[k, c]"
    ),
    "the place moves with the channel": READ.replace(
        "        k = int(at[x])\n        for c in range(3):\n",
        "        for c in range(3):\n            k = int(at[x + c])\n",
    ),
    "many channels": READ.replace("range(3)", "range(at.shape[0])"),
    "no channels": READ.replace("table[c, k]", "table[x, k]").replace(
        "table[c, k + 1]", "table[x, k]"
    ),
    "a caller's array is written": READ + "            table[c, k] = 0.5\n",
    "copied whole": READ
    + "        whole = table.copy()\n        out[x, 0] = whole[0, 0]\n",
}


def made(text: str, enough: bool | None = True) -> str:
    def choose(count: Expr, least: int) -> bool | None:
        return enough

    program = parse_text(HEAD + text)
    return program_text(turned(program, set(HEAD), choose, CpuCosts()))


def test_what_goes_with_one_place_stands_together() -> None:
    text = made(READ)
    assert "table_turned = np.empty((table.shape[1], table.shape[0])" in text
    assert "table_turned[axis1, axis0] = table[axis0, axis1]" in text
    assert "table_turned[k, c] * table_turned[k + 1, c]" in text


def test_sums_are_brought_back() -> None:
    text = made(SUMMED)
    assert "sums = np.empty" in text
    assert "sums_turned = np.zeros((sums.shape[1], sums.shape[0])" in text
    assert "sums_turned[k, c] +=" in text
    assert "sums[axis0, axis1] = sums_turned[axis1, axis0]" in text
    assert text.index("sums[axis0") > text.index("sums_turned[k, c] +=")


def test_sums_that_go_on_begin_with_what_is_there() -> None:
    first = "    for c in range(3):\n        sums[c, 0] = 0.5\n"
    text = made(SUMMED.replace("    for x", first + "    for x", 1))
    assert "sums = np.zeros" in text
    there = text.index("sums_turned[axis1, axis0] = sums[axis0, axis1]")
    back = text.index("sums[axis0, axis1] = sums_turned[axis1, axis0]")
    assert there < text.index("sums_turned[k, c] +=") < back


@pytest.mark.parametrize("name", STAYS)
def test_others_stay(name: str) -> None:
    assert STAYS[name] != READ
    assert "_turned" not in made(STAYS[name])


@pytest.mark.parametrize("enough", [False, None])
def test_it_has_to_pay(enough: bool | None) -> None:
    assert "_turned" not in made(READ, enough)
