"""Short loops that begin with what the loop before them has found join it."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

from pyrev.ir.text import block_text
from pyrev.parse import parse_block
from pyrev.schedule.costs import SHIPPED
from pyrev.schedule.rows.fuse_prefix import found_once

TAPS = """
total = 0.0
for i in range(3):
    cell = a[n + i]
    total += cell * b[i]
h = s * 2.0
c[0] = total
for i in range(3):
    cell = a[n + i]
    d[i] += h * cell
"""

JOINED = """
total = 0.0
h = s * 2.0
for i in range(3):
    cell = a[n + i]
    total += cell * b[i]
    d[i] += h * cell
c[0] = total
"""

APART = {
    "the second needs the sum": TAPS.replace("h = s * 2.0", "h = total"),
    "the first needs the factor": TAPS.replace("* b[i]", "* b[i] * h"),
    "what is read is written": TAPS.replace("d[i] +=", "a[i] +="),
    "what is read is written between": TAPS.replace("c[0] =", "a[n] ="),
    "the first adds where the second reads": TAPS.replace("d[i] +=", "b[i] +="),
    "an end is moved": TAPS.replace("h = s * 2.0", "n = n + 1"),
    "other ranges": TAPS.replace("range(3)", "range(4)", 1),
    "other directions": TAPS.replace("range(3)", "reversed(range(3))", 1),
    "many iterations": TAPS.replace("range(3)", "range(100)"),
    "nothing in common": TAPS.replace("cell = a[n + i]", "cell = b[i]", 1),
    "no element": TAPS.replace("cell = a[n + i]", "cell = s * i"),
    "handed on": TAPS.replace("cell = a[n + i]", "cell = cell + a[n + i]"),
    "may raise": TAPS.replace("h = s * 2.0", "h = m // n"),
}


def joined(text: str) -> str:
    block = parse_block(text.strip("\n"))
    return block_text(found_once(block, SHIPPED.refound_iterations)).strip("\n")


def test_what_both_find_is_found_once() -> None:
    assert joined(TAPS) == JOINED.strip("\n")


@pytest.mark.parametrize("name", APART)
def test_they_stay_apart(name: str) -> None:
    text = APART[name].strip("\n")
    assert text != TAPS.strip("\n")
    assert joined(text) == text


def drawn(rng: random.Random) -> str:
    """Two short nests that begin alike, more or less, and lines between them."""
    outer = f"for k in range({rng.randint(1, 3)}):"
    inner = f"for i in range({rng.randint(1, 3)}):"
    cell = f"cell = {rng.choice('ab')}[n + i + k] * {rng.choice(['s', 't', 'b[i]'])}"
    uses = ["t += cell", "c[k] += cell * s", "d[i + k] += s * cell", "u = u + cell * t"]
    uses += ["a[k] += cell", "s = cell", "if i == 1:\n            d[0] += cell * t"]
    uses += ["cell = cell * s", "w = cell + b[i]", "d[i] = w * cell", "c[i] = u"]
    lines = ["s = s * 0.5", "u = t * 2.0", "c[1] = t", "t = 0.25", "b[1] += u"]
    lines += ["d[2] = s + d[1]", "w = d[0]", "if t > 0.3:\n    c[0] += s", "a[2] = t"]
    text = []
    for part in range(2):
        if part:
            text += rng.sample(lines, rng.randint(0, 2))
        other = "cell = d[i]" if rng.random() < 0.1 else cell
        body = [other, *rng.sample(uses, rng.randint(1, 2))]
        text += [outer, f"    {inner}", *(f"        {line}" for line in body)]
    return "\n".join(text)


def run(lines: str) -> list[Any]:
    space: dict[str, Any] = {"n": 1, "s": 0.7, "t": -0.3, "u": 0.1, "w": 0.6}
    for k, name in enumerate("abcd"):
        space[name] = np.linspace(0.1 + k, 0.9, 9) ** 3
    exec(lines, space)
    return [np.asarray(space[name]).tolist() for name in "abcdstuw"]


@pytest.mark.parametrize("seed", range(600))
def test_random_pairs_keep_every_bit(seed: int) -> None:
    text = drawn(random.Random(seed))
    made = joined(text)
    assert run(made) == run(text), f"{text}\n\n{made}"


@pytest.mark.slow
def test_many_random_pairs_are_joined() -> None:
    texts = [drawn(random.Random(seed)) for seed in range(600)]
    assert sum(joined(t).count("for ") < t.count("for ") for t in texts) > 30
