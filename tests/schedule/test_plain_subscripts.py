"""Names for sums of indices: written out where they are used, and every value stays."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

from pyrev.ir.dtypes import infer
from pyrev.ir.nodes import Param, Program
from pyrev.ir.renaming import rename
from pyrev.ir.text import block_text
from pyrev.parse import parse_block
from pyrev.schedule.plain_subscripts import plain_subscripts

DTYPES = {"a": "float64", "b": "float64", "k": "int64", "n": "int64", "m": "int64"}
RANKS = {"a": 1, "b": 1, "k": 1}


def plain(text: str) -> str:
    params = tuple(Param(n, RANKS.get(n, 0), d) for n, d in DTYPES.items())
    program = Program("f", params, parse_block(text.strip("\n")))
    made = plain_subscripts(program, infer(program, DTYPES))
    return block_text(made.body).strip("\n")


WRITTEN = {
    "one from another": (
        """
for y in range(n):
    p = y + 1
    for x in range(m):
        q = p - x
        if q >= 0:
            a[q] = b[p]
""",
        """
for y in range(n):
    for x in range(m):
        if y + 1 - x >= 0:
            a[y + 1 - x] = b[y + 1]
""",
    ),
    "a bound": (
        """
for x in range(n):
    at = min(max(x - 1, 0), n - 1)
    a[x] = b[at]
""",
        """
for x in range(n):
    a[x] = b[min(max(x - 1, 0), n - 1)]
""",
    ),
    "two values of one name": (
        """
for x in range(1, n):
    q = x - 1
    a[x] = b[q]
    q = 2 * x
    a[x] += b[q - x]
""",
        """
for x in range(1, n):
    a[x] = b[x - 1]
    a[x] += b[2 * x - x]
""",
    ),
}
LEFT = {
    "data": """
for x in range(n):
    q = k[x]
    a[x] = b[q]
""",
    "handed on": """
q = 0
for x in range(n):
    a[x] = b[q]
    q = x
""",
    "one of two": """
for x in range(n):
    if b[x] > 0.5:
        q = x
    else:
        q = 0
    a[x] = b[q]
""",
    "an index that moves on": """
for x in range(n):
    q = x + 1
for x in range(m):
    a[x] = b[q]
""",
    "counted": """
for x in range(n):
    q = x
    q += 1
    a[x] = b[q]
""",
    "no place": """
for x in range(n):
    q = x + 1
    a[x] = b[x] * q
""",
}


@pytest.mark.parametrize("name", WRITTEN)
def test_sums_of_indices_are_written_out(name: str) -> None:
    text, expected = WRITTEN[name]
    assert plain(text) == expected.strip("\n")


@pytest.mark.parametrize("name", LEFT)
def test_other_names_stay(name: str) -> None:
    assert plain(LEFT[name]) == LEFT[name].strip("\n")


def test_a_size_is_that_of_the_array_at_the_time() -> None:
    """The parser gives a second array its own name; a pass need not have."""
    text = "v = np.zeros(n)\nq = v.shape[0] - 1\nw = np.zeros(m)\na[0] = b[q]"
    block = tuple(rename(s, {"w": "v"}) for s in parse_block(text))
    params = tuple(Param(n, RANKS.get(n, 0), d) for n, d in DTYPES.items())
    program = Program("f", params, block)
    assert plain_subscripts(program, infer(program, DTYPES)) is program


def drawn(rng: random.Random) -> str:
    """Names for integers that come, go, move on and are handed on, in nests."""
    names = ["p", "q", "r"]

    def value(indices: list[str]) -> str:
        atoms = [*indices, "n", "m", *names, "2", "1"]
        one, other = rng.choice(atoms), rng.choice(atoms)
        form = rng.choice(["{} + {}", "{} - {}", "2 * {} + {}", "min({}, {})", "{}"])
        return form.format(one, other)

    def block(depth: int, indices: list[str]) -> list[str]:
        lines: list[str] = []
        for _ in range(rng.randint(1, 3)):
            draw = rng.random()
            if draw < 0.4:
                lines.append(f"{rng.choice(names)} = {value(indices)}")
            elif draw < 0.5:
                lines.append(f"{rng.choice(names)} += 1")
            elif draw < 0.8 or depth > 2:
                at = f"({rng.choice([*names, *indices])}) % 12"
                lines.append(f"a[{at}] += b[({rng.choice(names)} + 1) % 12]")
            elif draw < 0.9:
                test = f"{rng.choice(names)} >= {rng.choice([*indices, 'm', '2'])}"
                lines += [f"if {test}:", *inner(block(depth + 1, indices))]
            else:
                index = rng.choice(["x", "y", "z"])
                head = f"for {index} in range({rng.choice(['n', 'm', '2'])}):"
                lines += [head, *inner(block(depth + 1, [*indices, index]))]
        return lines

    def inner(lines: list[str]) -> list[str]:
        return ["    " + line for line in lines]

    start = ["p = 1", "q = 2", "r = 0", "x = 0"]
    nests: list[str] = []
    for _ in range(2):
        nests += ["for x in range(n):", *inner(block(1, ["x"]))]
    return "\n".join([*start, *nests, "a[0] = p + 2 * q"])


@pytest.mark.parametrize("seed", range(300))
def test_random_names_keep_every_value(seed: int) -> None:
    text = drawn(random.Random(seed))
    made = plain(text)

    def run(lines: str, n: int, m: int) -> list[float]:
        space: dict[str, Any] = {"n": n, "m": m, "min": min}
        space["a"] = np.linspace(0.1, 0.9, 12)
        space["b"] = np.linspace(1.1, 0.9, 12) ** 3
        exec(lines, space)
        return list(space["a"])

    for n, m in ((0, 0), (1, 2), (3, 2), (4, 5)):
        assert run(made, n, m) == run(text, n, m), f"n={n} m={m}\n{text}\n\n{made}"


def test_many_random_programs_have_a_name_less() -> None:
    texts = [drawn(random.Random(seed)) for seed in range(300)]
    fewer = [t for t in texts if plain(t).count("\n") < t.count("\n")]
    assert len(fewer) > 60
