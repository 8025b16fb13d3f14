"""Arrays of which each iteration uses its own row alone become rows."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from pyrev.ir.nodes import DisjointWrites, Expr, For, Program, Proof, Var
from pyrev.ir.text import program_text
from pyrev.parse import parse_text
from pyrev.schedule.costs import CpuCosts
from pyrev.schedule.rows.contract import contracted

PROOF = Proof(
    (DisjointWrites("i", (("t", (Var("i"), Var("j"))), ("out", (Var("i"),)))),)
)

HEAD = "def f(x, out):\n"

FILLED = """    t = np.zeros(x.shape)
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            t[i, j] += x[i, j] * x[i, j]
        for j in range(1, x.shape[1]):
            out[i] += t[i, j] * t[i, j - 1]
"""

STAYS = {
    "a neighbour's row": FILLED.replace("t[i, j - 1]", "t[i - 1, j]"),
    "read by a later loop": FILLED
    + """    for i in range(x.shape[0]):
        out[i] += t[i, 0]
""",
    "the result": FILLED + "    return t\n",
    "copied later": FILLED + "    u = t.copy()\n    out[0] = u[0, 0]\n",
    "made for each step": """    for n in range(3):
        t = np.zeros(x.shape)
        for i in range(x.shape[0]):
            t[i, 0] = x[i, 0]
            out[i] += t[i, 0]
""",
    "the rows of another index": FILLED.replace("t[i", "t[j"),
}


def made(text: str, row: int | None = 1000, parallel: bool = True) -> tuple[str, For]:
    program = parse_text(HEAD + text)
    proof = PROOF if parallel else None
    body = tuple(
        replace(s, parallel=proof) if isinstance(s, For) else s for s in program.body
    )

    def choose(count: Expr, least: int) -> bool | None:
        return None if row is None else row >= least

    found: Program = contracted(
        replace(program, body=body), set("tfx"), choose, CpuCosts()
    )
    loop = next(s for s in found.body if isinstance(s, For))
    return program_text(found), loop


def test_a_row_is_made_in_the_loop() -> None:
    text, loop = made(FILLED)
    assert "t_row = np.zeros(x.shape[1])" in text
    assert "out[i] += t_row[j] * t_row[j - 1]" in text
    assert not re.search(r"\bt\b", text), text
    assert loop.parallel == Proof((DisjointWrites("i", (("out", (Var("i"),)),)),))


@pytest.mark.parametrize("name", STAYS)
def test_what_others_read_stays(name: str) -> None:
    text, _ = made(STAYS[name])
    assert "_row" not in text


def test_long_and_short_rows_and_serial_loops_stay() -> None:
    assert "_row" not in made(FILLED, row=1 << 20)[0]
    assert "_row" not in made(FILLED, row=8)[0]
    assert "_row" not in made(FILLED, row=None)[0]
    assert "_row" not in made(FILLED, parallel=False)[0]
